"""The odometer: what counts as way; no batch, run, kill or second process loses any; who is told when."""

from __future__ import annotations

import fcntl
import json
import math
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hand.file import parse_hand
from hand.file.life import Life
from hand.hand import Hand
from hand.options import RunOptions
from runtime.processes.keeping import Keeping
from runtime.setup import read_hand
from signals.records import FRAME, RecordArray
from telemetry.record.odometer import GAP_S, STEP_NS, TENDON_LOADS_N, TENDON_PLAY_M, Odometer, Ways
from telemetry.record.odometer_file import OdometerError, add, fresh, path_of, read, replace_part, worn
from telemetry.record.wear import SAVE_NS, Wear
from tests.rigs.mutations import TEXTS, refusal
from tools.commands.odometer import app

MS = 1_000_000
HAND = read_hand(RunOptions(hand="finger_bench"))
RADIUS_M = abs(float(HAND.model["spool_radius_m"][0, 0]))
HOT_DEGC = 100.0


def frames(seconds: float, angle: Any = None, **state: Any) -> RecordArray:
    """Frames of a time at the hand's rate; ``angle`` gives all motors' angle [rad] at a time [s]."""
    found = np.zeros(round(seconds * HAND.rate_hz), dtype=FRAME)
    found["state"]["time_ns"] = 10**12 + np.arange(len(found)) * round(1e9 / HAND.rate_hz)
    if angle is not None:
        found["state"]["motor_angle_rad"] = np.vectorize(angle)(np.arange(len(found)) / HAND.rate_hz)[:, None]
    for name, value in state.items():
        found["state"][name] = value
    return found


def counted(*batches: RecordArray) -> dict[str, Any]:
    odometer = Odometer(HAND.names, HAND.model, HOT_DEGC)
    for batch in batches:
        odometer.see(batch)
    return odometer.take()


# --- what is counted --------------------------------------------------------------------------------------


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=50))
def test_what_stays_within_the_play_is_no_way(noise: list[float]) -> None:
    ways = Ways(1, 0.5)
    ways.see(np.array([0.0]), math.inf)
    for x in noise:
        ways.see(np.array([0.5 * x]), math.inf)
    assert ways.way[0] == 0.0 and ways.reversals[0] == 0


@given(st.lists(st.floats(2.0, 9.0), min_size=1, max_size=20), st.floats(0.0, 0.5))
def test_a_way_to_and_fro_is_counted_but_for_the_play_at_each_turn(legs: list[float], play: float) -> None:
    """Backlash takes half its width at the first turn and the whole of it at every other one."""
    ways, place, sign = Ways(1, play), 0.0, 1.0
    ways.see(np.array([place]), math.inf)
    for leg in legs:
        for _ in range(10):
            place += sign * leg / 10.0
            ways.see(np.array([place]), math.inf)
        sign = -sign
    assert ways.way[0] == pytest.approx(sum(legs) - play * (2 * len(legs) - 1))
    assert ways.reversals[0] == len(legs) - 1


@pytest.mark.parametrize("leap", [7.0, -7.0, math.nan, math.inf])
def test_a_leap_that_no_part_can_make_is_no_way_and_what_follows_is(leap: float) -> None:
    ways = Ways(1, 0.1)
    for x in (0.0, 1.0, 2.0, leap, leap, 2.0, 3.0):
        ways.see(np.array([x]), 1.5)
    followed = 1.0 if not math.isfinite(leap) else 0.9  # a leap begins in the middle of the play
    assert ways.way[0] == pytest.approx(1.9 + followed)
    assert ways.reversals[0] == 0


def test_a_motor_that_winds_to_and_fro_makes_way_on_every_spool() -> None:
    did = counted(frames(2.0, lambda t: 0.5 * math.sin(2.0 * math.pi * t)))
    for t, tendon in enumerate(HAND.names.tendons):
        radius = abs(float(HAND.model["spool_radius_m"][0, t]))
        way = 2.0 * 4.0 * 0.5 * radius - (1 + 2 * 4) * TENDON_PLAY_M
        last = 1e-9 * STEP_NS * 0.5 * 2.0 * math.pi * radius  # behind the last sample
        assert did["tendons"][tendon]["travel_m"] == pytest.approx(way, abs=1.2 * last)
        assert did["tendons"][tendon]["reversals"] == 4
    assert did["seconds"] == pytest.approx(2.0, abs=0.02)


@given(cuts=st.lists(st.integers(0, 1500), max_size=6))
def test_batches_do_not_matter(cuts: list[int]) -> None:
    whole = MOVED
    parts = np.split(whole, sorted(cuts))
    assert counted(*parts) == counted(whole)


MOVED = frames(0.5, lambda t: 3.0 * math.sin(4.0 * math.pi * t), tension_n=15.0)
"""One period of a motion."""


def test_time_is_shared_out_by_load_and_heat_and_a_gap_is_not_stretched() -> None:
    early = frames(1.0, tension_n=15.0, joint_torque_nm=-0.3, winding_temperature_degc=HOT_DEGC + 1.0)
    late = frames(1.0, tension_n=150.0, joint_torque_nm=0.3)
    late["state"]["time_ns"] += 60 * 1000 * MS
    did = counted(early, late)
    tendon, joint = (next(iter(did[kind].values())) for kind in ("tendons", "joints"))
    assert did["seconds"] == pytest.approx(2.0 - 2e-9 * STEP_NS + GAP_S, abs=1e-3)
    assert sum(tendon["load_s"]) == pytest.approx(did["seconds"]) == pytest.approx(sum(joint["load_s"]))
    assert tendon["load_s"][TENDON_LOADS_N.index(20.0)] == pytest.approx(1.0, abs=0.02)
    assert tendon["load_s"][TENDON_LOADS_N.index(200.0)] == pytest.approx(1.0 + GAP_S, abs=0.02)
    assert max(joint["load_s"]) == pytest.approx(did["seconds"]), "a torque has a size, no sign"
    assert tendon["hot_s"] == pytest.approx(1.0, abs=0.02)


def test_what_was_taken_is_not_counted_twice() -> None:
    odometer = Odometer(HAND.names, HAND.model, HOT_DEGC)
    odometer.see(MOVED)
    assert odometer.take() == counted(MOVED)
    again = odometer.take()
    assert again["seconds"] == 0.0
    assert not any(
        did["travel_m"] or did["reversals"] or any(did["load_s"]) for did in again["tendons"].values()
    )


# --- the file ---------------------------------------------------------------------------------------------


def test_runs_add_up_and_a_part_that_the_hand_no_longer_has_stays(tmp_path: Path) -> None:
    path, did = tmp_path / "odometers" / "h.json", counted(MOVED)
    for k in range(3):
        odometer, said = add(path, "h", did, runs=1)
        assert not said and odometer == read(path) and odometer["runs"] == k + 1
    fewer = {**did, "tendons": {"index_1": did["tendons"]["index_1"]}}
    odometer, _ = add(path, "h", fewer)
    assert odometer["runs"] == 3
    for tendon, times in (("index_1", 4), ("index_2", 3)):
        for key, value in did["tendons"][tendon].items():
            assert odometer["tendons"][tendon][key] == pytest.approx(np.multiply(value, times))


def test_processes_that_add_at_once_lose_nothing(tmp_path: Path) -> None:
    path, each, children = tmp_path / "h.json", 20, []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                for _ in range(each):
                    add(path, "h", {"seconds": 1.0, "tendons": {}, "joints": {}}, runs=1)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    odometer = read(path)
    assert odometer is not None and odometer["runs"] == 3 * each and odometer["seconds"] == 3.0 * each


def test_a_process_killed_while_it_adds_leaves_a_whole_file_that_others_go_on_with(tmp_path: Path) -> None:
    path, did = tmp_path / "h.json", counted(MOVED)
    add(path, "h", did, runs=1)
    for k in range(12):
        child = os.fork()
        if child == 0:
            while True:
                add(path, "h", did, runs=1)
        time.sleep(0.002 * k)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        odometer = read(path)
        assert odometer is not None
        travel = odometer["runs"] * did["tendons"]["index_1"]["travel_m"]
        assert odometer["tendons"]["index_1"]["travel_m"] == pytest.approx(travel)
    after, said = add(path, "h", did, runs=1)
    assert not said and after["runs"] == odometer["runs"] + 1


def _but(**wrong: object) -> str:
    return json.dumps({**fresh("h"), **wrong})


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"format": 9}', '{"format": 1}', '{"format": 1, "tendons": 3}', "\0\0\0", "[" * 100_000]
    + [_but(tendons=5), _but(tendons={"old": {}}), _but(tendons={"old": 3}), _but(runs=True), _but(joints=[])]
    + [_but(joints={"old": {"travel_rad": math.nan, "reversals": 0}}), _but(seconds=math.inf)],
)
def test_a_file_that_cannot_be_read_is_kept_aside_and_said(tmp_path: Path, text: str) -> None:
    path = tmp_path / "h.json"
    path.write_text(text)
    with pytest.raises(OdometerError, match=r"h\.json: "):
        read(path)
    odometer, said = add(path, "h", counted(MOVED), runs=1)
    assert odometer["runs"] == 1 and "begins anew" in said
    (aside,) = tmp_path.glob("h.damaged-*")
    assert aside.read_text() == text and str(aside) in said


def test_a_tendon_that_was_replaced_begins_at_nothing_and_the_old_one_is_not_forgotten(
    tmp_path: Path,
) -> None:
    path, did = tmp_path / "h.json", counted(MOVED)
    with pytest.raises(OdometerError, match="none yet"):
        replace_part(path, "index_1")
    add(path, "h", did)
    replace_part(path, "index_1")
    with pytest.raises(OdometerError, match="index_1 has done nothing"):
        replace_part(path, "index_1")
    odometer, _ = add(path, "h", did)
    assert odometer["tendons"]["index_1"] == did["tendons"]["index_1"]
    assert odometer["replaced"][0]["travel_m"] == did["tendons"]["index_1"]["travel_m"]
    twice = 2 * did["tendons"]["index_2"]["reversals"]
    assert odometer["tendons"]["index_2"]["reversals"] == twice


def test_a_simulated_hand_wears_no_real_one() -> None:
    assert path_of("h", simulated=True) != path_of("h", simulated=False)


BUS = '[[bus]]\nname = "board"\nfamily = "collector"\nhost = "127.0.0.1"\nport = 5\n'


@pytest.mark.parametrize(
    ("bus", "simulated"), [(None, True), (BUS, False), ('truth = "flexor-of-a-plant"\n' + BUS, True)]
)
def test_an_emulated_hand_wears_no_real_one_either(
    bus: str | None, simulated: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bus file of an emulation says where its plant's truth is; that of a real hand knows no truth."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr("runtime.processes.keeping.room", lambda _: False)
    file = tmp_path / "bus.toml"
    file.write_text(bus or "")
    options = RunOptions(hand="finger_bench", bus=str(file) if bus else None, black_box_mb=0)
    segment: Any = None
    kept = Keeping(segment, options, HAND, 0, lambda *_: None)
    kept.wear.see(MOVED)
    assert kept.wear.close() == []
    for each in (True, False):
        assert path_of(HAND.name, each).exists() is (each is simulated)


# --- a life -----------------------------------------------------------------------------------------------


def test_the_most_worn_part_comes_first_and_what_has_no_limit_is_not_worn() -> None:
    did = counted(MOVED)
    assert worn(did, None) == [] == worn(did, Life())
    travel = {name: d["travel_m"] for name, d in did["tendons"].items()}
    found = worn(did, Life(tendon_travel_m=2.0 * max(travel.values()), joint_reversals=10))
    assert found[0]["share"] == pytest.approx(0.5) and found[0]["key"] == "tendon_travel_m"
    assert {w["part"] for w in found} == {*HAND.names.tendons, *HAND.names.joints}
    assert found[0]["text"].endswith("50 % of its life")


def with_life(lines: str) -> str:
    return f'{TEXTS["finger_bench"]}\n[life]\n{lines}\norigin = "assumed"\n'


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tendon_travel = 3.0", "tendon_travel_m"),
        ("tendon_travel_m = 0.0", "> 0"),
        ("joint_reversals = 1.5", "whole number"),
    ],
)
def test_a_wrong_life_is_refused(line: str, words: str) -> None:
    assert any(words in str(problem) for problem in refusal(with_life(line)))


def lived(hand: Hand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Wear, list[tuple[Any, ...]]]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    events: list[tuple[Any, ...]] = []
    wear = Wear(
        hand.names,
        hand.model,
        lambda *event: events.append(event),
        hot_degc=100.0,
        simulated=True,
        life=hand.file.life,
    )
    return wear, events


def test_what_a_save_could_not_add_comes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("telemetry.record.odometer_file.LOCK_S", 0.0)
    wear, events = lived(HAND, tmp_path, monkeypatch)
    path = path_of(HAND.name, simulated=True)
    wear.see(MOVED)
    path.parent.mkdir(parents=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        save(wear, 100.0)
    assert read(path) is None
    save(wear, 106.0)
    odometer, once = read(path), counted(MOVED)
    assert odometer is not None and odometer["runs"] == 1 and not events
    assert odometer["seconds"] == pytest.approx(once["seconds"]) and odometer["tendons"] == once["tendons"]
    assert wear.close() == []


def with_lives(**keys: float) -> Hand:
    lines = "\n".join(f"{key} = {value}" for key, value in keys.items())
    hand = read_hand(RunOptions(hand="finger_bench"))
    hand.file = parse_hand(with_life(lines), "hand.toml")
    return hand


def save(wear: Wear, now_s: float) -> None:
    """A turn that saves, and one that tells what came of it."""
    wear.turn(round(now_s * 1e9))
    assert wear._saving is not None
    wear._saving.join()
    wear.turn(round(now_s * 1e9))


def test_a_run_tells_once_when_a_part_nears_its_life_and_once_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    each = counted(MOVED)["tendons"]["index_1"]["travel_m"]
    wear, events = lived(with_lives(tendon_travel_m=3.2 * each), tmp_path, monkeypatch)
    seen = []
    for k in range(1, 6):
        more = MOVED.copy()
        more["state"]["time_ns"] += k * 500 * MS
        wear.see(more)
        save(wear, 100.0 + 1e-9 * k * SAVE_NS)
        seen.append(sum("index_1:" in event[2] for event in events))
    assert seen == [0, 0, 1, 2, 2]
    assert events[0][:2] == ("wear", "warning") and "flexor odometer finger_bench --replaced" in events[0][3]
    assert len(wear.close()) == 2 * len(HAND.names.tendons)
    assert "of its life" in capsys.readouterr().err
    again, events = lived(with_lives(tendon_travel_m=3.2 * each), tmp_path, monkeypatch)
    again.close()
    assert len(events) == len(HAND.names.tendons), "the next run says it again"


def test_a_run_saves_every_few_seconds_and_at_its_end_and_is_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wear, events = lived(HAND, tmp_path, monkeypatch)
    path = path_of("finger_bench", simulated=True)
    wear.see(MOVED)
    save(wear, 100.0)
    wear.turn(round(100.0e9) + SAVE_NS - 1)
    assert wear._saving is None, "not yet again"
    first = read(path)
    assert first is not None and first["tendons"] == counted(MOVED)["tendons"] and first["runs"] == 1
    later = MOVED.copy()
    later["state"]["time_ns"] += 500 * MS
    wear.see(later)
    assert wear.close() == [] and not events
    last = read(path)
    assert last is not None and last["runs"] == 1 and last["seconds"] == pytest.approx(1.0, abs=0.02)


def test_a_folder_that_cannot_be_written_is_said_once_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "flexor").write_text("a file in the way")
    wear, events = lived(HAND, tmp_path, monkeypatch)
    for k in range(3):
        wear.see(MOVED)
        wear.turn(round((100.0 + 6.0 * k) * 1e9))
        if wear._saving is not None:
            wear._saving.join()
    (said,) = wear.close()
    assert "is not kept" in said and len(events) == 1


# --- the command ------------------------------------------------------------------------------------------


def test_the_command_shows_what_was_done_and_what_is_near_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    did, runner = counted(MOVED), CliRunner()
    none = runner.invoke(app, ["finger_bench"])
    assert none.exit_code == 0 and "no run of finger_bench was counted yet" in none.output
    add(path_of("finger_bench", simulated=False), "finger_bench", did, runs=2)
    file = tmp_path / "hand.toml"
    file.write_text(with_life(f"tendon_travel_m = {1.05 * did['tendons']['index_1']['travel_m']}"))
    shown = runner.invoke(app, [str(file)])
    assert shown.exit_code == 1
    assert "95 % of its life" in shown.output and "in 2 runs" in shown.output
    assert all(len(line) <= 80 for line in shown.output.splitlines())
    told = runner.invoke(app, ["finger_bench", "--json"])
    assert told.exit_code == 0, "without a life nothing is near its end"
    found = json.loads(told.output)
    assert found["tendons"] == did["tendons"] and found["worn"] == [] and not found["simulated"]


def test_the_command_begins_a_new_part_and_knows_the_hands_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    runner = CliRunner()
    wrong = runner.invoke(app, ["finger_bench", "--replaced", "index_11"])
    assert wrong.exit_code == 2 and "did you mean index_1" in wrong.output.replace("\n", " ")
    add(path_of("finger_bench", simulated=False), "finger_bench", counted(MOVED))
    done = runner.invoke(app, ["finger_bench", "--replaced", "index_1"])
    assert done.exit_code == 0 and "index_1 replaced" in done.output
    kept = read(path_of("finger_bench", simulated=False))
    assert kept is not None and "index_1" not in kept["tendons"] and "index_2" in kept["tendons"]
