"""What every hand file gets, whoever wrote it: check, estimate, control, stop, single faults, a record.

No hand is named here: a file in ``configs/hands`` is one more case of each test.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hand.file import load_hand
from hand.options import OptionError, RunOptions
from hand.review.sight import sights_of
from runtime.session import RunResult, Session, run_lockstep
from signals.faults import Cause
from signals.modes import MachineState, MotorMode
from telemetry.record.reader import read_log
from tools.commands.check import check

SECONDS = 1.6
"""Length of a run: the blend and as much of the motion as opens and closes once."""
ESTIMATE_DEG, TRACKING_DEG = 1.0, 4.0
"""Error of the estimated angles and of the followed ones, rms, in a simulation without mismatch."""
FAULT_S = 1.2


@dataclass(frozen=True)
class Ran:
    """A run of a hand and its log."""

    result: RunResult
    log: Path


@cache
def ran(hand: str, folder: Path) -> Ran:
    log = folder / "run.mcap"
    return Ran(run_lockstep(hand, motion="open_close", seconds=SECONDS, every=5, record=log), log)


@pytest.fixture
def run(hand: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return ran(hand, tmp_path_factory.getbasetemp() / f"contract_{Path(hand).stem}")


def test_check_accepts_it_without_a_suspicion(hand: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(hand, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] and not told["problems"] and not told["warnings"], told["warnings"]


def test_its_joint_angles_are_estimated_and_followed(run: Ran) -> None:
    report = run.result.report
    moved = np.ptp(run.result.frames["truth"]["joint_angle_rad"], axis=0)
    assert np.degrees(moved).max() > 20.0
    assert report["faults"] == [] and not run.result.in_fault
    assert report["estimate_error_deg"]["rms"] < ESTIMATE_DEG, report["estimate_error_deg"]
    assert report["tracking_error_deg"]["rms"] < TRACKING_DEG, report["tracking_error_deg"]


def test_its_fingertips_are_where_its_joints_bring_them(run: Ran) -> None:
    """What a degree of all joints moves a tip by, at most, is the tip's distance from the finger's root."""
    model, frames = run.result.hand.model[0], run.result.frames
    tips = model["finger_tip_body"][: int(model["n_fingers"])] >= 0
    assert tips.any()
    found, true = frames["state"]["fingertip_m"][:, tips], frames["truth"]["fingertip_m"][:, tips]
    reach_m = float(np.abs(true).max())
    worst_rad = np.radians(run.result.report["estimate_error_deg"]["max"])
    joints = int(model["n_joints"])
    assert np.linalg.norm(found - true, axis=-1).max() < joints * worst_rad * 2.0 * reach_m
    assert np.ptp(true, axis=0).max() > 0.01


def test_its_record_has_every_frame_under_the_names_of_its_file(run: Ran) -> None:
    log, names = read_log(run.log), run.result.hand.names
    assert log.complete
    assert len(log.frames) == run.result.report["cycles"]
    spaces = ("motor", "tendon", "joint", "finger")
    assert [log.counts[space] for space in spaces] == [len(names.of(space)) for space in spaces]
    np.testing.assert_array_equal(
        log.frames["state"]["joint_angle_rad"][::5], run.result.frames["state"]["joint_angle_rad"]
    )


def test_it_stops_with_its_motors_off(hand: str) -> None:
    session = Session(RunOptions(hand=hand, motion="open_close", seconds=0.4, lockstep=True))
    try:
        session.run(0.4)
        state, command = session.rig.views["state"], session.rig.views["command"]
        used = slice(0, int(session.hand.model["n_motors"][0]))
        assert state["machine"][0] == MachineState.ACTIVE and command["motor_mode"][0, used].all()
        session.let_go()
        session.run(0.2)  # a motor that still turned is braked
        assert (command["motor_mode"][0, used] == MotorMode.OFF).all()
    finally:
        assert session.close()


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    ("kind", "space", "needs"),
    [
        ("tendon-break", "tendon", "tension"),
        ("hall-stuck", "tendon", "tension"),
        ("motor-lost", "motor", ""),
        ("nan", "motor", ""),
    ],
)
def test_a_single_fault_stops_the_finger_that_it_strikes_and_no_other(
    hand: str, run: Ran, kind: str, space: str, needs: str
) -> None:
    """In the last finger that moves: a sensor that stands still is not seen where nothing moves.

    Where the file has no sensors that show it, ``check`` says so, and no other finger is stopped for it.
    """
    model, names = run.result.hand.model[0], run.result.hand.names
    moved = np.ptp(run.result.frames["truth"]["joint_angle_rad"], axis=0) > np.radians(20.0)
    count, last = int(model["n_fingers"]), int(model["joint_finger"][np.flatnonzero(moved)[-1]])
    tendon = int(model["finger_tendon"][last, 0])
    index = tendon if space == "tendon" else int(model["tendon_motor"][tendon])
    part = names.of(space)[index]
    fault, seconds = [f"{kind}:{part}@{FAULT_S}"], FAULT_S + 1.0
    if kind == "hall-stuck" and load_hand(hand).channel_at(part) is None:
        with pytest.raises(OptionError, match="no sensor that could fail"):
            run_lockstep(hand, motion="open_close", seconds=seconds, faults=fault)
        return
    result = run_lockstep(hand, motion="open_close", seconds=seconds, faults=fault, every=1)
    state = result.frames["state"]
    faulty = state["finger_state"][-1] == MachineState.FAULT
    sight = sights_of(load_hand(hand))[last]
    if needs and needs not in sight.can:
        assert any(part in missed or "any tendon" in missed for missed in sight.not_detected)
        assert not np.delete(faulty, last).any()
        return
    assert faulty.tolist() == [f == last for f in range(count)], (kind, part, result.report["faults"])
    assert Cause(int(state["finger_cause"][-1, last])) != Cause.NONE
