"""Field report B41: friction and ripple feedforward at rest, at a creep, at a reversal, after a change."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.feedforward import friction_torque_nm, ripple_torque_nm
from mechanics.friction import motor_friction_nm
from runtime.options import RunOptions
from runtime.setup import read_hand
from signals.modes import FaultKind, MachineState
from tests.safety.driven import Driven


def flips_per_s(torque_nm: np.ndarray, rate_hz: float = 3000.0) -> float:
    """Worst number of sign changes per second of the motors' torques beyond a tenth of gear friction."""
    worst = 0.0
    for column in torque_nm.T:
        signs = np.sign(column[abs(column) > 0.088])
        worst = max(worst, float((np.diff(signs) != 0).sum()) * rate_hz / len(column))
    return worst


def energy_j(frames: np.ndarray, n: int) -> np.ndarray:
    """Work of the friction feedforward on each motor."""
    work = frames["state"]["friction_torque_nm"][:, :n] * frames["truth"]["motor_speed_rad_s"][:, :n]
    return np.maximum(work, 0.0).sum(axis=0) / 3000.0


@pytest.mark.parametrize("gain", (0.8, 1.0))
def test_at_rest_with_noise_nothing_flips_and_nothing_moves(gain: float) -> None:
    hand = Driven("finger_bench", "hold", settings=(f"gains.friction_gain={gain}",))
    hand.start(2.0)
    frames = hand.run(8.0)
    n = len(hand.names.motors)
    assert flips_per_s(frames["truth"]["motor_torque_nm"][:, :n]) < 1.0
    assert np.degrees(np.ptp(frames["truth"]["joint_angle_rad"][:, :4], axis=0)).max() < 0.3
    assert (energy_j(frames, n) < 1e-3).all()
    # at rest the wanted speed is zero, and so is the feedforward, whatever the noise
    assert abs(frames["state"]["friction_torque_nm"][:, :n]).max() < 1e-9


def moved(tmp_path: Path, angle_deg: Callable[[float], float], seconds: float) -> np.ndarray:
    """Frames of a finger whose flexion follows a function of time, after a second at its start."""
    rows = ["time_s,index_flexion_deg"]
    rows += [f"{1.0 + t:.3f},{angle_deg(t):.6f}" for t in np.arange(0.0, seconds + 1.0, 0.05)]
    path = tmp_path / "move.csv"
    path.write_text("\n".join(rows) + "\n")
    hand = Driven("finger_bench", str(path))
    hand.start(1.0)
    frames = hand.run(seconds)
    assert hand.machine is MachineState.ACTIVE and not hand.causes
    return frames


def test_a_creep_of_half_a_degree_per_second_is_followed_without_stairs(tmp_path: Path) -> None:
    frames = moved(tmp_path, lambda t: 5.0 + 0.5 * t, 10.0)
    way = np.degrees(frames["truth"]["joint_angle_rad"][6000:, 1])
    straight = np.polyval(np.polyfit(np.arange(len(way)), way, 1), np.arange(len(way)))
    assert way[-1] - way[0] == pytest.approx(4.0, abs=0.5)
    # a stair-step would be a way that stands, then jumps
    assert abs(way - straight).max() < 0.35


@pytest.mark.parametrize("scale", (0.5, 1.5))
def test_friction_that_changed_after_identification_makes_no_limit_cycle(scale: float) -> None:
    hand = Driven("finger_bench", "hold", settings=("gains.friction_gain=1.0",))
    hand.start(1.0)
    for i in range(8):
        hand.inject(FaultKind.FRICTION_GROWTH, i, scale)
    hand.run(1.0)
    frames = hand.run(4.0)
    assert hand.machine is MachineState.ACTIVE and not hand.causes
    assert flips_per_s(frames["truth"]["motor_torque_nm"][:, :8]) < 1.0
    assert np.degrees(np.ptp(frames["truth"]["joint_angle_rad"][:, :4], axis=0)).max() < 0.3


def test_a_slow_reversal_changes_each_motors_torque_once(tmp_path: Path) -> None:
    frames = moved(tmp_path, lambda t: 5.0 + 3.0 * math.sin(2.0 * math.pi * t / 6.0), 6.0)
    # there and back: every motor turns round twice; a chatter would be hundreds
    assert flips_per_s(frames["truth"]["motor_torque_nm"][:, :8]) * 6.0 <= 8.0


MODEL = read_hand(RunOptions(hand="finger_bench")).model


@given(speed=st.floats(-14.0, 14.0), gain=st.floats(0.0, 3.0), motor=st.integers(0, 7))
def test_feedforward_never_exceeds_the_measured_friction_and_fades_at_rest(
    speed: float, gain: float, motor: int
) -> None:
    model = MODEL.copy()
    model["friction_gain"] = gain
    m = model[0]
    given_nm = friction_torque_nm(m, motor, speed)
    g1, g2, g3 = (float(m[f"friction_gamma_{k}"][motor]) for k in ("1_s_rad", "2_nm", "3_nms_rad"))
    measured = motor_friction_nm(speed, g1, g2, g3)
    assert abs(given_nm) <= abs(measured) + 1e-12
    assert given_nm * speed >= 0.0
    assert friction_torque_nm(m, motor, 0.0) == 0.0


@given(
    angle=st.floats(-20.0, 20.0),
    speed=st.floats(-14.0, 14.0),
    gain=st.floats(0.0, 3.0),
    motor=st.integers(0, 7),
)
def test_ripple_feedforward_is_bounded_periodic_and_off_when_not_used(
    angle: float, speed: float, gain: float, motor: int
) -> None:
    model = MODEL.copy()
    model["ripple_gain"] = gain
    m = model[0]
    n = int(m["n_ripples"])
    torque = ripple_torque_nm(m, motor, angle, speed)
    assert abs(torque) <= abs(m["ripple_amplitude_nm"][motor, :n]).sum() + 1e-12
    # one turn of the output later it is the same: nothing jumps where the angle wraps
    assert ripple_torque_nm(m, motor, angle + 2.0 * math.pi, speed) == pytest.approx(torque, abs=1e-9)
    m["use_ripple"] = 0
    assert ripple_torque_nm(m, motor, angle, speed) == 0.0
