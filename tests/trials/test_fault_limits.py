"""Goals, touches and second faults are judged exactly at their limits, on recordings written by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.faults import Cause
from signals.modes import MachineState
from signals.records import new_frame
from trials import rules
from trials.campaigns import STORM_KINDS
from trials.judge import Judge
from trials.limits import LOST_S, Limits
from trials.record import KEPT, Recording
from trials.trial import CLIENT, EVERY, Struck, Touch, Trial
from trials.verdict import Verdict

FAULT, ACTIVE = int(MachineState.FAULT), int(MachineState.ACTIVE)


@pytest.fixture(scope="module")
def whole() -> Hand:
    return read_hand(RunOptions(hand="hasy"))


# --- the judge of what is not broken ----------------------------------------------------------------------


def quiet(hand: Hand, seconds: float = 0.3) -> Recording:
    """A recording in which nothing happens."""
    frame, _ = new_frame()
    n = round(seconds * hand.rate_hz)
    counts = {"tendon": hand.model["n_tendons"][0], "joint": hand.model["n_joints"][0]}
    columns = {}
    for record, name in KEPT:
        field = frame[record][name]
        columns[record, name] = np.zeros((n, *field.shape[1:]), dtype=field.dtype)
    columns["truth", "tension_n"] = np.full((n, counts["tendon"]), 20.0)
    columns["truth", "joint_angle_rad"] = np.full((n, counts["joint"]), 0.1)
    columns["truth", "joint_speed_rad_s"] = np.zeros((n, counts["joint"]))
    fingers = len(hand.names.fingers)
    for name in ("finger_state", "finger_cause", "finger_cause_part"):
        columns["state", name] = columns["state", name][:, :fingers]
    columns["state", "finger_state"][:] = ACTIVE
    return Recording(np.arange(n) / hand.rate_hz, columns)


STORMY = Trial(
    seed=0, kind=STORM_KINDS[0], motion=CLIENT, mismatch=0, part=0, moment=0.0, size=0.0, storm="ends"
)


def whole_verdict(
    hand: Hand,
    recording: Recording,
    trial: Trial = STORMY,
    held: Recording | None = None,
    braked: Callable[[np.ndarray, float], Recording] | None = None,
) -> Verdict:
    still = quiet(hand)
    return Limits(hand.names, hand.model).judge_whole(
        trial, recording, lambda: held or still, braked or (lambda brake_a, after_s: still)
    )


@given(peak_n=st.floats(100.0, 250.0), cycles=st.integers(1, 120), tendon=st.integers(0, 7))
def test_a_goal_breaks_the_tension_rules_exactly_beyond_them(
    finger: Hand, peak_n: float, cycles: int, tendon: int
) -> None:
    recording = quiet(finger)
    recording.of("truth", "tension_n")[100 : 100 + cycles, tendon] = peak_n
    long = peak_n > rules.TENSION_LATER_N and cycles / finger.rate_hz > rules.GOAL_MOMENT_S + 1e-9
    wanted = [peak_n > rules.GOAL_NEVER_N, long]
    breaches = whole_verdict(finger, recording).breaches
    assert len(breaches) == sum(wanted)
    assert all(finger.names.tendons[tendon] in text for text in breaches)


@given(
    speed=st.floats(0.5, 20.0),
    k=st.integers(1, 800),
    joint=st.integers(0, 3),
    side=st.sampled_from([1, -1]),
    lead=st.integers(0, 300),
)
def test_a_stop_that_is_hit_too_fast_breaks_a_rule_whenever_it_is_hit(
    finger: Hand, speed: float, k: int, joint: int, side: int, lead: int
) -> None:
    recording = quiet(finger)
    recording.time_s = recording.time_s - lead * float(finger.model["dt_s"][0])  # a touch may come before
    angle, m = recording.of("truth", "joint_angle_rad"), finger.model[0]
    angle[k:, joint] = m["joint_max_rad"][joint] + 1e-3 if side == 1 else m["joint_min_rad"][joint] - 1e-3
    recording.of("truth", "joint_speed_rad_s")[k - 1, joint] = side * speed
    verdict = whole_verdict(finger, recording)
    assert bool(verdict.breaches) == (speed > rules.STOP_SPEED_RAD_S)
    assert all(finger.names.joints[joint] in text for text in verdict.breaches)
    assert verdict.stop_rad_s == (speed if verdict.breaches else 0.0)


@given(cause=st.sampled_from(sorted(Cause)), k=st.integers(1, 800))
def test_a_latched_cause_is_an_alarm_unless_it_is_true(finger: Hand, cause: Cause, k: int) -> None:
    recording = quiet(finger)
    recording.of("state", "finger_cause")[k:, 0] = int(cause)
    recording.of("state", "finger_cause_part")[k:, 0] = 1
    assert bool(whole_verdict(finger, recording).breaches) == (cause not in rules.QUIET_CAUSES)
    recording.of("truth", "tension_n")[max(k - 5, 0) : k, 1] = rules.TENSION_LATER_N + 1.0
    recording.of("truth", "joint_angle_rad")[max(k - 5, 0) : k, 1] = (
        finger.model["joint_max_rad"][0, 1] + 0.01
    )
    true = cause in (Cause.TENSION_TOO_HIGH, Cause.JOINT_OUT_OF_RANGE)
    alarms = [b for b in whole_verdict(finger, recording).breaches if b.startswith("alarm")]
    assert bool(alarms) == (cause not in rules.QUIET_CAUSES and not true)


@pytest.mark.parametrize("touched", [False, True])
def test_only_a_touch_is_excused_by_a_hand_that_does_not_react_at_all(finger: Hand, touched: bool) -> None:
    high = quiet(finger)
    high.of("truth", "tension_n")[200, 3] = rules.GOAL_NEVER_N + 5.0
    touch = Touch(finger=0, shape="push", force_n=30.0, seconds=0.1, direction=(1.0, 0.0, 0.0))
    trial = replace(STORMY, kind="push", storm="", touch=touch) if touched else STORMY
    assert bool(whole_verdict(finger, high, trial, held=high).breaches) != touched
    assert whole_verdict(finger, high, trial, held=quiet(finger)).breaches


def springs_back(hand: Hand, joint: int, fast_s: float, hit_s: float) -> Recording:
    """A joint that is faster than it may hit its upper stop from one time on, and hits it at another."""
    recording = quiet(hand)
    k, end = round(fast_s * hand.rate_hz), round(hit_s * hand.rate_hz)
    recording.of("truth", "joint_speed_rad_s")[k : end + 1, joint] = 2.0 * rules.STOP_SPEED_RAD_S
    recording.of("truth", "joint_angle_rad")[end:, joint] = hand.model["joint_max_rad"][0, joint] + 1e-3
    return recording


@pytest.mark.parametrize("shape", ["push", "jab", "soft", "stiff"])
@pytest.mark.parametrize("joint", [0, 3])
def test_a_joint_that_springs_back_from_a_touch_is_judged_by_the_brake_from_the_moment_that_tells(
    finger: Hand, shape: str, joint: int
) -> None:
    touch = Touch(finger=0, shape=shape, force_n=30.0, seconds=0.1, direction=(1.0, 0.0, 0.0))
    trial = replace(STORMY, kind=shape, storm="", touch=touch)
    falls_s = 0.05 if shape == "jab" else 0.1
    asked: list[float] = []

    def braked(brake_a: np.ndarray, after_s: float) -> Recording:
        asked.append(after_s)
        limits = Limits(finger.names, finger.model)
        assert np.array_equal(brake_a, limits.brake_of_finger_a(0, joint, 1, np.full(4, 0.1)))
        return hit

    cycle_s = 1.0 / finger.rate_hz
    for fast_s, tell_s in ((falls_s - 0.02, falls_s), (falls_s + 0.02, falls_s + 0.02 - cycle_s)):
        hit = springs_back(finger, joint, fast_s, falls_s + 0.03)
        verdict = whole_verdict(finger, hit, trial, braked=braked)
        assert verdict.breaches == [] and len(verdict.unavoidable) == 1
        assert finger.names.joints[joint] in verdict.unavoidable[0]
        assert asked.pop() == pytest.approx(tell_s, abs=0.5 * cycle_s)
        spared = whole_verdict(finger, hit, trial)
        assert len(spared.breaches) == 1 and spared.unavoidable == [], "the brake spares it, so could we"
    hit = springs_back(finger, joint, 0.0, falls_s + 0.03)
    assert whole_verdict(finger, hit, trial, braked=braked).breaches == [], "fast from the first frame on"
    assert asked.pop() == pytest.approx(falls_s, abs=0.5 * cycle_s)
    late = springs_back(finger, joint, 0.22, 0.23)
    assert len(whole_verdict(finger, late, trial, braked=braked).breaches) == 1, "long after the touch"
    pressed = springs_back(finger, joint, 0.01, falls_s - 0.01)
    assert len(whole_verdict(finger, pressed, trial, braked=braked).breaches) == 1, "still under the touch"
    assert len(whole_verdict(finger, hit, STORMY, braked=braked).breaches) == 1, "no touch"
    assert asked == []


PRESSES = Touch(
    finger=4, shape="soft", force_n=0.0, seconds=0.25, direction=(1.0, 0.0, 0.0), stiffness_n_m=500.0
)
PEAK_S, HIT_S = 0.10, 0.12


def slips_off(hand: Hand, joint: int, fast_s: float, finger: int = 4, left: float = 0.0) -> Recording:
    """``springs_back``, while the force on a fingertip rises to 6 N and falls to a share of it in 10 ms."""
    recording = springs_back(hand, joint, fast_s, HIT_S)
    force_n = np.interp(recording.time_s, (0.0, PEAK_S, PEAK_S + 0.01), (0.0, 6.0, 6.0 * left))
    recording.columns["truth", "contact_force_n"] = np.zeros((len(force_n), len(hand.names.fingers)))
    recording.of("truth", "contact_force_n")[:, finger] = force_n
    return recording


@pytest.mark.parametrize("joint", ["fifth_pip", "hmc_flexion"])
def test_a_joint_that_is_thrown_as_a_contact_is_lost_is_judged_by_the_brake_from_where_both_tell(
    whole: Hand, joint: str
) -> None:
    """The contact is that of a fingertip that the joint moves: the hand's edge carries the fifth finger."""
    j, asked = whole.names.joints.index(joint), []
    trial = replace(STORMY, kind="soft", storm="", touch=PRESSES)

    def braked(brake_a: np.ndarray, after_s: float) -> Recording:
        own = int(whole.model[0]["joint_finger"][j])
        limits, pose = Limits(whole.names, whole.model), np.full(len(whole.names.joints), 0.1)
        assert np.array_equal(brake_a, limits.brake_of_finger_a(own, j, 1, pose), equal_nan=True)
        asked.append(after_s)
        return hit

    cycle_s = 1.0 / whole.rate_hz
    for fast_s, tell_s in ((0.03, PEAK_S), (PEAK_S + 0.01, PEAK_S + 0.01 - cycle_s)):
        hit = slips_off(whole, j, fast_s)
        verdict = whole_verdict(whole, hit, trial, braked=braked)
        assert verdict.breaches == [] and len(verdict.unavoidable) == 1
        assert asked.pop() == pytest.approx(tell_s, abs=1.5 * cycle_s) and asked == []
        spared = whole_verdict(whole, hit, trial)
        assert len(spared.breaches) == 1 and spared.unavoidable == [], "the brake spares it, so could we"


@pytest.mark.parametrize(
    ("change", "breach", "excused"),
    [
        ({}, "", True),
        ({"left": 0.45}, "", True),
        ({"left": 0.55}, "4.0 rad/s at 120 ms", False),
        ({"finger": 2}, "4.0 rad/s at 120 ms", False),
        ({"force": "long ago"}, "4.0 rad/s at 120 ms", False),
        ({"force": "none"}, "4.0 rad/s at 120 ms", False),
        ({"before_s": 0.08}, "4.0 rad/s at 120 ms", False),
        ({"again_s": HIT_S + 0.11}, "3.0 rad/s at 230 ms", True),
        ({"touch": None}, "4.0 rad/s at 120 ms", False),
    ],
)
def test_what_no_lost_contact_throws_is_not_excused(
    whole: Hand, change: dict[str, object], breach: str, excused: bool
) -> None:
    j = whole.names.joints.index("fifth_pip")
    hit = slips_off(whole, j, 0.105, **{k: change[k] for k in ("left", "finger") if k in change})
    angle, speed = (hit.of("truth", f"joint_{name}") for name in ("angle_rad", "speed_rad_s"))
    if change.get("force") == "long ago":
        moved = np.roll(hit.of("truth", "contact_force_n"), -round((LOST_S + 0.02) * whole.rate_hz), axis=0)
        hit.columns["truth", "contact_force_n"] = moved
    elif "force" in change:
        hit.of("truth", "contact_force_n")[:] = 0.0
    for at_s in (change[k] for k in ("before_s", "again_s") if k in change):
        k, dip = round(at_s * whole.rate_hz), angle[0, j]
        angle[k - 2 : k, j], angle[k, j] = dip, whole.model[0]["joint_max_rad"][j] + 1e-3
        angle[k + 1 : round(HIT_S * whole.rate_hz), j] = dip
        speed[k - 1, j] = 1.5 * rules.STOP_SPEED_RAD_S
    trial = replace(STORMY, kind="soft", storm="", touch=PRESSES) if "touch" not in change else STORMY
    verdict = whole_verdict(whole, hit, trial, braked=lambda brake_a, after_s: hit)
    assert verdict.breaches == ([f"stop: fifth_pip {breach}"] if breach else [])
    assert len(verdict.unavoidable) == int(excused)


# --- the judge of two faults ------------------------------------------------------------------------------


def two_faults(
    hand: Hand,
    second: Struck,
    names: dict[int, tuple[Cause, int]],
    late_s: float = 0.0,
    of_hand: Cause = Cause.NONE,
) -> Verdict:
    """A break of the index at 0, another fault later; fingers stop at once and say what they are told.

    Fingers other than the index are late by ``late_s``; the hand's cause comes with the second fault.
    """
    first = Trial(
        seed=0, kind="tendon-break", motion="hold", mismatch=0, part=0, moment=0.0, size=0.0, second=second
    )
    recording = quiet(hand, 1.0)
    own = Judge(hand.names, hand.model).finger_of(first)
    for f, (cause, part) in names.items():
        begun = recording.after(0.0 if f == own else second.at_s + late_s)
        recording.of("state", "finger_state")[begun:, f] = FAULT
        recording.of("state", "finger_cause")[begun:, f] = int(cause)
        recording.of("state", "finger_cause_part")[begun:, f] = part
    recording.of("state", "hand_cause")[recording.after(second.at_s) :] = int(of_hand)
    return Judge(hand.names, hand.model).judge(first, recording, (lambda _: recording,), lambda *_: recording)


def test_two_faults_are_named_each_in_its_finger_and_one_finger_may_name_either(whole: Hand) -> None:
    m = whole.model[0]
    own, other = int(m["tendon_finger"][0]), int(m["tendon_finger"][10])
    broken = Cause.TENDON_BROKEN
    near = Struck(kind="motor-lost", part=int(m["tendon_motor"][1]), size=0.0, at_s=0.2)
    assert two_faults(whole, near, {own: (broken, 0)}).right
    assert two_faults(whole, near, {own: (Cause.MOTOR_LOST, near.part)}).right
    assert not two_faults(whole, near, {own: (Cause.HALL_STUCK, 0)}).right
    far = replace(near, part=int(m["tendon_motor"][10]))
    both = two_faults(whole, far, {own: (broken, 0), other: (Cause.MOTOR_LOST, far.part)})
    assert both.right and both.breaches == []
    assert not two_faults(whole, far, {own: (broken, 0), other: (Cause.HALL_STUCK, 10)}).right
    silent = two_faults(whole, far, {own: (broken, 0)})
    assert "reaction: none" in silent.breaches and silent.right is False
    third = {f: (Cause.HALL_STUCK, 0) for f in range(len(whole.names.fingers)) if f not in (own, other)}
    fallen = two_faults(whole, far, {own: (broken, 0), other: (Cause.MOTOR_LOST, far.part)} | third)
    assert sum(b.startswith("others") for b in fallen.breaches) == len(third)


@pytest.mark.parametrize("kind", [k for k, rule in rules.KINDS.items() if rule.space == "motor"])
def test_the_reaction_that_counts_is_that_to_a_fault_that_asks_for_one(whole: Hand, kind: str) -> None:
    m = whole.model[0]
    own, other = int(m["tendon_finger"][0]), int(m["tendon_finger"][10])
    second = Struck(kind=kind, part=int(m["tendon_motor"][10]), size=1.0, at_s=0.2)
    names = {
        own: (Cause.TENDON_BROKEN, 0),
        other: (min(rules.KINDS[kind].causes - {Cause.NONE}), second.part),
    }
    verdict = two_faults(whole, second, names, late_s=0.4)
    late = verdict.react_s is not None and verdict.react_s > rules.REACT_S
    asked = rules.KINDS[kind].must_react and not rules.KINDS[kind].shows_by_winding
    assert verdict.must_react and late == asked == any(b.startswith("reaction") for b in verdict.breaches)


@pytest.mark.parametrize("silent", [None, 2])
def test_a_fault_of_all_motors_stops_every_finger_with_a_right_name(whole: Hand, silent: int | None) -> None:
    second = Struck(kind="motor-reset", part=EVERY, size=0.0, at_s=0.1)
    own = int(whole.model["tendon_finger"][0, 0])
    names = {f: (Cause.MOTOR_RESET, 0) for f in range(len(whole.names.fingers)) if f not in (own, silent)}
    verdict = two_faults(whole, second, {own: (Cause.TENDON_BROKEN, 0)} | names)
    assert verdict.right is (silent is None)
    assert bool(verdict.breaches) == (silent is not None)


@pytest.mark.parametrize(
    ("cause", "motor", "right"), [(Cause.MOTOR_LOST, True, True), (Cause.HALL_STUCK, False, False)]
)
def test_where_all_motors_are_lost_a_finger_that_had_another_fault_may_name_either(
    whole: Hand, cause: Cause, motor: bool, right: bool
) -> None:
    """Its probe is not over; whatever the hand says of its bus."""
    m, second = whole.model[0], Struck(kind="motor-lost", part=EVERY, size=0.0, at_s=0.1)
    own = int(m["tendon_finger"][0])
    names = {f: (Cause.MOTOR_LOST, 0) for f in range(len(whole.names.fingers))}
    names[own] = (cause, int(m["tendon_motor"][0]) if motor else 0)
    assert two_faults(whole, second, names, of_hand=Cause.BUS_LOST).right is right


@settings(max_examples=30)
@given(at_s=st.floats(0.03, 0.45), peak_s=st.floats(0.0, 0.9))
def test_a_second_fault_has_a_first_moment_of_its_own(finger: Hand, at_s: float, peak_s: float) -> None:
    second = Struck(kind="hall-noise", part=3, size=5.0, at_s=at_s)
    trial = Trial(
        seed=0, kind="hall-noise", motion="hold", mismatch=0, part=1, moment=0.0, size=5.0, second=second
    )
    recording = quiet(finger, 1.0)
    frame = recording.after(peak_s)
    recording.of("truth", "tension_n")[frame, 2] = rules.TENSION_LATER_N + 10.0
    when = float(recording.time_s[frame])
    first_moment = any(at < when <= at + rules.FIRST_MOMENT_S for at in (0.0, at_s))
    close = min(abs(when - at - d) for at in (0.0, at_s) for d in (0.0, rules.FIRST_MOMENT_S))
    judge = Judge(finger.names, finger.model)
    verdict = judge.judge(trial, recording, (lambda _: recording,), lambda *_: recording)
    if close > 1.5 / finger.rate_hz:
        assert bool(verdict.breaches) != first_moment


@pytest.mark.parametrize("wound", [False, True])
@pytest.mark.parametrize("same", [False, True])
def test_what_befalls_a_sensor_that_stands_shows_when_that_does(
    finger: Hand, same: bool, wound: bool
) -> None:
    """A jump of an encoder is seen at once, but not of one that stands until its motor has wound."""
    second = Struck(kind="encoder-jump", part=1 if same else 2, size=0.5, at_s=0.1)
    trial = Trial(
        seed=0, kind="encoder-stuck", motion="hold", mismatch=0, part=1, moment=0.0, size=0.0, second=second
    )
    recording = quiet(finger, 1.0)
    if wound:
        recording.of("truth", "motor_angle_rad")[recording.after(0.6) :, 1] += 1.0
    judge = Judge(finger.names, finger.model)
    verdict = judge.judge(trial, recording, (lambda _: recording,), lambda *_: recording)
    assert verdict.shown == (wound or not same)
    assert ("reaction: none" in verdict.breaches) == verdict.shown


@pytest.mark.parametrize("stopped_s", [None, 0.04, 0.12])
@pytest.mark.parametrize("shows_s", [None, 0.08])
def test_what_shows_by_winding_can_be_told_as_it_shows_or_as_the_finger_is_stopped_for_it(
    finger: Hand, shows_s: float | None, stopped_s: float | None
) -> None:
    """A brake from the fault on, when nobody could know, is asked for only where nothing was ever told."""
    judge, recording = Judge(finger.names, finger.model), quiet(finger)
    fault = Struck(kind="encoder-stuck", part=2, size=0.0, at_s=0.02)
    if stopped_s is not None:
        recording.of("state", "finger_state")[recording.after(stopped_s) :] = FAULT
    known = [s for s in (shows_s, stopped_s) if s is not None]
    told_s = judge.tells_s(fault, rules.KINDS[fault.kind], shows_s, recording)
    assert told_s == pytest.approx(min(known, default=fault.at_s), abs=2.0 / finger.rate_hz)
    # what shows at once is told by its own rule, whenever the finger stops
    offset = replace(fault, kind="hall-offset")
    assert judge.tells_s(offset, rules.KINDS[offset.kind], 0.02, recording) == 0.02 + rules.SPIKE_S


def test_a_finger_that_stood_in_fault_before_tells_nothing_of_a_second_one(finger: Hand) -> None:
    judge, recording = Judge(finger.names, finger.model), quiet(finger)
    recording.of("state", "finger_state")[recording.after(0.01) :] = FAULT
    fault = Struck(kind="encoder-stuck", part=2, size=0.0, at_s=0.02)
    assert judge.tells_s(fault, rules.KINDS[fault.kind], None, recording) == fault.at_s


@pytest.mark.parametrize(("cause", "asked"), [(Cause.TENDON_BROKEN, 0), (Cause.HALL_STUCK, 1)])
def test_a_finger_that_a_storm_alone_fells_is_excused_and_asked_after_only_where_something_is_wrong(
    whole: Hand, cause: Cause, asked: int
) -> None:
    trial = replace(STORMY, kind="tendon-break")
    judge = Judge(whole.names, whole.model)
    own, told = judge.finger_of(trial), []
    recording = quiet(whole, 1.0)
    begun = recording.after(0.0)
    recording.of("state", "finger_state")[begun:, own] = FAULT
    recording.of("state", "finger_cause")[begun:, own] = int(cause)

    def twin(stands: Recording) -> Verdict:
        def without(until_s: float) -> Recording:
            told.append(until_s)
            return stands

        return judge.judge(trial, recording, (without,), lambda *_: recording)

    assert twin(quiet(whole, 1.0)).right is (cause is Cause.TENDON_BROKEN)
    assert twin(recording).right is not False  # it stood in fault without the break too
    assert told == [recording.time_s[-1]] * 2 * asked
