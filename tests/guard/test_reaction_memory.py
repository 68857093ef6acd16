"""State machine, reaction and limits: what was asked for is done once, what was given up stays so."""

from __future__ import annotations

import math

import numpy as np
import pytest

from guard.limits import motor_bounds, range_bounds, room_in_range
from guard.machine import GOOD_CYCLES, fall_with_fingers
from guard.reaction import tension_seen
from mechanics.friction import motor_friction_nm
from mechanics.tension_loop import tension_torque_nm
from signals.faults import CAUSES, Cause
from signals.modes import ChannelStatus, Clip, MachineState, Request
from tests.rigs.bare import Bare, Guarded
from tests.rigs.faulted import HALLS, LIMIT_NM, PAIRS, Faulted
from tests.rigs.probing import MARGIN, Probe
from tests.rigs.state_machine import Machine

FRICTION = ("friction_gamma_1_s_rad", "friction_gamma_2_nm", "friction_gamma_3_nms_rad")
OFF, READY, HOLDING, ACTIVE, FAULT = (int(s) for s in MachineState)

# --- requests ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forgets", [Request.OFF, Request.STOP, Request.REARM])
def test_an_activation_that_waits_is_forgotten(forgets: Request) -> None:
    machine = Machine(OFF)
    machine.memory["good_cycles"] = 0
    machine.step(Request.ARM, complete=False)
    machine.step(Request.ACTIVATE, complete=False)
    machine.step(forgets, complete=False)
    machine.step(Request.ARM, complete=False)
    assert {machine.step() for _ in range(3 * GOOD_CYCLES)} == {OFF, HOLDING}


def test_without_an_arm_that_waits_an_activation_does_not_wait() -> None:
    machine = Machine(OFF)
    machine.step(Request.ARM, complete=False)
    machine.step(Request.OFF, complete=False)
    machine.step(Request.ACTIVATE, complete=False)
    machine.step(Request.ARM, complete=False)
    assert {machine.step() for _ in range(3 * GOOD_CYCLES)} == {OFF, HOLDING}


def test_an_activation_that_came_too_late_does_not_wait_for_a_fresh_goal() -> None:
    machine = Machine(HOLDING, expired=True)
    assert machine.step(Request.ACTIVATE) == HOLDING
    machine.goal["time_ns"] = machine.state["time_ns"]
    assert {machine.step() for _ in range(5)} == {HOLDING}


def test_what_was_asked_for_is_done_once() -> None:
    machine = Machine(READY)
    assert machine.step(Request.ARM) == HOLDING
    assert machine.step(Request.ACTIVATE) == ACTIVE
    assert not machine.memory["arm_pending"].any()
    assert not machine.memory["activate_pending"].any()


@pytest.mark.parametrize("state", [HOLDING, ACTIVE])
def test_a_finger_is_rearmed_whatever_the_others_do(state: int) -> None:
    machine = Machine(state, faults=(2,))
    assert machine.step(Request.REARM) == state
    assert machine.finger_states == [state, state, HOLDING] + [state] * (machine.fingers - 3)


def test_a_hand_without_power_has_no_finger_in_fault() -> None:
    machine = Machine(OFF, faults=(1,))
    assert machine.step() == READY
    assert set(machine.finger_states) == {READY}
    machine = Machine(READY, faults=(1,))
    assert machine.step(complete=False) == OFF
    assert set(machine.finger_states) == {OFF}
    machine = Machine(READY, faults=(1,))
    assert machine.step(Request.ARM) == HOLDING
    assert set(machine.finger_states) == {HOLDING}


@pytest.mark.parametrize(("fingers", "falls"), [(0, False), (1, True), (2, True)])
def test_a_hand_falls_with_its_fingers_however_few_but_not_without_any(fingers: int, falls: bool) -> None:
    bench = Bare("hasy")
    bench.m["n_fingers"] = fingers
    bench.s["finger_state"][:fingers] = FAULT
    fall_with_fingers(bench.m, bench.s)
    assert bench.s["machine"] == (FAULT if falls else ACTIVE)


def test_a_wish_that_is_no_number_as_the_hand_is_activated_is_no_torque() -> None:
    """In this cycle nobody has looked at it as a wish of an active finger yet."""
    bench = Guarded(state=HOLDING)
    bench.mem["hold_angle_rad"][:8] = bench.s["motor_angle_rad"][:8]
    bench.mem["last_torque_nm"][:8] = 0.05
    bench.s["ref_motor_torque_nm"][5] = math.nan
    bench.cycle(Request.ACTIVATE)
    assert bench.s["machine"] == ACTIVE
    assert bench.s["motor_torque_nm"][5] == 0.0
    assert int(bench.s["clip"][5]) & Clip.NOT_FINITE
    bench.cycle()
    assert bench.s["finger_cause"][0] == Cause.NOT_FINITE_COMMAND


# --- letting go -------------------------------------------------------------------------------------------


def test_a_tendon_that_was_given_up_stays_released() -> None:
    fault = Faulted(Cause.MOTOR_BLOCKED).begin()
    fault.mem["fault_age_s"][0] = 1.001
    assert fault.released(4)
    fault.mem["fault_age_s"][0] = 0.0
    assert fault.released(4)


def test_after_the_probe_the_hurried_ones_are_led_down_from_where_they_are() -> None:
    fault = Faulted(Cause.TENSION_LOST, 2).begin()
    partner = PAIRS[2]
    fault.s["tension_n"][partner] = 12.0
    assert fault.torque(partner) == -LIMIT_NM
    assert fault.mem["release_n"][partner] == 12.0


@pytest.mark.parametrize("stiffness", [-50.0, 0.0, 1.0, 7176.0])
def test_an_estimate_without_stiffness_counts_as_one_newton_per_metre(stiffness: float) -> None:
    """The last step before the least tension is small: its speed does not end at the torque's limit."""
    fault = Faulted(Cause.MOTOR_BLOCKED).begin()
    fault.s["tendon_stiffness_n_m"][1] = stiffness
    fault.s["tension_n"][1] = 6.5
    fault.mem["release_n"][1] = 5.0 + 1e-9
    speed = -1e-9 / fault.bench.dt_s / max(stiffness, 1.0) / 0.01
    laws = [float(fault.m[n][1]) for n in FRICTION]
    expected = tension_torque_nm(fault.m, 1, 5.0, 6.5, stiffness, -speed, 1.0) + motor_friction_nm(
        speed, *laws
    )
    assert fault.torque(1) == pytest.approx(min(max(expected, -1.37), 0.0), rel=1e-9)


@pytest.mark.parametrize("cause", list(CAUSES))
@pytest.mark.parametrize("part", [2, 5])
def test_a_tension_is_seen_unless_its_own_hall_sensor_is_the_cause_or_cannot_be_believed(
    cause: Cause, part: int
) -> None:
    fault = Faulted(cause, part)
    for t in (2, 5):
        assert tension_seen(fault.m, fault.z, fault.s, 0, t) is not (t == part and cause in HALLS)
    fault.z["hall_status"][7] = int(ChannelStatus.MISSING)
    assert not tension_seen(fault.m, fault.z, fault.s, 0, 7)


def test_a_motor_that_unwinds_too_fast_is_let_run_and_not_driven_back() -> None:
    fault = Faulted(Cause.MOTOR_BLOCKED).begin()
    fault.s["tendon_stiffness_n_m"][1], fault.s["tension_n"][1] = 6e4, 12.0
    fault.s["motor_speed_rad_s"][1] = -14.0
    wanted = 20.0 - 500.0 * fault.bench.dt_s
    speed = -500.0 / 6e4 / 0.01
    laws = [float(fault.m[n][1]) for n in FRICTION]
    loop = tension_torque_nm(fault.m, 1, wanted, 12.0, 6e4, -14.0 - speed, 1.0) + motor_friction_nm(
        speed, *laws
    )
    assert loop > 0.05, "the loop would wind"
    assert fault.torque(1) == 0.0


@pytest.mark.parametrize("joint", [2, 3])
@pytest.mark.parametrize("lost", [0, 1, 2, 3])
def test_a_joint_that_the_lost_tendon_does_not_turn_is_not_thrown(joint: int, lost: int) -> None:
    """However close it is to its stop: what is let go to slack stays the same."""
    marked = []
    for near in (0.6, 0.02):
        pose = [0.0, 0.3, 0.6, 0.6]
        pose[joint] = near
        fault = Faulted(Cause.TENSION_LOST, lost, tuple(pose)).begin()
        marked.append({t for t in range(8) if fault.mem["release_to_n"][t] == 0.0})
    assert marked[0] == marked[1] and PAIRS[lost] in marked[0]


@pytest.mark.parametrize("lost", range(8))
def test_who_hurries_either_throws_with_the_lost_one_or_pulls_into_a_stop(lost: int) -> None:
    """Distal joints at 0.05 rad from their lower stops: tendons with P > 0 there pull into them."""
    fault = Faulted(Cause.TENSION_LOST, lost, (0.0, 0.6, 0.6, 0.05)).begin()
    rows = fault.mem["P_tj_m"]
    slack = {t for t in range(8) if fault.mem["release_to_n"][t] == 0.0}
    into = {t for t in range(8) if rows[t, 3] > 0.0}
    assert fault.marked("urgent") == slack | (into - {lost})
    assert into == {7}


@pytest.mark.parametrize("lost", [4, 5])
def test_a_tendon_that_turns_a_further_joint_is_not_let_go_to_slack(lost: int) -> None:
    fault = Faulted(Cause.TENSION_LOST, lost).begin()
    assert {t for t in range(8) if fault.mem["release_to_n"][t] == 0.0} == {PAIRS[lost]}


def test_a_probe_ends_by_itself_and_only_once() -> None:
    probe = Probe()
    probe.s["lever_angle_rad"][2] -= 2.1 * MARGIN
    assert probe.at(1e-3, probe.bench.cycles(0.004) + 1) is Cause.TENDON_SLACK
    assert probe.mem["probe_tendon"][0] == 2


# --- limits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [-5.0, -1.0, 1.0, 5.0])
def test_a_joint_within_its_range_limits_nothing(x: float) -> None:
    bench = Bare()
    bench.s["joint_angle_rad"][:4] = (0.0, 0.6, 0.6, 0.6)
    for t in range(8):
        assert room_in_range(bench.m, bench.mem["P_tj_m"], bench.s, 0, t) == 1.0
        assert range_bounds(bench.m, bench.mem, bench.s, 0, t, x, 0) == (x, 0)


@pytest.mark.parametrize("beyond_deg", [2.5, 4.0, 30.0])
def test_a_joint_beyond_its_range_limits_pulling_alone(beyond_deg: float) -> None:
    bench = Bare()
    bench.s["joint_angle_rad"][:4] = (0.0, 0.6, 0.6, math.radians(85.0 + beyond_deg))
    share = max(1.0 - (beyond_deg - 1.5) / 4.0, 0.0)
    assert range_bounds(bench.m, bench.mem, bench.s, 0, 6, -1.0, 0) == (-1.0, 0)
    most, bits = range_bounds(bench.m, bench.mem, bench.s, 0, 6, LIMIT_NM, 0)
    assert most == pytest.approx(max(share * LIMIT_NM, 0.01 * 5.0))
    assert bits == Clip.JOINT_RANGE


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_hot_winding_limits_both_ways(sign: float) -> None:
    bench = Bare()
    bench.s["winding_temperature_degc"][4] = 95.0
    sent, bits = motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 2.5, 0)
    assert (sent, bits) == (pytest.approx(sign * 0.5 * LIMIT_NM), int(Clip.TEMPERATURE))
    assert motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 1.4, 0) == (sign * 1.4, 0)
    assert np.isfinite(sent)
