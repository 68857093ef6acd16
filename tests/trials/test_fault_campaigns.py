"""Second faults, touches and storms: drawn from the seed, repeated exactly, kept in a folder."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.choices import WrongChoice
from signals.modes import MachineState
from signals.records import COMMAND, MEASUREMENT, new
from tools.commands.faults import app
from trials import client, rules
from trials.campaign import Worker
from trials.campaigns import CAMPAIGNS, draws_of
from trials.client import Client, CommandedScene, Storm
from trials.draw import first_trials
from trials.judge import Judge
from trials.notes import HEAD, NOTES, noted
from trials.record import KEPT
from trials.rules import KINDS
from trials.storm import STORMS, storm_of
from trials.touch import Touching
from trials.trial import CLIENT, EVERY, OTHER_NOISE, Touch, Trial
from trials.verdict import Verdict

MOTIONS = ("hold", "open_close")
HARMLESS = ("expired", "in_fault", "not_armed", "busy", "no_lease")
"""Refusals that a storm may meet: of its moment, never of a value."""


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


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", STORMS)
@pytest.mark.parametrize("hand", ["finger", "whole"])
def test_a_storm_asks_only_for_what_is_legal(name: str, hand: str, request: pytest.FixtureRequest) -> None:
    scene = CommandedScene(request.getfixturevalue(hand))
    scene.start()
    for seed in range(3):
        _, _, asked = storm_of(name, seed, scene.hand)
        storm = Storm(scene, asked, lambda _: None)
        storm.run(scene.cycles_of(0.3))
        codes = {text.partition(":")[0] for text in storm.client.refused}
        assert codes <= set(HARMLESS), storm.client.refused[:3]
        storm.client.__exit__()
        scene.run(scene.cycles_of(0.02))


@pytest.mark.parametrize("campaign", ["storms", "touch", "double"])
def test_a_trial_repeats_bit_by_bit_whatever_ran_before_it(worker: Worker, campaign: str) -> None:
    draws = draws_of(campaign, worker.hand, ("hold",))
    one, other = first_trials(2, 5, worker.hand.names, ("hold",), draws=draws)
    a = worker.record(one)
    worker.record(other)
    b = worker.record(one)
    assert all(np.array_equal(a.columns[k], b.columns[k], equal_nan=True) for k in KEPT)


def test_a_client_that_falls_silent_ends_in_holding(finger: Hand) -> None:
    scene = CommandedScene(finger)
    scene.start()
    scene.run(1)
    asking = Client(scene).__enter__()
    asking.ask("goal", joints={"index_pip": 0.1})
    scene.run(scene.cycles_of(0.05))
    assert scene.rig.views["state"]["machine"][0] == MachineState.ACTIVE
    scene.run(scene.cycles_of(float(finger.model["command_age_s"][0])))
    assert scene.rig.views["state"]["machine"][0] == MachineState.HOLDING


# --- touch ------------------------------------------------------------------------------------------------


def test_twins_with_other_noise_keep_the_clients_storm(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = next(
        t for s in range(1000) if (t := draws_of("double", worker.hand, ("hold",))(s)) is not None and t.storm
    )
    asked = []
    drawn = client.storm_of

    def noted(name: str, seed: int, hand: Hand) -> tuple[float, float, list[Any]]:
        asked.append(drawn(name, seed, hand))
        return asked[-1]

    monkeypatch.setattr(client, "storm_of", noted)
    own, other = (worker.twin(replace(trial, seed=trial.seed + k * OTHER_NOISE), 0.1) for k in (0, 3))
    assert len(asked) == 2 and repr(asked[0]) == repr(asked[1])
    assert not np.array_equal(own.of("state", "tension_n"), other.of("state", "tension_n"))


@pytest.mark.parametrize("shape", ["push", "jab"])
def test_a_force_acts_as_long_as_it_is_drawn_and_no_longer(worker: Worker, shape: str) -> None:
    touch = Touch(finger=0, shape=shape, force_n=5.0, seconds=0.05, direction=(0.0, 0.0, -1.0))
    trial = Trial(seed=1, kind=shape, motion="hold", mismatch=0, part=0, moment=0.2, size=5.0, touch=touch)
    touched = worker.record(trial)
    calm = worker.record(replace(trial, touch=replace(touch, force_n=0.0)))
    apart = abs(touched.of("truth", "joint_angle_rad") - calm.of("truth", "joint_angle_rad")).max(axis=1)
    assert apart[: touched.after(0.0)].max() == 0.0
    assert apart[touched.after(0.0) : touched.after(0.05)].max() > 0.01
    assert not worker.scene("hold", 0).bus.plant["tip_force_n"].any()


def test_an_object_is_met_and_taken_away_again(worker: Worker) -> None:
    touch = Touch(
        finger=0, shape="stiff", force_n=0.0, seconds=0.3, direction=(1.0, 0.0, 0.0), stiffness_n_m=5e3
    )
    scene = worker.scene("open_close", 0)
    before = scene.bus.model["object_radius_m"].copy()
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
        assert scene.bus.plant["contact_on"] == 0 and scene.bus.model["object_radius_m"] == before


def test_a_hand_that_holds_an_object_meets_no_other_one(worker: Worker) -> None:
    touch = Touch(
        finger=0, shape="soft", force_n=0.0, seconds=0.3, direction=(1.0, 0.0, 0.0), stiffness_n_m=500.0
    )
    bus, command, measurement = worker.scene("hold", 0).bus, new(COMMAND), new(MEASUREMENT)
    for held in (0, 1):
        bus.plant["contact_on"] = held
        bus.exchange(command, measurement, 1_000_000)
        before, touching = bus.model.copy(), Touching(bus, touch, 1_000_000)
        touching.exchange(command, measurement, 2_000_000)
        assert np.array_equal(bus.model["object_center_m"], before["object_center_m"]) == bool(held)
        touching.exchange(command, measurement, 400_000_000)
        assert bus.model.tobytes() == before.tobytes() and bus.plant["contact_on"] == held


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


def test_one_trial_without_faults_is_refused() -> None:
    result = CliRunner().invoke(app, ["finger_bench", "--none", "--trial", "5"])
    assert isinstance(result.exception, WrongChoice) and "--trial and --none" in str(result.exception)


def test_kinds_without_faults_are_refused() -> None:
    result = CliRunner().invoke(app, ["finger_bench", "--none", "--kinds", "hall-stuck"])
    assert isinstance(result.exception, WrongChoice) and "--kinds and --none" in str(result.exception)


@pytest.mark.parametrize("campaign", [[], ["--double"], ["--touch"], ["--storms"]])
def test_minutes_of_trials_are_refused(campaign: list[str]) -> None:
    result = CliRunner().invoke(app, ["finger_bench", *campaign, "--minutes", "3"])
    assert isinstance(result.exception, WrongChoice) and "--minutes without --none" in str(result.exception)
