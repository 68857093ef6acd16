"""Tendons that share a motor: three joints, three motors, six tendons, wound in opposite senses."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hand.assembly.assemble import model_of
from hand.file import HandFileError, parse_hand
from runtime.session import RunResult, run_lockstep
from signals.faults import Cause
from tests.rigs.mutations import TEXTS
from tests.rigs.tree_hands import BASE, hand_text, pairs

RADIUS_M = 0.010
SINE = "sine = {{ mean = {}, amplitude = {}, frequency_hz = 0.5, phase_deg = -90.0 }}"
MODES = {
    "joint_impedance": 'kind = "joint_deg"\nroles = ["flexion", "pip"]\n' + SINE.format(25.0, 24.0),
    "joint_torque": 'kind = "joint_torque_nm"\nroles = ["flexion", "pip"]\n' + SINE.format(0.0, 0.03),
    "tendon_force": 'kind = "tendon_n"\nnames = ["*_pull"]\n' + SINE.format(20.0, 3.0),
    "motor_position": 'kind = "motor_rad"\nnames = ["*"]\n' + SINE.format(0.0, 0.2),
    "motor_torque": 'kind = "motor_torque_nm"\nnames = ["*"]\n' + SINE.format(0.0, 0.02),
}


def text(radii: tuple[float | None, float | None] = (RADIUS_M, -RADIUS_M)) -> str:
    """A hand file whose motor ``m1`` winds the first two tendons with these radii, and so on."""
    tendons: list[dict[str, Any]] = pairs("finger", BASE["fingers"]["finger"]["joints"])
    whole = hand_text(copy.deepcopy(BASE["fingers"]), tendons)
    for k in range(len(tendons)):
        radius = radii[k % 2]
        row = f'motor = "m{k // 2 + 1}"\n' + ("" if radius is None else f"spool_radius_m = {radius}\n")
        whole = whole.replace(f'motor = "m{k + 1}"\n', row)
    for k in range(len(tendons) // 2 + 1, len(tendons) + 1):
        whole = whole.replace(f"m{k} = {k}\n", "")
    return whole


def test_the_model_knows_which_tendons_share_a_motor_and_in_which_sense() -> None:
    m = model_of(parse_hand(text(), "pairs.toml"))[0]
    assert m["n_motors"] == 3 and m["n_tendons"] == 6
    np.testing.assert_array_equal(m["tendon_motor"][:6], [0, 0, 1, 1, 2, 2])
    np.testing.assert_array_equal(m["tendon_follows"][:6], [0, 1, 0, 1, 0, 1])
    np.testing.assert_array_equal(m["spool_radius_m"][:6], 3 * [RADIUS_M, -RADIUS_M])
    assert m["finger_shares"][0] == 1


@pytest.mark.parametrize(
    ("radii", "found"),
    [
        ((RADIUS_M, None), "signed spool_radius_m"),
        ((None, None), "signed spool_radius_m"),
        ((RADIUS_M, RADIUS_M), "spool_radius_m of opposite sign"),
        ((RADIUS_M, 0.0), "a number other than 0"),
    ],
)
def test_a_pair_that_cannot_move_its_joint_is_refused(
    radii: tuple[float | None, float | None], found: str
) -> None:
    with pytest.raises(HandFileError, match=found):
        parse_hand(text(radii), "pairs.toml")


def run(folder: Path, mode: str, seconds: float, faults: tuple[str, ...] = ()) -> RunResult:
    hand, motion = folder / "pairs.toml", folder / f"{mode}.toml"
    hand.write_text(text())
    motion.write_text(f'description = "One mode."\nmode = "{mode}"\n\n[[tracks]]\n{MODES[mode]}\n')
    return run_lockstep(str(hand), motion=str(motion), seconds=seconds, faults=list(faults), every=1)


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_drives_it_without_a_fault(tmp_path: Path, mode: str) -> None:
    result = run(tmp_path, mode, 2.0)
    assert result.report["faults"] == [] and not result.in_fault, result.report["faults"]
    state, truth = result.frames["state"], result.frames["truth"]
    assert np.degrees(np.abs(state["joint_angle_rad"] - truth["joint_angle_rad"])[:, :3]).max() < 1.0
    if mode == "joint_impedance":
        assert np.degrees(np.ptp(truth["joint_angle_rad"][:, 1:3], axis=0)).min() > 40.0
        assert result.report["tracking_error_deg"]["rms"] < 3.0
    if mode == "motor_position":
        assert np.degrees(np.ptp(truth["motor_angle_rad"][500:, :3], axis=0)).min() > 15.0


@pytest.mark.parametrize("part", ["base_pull", "flexion_back"])
def test_a_broken_tendon_is_named_whichever_way_its_motor_winds_it(tmp_path: Path, part: str) -> None:
    result = run(tmp_path, "joint_impedance", 2.0, (f"tendon-break:{part}@0.8",))
    state, tendon = result.frames["state"], result.hand.names.index("tendon", part)
    assert Cause(int(state["finger_cause"][-1, 0])) == Cause.TENDON_BROKEN
    assert state["finger_cause_part"][-1, 0] == tendon
    assert (result.frames["command"]["motor_current_a"][-1, :3] == 0.0).all()


def test_after_a_fault_the_tendons_of_a_motor_are_let_go_to_their_mean(tmp_path: Path) -> None:
    result = run(tmp_path, "joint_impedance", 2.4, ("nan:m3@0.8",))
    state = result.frames["state"]
    struck = int(np.flatnonzero(state["finger_cause"][:, 0] != Cause.NONE)[0])
    pair = state["tension_n"][:, 2:4]
    apart = np.abs(pair[:, 1] - pair[:, 0])
    assert apart[-1] < apart[struck]
    assert pair[-1].mean() == pytest.approx(pair[struck].mean(), abs=0.5)
    assert (result.frames["command"]["motor_current_a"][-1, :3] == 0.0).all()


@pytest.mark.parametrize("hand", ["orca_v2", "orca_v2_position"])
def test_joints_are_known_by_motors_though_friction_is_a_fifth_wrong(hand: str, tmp_path: Path) -> None:
    """The plant's drives have a fifth more of it than the file says; no sensor sees a tendon or a joint."""
    more = re.sub(
        r"(?m)^(gamma_[23]_\w+) = ([\d.]+)", lambda g: f"{g[1]} = {1.2 * float(g[2]):.6g}", TEXTS[hand]
    )
    assert more != TEXTS[hand]
    file = tmp_path / f"{hand}.toml"
    file.write_text(more)
    report = run_lockstep(hand, motion="open_close", seconds=4.0, plant=str(file)).report
    assert report["faults"] == [] and report["estimate_error_deg"]["rms"] <= 1.5
