"""What is not believed reaches no speed, and what is taken over at a new place is no step of one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators.channels import STANDS_S
from estimators.joint_sensors import MEMORY, joint_sensors
from mechanics.plausible import (
    NEWEST_NS,
    OLDEST_NS,
    UNKNOWN,
    axis_way_rad,
    in_time,
    motor_way_rad,
    usable,
)
from signals.faults import Cause
from signals.modes import ChannelStatus, MachineState
from signals.records import MEASUREMENT, MODEL, STATE, new
from tests.rigs.desk import Desk

MOTOR, TENDON = 5, 5
STANDS = round(STANDS_S * 3000.0)
jumps = st.floats(0.05, 1e300) | st.floats(-1e300, -0.05)
places = st.floats(0.2, 1e5) | st.floats(-1e5, -0.2)


def winding(state: MachineState, cause: Cause = Cause.NONE, hand: str = "finger_bench") -> Desk:
    """A hand in a state whose motor winds at 2 rad/s."""
    desk = Desk(hand)
    desk.state["finger_state"][0, : desk.n_fingers] = int(state)
    desk.state["finger_cause"][0, : desk.n_fingers] = int(cause)
    desk.state["machine"] = int(state)
    desk.look()
    for _ in range(60):
        wind(desk)
    assert desk.state["motor_speed_rad_s"][0, MOTOR] == pytest.approx(2.0, rel=1e-3)
    return desk


def wind(desk: Desk, by: float = 0.0) -> None:
    """One cycle at 2 rad/s; the sample is off by an angle."""
    true = desk.measurement["motor_angle_rad"][0, MOTOR] + 2.0 * desk.dt_s
    desk.measurement["motor_angle_rad"][0, MOTOR] = true + by
    desk.look()
    desk.measurement["motor_angle_rad"][0, MOTOR] = true


def speeds(desk: Desk) -> float:
    """The fastest of all speeds."""
    s = desk.state[0]
    return float(max(abs(s[f"{part}_speed_rad_s"]).max() for part in ("motor", "joint", "axis")))


@given(by=jumps, state=st.sampled_from([MachineState.HOLDING, MachineState.ACTIVE, MachineState.FAULT]))
def test_a_jump_for_a_cycle_leaves_angle_and_speeds_alone(by: float, state: MachineState) -> None:
    desk = winding(state)
    before, fastest = float(desk.state["motor_angle_rad"][0, MOTOR]), speeds(desk)
    wind(desk, by)
    assert desk.state["motor_angle_rad"][0, MOTOR] == before
    assert desk.state["finger_status"][0, 0] & int(ChannelStatus.OUT_OF_RANGE)
    for _ in range(30):
        assert speeds(desk) <= fastest * (1.0 + 1e-3)
        wind(desk)
    assert desk.state["motor_angle_rad"][0, MOTOR] == pytest.approx(before + 31 * 2.0 * desk.dt_s)
    assert not desk.state["finger_status"][0, 0]


@given(by=places)
@pytest.mark.parametrize(
    ("state", "cause", "taken"),
    [
        (MachineState.READY, Cause.NONE, True),
        (MachineState.FAULT, Cause.ENCODER_FAULT, True),
        (MachineState.FAULT, Cause.NONE, False),
        (MachineState.HOLDING, Cause.NONE, False),
        (MachineState.ACTIVE, Cause.NONE, False),
    ],
)
def test_a_new_place_is_taken_over_without_a_step_once_nothing_is_led_by_it(
    by: float, state: MachineState, cause: Cause, taken: bool
) -> None:
    desk = winding(state, cause)
    before, fastest = float(desk.state["motor_angle_rad"][0, MOTOR]), speeds(desk)
    for k in range(3 * STANDS):
        wind(desk, by)
        assert speeds(desk) <= fastest * (1.0 + 1e-3)
        if k < STANDS - 2:
            assert desk.state["motor_angle_rad"][0, MOTOR] == before
    raw = desk.measurement["motor_angle_rad"][0, MOTOR] + by
    assert desk.state["motor_angle_rad"][0, MOTOR] == (raw if taken else before)


def test_a_value_that_does_not_stand_is_never_taken_over() -> None:
    desk = winding(MachineState.READY)
    before = float(desk.state["motor_angle_rad"][0, MOTOR])
    for k in range(6 * STANDS):
        wind(desk, 5.0 + k % 2)
    assert desk.state["motor_angle_rad"][0, MOTOR] == before


@pytest.mark.parametrize("share", [0.99, 1.01])
@pytest.mark.parametrize("cycles", [1, 5, 40])
def test_the_way_a_motor_may_have_moved_grows_with_the_time_since_its_last_sample(
    share: float, cycles: int
) -> None:
    desk = winding(MachineState.ACTIVE)
    desk.measurement["motor_status"][0, MOTOR] = int(ChannelStatus.MISSING)
    for _ in range(cycles - 1):
        desk.look()
    desk.measurement["motor_status"][0, MOTOR] = 0
    way = share * motor_way_rad(desk.m, MOTOR, cycles * desk.dt_s)
    raw = float(desk.state["motor_angle_rad"][0, MOTOR]) + way
    desk.measurement["motor_angle_rad"][0, MOTOR] = raw
    desk.look()
    assert bool(desk.state["motor_angle_rad"][0, MOTOR] == raw) is (share < 1.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_wrist_angle_beyond_its_drive_is_not_believed_and_taken_over_like_a_motors(sign: float) -> None:
    for state in (MachineState.ACTIVE, MachineState.FAULT):
        desk = winding(state, hand="hasy")
        before = float(desk.state["axis_angle_rad"][0, 0])
        raw = before + sign * (1.01 * axis_way_rad(desk.m, 0, desk.dt_s))
        desk.measurement["axis_angle_rad"][0, 0] = raw
        for k in range(2 * STANDS):
            desk.look()
            assert abs(desk.state["axis_speed_rad_s"]).max() < 1e-6
            if k < STANDS - 2:
                assert desk.state["axis_angle_rad"][0, 0] == before
        assert desk.state["axis_angle_rad"][0, 0] == (before if state is MachineState.ACTIVE else raw)


@given(time_ns=st.integers(-(2**63), 2**63 - 1), name=st.sampled_from(["motor", "hall", "axis"]))
def test_a_sample_of_no_time_is_not_used_and_harms_no_speed(time_ns: int, name: str) -> None:
    desk = winding(MachineState.ACTIVE, hand="hasy")
    fastest = speeds(desk)
    desk.stamp()
    now = int(desk.state["time_ns"][0])
    desk.measurement[f"{name}_time_ns"][0, 0] = time_ns
    value = {"motor": "motor_angle_rad", "hall": "hall_fine_count", "axis": "axis_angle_rad"}[name]
    desk.measurement[value][0, 0] += 1e-3
    used = {"motor": "motor_angle_rad", "hall": "lever_angle_rad", "axis": "axis_angle_rad"}[name]
    before = float(desk.state[used][0, 0])
    estimate_again(desk)
    believed = -NEWEST_NS <= now - time_ns <= OLDEST_NS
    assert in_time(now, time_ns) is believed
    assert bool(desk.state[used][0, 0] != before) is believed
    assert speeds(desk) <= fastest + 1e-3 / desk.dt_s


def estimate_again(desk: Desk) -> None:
    """The estimator alone, on the stamps as they are."""
    from estimators.tick import estimate

    estimate(desk.model, desk.measurement, desk.estimator, desk.state)


@pytest.mark.parametrize("count", [-1e300, -1.0, 0.0, 4095.0, 1e9, math.inf, math.nan])
def test_a_count_of_no_lever_keeps_the_last_one(count: float) -> None:
    desk = winding(MachineState.ACTIVE)
    before = desk.state["tension_n"][0].copy()
    desk.measurement["hall_fine_count"][0, TENDON] = count
    desk.look()
    assert np.array_equal(desk.state["tension_n"][0], before)
    assert desk.state["finger_status"][0, 0]


@pytest.mark.parametrize("bit", [b for b in range(32) if UNKNOWN >> b & 1])
def test_a_status_that_nobody_defined_is_none_to_believe(bit: int) -> None:
    desk = winding(MachineState.ACTIVE)
    before = float(desk.state["motor_angle_rad"][0, MOTOR])
    desk.measurement["motor_status"][0, MOTOR] = 1 << bit
    wind(desk)
    assert desk.state["motor_angle_rad"][0, MOTOR] == before


SENSORS = {
    "motor": ("motor_status", "motor_angle_rad", "motor_angle_rad"),
    "hall": ("hall_status", "hall_fine_count", "lever_angle_rad"),
    "axis": ("axis_status", "axis_angle_rad", "axis_angle_rad"),
}
"""Sensor -> its status, what it measures, what the estimator makes of that."""


@pytest.mark.parametrize("sensor", SENSORS)
@pytest.mark.parametrize("bit", list(ChannelStatus), ids=lambda bit: str(bit.name))
def test_a_value_is_used_unless_a_bit_says_more_than_that_it_is_old(sensor: str, bit: ChannelStatus) -> None:
    status, measured, used = SENSORS[sensor]
    desk = winding(MachineState.ACTIVE, hand="hasy")
    desk.look()
    before = float(desk.state[used][0, 0])
    desk.measurement[status][0, 0] = int(bit)
    desk.measurement[measured][0, 0] += 1e-3
    desk.look()
    assert bool(desk.state[used][0, 0] != before) == (bit is ChannelStatus.STALE)
    assert usable(int(bit), 0.0) == (bit is ChannelStatus.STALE)


@pytest.mark.parametrize("sensor", ["motor", "hall"])
@pytest.mark.parametrize("bit", [1 << k for k in range(32)], ids=hex)
def test_a_mechanism_believes_its_sensors_by_the_same_bits(sensor: str, bit: int) -> None:
    model, measurement, state = new(MODEL), new(MEASUREMENT), new(STATE)
    memory = np.zeros(1, dtype=MEMORY)
    model["n_joints"] = model["n_motors"] = model["n_fingers"] = 1
    model["finger_n_joints"][0, 0] = 1
    model["dt_s"], model["velocity_filter_hz"], model["hall_counts_rad"] = 1e-3, 100.0, 1000.0
    joint_sensors(model, measurement, memory, state)
    status, measured, _ = SENSORS[sensor]
    measurement[status][0, 0], measurement[measured][0, 0] = bit, 1.0
    joint_sensors(model, measurement, memory, state)
    used = {"motor": "motor_angle_rad", "hall": "joint_angle_rad"}[sensor]
    assert bool(state[used][0, 0] != 0.0) == usable(bit, 1.0) == (bit == ChannelStatus.STALE)
