"""Where the guard's short ways begin and end; a reaction's memory; what a whole cycle renews."""

from __future__ import annotations

import numpy as np
import pytest

from guard.carried import arm_m
from guard.channel_checks import LOST_S
from guard.envelope import SOFT_STOP_RAD, joint_margins, joints_free, note_turns
from guard.guard import check_command, shared_bounds
from guard.hold import begin_hold
from guard.letting_go import GIVE_UP_S, is_released, left_n, note_way, shared_release_nm
from guard.limits import FREE_SHARE, SPEED_SOFT, SQRT_3, motor_free
from guard.memory import new_guard_memory
from guard.reaction import RELEASE_S, begin_reaction, fault_torque_nm, note_lost_sight
from guard.tension_checks import NEAR_RAD, far_from_limit
from mechanics.coupling import tendon_jacobian
from mechanics.finger_rows import place_rows
from mechanics.lines import load_nm
from signals.faults import Cause
from signals.modes import ChannelStatus, FingerKind, MachineState, Reaction, TendonKind
from tests.rigs.bare import Bare, Guarded, Paired
from tests.rigs.moving import Moving

T = 4


class GuardedPairs(Guarded, Paired):
    """Pairs of tendons on shared motors under the whole guard."""


# --- short ways -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", ["torque", "current", "speed", "voltage"])
@pytest.mark.parametrize("share", [0.999, 1.001])
def test_a_motor_is_free_up_to_its_nearest_limit(limit: str, share: float) -> None:
    bench = Bare()
    m, x, speed = bench.m, 0.5, 2.0
    kt, ke = float(m["motor_torque_constant_nm_a"][T]), float(m["motor_back_emf_v_s_rad"][T])
    volts = FREE_SHARE * float(m["bus_voltage_v"][0]) / SQRT_3
    m["motor_torque_limit_nm"][T] = m["motor_current_limit_a"][T] = 1e3
    m["motor_speed_limit_rad_s"][T], m["motor_resistance_ohm"][T] = 1e3, 1e-6
    if limit == "torque":
        m["motor_torque_limit_nm"][T] = x / share
    elif limit == "current":
        m["motor_current_limit_a"][T] = x / kt / share
    elif limit == "speed":
        m["motor_speed_limit_rad_s"][T] = speed / SPEED_SOFT / share
    else:
        m["motor_resistance_ohm"][T] = share * kt * (volts - ke * speed) / x
    assert motor_free(m, T, -x, -speed, 20.0) is (share < 1.0)


@pytest.mark.parametrize("end", [-1, 1])
@pytest.mark.parametrize(("share", "inside"), [(0.75, 1), (1.5, 0), (-2.0, 1)])
def test_a_finger_is_inside_until_a_joint_is_beyond_its_soft_stop(
    end: int, share: float, inside: int
) -> None:
    bench = Moving()
    j = 3
    edge = bench.high[j] if end > 0 else bench.low[j]
    bench.s["joint_angle_rad"][j] = edge + end * share * SOFT_STOP_RAD
    joint_margins(bench.m, bench.mem, bench.s, 0)
    assert bench.mem["inside"][0] == inside


@pytest.mark.parametrize(("share", "free"), [(0.99, False), (1.01, True)])
def test_joints_are_free_if_their_way_takes_the_greatest_torque_and_the_load(
    share: float, free: bool
) -> None:
    bench = Moving()
    most = float(bench.m["motor_torque_limit_nm"][T]) + abs(load_nm(bench.m, bench.s, 0, T))
    assert abs(load_nm(bench.m, bench.s, 0, T)) > 0.05 * most
    bench.mem["least_turn"][T] = 0.5
    bench.mem["least_margin_rad_s"][0] = share * most / (float(bench.m["envelope_damping_nms_rad"]) * 0.5)
    assert joints_free(bench.m, bench.mem, bench.s, 0, T, 0.1) is free


@pytest.mark.parametrize("curved", [False, True])
def test_the_least_turn_of_a_joint_is_that_of_its_smallest_lever_arm(curved: bool) -> None:
    bench = Bare("hasy")
    m, n = bench.m, bench.n
    if curved:
        m["finger_kind"][1] = int(FingerKind.CURVED)
    note_turns(m, bench.mem)
    for t in range(n):
        finger = int(m["tendon_finger"][t])
        joints = m["finger_joint"][finger, : m["finger_n_joints"][finger]]
        arms = abs(np.array([arm_m(bench.mem, m["P_tj_m"], t, int(j)) for j in joints]))
        arms /= abs(m["spool_radius_m"][t])
        bent = m["tendon_kind"][t] == TendonKind.INSERTION_POINTS or (curved and finger == 1)
        least = 0.0 if bent else float(np.min(arms[arms > 0.0]))
        assert bench.mem["least_turn"][t] == pytest.approx(least)
    assert {float(bench.mem["least_turn"][t]) == 0.0 for t in range(n)} == {True, False}


@pytest.mark.parametrize(("share", "far"), [(0.75, False), (1.5, True), (-0.5, False)])
def test_a_lever_is_far_from_its_end_where_its_table_is_calibrated_and_a_little_more(
    share: float, far: bool
) -> None:
    bench = Bare()
    end = float(bench.m["lever_calibrated_min_rad"][bench.m["tendon_spring"][T]])
    bench.s["lever_angle_rad"][T], bench.s["tension_n"][T] = end + share * NEAR_RAD, 20.0
    assert far_from_limit(bench.m, bench.s, T) is far


def test_torques_that_are_all_no_numbers_are_named() -> None:
    bench = Bare()
    bench.s["ref_motor_torque_nm"][: bench.n] = np.nan
    check_command(bench.m, bench.s)
    assert bench.s["finger_cause"][0] == Cause.NOT_FINITE_COMMAND


# --- a reaction's memory --------------------------------------------------------------------------------


def reacting(rig: type[Bare] = Bare) -> Bare:
    """A finger whose fault has just begun."""
    bench = rig()
    bench.s["finger_state"][0] = int(MachineState.FAULT)
    bench.s["finger_cause"][0], bench.s["finger_cause_part"][0] = int(Cause.MOTOR_BLOCKED), 0
    begin_reaction(bench.m, bench.mem, bench.z, bench.s, 0)
    return bench


def test_a_tension_that_the_way_takes_away_wholly_is_zero() -> None:
    bench = reacting()
    bench.s["motor_angle_rad"][T] -= 10.0
    note_way(bench.m, bench.mem, bench.s, T)
    assert bench.mem["led_n"][T] == 0.0


@pytest.mark.parametrize(("gives_way", "left"), [(0, 7.0), (1, 20.0)])
def test_what_is_left_is_what_was_led_but_not_where_what_the_finger_presses_on_gives_way(
    gives_way: int, left: float
) -> None:
    bench = reacting()
    bench.mem["led_n"][T], bench.mem["gives_way"][0] = 7.0, gives_way
    assert left_n(bench.mem, bench.s, 0, T) == left


@pytest.mark.parametrize(("share", "released"), [(0.75, False), (1.5, True)])
def test_a_tendon_that_does_not_come_down_is_given_up(share: float, released: bool) -> None:
    bench = reacting()
    bench.mem["fault_age_s"][0] = share * GIVE_UP_S
    assert is_released(bench.m, bench.mem, bench.s, 0, T) is released
    bench.z["hall_status"][T] = int(ChannelStatus.MISSING)
    note_lost_sight(bench.m, bench.mem, bench.z, bench.s, 0)
    assert bool(bench.mem["unseen_s"][T] > 0.0) is not released, "nobody asks whether it is seen any more"


@pytest.mark.parametrize(("spared", "asked"), [("", True), ("released", False), ("blind", False)])
def test_sight_is_asked_for_while_a_tendon_is_led(spared: str, asked: bool) -> None:
    bench = reacting()
    bench.z["hall_status"][T] = int(ChannelStatus.MISSING)
    if spared == "released":
        bench.mem["released_s"][T] = GIVE_UP_S
    if spared == "blind":
        bench.mem["blind"][T] = 1
    note_lost_sight(bench.m, bench.mem, bench.z, bench.s, 0)
    assert bool(bench.mem["unseen_s"][T] > 0.0) is asked


def test_a_partner_that_was_to_keep_half_a_newton_keeps_what_its_blind_one_has() -> None:
    bench = reacting()
    bench.mem["release_to_n"][:8], bench.mem["least_n"][:8] = 0.5, 9.0
    bench.z["hall_status"][T] = int(ChannelStatus.MISSING)
    for _ in range(bench.cycles(LOST_S) + 1):
        note_lost_sight(bench.m, bench.mem, bench.z, bench.s, 0)
    assert bench.mem["blind"][T] == 1
    assert (bench.mem["release_to_n"][:8] >= 9.0).all()


def test_a_finger_almost_slack_is_let_go_in_the_same_time() -> None:
    bench = Bare()
    bench.s["tension_n"][:8] = 0.5
    bench.s["finger_cause"][0] = int(Cause.MOTOR_BLOCKED)
    begin_reaction(bench.m, bench.mem, bench.z, bench.s, 0)
    assert bench.mem["release_n_s"][0] == pytest.approx(0.5 / RELEASE_S)


@pytest.mark.parametrize("probe", [False, True])
@pytest.mark.parametrize("reaction", [Reaction.RELEASE, Reaction.HOLD])
def test_a_shared_motor_lets_all_go_or_holds_as_any_other(reaction: Reaction, probe: bool) -> None:
    bench = reacting(Paired)
    begin_hold(bench.m, bench.mem, bench.s, 0)
    bench.mem["fault_age_s"][0], bench.mem["release_to_n"][:8] = 0.1, 5.0
    bench.s["tension_n"][:8] = [60.0, 20.0, 20.0, 20.0, 20.0, 60.0, 20.0, 20.0]
    bench.mem["led_n"][:8] = bench.mem["release_n"][:8] = bench.s["tension_n"][:8]
    if probe:
        bench.mem["probe_phase"][0], bench.mem["probe_tendon"][0] = 1, 6
    for t in (0, 5):
        memory = bench.records[0].copy()[0]
        both = shared_release_nm(bench.m, memory, bench.s, 0, int(bench.m["tendon_motor"][t]))
        memory = bench.records[0].copy()[0]
        found = fault_torque_nm(bench.m, memory, bench.s, 0, t, int(reaction))
        assert both != 0.0
        assert (found == pytest.approx(both)) is (probe or reaction is Reaction.RELEASE)


@pytest.mark.parametrize("in_fault", [False, True])
def test_a_shared_motor_may_not_drive_a_joint_further_out_but_in_a_fault(in_fault: bool) -> None:
    bench = Paired()
    n = bench.joints
    bench.s["joint_angle_rad"][:n] = 0.5 * (bench.m["joint_min_rad"][:n] + bench.m["joint_max_rad"][:n])
    bench.s["joint_angle_rad"][2] = bench.m["joint_max_rad"][2] + 5.0 * SOFT_STOP_RAD
    bench.s["finger_state"][0] = int(MachineState.FAULT if in_fault else MachineState.ACTIVE)
    joint_margins(bench.m, bench.mem, bench.s, 0)
    out, _ = shared_bounds(bench.m, bench.mem, bench.s, 0, 2, -1.0, 0)  # -1: winds what flexes the joint
    assert (out == -1.0) is in_fault
    assert in_fault or out > 0.0, "it is led back"
    assert shared_bounds(bench.m, bench.mem, bench.s, 0, 2, 1.0, 0) == (1.0, 0)


# --- a whole cycle --------------------------------------------------------------------------------------


@pytest.mark.parametrize("started", [0, 1])
def test_a_cycle_knows_the_lever_arms_of_its_own_pose(started: int) -> None:
    bench = Guarded("hasy")
    bench.mem["started"] = started
    q = bench.s["joint_angle_rad"][: bench.joints]
    q[:] = bench.m["joint_min_rad"][: bench.joints] + 0.4 * (
        bench.m["joint_max_rad"][: bench.joints] - bench.m["joint_min_rad"][: bench.joints]
    )
    if not started:
        bench.mem["P_tj_m"] = 0.0
    bench.cycle()
    fresh = new_guard_memory()[0]
    tendon_jacobian(bench.m, bench.s["joint_angle_rad"], fresh["P_tj_m"])
    place_rows(bench.m, fresh["P_tj_m"], fresh)
    told = [name for name in fresh.dtype.names if np.any(fresh[name] != 0)]
    assert len(told) > 1
    for name in told:
        np.testing.assert_allclose(bench.mem[name], fresh[name], rtol=1e-12, atol=1e-15, err_msg=name)
    if not started:
        note_turns(bench.m, fresh)
        np.testing.assert_array_equal(bench.mem["least_turn"], fresh["least_turn"])


def test_a_finger_in_fault_looks_in_every_cycle_what_it_can_still_see() -> None:
    bench = Guarded(state=int(MachineState.FAULT))
    bench.s["finger_cause"][0] = int(Cause.MOTOR_BLOCKED)
    begin_reaction(bench.m, bench.mem, bench.z, bench.s, 0)
    bench.z["hall_status"][T] = int(ChannelStatus.MISSING)
    bench.cycle()
    assert bench.mem["unseen_s"][T] == pytest.approx(bench.dt_s)


@pytest.mark.parametrize("rig", [Guarded, GuardedPairs])
def test_every_motor_is_commanded_once_in_a_cycle(rig: type[Guarded]) -> None:
    bench = rig()
    n = int(bench.m["n_motors"])
    bench.mem["last_torque_nm"][:n] = 0.0
    bench.s["ref_motor_torque_nm"][:n] = 0.5
    bench.cycle()
    step = float(bench.m["torque_rate_nm_s"]) * bench.dt_s
    assert step < 0.5
    assert bench.s["motor_torque_nm"][:n] == pytest.approx(step)
    assert list(bench.s["clip_count"][:n]) == [1] * n
