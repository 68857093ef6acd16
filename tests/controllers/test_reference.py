"""The joint reference: exact on smooth goals, bounded and without overshoot on jumps."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from controllers.memory import new_controller_memory
from controllers.reference import joint_bounds, shape_reference
from runtime.assemble import model_of
from runtime.config import load_hand
from signals.compiled import law

MODEL = model_of(load_hand("finger_bench"))


@law
def run(model, memory, goal, speed, f, j, out):  # type: ignore[no-untyped-def]
    m, mem = model[0], memory[0]
    for k in range(goal.size):
        shape_reference(m, mem, f, j, goal[k], speed[k])
        out[k, 0] = mem.shaped_rad[j]
        out[k, 1] = mem.shaped_speed_rad_s[j]


@law
def bounds(model, memory, f, j):  # type: ignore[no-untyped-def]
    return joint_bounds(model[0], memory[0].P_tj_m, f, j)


def follow(goal: np.ndarray, speed: np.ndarray, joint: int, start: float) -> tuple[np.ndarray, float, float]:
    memory = new_controller_memory()
    memory["P_tj_m"] = MODEL["P_tj_m"]
    memory["shaped_rad"][0, joint] = start
    out = np.zeros((goal.size, 2))
    run(MODEL, memory, goal, speed, 0, joint, out)
    return out, *bounds(MODEL, memory, 0, joint)


@given(st.integers(0, 3), st.floats(-1.5, 1.5), st.floats(-1.5, 1.5))
def test_a_jump_is_closed_within_bounds_and_without_overshoot(joint: int, start: float, end: float) -> None:
    out, fastest, acceleration = follow(np.full(3000, end), np.zeros(3000), joint, start)
    dt = float(MODEL["dt_s"][0])
    assert np.all(np.abs(out[:, 1]) <= fastest + 1e-9)
    assert np.all(np.abs(np.diff(out[:, 1])) <= acceleration * dt + 1e-9)
    way = end - start
    assert abs(out[-1, 0] - end) < 1e-6
    if way != 0.0:
        assert np.max((out[:, 0] - start) / way) <= 1.0 + 0.02


@given(st.integers(0, 3), st.floats(0.05, 1.0), st.floats(0.1, 1.0))
def test_a_smooth_goal_is_followed_without_lag(joint: int, amplitude: float, frequency_hz: float) -> None:
    dt = float(MODEL["dt_s"][0])
    omega = 2 * np.pi * frequency_hz
    t = dt * np.arange(1, 4001)
    goal, speed = amplitude * (1 - np.cos(omega * t)), amplitude * omega * np.sin(omega * t)
    out, fastest, acceleration = follow(goal, speed, joint, 0.0)
    if amplitude * omega < 0.8 * fastest and amplitude * omega**2 < 0.5 * acceleration:
        assert np.abs(out[:, 0] - goal).max() < 2e-3 * max(amplitude, 0.1)
