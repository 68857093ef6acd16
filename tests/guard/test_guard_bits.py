"""The guard's marks and parts: who is limited by what, with which bit and no other, what each part adds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from guard.detectors import detect
from guard.guard import guard
from guard.letting_go import rest_nm
from guard.limits import motor_bounds, range_bounds, rate_bounds, room_in_range
from mechanics.motor import command_bounds_nm
from signals.faults import Cause
from signals.modes import ChannelStatus, Clip, MachineState, Request
from tests.rigs.bare import COUNT, Bare, Guarded
from tests.rigs.counts import Counts
from tests.rigs.faulted import LIMIT_NM, Faulted
from tests.rigs.state_machine import Machine

OFF, READY, HOLDING, ACTIVE, FAULT = (int(s) for s in MachineState)

# --- limits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["lower", "upper"])
def test_at_either_end_of_a_joint_those_that_pull_it_out_are_limited_alone(end: str) -> None:
    """Joint 3 by half of the soft stop's width: tendon 6 pulls it up, 7 down, 4 does not turn it."""
    bench = Bare()
    beyond = math.radians(1.5 + 2.0)
    low, high = float(bench.m["joint_min_rad"][3]), float(bench.m["joint_max_rad"][3])
    bench.s["joint_angle_rad"][:4] = (0.0, 0.6, 0.6, low - beyond if end == "lower" else high + beyond)
    out = 7 if end == "lower" else 6
    for t in range(8):
        share = 0.5 if t == out else 1.0
        assert room_in_range(bench.m, bench.mem["P_tj_m"], bench.s, 0, t) == pytest.approx(share)
        sent, bits = range_bounds(bench.m, bench.mem, bench.s, 0, t, LIMIT_NM, 0)
        assert sent == pytest.approx(share * LIMIT_NM)
        assert bits == (Clip.JOINT_RANGE if t == out else 0)
        assert range_bounds(bench.m, bench.mem, bench.s, 0, t, -LIMIT_NM, 0) == (-LIMIT_NM, 0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_every_limit_of_a_motor_has_a_bit_of_its_own(sign: float) -> None:
    bench = Bare()
    fastest = float(bench.m["motor_speed_limit_rad_s"][4])
    bench.m["motor_resistance_ohm"][4] = 0.0
    assert motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 3.0, 0) == (sign * LIMIT_NM, int(Clip.TORQUE))
    bench.s["motor_speed_rad_s"][4] = sign * 0.89 * fastest
    assert motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 2.9, 0) == (sign * 2.9, 0)
    for x in (-9.0, 9.0):
        limited = math.copysign(LIMIT_NM, x)
        assert motor_bounds(bench.m, bench.mem, bench.s, 4, x, 0) == (limited, int(Clip.TORQUE))
    bench.s["motor_speed_rad_s"][4] = sign * 0.95 * fastest
    sent, bits = motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 2.9, 0)
    assert (sent, bits) == (pytest.approx(sign * 0.5 * LIMIT_NM), int(Clip.SPEED))
    assert motor_bounds(bench.m, bench.mem, bench.s, 4, -sign * 2.9, 0) == (-sign * 2.9, 0)
    # the supply's voltage alone, on a motor without a greatest speed
    bench = Bare()
    bench.m["motor_speed_limit_rad_s"][4] = 0.0
    bench.s["motor_speed_rad_s"][4] = sign * 14.0
    low, high = command_bounds_nm(bench.m, 4, sign * 14.0)
    most = float(high if sign > 0.0 else low)
    assert abs(most) < 2.0
    assert motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 2.0, 0) == (most, int(Clip.CURRENT))
    bench.mem["last_torque_nm"][4] = 0.3
    step = 400.0 / 3000.0
    assert rate_bounds(bench.m, bench.mem, 4, 0.3 + sign * 0.9 * step, 0) == (0.3 + sign * 0.9 * step, 0)
    sent, bits = rate_bounds(bench.m, bench.mem, 4, sign * 2.0, 0)
    assert (sent, bits) == (pytest.approx(0.3 + sign * step), int(Clip.RATE))


# --- the guard --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [OFF, READY, HOLDING, FAULT])
def test_a_wish_that_is_not_followed_has_the_bit_of_the_state_and_one_that_is_no_number_two(
    state: int,
) -> None:
    bench = Guarded(state=state)
    bench.mem["off_wanted"] = int(state == OFF)
    bench.m["torque_rate_nm_s"] = 0.0
    bench.mem["hold_angle_rad"][:8] = bench.s["motor_angle_rad"][:8]
    bench.s["ref_motor_torque_nm"][:8] = 0.0
    bench.s["ref_motor_torque_nm"][2:4] = (0.1, math.nan)
    if state == FAULT:
        bench.mem["last_finger_state"][0] = FAULT
        bench.s["finger_cause"][0] = int(Cause.JOINT_OUT_OF_RANGE)
    bench.cycle()
    clips = [int(c) for c in bench.s["clip"][:4]]
    assert clips == [0, 0, int(Clip.STATE), int(Clip.STATE | Clip.NOT_FINITE)]


def test_an_old_sample_has_the_bit_of_the_state() -> None:
    bench = Guarded()
    bench.mem["last_torque_nm"][:8] = 0.2
    bench.stamp()
    bench.z["hall_time_ns"][6] -= 50_000_000
    memory, measurement, state, goal, command = bench.records
    guard(bench.model, goal, measurement, memory, state, command)
    assert [int(c) for c in bench.s["clip"][:8]] == [0, 0, 0, 0, 0, 0, int(Clip.STATE), 0]


def test_a_wish_that_is_no_number_has_no_figures() -> None:
    bench = Guarded()
    bench.s["ref_motor_torque_nm"][5] = math.inf
    bench.cycle()
    assert bench.found == (Cause.NOT_FINITE_COMMAND, 5, 0.0, 0.0)


def test_a_torque_that_cannot_be_computed_is_none() -> None:
    """Whatever estimator lost the number: here the speed of a motor that holds."""
    bench = Guarded(state=HOLDING)
    bench.mem["last_torque_nm"][:8] = 0.2
    bench.s["motor_speed_rad_s"][5] = math.nan
    bench.cycle()
    assert bench.s["motor_torque_nm"][5] == bench.c["motor_current_a"][5] == 0.0
    assert int(bench.s["clip"][5]) & Clip.NOT_FINITE
    assert not int(bench.s["clip"][4]) & Clip.NOT_FINITE


def test_a_finger_in_fault_gets_the_torque_of_its_reaction() -> None:
    """A stop holds: 200 N m/rad against the angle at which it began."""
    bench = Guarded()
    bench.mem["last_torque_nm"][:8] = 0.0
    bench.cycle(Request.STOP)
    bench.s["motor_angle_rad"][:8] = bench.mem["last_angle_rad"][:8] = 0.004
    bench.s["motor_torque_nm"][:8] = 0.0
    for _ in range(20):
        bench.s["motor_torque_nm"][:8] = 0.0
        bench.cycle()
    assert bench.s["machine"] == bench.s["finger_state"][0] == FAULT
    assert bench.s["motor_torque_nm"][:8] == pytest.approx(-0.8, abs=1e-9)


def test_a_guard_that_starts_renews_what_the_tendons_do_to_the_joints() -> None:
    bench = Guarded()
    bench.mem["P_tj_m"], bench.mem["started"] = 0.0, 0
    bench.cycle()
    assert np.allclose(bench.mem["P_tj_m"], bench.m["P_tj_m"])


@pytest.mark.parametrize("state", [READY, HOLDING, ACTIVE])
def test_an_armed_guard_looks_at_channels_windings_and_memories(state: int) -> None:
    armed = state >= HOLDING
    bench = Guarded(state=state)
    bench.mem["started"] = int(not armed)
    bench.cycle()
    assert bench.mem["started"] == int(armed)
    bench.z["hall_status"][3] = int(ChannelStatus.NOT_FINITE)
    bench.cycle()
    assert bench.s["finger_cause"][0] == (Cause.HALL_NOT_FINITE if armed else Cause.NONE)
    hot = Guarded(state=state)
    hot.mem["warm"] = 1
    hot.mem["winding_degc"][:8], hot.mem["case_degc"][:8] = 118.0, 118.0
    hot.cycle()
    assert hot.s["finger_cause"][0] == (Cause.MOTOR_TOO_HOT if armed else Cause.NONE)
    # its only finger is in fault, and so is the hand, in the same cycle
    assert hot.s["machine"] == (FAULT if armed else READY)


def test_a_goal_that_grew_old_leaves_a_finger_in_fault() -> None:
    machine = Machine(ACTIVE, expired=True, faults=(1,))
    assert machine.step() == HOLDING
    assert machine.finger_states == [HOLDING, FAULT] + [HOLDING] * (machine.fingers - 2)


# --- Hall counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cycles", "found"), [(1, True), (4, True), (6, False), (12, False)])
def test_a_count_may_jump_further_the_longer_its_last_sample_is_ago(cycles: int, found: bool) -> None:
    """56 counts in a cycle, 280 in five."""
    counts = Counts()
    bench = counts.bench
    old = int(bench.z["hall_time_ns"][4])
    for _ in range(cycles - 1):
        bench.stamp()
        bench.z["hall_time_ns"][4] = old
        detect(bench.m, bench.mem, bench.z, bench.s)
    assert counts.set(4, -(56.0 * 5.0 + 1.0), 60) is found


def test_spikes_are_a_glitch_of_their_channel() -> None:
    counts = Counts()
    for _ in range(3):
        counts.set(3, -300.0)
        counts.set(3, 0.0)
    assert counts.found is not None and counts.found[:2] == (Cause.HALL_GLITCH, 3)
    assert counts.found[2] == 300.0 and counts.bench.z["hall_count"][3] == COUNT


# --- letting go -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [-3.0, 0.1, 0.4, 0.49, 0.51, 0.6, 0.9, 1.9, 2.1, 9.0])
def test_a_motor_that_still_winds_faster_than_half_a_radian_per_second_is_braked(speed: float) -> None:
    bench = Bare()
    bench.s["motor_speed_rad_s"][4] = speed
    assert rest_nm(bench.m, bench.s, 4) == pytest.approx(-min(0.5 * speed, 1.0) if speed > 0.5 else 0.0)


@pytest.mark.parametrize("angle", ["lower", "upper"])
def test_a_base_joint_near_its_stop_counts_too(angle: str) -> None:
    """Joint 1: tendons 0 and 2 have P > 0 there, 1 and 3 P < 0; joint 0 is in its middle."""
    fault = Faulted(Cause.TENSION_LOST)
    low, high = float(fault.m["joint_min_rad"][1]), float(fault.m["joint_max_rad"][1])
    fault.s["joint_angle_rad"][:4] = (0.0, low + 0.1 if angle == "lower" else high - 0.1, 0.6, 0.6)
    assert fault.into_stop() == ({0, 2} if angle == "lower" else {1, 3})


@pytest.mark.parametrize("lost", range(4))
@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize(
    ("ratio", "first"), [(0.3, True), (0.6, True), (0.78, True), (0.82, False), (1.0, False)]
)
def test_the_joint_that_is_clearly_nearer_to_its_stop_is_thrown_first(
    lost: int, joint: int, ratio: float, first: bool
) -> None:
    """The loss lets a joint go towards +P; its way there against the other base joint's way."""
    fault = Faulted(Cause.TENSION_LOST, lost)
    rows = fault.mem["P_tj_m"]
    way = {joint: 0.2 * ratio, 1 - joint: 0.2}
    pose = [0.0, 0.0, 0.6, 0.6]
    for j in (0, 1):
        up = rows[lost, j] > 0.0
        pose[j] = (
            float(fault.m["joint_max_rad"][j]) - way[j] if up else float(fault.m["joint_min_rad"][j]) + way[j]
        )
    fault.s["joint_angle_rad"][:4] = pose
    fault.begin()
    partner = next(t for t in range(4) if np.allclose(rows[t], -rows[lost]))
    with_it = {t for t in range(4) if rows[t, joint] * rows[lost, joint] < 0.0}
    slack = {t for t in range(8) if fault.mem["release_to_n"][t] == 0.0}
    assert slack == (with_it if first else {partner})
    assert partner in with_it and len(with_it) == 2
