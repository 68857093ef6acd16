"""Second faults, touches and storms: drawn from the seed, repeated exactly, judged at their limits."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from runtime.commands.faults import app
from runtime.faults import rules
from runtime.faults.campaign import Worker
from runtime.faults.campaigns import CAMPAIGNS, STORM_KINDS, draws_of
from runtime.faults.client import Client, ClientBench, Storm
from runtime.faults.draw import first_trials
from runtime.faults.judge import Judge
from runtime.faults.limits import Limits
from runtime.faults.notes import HEAD, NOTES, noted
from runtime.faults.record import KEPT, Recording
from runtime.faults.rules import KINDS
from runtime.faults.storm import STORMS, storm_of
from runtime.faults.trial import CLIENT, EVERY, Struck, Touch, Trial
from runtime.faults.verdict import Verdict
from runtime.options import RunOptions
from runtime.setup import Hand, read_hand
from signals.choices import WrongChoice
from signals.faults import Cause
from signals.modes import MachineState
from signals.records import new_frame

FAULT, ACTIVE = int(MachineState.FAULT), int(MachineState.ACTIVE)
MOTIONS = ("hold", "open_close")
HARMLESS = ("expired", "in_fault", "not_armed", "busy", "no_lease")
"""Refusals that a storm may meet: of its moment, never of a value."""


@pytest.fixture(scope="module")
def finger() -> Hand:
    return read_hand(RunOptions(hand="finger_bench"))


@pytest.fixture(scope="module")
def whole() -> Hand:
    return read_hand(RunOptions(hand="hasy"))


@pytest.fixture(scope="module")
def worker(finger: Hand) -> Worker:
    return Worker(finger)


# --- the draw ---------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 2**40))
def test_a_second_fault_follows_in_time_in_another_part_of_a_related_finger(whole: Hand, seed: int) -> None:
    trial = draws_of("double", whole, MOTIONS)(seed)
    assert trial == draws_of("double", whole, MOTIONS)(seed)
    if trial is None or trial.second is None:
        assert trial is None or (trial.storm and trial.motion == CLIENT)
        return
    second = trial.second
    assert 0.0 <= second.at_s <= rules.SECOND_S
    assert (second.kind, second.part) != (trial.kind, trial.part)
    if second.part == EVERY:
        assert second.kind in rules.ALL_AT_ONCE
    else:
        assert second.part in range(len(whole.names.of(KINDS[second.kind].space)))


def test_doubles_reach_same_finger_other_finger_hand_and_clients(whole: Hand) -> None:
    judge, seen = Judge(whole.names, whole.model), set()
    draws = draws_of("double", whole, MOTIONS)
    for trial in filter(None, map(draws, range(400))):
        fingers = [judge.finger_of(fault) for fault in trial.faults]
        relation = "one" if len(fingers) == 1 else "hand" if fingers[1] is None else fingers[0] == fingers[1]
        seen.add((relation, bool(trial.storm)))
    assert seen == {("one", True), *((r, c) for r in ("hand", True, False) for c in (False, True))}


@given(seed=st.integers(0, 2**40))
def test_touches_stay_within_what_is_no_fault(whole: Hand, seed: int) -> None:
    trial = draws_of("touch", whole, MOTIONS)(seed)
    assert trial is not None and trial.touch is not None
    touch = trial.touch
    assert rules.TOUCH_S[0] <= touch.seconds <= rules.TOUCH_S[1] and 0.0 <= touch.before_s <= touch.seconds
    assert np.linalg.norm(touch.direction) == pytest.approx(1.0)
    if touch.shape in ("push", "jab"):
        assert rules.TOUCH_N[0] <= touch.force_n <= rules.TOUCH_N[1]
    else:
        assert touch.stiffness_n_m > 0.0 and touch.force_n == 0.0


@pytest.mark.parametrize("campaign", CAMPAIGNS)
def test_a_verdict_comes_back_from_its_json(whole: Hand, campaign: str) -> None:
    for trial in first_trials(30, 1, whole.names, MOTIONS, draws=draws_of(campaign, whole, MOTIONS)):
        verdict = Verdict(trial=trial, breaches=["stop: x"], name_s=0.1, right=True)
        assert Verdict.of_dict(json.loads(json.dumps(verdict.as_dict()))) == verdict


# --- storms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORMS)
@pytest.mark.parametrize("hand", ["finger", "whole"])
def test_a_storm_asks_only_for_what_is_legal(name: str, hand: str, request: pytest.FixtureRequest) -> None:
    bench = ClientBench(request.getfixturevalue(hand))
    bench.start()
    for seed in range(3):
        _, _, asked = storm_of(name, seed, bench.hand)
        storm = Storm(bench, asked, lambda _: None)
        storm.run(bench.cycles_of(0.3))
        codes = {text.partition(":")[0] for text in storm.client.refused}
        assert codes <= set(HARMLESS), storm.client.refused[:3]
        storm.client.__exit__()
        bench.run(bench.cycles_of(0.02))


@pytest.mark.parametrize("campaign", ["storms", "touch", "double"])
def test_a_trial_repeats_bit_by_bit_whatever_ran_before_it(worker: Worker, campaign: str) -> None:
    draws = draws_of(campaign, worker.hand, ("hold",))
    one, other = first_trials(2, 5, worker.hand.names, ("hold",), draws=draws)
    a = worker.record(one)
    worker.record(other)
    b = worker.record(one)
    assert all(np.array_equal(a.columns[k], b.columns[k], equal_nan=True) for k in KEPT)


def test_a_client_that_falls_silent_ends_in_holding(finger: Hand) -> None:
    bench = ClientBench(finger)
    bench.start()
    bench.run(1)
    client = Client(bench).__enter__()
    client.ask("goal", joints={"index_pip": 0.1})
    bench.run(bench.cycles_of(0.05))
    assert bench.rig.views["state"]["machine"][0] == ACTIVE
    bench.run(bench.cycles_of(float(finger.model["command_age_s"][0])))
    assert bench.rig.views["state"]["machine"][0] == MachineState.HOLDING


# --- touch ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["push", "jab"])
def test_a_force_acts_as_long_as_it_is_drawn_and_no_longer(worker: Worker, shape: str) -> None:
    touch = Touch(finger=0, shape=shape, force_n=5.0, seconds=0.05, direction=(0.0, 0.0, -1.0))
    trial = Trial(seed=1, kind=shape, motion="hold", mismatch=0, part=0, moment=0.2, size=5.0, touch=touch)
    touched = worker.record(trial)
    calm = worker.record(replace(trial, touch=replace(touch, force_n=0.0)))
    apart = abs(touched.of("truth", "joint_angle_rad") - calm.of("truth", "joint_angle_rad")).max(axis=1)
    assert apart[: touched.after(0.0)].max() == 0.0
    assert apart[touched.after(0.0) : touched.after(0.05)].max() > 0.01
    assert not worker.bench("hold", 0).bus.plant["tip_force_n"].any()


def test_an_object_is_met_and_taken_away_again(worker: Worker) -> None:
    touch = Touch(
        finger=0, shape="stiff", force_n=0.0, seconds=0.3, direction=(1.0, 0.0, 0.0), stiffness_n_m=5e3
    )
    bench = worker.bench("open_close", 0)
    before = bench.bus.model["object_radius_m"].copy()
    for moment in (0.1, 0.3, 0.6):
        trial = Trial(
            seed=1,
            kind="stiff",
            motion="open_close",
            mismatch=0,
            part=0,
            moment=moment,
            size=0.0,
            touch=touch,
        )
        met = worker.record(trial)
        free = worker.record(replace(trial, touch=replace(touch, stiffness_n_m=0.0)))
        assert not np.array_equal(met.of("truth", "joint_angle_rad"), free.of("truth", "joint_angle_rad"))
        assert bench.bus.plant["contact_on"] == 0 and bench.bus.model["object_radius_m"] == before


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


def whole_verdict(hand: Hand, recording: Recording, trial: Trial = STORMY, held: Recording | None = None):
    return Limits(hand.names, hand.model).judge_whole(trial, recording, lambda: held or quiet(hand))


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


# --- the judge of two faults ------------------------------------------------------------------------------


def two_faults(hand: Hand, second: Struck, names: dict[int, tuple[Cause, int]]) -> Verdict:
    """A break of the index at 0, another fault later; fingers stop at once and say what they are told."""
    first = Trial(
        seed=0, kind="tendon-break", motion="hold", mismatch=0, part=0, moment=0.0, size=0.0, second=second
    )
    recording = quiet(hand, 1.0)
    own = Judge(hand.names, hand.model).finger_of(first)
    for f, (cause, part) in names.items():
        begun = recording.after(0.0 if f == own else second.at_s)
        recording.of("state", "finger_state")[begun:, f] = FAULT
        recording.of("state", "finger_cause")[begun:, f] = int(cause)
        recording.of("state", "finger_cause_part")[begun:, f] = part
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


@pytest.mark.parametrize("silent", [None, 2])
def test_a_fault_of_all_motors_stops_every_finger_with_a_right_name(whole: Hand, silent: int | None) -> None:
    second = Struck(kind="motor-reset", part=EVERY, size=0.0, at_s=0.1)
    own = int(whole.model["tendon_finger"][0, 0])
    names = {f: (Cause.MOTOR_RESET, 0) for f in range(len(whole.names.fingers)) if f not in (own, silent)}
    verdict = two_faults(whole, second, {own: (Cause.TENDON_BROKEN, 0)} | names)
    assert verdict.right is (silent is None)
    assert bool(verdict.breaches) == (silent is not None)


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


# --- what a folder holds ----------------------------------------------------------------------------------


def test_a_campaign_goes_on_where_it_was_killed(tmp_path: Path) -> None:
    run, words = CliRunner(), ["finger_bench", "--touch", "--motions", "hold", "--workers", "1", "--json"]
    asked = [*words, "--out", str(tmp_path), "--trials"]
    first = json.loads(run.invoke(app, [*asked, "4"]).stdout)
    notes = tmp_path / NOTES
    lines = notes.read_bytes().splitlines(keepends=True)
    marked = json.loads(lines[0]) | {"tension_n": -1.0}  # what is noted is taken as it stands
    notes.write_bytes(json.dumps(marked).encode() + b"\n" + lines[1] + lines[2][: len(lines[2]) // 2])
    second = json.loads(run.invoke(app, [*asked, "5"]).stdout)
    assert [v["seed"] for v in second["verdicts"][:4]] == [v["seed"] for v in first["verdicts"]]
    assert second["trials"] == 5 and len(notes.read_text().splitlines()) == 5
    by_seed = {v["seed"]: v for v in second["verdicts"]}
    assert by_seed[marked["seed"]]["tension_n"] == -1.0
    assert [v for v in first["verdicts"] if v["seed"] != marked["seed"]] == [
        v for v in second["verdicts"][:4] if v["seed"] != marked["seed"]
    ]
    other = run.invoke(app, [*words, "--out", str(tmp_path), "--seed", "1"])
    assert isinstance(other.exception, WrongChoice) and "seed was 0, now 1" in str(other.exception)


@pytest.mark.parametrize("line", ["7", "{}", '{"seed": 1}', "{", '{"seed": 1, "kind": []}'])
def test_a_line_that_is_no_result_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / HEAD).write_text("{}")
    (tmp_path / NOTES).write_text(line + "\n")
    with pytest.raises(WrongChoice, match="line 1"):
        noted(tmp_path, {})


def test_two_campaigns_at_once_are_refused() -> None:
    result = CliRunner().invoke(app, ["finger_bench", "--double", "--storms"])
    assert isinstance(result.exception, WrongChoice) and "--double and --storms" in str(result.exception)
