"""Fault trials: the draw, the exact restore, the judge and the tables."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.faults import Cause
from signals.layout import FloatArray
from signals.modes import FaultKind, MachineState
from signals.names import UnknownName
from sim.options import FAULT_EFFECTS
from telemetry.shm.channel import Channel
from tools.commands.faults import app
from trials import rules
from trials.campaign import Worker, chunks, motions_of, quiet_jobs
from trials.draw import Trial, check_kinds, draw, first_trials
from trials.judge import Judge
from trials.record import KEPT, Recording
from trials.rules import KINDS
from trials.scene import REST_S, SLOTS, Scene
from trials.tally import HEAD, cells, shares, table, tallies
from trials.trial import EVERY, Struck
from trials.verdict import Verdict

FAULT, ACTIVE = int(MachineState.FAULT), int(MachineState.ACTIVE)
MOTIONS = ("hold", "open_close")
RATE_HZ = 3000.0


@pytest.fixture(scope="module")
def hand() -> Hand:
    return read_hand(RunOptions(hand="finger_bench"))


@pytest.fixture(scope="module")
def whole_hand() -> Hand:
    return read_hand(RunOptions(hand="hasy"))


@pytest.fixture(scope="module")
def worker(hand: Hand) -> Worker:
    return Worker(hand)


BREAK = Trial(seed=0, kind="tendon-break", motion="hold", mismatch=0, part=0, moment=0.0, size=0.0)


# --- the draw ---------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**40), hands=st.integers(1, 20))
def test_a_seed_is_one_trial_with_a_part_and_a_size_of_its_kind(
    whole_hand: Hand, seed: int, hands: int
) -> None:
    trial = draw(seed, whole_hand.names, MOTIONS, hands)
    assert trial == draw(seed, whole_hand.names, MOTIONS, hands)
    assert trial is not None  # the reference hand has every part
    rule = KINDS[trial.kind]
    assert 0 <= trial.part < len(whole_hand.names.of(rule.space))
    assert trial.motion in MOTIONS and 0.0 <= trial.moment < 1.0 and 0 <= trial.mismatch < hands
    low, high = rule.sizes or (0.0, 0.0)
    assert low <= abs(trial.size) <= high
    assert rule.signed or trial.size >= 0.0


@given(kinds=st.sets(st.sampled_from(sorted(KINDS)), min_size=1))
def test_asking_for_some_kinds_never_changes_the_trial_of_a_seed(whole_hand: Hand, kinds: set[str]) -> None:
    every = {t.seed: t for t in first_trials(200, 3, whole_hand.names, MOTIONS)}
    some = first_trials(5, 3, whole_hand.names, MOTIONS, kinds=tuple(kinds))
    assert all(t.kind in kinds for t in some)
    assert all(every[t.seed] == t for t in some if t.seed in every)


def test_a_campaign_reaches_every_kind_every_motion_and_every_tendon(whole_hand: Hand) -> None:
    found = first_trials(5000, 0, whole_hand.names, MOTIONS)
    assert {t.kind for t in found} == set(KINDS)
    assert {t.motion for t in found} == set(MOTIONS)
    broken = {t.part for t in found if t.kind == "tendon-break"}
    assert broken == set(range(len(whole_hand.names.tendons)))
    assert {t.size > 0 for t in found if KINDS[t.kind].signed} == {True, False}


def test_a_hand_without_a_wrist_is_never_given_a_fault_of_one(hand: Hand) -> None:
    assert all(t.kind != "wrist-offset" for t in first_trials(500, 0, hand.names, MOTIONS))
    with pytest.raises(ValueError, match="no part"):
        first_trials(1, 0, hand.names, MOTIONS, kinds=("wrist-offset",))


def test_an_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="tendon-break"):
        check_kinds(("tendon-brake",))


def test_every_fault_that_a_plant_knows_is_tried_or_is_none_of_a_running_hand() -> None:
    """Those of a joint's own sensor stop nothing: ``tests/hands/test_joint_sensors.py`` has them."""
    tried = {rule.fault for rule in KINDS.values()}
    of_joints = {kind for kind, effect in FAULT_EFFECTS.items() if effect.space == "joint"}
    assert set(FaultKind) - tried == {FaultKind.NONE, FaultKind.TENDON_OFF} | of_joints


# --- the exact restore ------------------------------------------------------------------------------------


def scene_of(hand: Hand, motion: str, seed: int = 0, mismatch: int = 0) -> Scene:
    return Scene(hand, motion, seed=seed, mismatch=mismatch, channel=Channel.local(SLOTS))


def frames_of(scene: Scene, cycles: int) -> list[bytes]:
    """Every frame without the wall-clock durations in its timing record."""
    kept: dict[str, bytes] = {}

    def see(frames: np.ndarray) -> None:
        for name in ("measurement", "goal", "state", "command", "truth"):
            kept[name] = kept.get(name, b"") + frames[name].tobytes()

    scene.run(cycles, see)
    return list(kept.values())


def test_a_restored_state_goes_on_bit_by_bit_like_the_run_that_was_never_stopped(hand: Hand) -> None:
    scene, straight = scene_of(hand, "open_close"), scene_of(hand, "open_close")
    scene.keep_states()
    place = scene.cycles_of(1.4)
    frames_of(scene, 300)
    scene.go_back(place)
    assert scene.cycle == place
    straight.run(place)
    assert frames_of(scene, 700) == frames_of(straight, 700)


def test_a_trial_repeats_bit_by_bit_whatever_ran_before_it(hand: Hand) -> None:
    first, second = scene_of(hand, "open_close"), scene_of(hand, "open_close", seed=5)
    trial = next(t for t in first_trials(99, 0, hand.names, ("open_close",)) if t.kind == "hall-noise")
    other = replace(trial, kind="tendon-break", seed=trial.seed + 1)
    a = first.run_trial(trial)
    first.run_trial(other)
    b = first.run_trial(trial)
    assert all(np.array_equal(a.columns[k], b.columns[k], equal_nan=True) for k in KEPT)
    # a scene that started from other noise differs before the trial, and so a little within it
    c = second.run_trial(trial)
    assert not np.array_equal(a.of("truth", "tension_n"), c.of("truth", "tension_n"))


def test_without_its_fault_a_trial_is_the_same_up_to_the_fault_and_goes_on_without_one(hand: Hand) -> None:
    scene = scene_of(hand, "open_close")
    trial = next(t for t in first_trials(99, 0, hand.names, ("open_close",)) if t.kind == "tendon-break")
    broken, sound = scene.run_trial(trial), scene.run_trial(trial, with_fault=False)
    before = broken.after(0.0)
    for key in KEPT:
        assert np.array_equal(broken.columns[key][:before], sound.columns[key][:before])
    assert broken.time_s[before] == pytest.approx(1.0 / RATE_HZ, abs=1e-9)
    assert broken.of("truth", "tension_n")[-1, trial.part] == 0.0
    assert sound.of("truth", "tension_n")[:, trial.part].min() > 1.0
    assert (sound.of("state", "finger_state") == ACTIVE).all()


def test_a_slack_is_drawn_on_top_of_what_the_tendon_can_lose(hand: Hand) -> None:
    scene = scene_of(hand, "hold")
    scene.keep_states()
    for t in range(len(hand.names.tendons)):
        trial = Trial(seed=t, kind="tendon-slack", motion="hold", mismatch=0, part=t, moment=0.3, size=0.001)
        fault = scene.fault_of(trial, KINDS["tendon-slack"])
        scene.bus.inject(fault)
        assert scene.elongation_m(t) == 0.0
        scene.bus.inject(replace(fault, value=-0.0011))
        assert scene.elongation_m(t) == pytest.approx(0.0001, abs=1e-9)
        scene.bus.inject(replace(fault, value=0.0011 - fault.value))


# --- the judge --------------------------------------------------------------------------------------------


def calm(hand: Hand, seconds: float = 0.5) -> Recording:
    """A recording of a finger at rest that reacted to something at once."""
    n = round((seconds + 0.03) * RATE_HZ)
    time_s = (np.arange(n) - round(0.03 * RATE_HZ)) / RATE_HZ
    shapes = {"joint": 4, "tendon": 8, "motor": 8, "finger": 1}
    columns = {}
    for record, name in KEPT:
        space = next((s for s in ("joint", "tendon", "motor", "finger") if name.startswith(s)), None)
        if name in ("tension_n", "ref_tension_n"):
            space = "tendon"
        kind = float if name.endswith(("_rad", "_rad_s", "_n", "_nm", "_m")) else int
        shape = (n, shapes[space]) if space else (n,)
        columns[record, name] = np.zeros(shape, dtype=kind)
    columns["truth", "joint_angle_rad"] += 0.1
    columns["truth", "tension_n"] += 20.0
    columns["state", "finger_state"] += np.where(time_s >= 0.005, FAULT, ACTIVE)[:, None]
    return Recording(time_s, columns)


def verdict_of(
    hand: Hand, recording: Recording, kind: str = "tendon-break", part: int = 0, **changes: object
):
    trial = Trial(seed=0, kind=kind, motion="hold", mismatch=0, part=part, moment=0.0, size=0.0)
    judge = Judge(hand.names, hand.model)
    twin = changes.get("twin", recording_without(recording))
    braked = changes.get("braked", recording_without(recording))
    return judge.judge(trial, recording, (lambda _: twin,), lambda *_: braked)  # type: ignore[arg-type,return-value]


def recording_without(recording: Recording) -> Recording:
    """The same times with joints at rest within their range."""
    columns = {k: v.copy() for k, v in recording.columns.items()}
    columns["truth", "joint_angle_rad"][:] = 0.1
    columns["truth", "joint_speed_rad_s"][:] = 0.0
    return Recording(recording.time_s, columns)


def test_a_finger_that_reacts_and_rests_breaks_no_rule(hand: Hand) -> None:
    verdict = verdict_of(hand, calm(hand))
    assert verdict.breaches == []
    assert verdict.react_s == pytest.approx(0.005, abs=1e-6)


@given(peak_n=st.floats(0.0, 400.0), at_s=st.floats(0.001, 0.45), tendon=st.integers(0, 7))
def test_tension_breaks_a_rule_exactly_above_its_limits(
    hand: Hand, peak_n: float, at_s: float, tendon: int
) -> None:
    recording = calm(hand)
    frame = recording.after(at_s)
    recording.of("truth", "tension_n")[frame, tendon] = peak_n
    verdict = verdict_of(hand, recording)
    late = recording.time_s[frame] > rules.FIRST_MOMENT_S + 1e-9
    allowed = rules.TENSION_LATER_N if late else rules.TENSION_NEVER_N
    assert bool(verdict.breaches) == (peak_n > allowed)
    assert all(b.startswith("tension: " + hand.names.tendons[tendon]) for b in verdict.breaches)


def thrown(hand: Hand, joint: int, speed: float, side: int) -> Recording:
    """A joint that reaches its stop at a speed 50 ms after the fault, and stays there."""
    recording = calm(hand)
    m = hand.model[0]
    stop = float(m["joint_max_rad"][joint] if side > 0 else m["joint_min_rad"][joint])
    frame = recording.after(0.05)
    q, qd = recording.of("truth", "joint_angle_rad"), recording.of("truth", "joint_speed_rad_s")
    q[:, joint] = stop - side * 0.05
    q[frame:, joint] = stop + side * 0.001
    qd[frame - 1, joint] = side * speed
    return recording


@given(joint=st.integers(0, 3), speed=st.floats(0.0, 50.0), side=st.sampled_from((-1, 1)))
def test_a_stop_breaks_a_rule_exactly_above_its_speed_unless_the_twin_hits_it_too(
    hand: Hand, joint: int, speed: float, side: int
) -> None:
    recording = thrown(hand, joint, speed, side)
    fast = speed > rules.STOP_SPEED_RAD_S
    assert bool(verdict_of(hand, recording).breaches) == fast
    assert verdict_of(hand, recording, twin=recording).breaches == []
    other_side = thrown(hand, joint, speed, -side)
    assert bool(verdict_of(hand, recording, twin=other_side).breaches) == fast
    helpless = verdict_of(hand, recording, braked=recording)
    assert helpless.breaches == [] and bool(helpless.unavoidable) == fast


@pytest.mark.parametrize("base_can_be_saved", [False, True])
def test_only_a_whip_after_an_unavoidable_stop_may_be_passed_on(hand: Hand, base_can_be_saved: bool) -> None:
    """Joint 0 hits its stop, then joint 2; what saves joint 2 throws joint 3 instead, nothing let go none."""
    both, later = thrown(hand, 0, 12.0, 1), thrown(hand, 2, 8.0, -1)
    shift = round(0.01 * RATE_HZ)
    for name in ("joint_angle_rad", "joint_speed_rad_s"):
        both.of("truth", name)[shift:, 2] = later.of("truth", name)[:-shift, 2]
    calls: list[int] = []

    def braked(brake_a: FloatArray, after_s: float, until_s: float) -> Recording:
        if not np.nan_to_num(brake_a).any():
            return recording_without(both)
        calls.append(len(calls))
        assert until_s > 0.06 and after_s == KINDS["tendon-break"].tell_s
        base = recording_without(both) if base_can_be_saved else thrown(hand, 0, 9.0, 1)
        return base if len(calls) == 1 else thrown(hand, 3, 9.0, 1)

    verdict = Judge(hand.names, hand.model).judge(BREAK, both, (lambda _: recording_without(both),), braked)
    assert len(calls) == 2
    assert len(verdict.breaches) == (2 if base_can_be_saved else 0)
    assert len(verdict.unavoidable) == (0 if base_can_be_saved else 2)


@pytest.mark.parametrize(
    ("instead", "let_be", "excused"), [(2, 0, True), (2, 3, True), (2, None, False), (None, 3, False)]
)
def test_one_of_two_stops_may_be_hit_if_neither_the_brake_nor_letting_all_be_spares_both(
    hand: Hand, instead: int | None, let_be: int | None, excused: bool
) -> None:
    """Joint 0 hits its stop; its brake throws another one instead, and so does letting nothing go."""
    hit = thrown(hand, 0, 12.0, 1)

    def run(joint: int | None) -> Recording:
        return recording_without(hit) if joint is None else thrown(hand, joint, 9.0, 1)

    def braked(brake_a: FloatArray, after_s: float, until_s: float) -> Recording:
        assert np.isfinite(brake_a).all(), "every motor of the finger is on its current or off"
        return run(instead) if brake_a.any() else run(let_be)

    verdict = Judge(hand.names, hand.model).judge(BREAK, hit, (lambda _: recording_without(hit),), braked)
    assert bool(verdict.unavoidable) == excused and bool(verdict.breaches) != excused
    assert tallies([verdict])[0].as_dict()["unavoidable_exchanges"] == excused


@pytest.mark.parametrize("kind", rules.ALL_AT_ONCE)
def test_nobody_brakes_by_motors_that_all_failed_at_once(whole_hand: Hand, kind: str) -> None:
    judge, pose = Judge(whole_hand.names, whole_hand.model), np.zeros(len(whole_hand.names.joints))
    first = Struck(kind="tendon-break", part=0, size=0.0, at_s=0.0)
    assert np.nanmin(judge.brake_of([first], 0, 1, pose)) < 0.0
    one = Struck(kind=kind, part=0, size=0.0, at_s=0.1)
    assert np.nanmin(judge.brake_of([first, one], 0, 1, pose)) < 0.0
    every = Struck(kind=kind, part=EVERY, size=0.0, at_s=0.1)
    assert np.array_equal(judge.brake_of([first, every], 0, 1, pose), np.zeros(len(whole_hand.names.motors)))


@pytest.mark.parametrize(
    ("kind", "part", "state", "after_s", "share"),
    [
        ("encoder-jump", 1, FAULT, 0.4, 0.0),
        ("encoder-jump", 1, FAULT, rules.REACT_S + 0.25 * rules.RAMP_S, 0.75),
        ("encoder-jump", 1, FAULT, 0.005, 1.0),
        ("encoder-jump", 1, ACTIVE, 0.4, 1.0),  # it did not react: that is a breach of its own
        ("hall-noise", 1, FAULT, 0.4, 1.0),  # nothing asks it to react
        ("encoder-jump", -1, FAULT, 0.4, 1.0),  # another finger
    ],
)
def test_a_finger_that_stands_in_fault_is_braked_as_much_as_it_may_still_unwind(
    whole_hand: Hand, kind: str, part: int, state: int, after_s: float, share: float
) -> None:
    """A tendon breaks some time after another fault could be told: what is left of that one's ramp."""
    judge, m = Judge(whole_hand.names, whole_hand.model), whole_hand.model[0]
    recording = calm(whole_hand)
    states = np.full((len(recording.time_s), len(whole_hand.names.fingers)), state)
    recording.columns["state", "finger_state"] = states
    first = Struck(kind=kind, part=part % len(whole_hand.names.motors), size=0.1, at_s=0.0)
    second = Struck(kind="tendon-break", part=0, size=0.0, at_s=after_s)
    full = judge.brake_of([first, second], 0, 1, np.zeros(len(whole_hand.names.joints)))
    kept = judge._within_rules(recording, [(first, 0.0), (second, after_s)], full)
    motors = m["tendon_motor"][m["finger_tendon"][0, : m["finger_n_tendons"][0]]]
    limit_nm = (m["motor_current_limit_a"] * m["motor_torque_constant_nm_a"])[motors]
    expected = np.maximum(share * limit_nm, rules.UNWIND_NM)
    braked = full[motors] < 0.0
    torque_nm = -kept[motors] * m["motor_torque_constant_nm_a"][motors]
    assert torque_nm[braked] == pytest.approx(expected[braked])
    assert np.all(torque_nm[~braked] == 0.0) and braked.any()


def test_shares_count_what_was_asked_for() -> None:
    def verdict(kind: str, **said: object) -> Verdict:
        trial = Trial(seed=0, kind=kind, motion="hold", mismatch=0, part=0, moment=0.0, size=0.0)
        return Verdict(trial=trial, must_react=KINDS[kind].must_react, **said)  # type: ignore[arg-type]

    found = [
        verdict("tendon-break", react_s=0.005, right=True),
        verdict("tendon-break", react_s=0.026, right=True, breaches=["reaction: after 26.0 ms"]),
        verdict("tendon-break", react_s=0.005, right=False),
        verdict("hall-spike", right=True),
        verdict("hall-stuck", shown=False),
    ]
    assert shares(found) == {
        "safe": pytest.approx(0.8),
        "reacted_in_time": pytest.approx(2 / 3),
        "named_right_in_time": pytest.approx(3 / 4),
        "reacted_and_named_in_time": pytest.approx(1 / 3),
    }
    assert set(shares([]).values()) == {None}


def test_a_trial_cut_short_is_the_beginning_of_the_whole_one(hand: Hand) -> None:
    scene = scene_of(hand, "hold")
    trial = Trial(seed=3, kind="hall-spikes", motion="hold", mismatch=0, part=2, moment=0.4, size=300.0)
    whole, short = scene.run_trial(trial), scene.run_trial(trial, until_s=0.1)
    n = len(short.time_s)
    assert short.time_s[-1] == pytest.approx(0.1, abs=1.5 / RATE_HZ)
    for key in KEPT:
        assert np.array_equal(whole.columns[key][:n], short.columns[key])


def test_a_braked_trial_runs_to_its_end_and_the_brake_fades_on_the_ramp(hand: Hand) -> None:
    scene = scene_of(hand, "hold")
    trial = Trial(seed=3, kind="tendon-break", motion="hold", mismatch=0, part=2, moment=0.4, size=0.0)
    brake = np.full(int(hand.model[0]["n_motors"]), np.nan)
    brake[5] = -2.0
    after_s = 0.005
    seen = scene.run_trial(trial, brake=brake, brake_after_s=after_s, until_s=0.2)
    assert seen.time_s[-1] == pytest.approx(0.2, abs=1.5 / RATE_HZ)
    full_nm = 2.0 * float(hand.model[0]["motor_torque_constant_nm_a"][5])
    torque = -seen.of("truth", "motor_torque_nm")[:, 5]
    end_s = after_s + rules.REACT_S
    left = np.clip(1.0 - (seen.time_s - end_s) / rules.RAMP_S, 0.0, 1.0)
    allowed = np.maximum(full_nm * left, rules.UNWIND_NM)
    built, fast = seen.after(end_s - 0.005), seen.after(end_s + 0.010)
    # a command acts two cycles later; a motor that has become fast gives less by its voltage
    assert torque[built:fast] == pytest.approx(np.minimum(full_nm, allowed[built:fast]), abs=0.05)
    assert (torque[built:] <= allowed[built:] + 0.05).all()


def test_a_finger_that_still_unwinds_is_watched_until_that_has_to_be_over(
    hand: Hand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "motor-lost", replace(KINDS["motor-lost"], watch_s=0.05))
    trial = Trial(seed=3, kind="motor-lost", motion="hold", mismatch=0, part=2, moment=0.4, size=0.0)
    seen = scene_of(hand, "hold").run_trial(trial)
    stopped_s = seen.time_s[int((seen.of("state", "finger_state")[:, 0] == FAULT).argmax())]
    assert seen.time_s[-1] - stopped_s == pytest.approx(rules.UNWIND_S + REST_S, abs=0.002)
    assert (seen.of("truth", "motor_torque_nm")[seen.after(0.05)] < -rules.TORQUE_MARGIN_NM).any()


@pytest.mark.parametrize("nods", [False, True])
def test_the_unwinding_of_every_kind_has_to_end(hand: Hand, nods: bool) -> None:
    recording = calm(hand, seconds=rules.UNWIND_S + 0.2)
    late = recording.after(rules.UNWIND_S + 0.1)
    recording.of("truth", "motor_torque_nm")[late:, 5] = -0.5 if nods else 0.0
    assert [b.startswith("torque: ") for b in verdict_of(hand, recording).breaches] == [True] * nods


def test_the_brake_only_unwinds_what_pulls_there_and_touches_no_other_finger(whole_hand: Hand) -> None:
    judge, m = Judge(whole_hand.names, whole_hand.model), whole_hand.model[0]
    part = whole_hand.names.tendons.index("middle_4")
    trial = Trial(seed=0, kind="tendon-break", motion="hold", mismatch=0, part=part, moment=0.0, size=0.0)
    for joint in (whole_hand.names.joints.index("middle_pip"), whole_hand.names.joints.index("ring_pip")):
        for side in (-1, 1):
            brake = judge.brake_a(trial, joint, side)
            for t in range(len(whole_hand.names.tendons)):
                current = brake[m["tendon_motor"][t]]
                own = whole_hand.names.tendons[t].startswith("middle")
                assert own == bool(np.isfinite(current))
                if own and "middle" in whole_hand.names.joints[joint]:
                    assert (current < 0.0) == bool(-side * m["P_tj_m"][t, joint] > 0.0)
                elif own:
                    assert current < 0.0


@given(begun=st.floats(0.2, 3.0), share=st.floats(0.0, 2.0), motor=st.integers(1, 7))
def test_a_motor_may_pull_up_to_its_ramp_and_no_more(
    hand: Hand, begun: float, share: float, motor: int
) -> None:
    recording = calm(hand)
    t = recording.time_s
    torque = recording.of("truth", "motor_torque_nm")
    deadline = rules.REACT_S
    ramp = begun * np.clip(1.0 - (t - deadline) / rules.RAMP_S, 0.0, 1.0)
    torque[:, motor] = np.where(t <= deadline, begun, share * ramp)
    verdict = verdict_of(hand, recording)
    above = (share - 1.0) * ramp[t > deadline].max() > rules.TORQUE_MARGIN_NM
    assert bool(verdict.breaches) == above
    held = calm(hand)
    held.of("truth", "motor_torque_nm")[:, motor] = begun
    assert any(hand.names.motors[motor] in b for b in verdict_of(hand, held).breaches)


@given(torque_nm=st.floats(0.1, 3.0), wound_m=st.floats(0.0, 0.006), whose=st.sampled_from((0, 3)))
def test_only_the_broken_tendons_motor_may_probe_and_only_within_its_bounds(
    hand: Hand, torque_nm: float, wound_m: float, whose: int
) -> None:
    recording = calm(hand)
    t = recording.time_s
    probing = (t > 0.005) & (t < 0.2)
    recording.of("truth", "motor_torque_nm")[probing, whose] = torque_nm
    angle = np.clip((t - 0.005) / 0.195, 0.0, 1.0) * wound_m / 0.010
    recording.of("truth", "motor_angle_rad")[:, whose] = angle
    breaches = verdict_of(hand, recording).breaches
    bounded = torque_nm <= rules.PROBE_NM + rules.TORQUE_MARGIN_NM and wound_m <= rules.PROBE_M + 1e-5
    if whose == 0 and abs(wound_m - rules.PROBE_M) > 2e-5:
        assert bool(breaches) == (not bounded)
    elif whose != 0:
        assert breaches


def test_a_probe_has_to_end(hand: Hand) -> None:
    recording = calm(hand, 0.8)
    recording.of("truth", "motor_torque_nm")[recording.time_s > 0.005, 0] = 0.5
    assert any("probe" in b for b in verdict_of(hand, recording).breaches)


@given(torque_nm=st.floats(0.0, 3.0))
def test_unwinding_is_bounded_too(hand: Hand, torque_nm: float) -> None:
    recording = calm(hand)
    recording.of("truth", "motor_torque_nm")[recording.time_s > 0.2, 4] = -torque_nm
    allowed = torque_nm <= rules.UNWIND_NM + rules.TORQUE_MARGIN_NM
    assert bool(verdict_of(hand, recording).breaches) == (not allowed)


@given(delay_s=st.floats(0.0, 0.2))
def test_a_late_reaction_breaks_a_rule_and_none_at_all_does_too(hand: Hand, delay_s: float) -> None:
    recording = calm(hand)
    states = recording.of("state", "finger_state")
    states[:, 0] = np.where(recording.time_s >= delay_s, FAULT, ACTIVE)
    verdict = verdict_of(hand, recording)
    late = verdict.react_s is not None and verdict.react_s > rules.REACT_S
    assert bool(verdict.breaches) == late
    assert verdict.react_s == pytest.approx(delay_s, abs=1.1 / RATE_HZ)
    states[:] = ACTIVE
    assert any(b.startswith("reaction") for b in verdict_of(hand, recording).breaches)
    # a kind that may go on needs none
    assert verdict_of(hand, recording, kind="hall-noise").breaches == []


def named(hand: Hand, cause: Cause, part: int, at_s: float, kind: str, of: int = 0):
    recording = calm(hand)
    later = recording.time_s >= at_s
    recording.of("state", "finger_cause")[later, 0] = int(cause)
    recording.of("state", "finger_cause_part")[later, 0] = part
    return verdict_of(hand, recording, kind=kind, part=of)


@given(part=st.integers(0, 7), at_s=st.floats(0.0, 0.45), cause=st.sampled_from(sorted(Cause)))
def test_a_name_is_right_only_with_its_cause_its_part_and_in_time(
    hand: Hand, part: int, at_s: float, cause: Cause
) -> None:
    verdict = named(hand, cause, part, at_s, "tendon-break", of=2)
    in_time = verdict.name_s is not None and verdict.name_s <= KINDS["tendon-break"].name_s
    assert verdict.right == (cause is Cause.TENDON_BROKEN and part == 2 and in_time)
    if verdict.right:
        assert verdict.name_s == pytest.approx(at_s, abs=1.1 / RATE_HZ)


def test_the_residual_may_blame_the_antagonist_and_nothing_else_may(hand: Hand) -> None:
    judge = Judge(hand.names, hand.model)
    for t in range(8):
        # eq. 5.5: tendons 1/4, 2/3, 5/6, 7/8 pull against each other
        partner = {0: 3, 1: 2, 4: 5, 6: 7}.get(t, {3: 0, 2: 1, 5: 4, 7: 6}.get(t, -1))
        assert judge.partners(t) == {partner}
        assert named(hand, Cause.RESIDUAL_TOO_LARGE, partner, 0.06, "tendon-slip", of=t).right
        assert not named(hand, Cause.TENDON_BROKEN, partner, 0.06, "tendon-break", of=t).right


def test_a_stuck_sensor_shows_only_once_its_motor_has_wound_a_millimetre(hand: Hand) -> None:
    recording = calm(hand)
    verdict = verdict_of(hand, recording, kind="hall-stuck")
    assert not verdict.shown and verdict.right is None
    speed = 0.5  # rad/s at a spool of 10 mm: a millimetre in 200 ms
    angle = recording.of("truth", "motor_angle_rad")
    angle[:, 0] = speed * np.maximum(recording.time_s, 0.0)
    states = recording.of("state", "finger_state")
    states[:, 0] = np.where(recording.time_s >= 0.21, FAULT, ACTIVE)
    verdict = verdict_of(hand, recording, kind="hall-stuck")
    assert verdict.shown and verdict.react_s == pytest.approx(0.010, abs=1.1 / RATE_HZ)


def test_a_neighbour_that_stops_breaks_a_rule_unless_the_cause_is_the_hands(whole_hand: Hand) -> None:
    worker = Worker(whole_hand)
    trial = next(t for t in first_trials(400, 0, whole_hand.names, ("hold",)) if t.kind == "hall-noise")
    recording = worker.record(trial)
    judge = Judge(whole_hand.names, whole_hand.model)
    own = judge.finger_of(trial)
    assert own is not None
    neighbour = (own + 1) % len(whole_hand.names.fingers)
    recording.of("state", "finger_state")[-9:, neighbour] = FAULT
    verdict = judge.judge(trial, recording, (lambda: recording,), lambda *_: recording)
    assert [b for b in verdict.breaches if b.startswith("others")]
    axis = replace(trial, kind="wrist-offset", part=1)
    verdict = judge.judge(axis, recording, (lambda: recording,), lambda *_: recording)
    assert not [b for b in verdict.breaches if b.startswith("others")]


# --- whole trials -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(8))
def test_a_broken_tendon_is_made_safe_and_named(worker: Worker, part: int) -> None:
    trial = Trial(
        seed=part, kind="tendon-break", motion="open_close", mismatch=0, part=part, moment=0.4, size=0.0
    )
    verdict = worker.judged(trial)
    assert verdict.right
    assert verdict.react_s is not None and verdict.react_s <= rules.REACT_S
    assert [b for b in verdict.breaches if not b.startswith("stop")] == []


def test_only_motions_that_leave_all_tendons_on_are_tried(hand: Hand, whole_hand: Hand) -> None:
    assert "constant_speed" not in motions_of(hand)
    assert "wrist_pitch" not in motions_of(hand) and "wrist_pitch" in motions_of(whole_hand)


def test_chunks_hold_every_trial_once_and_keep_one_motion_together(whole_hand: Hand) -> None:
    found = first_trials(300, 0, whole_hand.names, motions_of(whole_hand), hands=3)
    jobs = chunks(found, 7)
    assert sorted(t.seed for job in jobs for t in job) == sorted(t.seed for t in found)  # type: ignore[union-attr]
    for job in jobs:
        assert len(job) <= 7 and len({(t.motion, t.mismatch) for t in job}) == 1  # type: ignore[arg-type,union-attr]


@pytest.mark.sample(1)
@pytest.mark.parametrize("base", range(3))
def test_a_run_that_is_stopped_has_tried_all_motions_alike(whole_hand: Hand, base: int) -> None:
    motions = motions_of(whole_hand)
    jobs = chunks(first_trials(1200, base, whole_hand.names, motions), 6)
    firsts = [job[0].seed for job in jobs]  # type: ignore[index]
    assert firsts == sorted(firsts)
    done = [t.motion for job in jobs[: len(jobs) // 4] for t in job]  # type: ignore[union-attr]
    assert set(done) == set(motions)
    for motion in motions:
        assert 0.5 < done.count(motion) * len(motions) / len(done) < 1.5


def test_table_and_map_count_what_the_verdicts_say(hand: Hand, worker: Worker) -> None:
    found = first_trials(12, 1, hand.names, ("hold",), kinds=("tendon-break", "motor-lost", "hall-spike"))
    verdicts = [worker.judged(t) for t in found]
    figures = {t.kind: t.as_dict() for t in tallies(verdicts)}
    assert sum(f["trials"] for f in figures.values()) == 12
    for kind, f in figures.items():
        own = [v for v in verdicts if v.trial.kind == kind]
        assert f["breaches"] == sum(bool(v.breaches) for v in own)
        assert f["misnamed_seeds"] == sorted(v.trial.seed for v in own if v.right is False)
    lines = table(verdicts)
    assert len(lines) == 1 + len(figures) and lines[0].split()[0] == HEAD[0]
    kinds, share, count = cells(verdicts, ("hold", "open_close"))
    assert count.sum() == 12 and np.isnan(share[:, 1]).all() and (count[:, 0] > 0).all()
    assert kinds == [k for k in KINDS if k in figures]


def test_the_command_says_all_in_json_and_the_same_again_for_one_seed(tmp_path) -> None:
    run = CliRunner()
    asked = ["finger_bench", "--kinds", "motor-lost", "--motions", "hold", "--trials", "4"]
    result = run.invoke(app, [*asked, "--workers", "1", "--json", "--out", str(tmp_path)])
    report = json.loads(result.stdout)
    assert report["trials"] == 4 and report["rules"]["tension_never_n"] == 210.0
    assert (tmp_path / "faults.json").exists() and (tmp_path / "faults.png").stat().st_size > 10_000
    assert result.exit_code == int(bool(report["breaches"]))
    for told in report["verdicts"][:2]:
        again = ["finger_bench", "--motions", "hold", "--trial", str(told["seed"]), "--json"]
        verdict = json.loads(run.invoke(app, again).stdout)["verdict"]
        assert verdict == told


def test_the_command_refuses_what_the_hand_cannot_do() -> None:
    run = CliRunner()
    result = run.invoke(app, ["finger_bench", "--motions", "wrist_pitch"])
    assert isinstance(result.exception, UnknownName)
    result = run.invoke(app, ["finger_bench", "--kinds", "tendon-breik"])
    assert isinstance(result.exception, UnknownName) and "tendon-break" in str(result.exception)


def test_fault_free_motion_of_drawn_hands_latches_nothing(hand: Hand) -> None:
    run = CliRunner()
    asked = ["finger_bench", "--none", "--hands", "2", "--minutes", "0.3", "--workers", "1", "--json"]
    result = run.invoke(app, asked)
    report = json.loads(result.stdout)
    assert report["false_alarms"] == 0 and result.exit_code == 0
    assert report["minutes"] == pytest.approx(0.3)
    assert {r["mismatch"] for r in report["runs"]} == {1, 2}
    assert {r["motion"] for r in report["runs"]} == set(motions_of(hand))


def test_another_seed_draws_other_hands_for_fault_free_motion(hand: Hand) -> None:
    drawn = [{job.mismatch for job in quiet_jobs(motions_of(hand), 20, 30.0, seed)} for seed in range(3)]
    assert drawn[0] == set(range(1, 21)) and all(len(hands) == 20 for hands in drawn)
    assert not drawn[0] & drawn[1] and not drawn[1] & drawn[2]
