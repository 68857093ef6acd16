"""Jumps are judged by the time between samples: a bus that is slower than the loop is no fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.channel_checks import since_sample_s
from guard.memory import new_guard_memory
from guard.motor_checks import check_angle_jump
from signals.compiled import law
from signals.faults import Cause
from signals.modes import Mode
from signals.records import MEASUREMENT, STATE, RecordArray, new
from tests.rigs.desk import Desk, model_record


@law
def _angle_jump(model: Any, memory: Any, measurement: Any, state: Any) -> None:
    m, mem, z, s = model[0], memory[0], measurement[0], state[0]
    time_s = since_sample_s(m, s, z["motor_time_ns"][0], mem["motor_sample_ns"][0])
    check_angle_jump(m, mem, z, s, 0, 0, time_s)


@given(cycles=st.integers(1, 60), share=st.floats(-1.5, 1.5))
def test_an_angle_may_change_by_twice_the_motors_speed_since_its_last_sample(
    cycles: int, share: float
) -> None:
    model = model_record("finger_bench")
    m = model[0]
    memory, measurement, state = new_guard_memory(), new(MEASUREMENT), new(STATE)
    memory["started"] = 1
    possible = 2.0 * float(m["motor_speed_limit_rad_s"][0]) * cycles * float(m["dt_s"]) + 0.02
    change = 0.0
    for k in range(2 * cycles + 1):
        if k % cycles == 0:
            memory["last_angle_rad"][0, 0] = state["motor_angle_rad"][0, 0]
            measurement["motor_time_ns"][0, 0] = round(1e9 * (k + 7) * float(m["dt_s"]))
            change = share * possible if k else 0.0
            state["motor_angle_rad"][0, 0] += change
            measurement["motor_angle_rad"] = state["motor_angle_rad"]
        state["dt_s"] = m["dt_s"]
        _angle_jump(model, memory, measurement, state)
        memory["last_angle_rad"][0, 0] = state["motor_angle_rad"][0, 0]
    jumped = state["finger_cause"][0, 0] == Cause.ENCODER_FAULT
    if abs(abs(share) - 1.0) > 1e-6:
        assert jumped == (abs(share) > 1.0)


def held(desk: Desk, name: str, seconds: float) -> None:
    """Cycles in which one kind of sample stays as old as it is."""
    since = desk.measurement[name].copy()
    for _ in range(round(seconds / desk.dt_s)):
        desk.look()
        desk.measurement[name] = since
        desk.steer()
        desk.watch()


def counts_shifted(measurement: RecordArray, t: int, counts: int) -> None:
    measurement["hall_count"][0, t] += counts
    measurement["hall_fine_count"][0, t] += counts


@pytest.mark.parametrize("slow", [False, True])
def test_a_count_that_changed_over_many_cycles_did_not_jump(slow: bool) -> None:
    """The same change that is a glitch from one cycle to the next is none from a sample 3 ms ago."""
    desk = Desk("finger_bench")
    desk.to_active()
    desk.cycle(30)
    if slow:
        held(desk, "hall_time_ns", 0.003)
    counts_shifted(desk.measurement, 4, -90)
    desk.cycle(round(0.004 / desk.dt_s))
    assert (desk.causes()[0] == Cause.HALL_GLITCH) == (not slow)


@pytest.mark.parametrize("slow", [False, True])
def test_a_wrist_angle_that_changed_over_many_cycles_did_not_jump(slow: bool) -> None:
    desk = Desk("hasy")
    desk.to_active()
    if slow:
        held(desk, "axis_time_ns", 0.050)
    step = 0.9 * 3.0 * float(desk.m["axis_speed_limit_rad_s"][1]) * 0.050
    desk.measurement["axis_angle_rad"][0, 1] += np.clip(step, np.radians(2.0), np.radians(6.0))
    desk.cycle(round(0.005 / desk.dt_s))
    assert (desk.state["hand_cause"][0] == Cause.WRIST_JUMP) == (not slow)


@pytest.mark.parametrize("stale", [False, True])
def test_an_old_sample_is_no_standstill(stale: bool) -> None:
    """The tension moves for 40 ms: with new samples of one angle it is the encoder, else the bus."""
    desk = Desk("finger_bench")
    desk.place(np.array([0.0, 0.6, 0.6, 0.5]), 20.0)
    desk.goal["finger_mode"][0, 0] = int(Mode.MOTOR_TORQUE)
    desk.goal["motor_torque_nm"][0, :8] = 0.2
    desk.to_active()
    desk.goal["motor_torque_nm"][0, 3] = 1.2
    motors = desk.measurement["motor_time_ns"].copy()
    for k in range(470):
        if k >= 350:
            counts_shifted(desk.measurement, 3, -1)
        desk.look()
        motors = desk.measurement["motor_time_ns"].copy() if k < 350 or not stale else motors
        desk.measurement["motor_time_ns"] = motors
        desk.steer()
        desk.watch()
    assert (desk.causes()[0] == Cause.ENCODER_STUCK) == (not stale)
