"""References: exact on smooth goals, bounded on jumps, within their range whatever comes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from controllers.memory import new_controller_memory
from controllers.reference import MOTOR_SPEED_SHARE, TORQUE_SHARE, glide, shape_motor, shape_reference
from guard.envelope import stop_speed
from hand.assembly.assemble import model_of
from hand.file import load_hand
from signals.compiled import law
from signals.records import GOAL, new

MODEL = model_of(load_hand("finger_bench"))
DT_S = float(MODEL["dt_s"][0])
JOINTS = st.integers(0, 3)


@law
def run(model, memory, goal, speed, j, out):  # type: ignore[no-untyped-def]
    m, mem = model[0], memory[0]
    for k in range(goal.size):
        shape_reference(m, mem, j, goal[k], speed[k])
        out[k, 0] = mem.shaped_rad[j]
        out[k, 1] = mem.shaped_speed_rad_s[j]


@law
def glided(goal, rate, value, fastest, acceleration, low, high, dt_s, out):  # type: ignore[no-untyped-def]
    speed = 0.0
    for k in range(goal.size):
        value, speed = glide(value, speed, goal[k], rate[k], fastest, acceleration, low, high, dt_s)
        out[k, 0], out[k, 1] = value, speed


def range_of(joint: int) -> tuple[float, float]:
    return float(MODEL["joint_min_rad"][0, joint]), float(MODEL["joint_max_rad"][0, joint])


def pace_of(joint: int) -> tuple[float, float]:
    speed, acceleration = (f"joint_{what}" for what in ("speed_max_rad_s", "acceleration_max_rad_s2"))
    return float(MODEL[speed][0, joint]), float(MODEL[acceleration][0, joint])


def follow(goal: np.ndarray, speed: np.ndarray, joint: int, start: float) -> np.ndarray:
    memory = new_controller_memory()
    memory["shaped_rad"][0, joint] = start
    out = np.zeros((goal.size, 2))
    run(MODEL, memory, goal, speed, joint, out)
    return out


@given(JOINTS, st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_jump_is_closed_within_bounds_and_without_overshoot(joint: int, start: float, end: float) -> None:
    low, high = range_of(joint)
    first, last = low + start * (high - low), low + end * (high - low)
    out = follow(np.full(4500, last), np.zeros(4500), joint, first)
    fastest, acceleration = pace_of(joint)
    assert np.all(np.abs(out[:, 1]) <= fastest + 1e-9)
    assert np.all(np.abs(np.diff(out[:, 1])) <= acceleration * DT_S + 1e-9)
    assert abs(out[-1, 0] - last) < 1e-6
    if last != first:
        assert np.max((out[:, 0] - first) / (last - first)) <= 1.0 + 0.02


@given(JOINTS, st.floats(0.05, 1.0), st.floats(0.1, 1.0))
def test_a_smooth_goal_is_followed_without_lag(joint: int, amplitude: float, frequency_hz: float) -> None:
    omega = 2 * np.pi * frequency_hz
    t = DT_S * np.arange(1, 4001)
    low, high = range_of(joint)
    goal = low + 0.2 + amplitude * (1 - np.cos(omega * t))
    speed = amplitude * omega * np.sin(omega * t)
    fastest, acceleration = pace_of(joint)
    assume(goal.max() < high and amplitude * omega**2 < 0.5 * acceleration)
    brake = float(MODEL["joint_brake_rad_s2"][0, joint])
    end = float(MODEL["stop_speed_rad_s"][0])
    ends = [min(stop_speed(high - q, 0.0, brake, end), stop_speed(q - low, 0.0, brake, end)) for q in goal]
    assume(bool((np.abs(speed) < 0.8 * np.minimum(ends, fastest)).all()))
    out = follow(goal, speed, joint, float(goal[0]))
    assert np.abs(out[:, 0] - goal).max() < 2e-3 * max(amplitude, 0.1)


@given(JOINTS, st.floats(-9.0, 9.0), st.floats(-99.0, 99.0), st.floats(0.0, 1.0))
def test_whatever_goal_and_speed_say_a_joint_reference_stays_in_its_range(
    joint: int, goal: float, speed: float, start: float
) -> None:
    """A speed that contradicts its goal leads a reference nowhere."""
    low, high = range_of(joint)
    out = follow(np.full(3000, goal), np.full(3000, speed), joint, low + start * (high - low))
    assert low - 2e-3 <= out[:, 0].min() and out[:, 0].max() <= high + 2e-3
    assert np.all(np.abs(out[:, 1]) <= pace_of(joint)[0] + 1e-9)


@given(st.integers(1, 40), st.floats(20.0, 2000.0), st.floats(500.0, 2e4))
def test_a_goal_that_alternates_asks_for_no_more_than_its_pace(
    cycles: int, fastest: float, acceleration: float
) -> None:
    goal = np.where((np.arange(3000) // cycles) % 2 == 0, 120.0, 5.0)
    out = np.zeros((3000, 2))
    glided(goal, np.zeros(3000), 20.0, fastest, acceleration, 0.0, 120.0, DT_S, out)
    assert np.abs(out[:, 1]).max() <= fastest + 1e-9
    assert np.abs(np.diff(out[:, 1])).max() <= acceleration * DT_S * (1.0 + 1e-9)
    assert out[:, 0].max() <= 120.0 + 1e-6 * 120.0 + 0.5 * acceleration * DT_S**2


# --- motors -----------------------------------------------------------------------------------------------


@law
def run_motor(model, goal, memory, i, left, rate, angle, out):  # type: ignore[no-untyped-def]
    m, g, mem = model[0], goal[0], memory[0]
    for k in range(angle.size):
        g.motor_angle_rad[i] = angle[k]
        shape_motor(m, g, mem, i, left, rate)
        out[k, 0] = mem.shaped_motor_rad[i]
        out[k, 1] = mem.shaped_motor_rad_s[i]


@pytest.mark.parametrize("far_rad", [-100.0, 100.0])
def test_a_motors_reference_has_nine_tenths_of_its_speed_and_three_of_its_torque(far_rad: float) -> None:
    i, out = 3, np.zeros((6000, 2))
    run_motor(MODEL, new(GOAL), new_controller_memory(), i, 0.0, 0.0, np.full(len(out), far_rad), out)
    sign, m = np.sign(far_rad), MODEL[0]
    fastest = MOTOR_SPEED_SHARE * float(m["motor_speed_limit_rad_s"][i])
    assert fastest * len(out) * DT_S < 0.9 * abs(far_rad), "still on its way"
    assert (sign * out[:, 1]).max() == pytest.approx(fastest)
    torque = float(m["motor_inertia_kg_m2"][i]) * np.diff(sign * out[:, 1]).max() / DT_S
    assert torque == pytest.approx(TORQUE_SHARE * float(m["motor_torque_limit_nm"][i]))


@pytest.mark.parametrize("offset_rad", [-0.3, 0.0, 0.3])
def test_a_motors_reference_follows_its_goal_and_what_is_left_of_the_offset(offset_rad: float) -> None:
    """A quarter is left, and twice of it would go in a second."""
    i, left, rate, goal, memory = 3, 0.25, -2.0, new(GOAL), new_controller_memory()
    memory["offset_motor_rad"][0, i], goal["motor_speed_rad_s"][0, i] = offset_rad, 1.0
    speed = 1.0 + rate * offset_rad
    angle = 0.7 + speed * DT_S * np.arange(300)
    memory["shaped_motor_rad"][0, i] = angle[0] - speed * DT_S + left * offset_rad
    memory["shaped_motor_rad_s"][0, i] = speed
    out = np.zeros((len(angle), 2))
    run_motor(MODEL, goal, memory, i, left, rate, angle, out)
    assert out[:, 0] == pytest.approx(angle + left * offset_rad, abs=1e-9)
    assert out[:, 1] == pytest.approx(speed, abs=1e-6)
