"""Sensors of joints and motors come over wires of their own: samples of different times are no error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.joint_rows import take_sensor
from estimators.memory import new_memory
from hand.assembly.assemble import model_of
from hand.file import parse_hand
from signals.compiled import law
from signals.records import MEASUREMENT, STATE, new
from tests.rigs.sensed import orca

MODEL = model_of(parse_hand(orca(), "orca.toml"))
M: Any = MODEL[0]
NOW_NS = 5_000_000_000


@law
def _take(model: Any, measurement: Any, memory: Any, state: Any, j: int) -> int:
    return take_sensor(model[0], measurement[0], memory[0], state[0], j)


def error_rad(j: int, speed: float, motors_ns: int, sensor_ns: int, of_motors: int | None = None) -> float:
    """What is found of a joint that turns evenly; the motors' samples are of ``of_motors`` in truth."""
    z, s, memory = new(MEASUREMENT), new(STATE), new_memory()
    s["time_ns"] = NOW_NS
    z["motor_time_ns"][0, : M["n_motors"]] = motors_ns
    z["joint_time_ns"][0, j] = sensor_ns

    def angle(ns: int) -> float:
        return 0.3 + speed * 1e-9 * (ns - NOW_NS)

    s["joint_speed_rad_s"][0, j] = speed
    s["joint_angle_rad"][0, j] = angle(motors_ns if of_motors is None else of_motors)
    count = M["joint_zero_count"][j] + M["joint_counts_rad"][j] * angle(sensor_ns)
    z["joint_count"][0, j] = np.rint(count) % 2**14
    assert _take(MODEL, z, memory, s, j) == 1
    return float(s["joint_sensor_error_rad"][0, j])


AGES = st.integers(0, 8_000_000)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, int(M["n_joints"]) - 1), st.floats(-6.0, 6.0), AGES, AGES)
def test_a_joint_that_turns_evenly_shows_no_error_whatever_the_ages(
    j: int, speed: float, motors_ns: int, sensor_ns: int
) -> None:
    """But half a step of its count: 14 bits to the turn."""
    step = 1.0 / abs(float(M["joint_counts_rad"][j]))
    found = error_rad(j, speed, NOW_NS - motors_ns, NOW_NS - sensor_ns)
    assert abs(found) < 0.51 * step


@pytest.mark.parametrize("motors_ns", [0, NOW_NS + 10_000_000_000])
def test_motors_of_no_time_count_as_of_now(motors_ns: int) -> None:
    assert abs(error_rad(3, 4.0, motors_ns, NOW_NS - 3_000_000, of_motors=NOW_NS)) < 4e-4
