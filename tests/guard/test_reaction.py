"""What a finger does in fault: the probe names broken or slack, motors let go and never pull; heat."""

from __future__ import annotations

import math

import numpy as np
import pytest

from guard.letting_go import HURRY
from guard.probe import LONGEST_S
from guard.reaction import partners
from guard.urgent import URGENT_S
from guard.winding import OBSERVER_S
from hand.assembly.figures import FIGURES
from signals.compiled import law
from signals.faults import Cause
from signals.modes import ChannelStatus, MachineState, Reaction, Request
from tests.rigs.desk import Desk, shift, slacken

DISTANCE_M = FIGURES["probe_way_m"].reference
SPEED_RAD_S = FIGURES["probe_speed_rad_s"].reference
RELEASE_NM = FIGURES["release_torque_nm"].reference


def lost(t: int = 2, q_rad: tuple[float, ...] = (0.0, 0.5, 0.5, 0.4)) -> Desk:
    """A finger in which tendon ``t`` has just been found slack."""
    desk = Desk("finger_bench")
    desk.place(np.array(q_rad), 20.0)
    desk.goal["joint_angle_rad"][0, :4] = q_rad
    desk.to_active()
    desk.cycle(300)
    slacken(desk, t)
    for _ in range(40):
        desk.cycle()
        if any(desk.causes()):
            break
    assert desk.causes()[0] == Cause.TENSION_LOST
    return desk


def wind_probe(desk: Desk, t: int, cycles: int, speed: float = SPEED_RAD_S) -> list[float]:
    torques = []
    for _ in range(cycles):
        desk.measurement["motor_angle_rad"][0, t] += speed * desk.dt_s
        desk.cycle()
        torques.append(float(desk.state["motor_torque_nm"][0, t]))
        if desk.causes()[0] != Cause.TENSION_LOST:
            break
    return torques


def test_a_tendon_slack_after_three_millimetres_is_broken() -> None:
    desk = lost()
    torques = wind_probe(desk, 2, 600)
    assert desk.causes()[0] == Cause.TENDON_BROKEN
    assert desk.state["finger_cause_part"][0, 0] == 2
    assert desk.state["finger_cause_value"][0, 0] == pytest.approx(1e3 * DISTANCE_M, abs=0.05)
    assert len(torques) * desk.dt_s == pytest.approx(DISTANCE_M / 0.01 / SPEED_RAD_S, rel=0.1)
    assert max(torques[30:]) <= RELEASE_NM, "after the rate limit let the old torque go"
    assert min(torques[60:]) >= 0.0, "the probe only winds"
    desk.cycle(300)
    assert desk.state["motor_torque_nm"][0, 2] == 0.0


def test_a_tension_that_comes_back_was_slack() -> None:
    desk = lost()
    wind_probe(desk, 2, 150)
    shift(desk, 2, -120)
    wind_probe(desk, 2, 60)
    assert desk.causes()[0] == Cause.TENDON_SLACK
    assert 0.5 < desk.state["finger_cause_value"][0, 0] < 2.0
    desk.cycle(300)
    assert desk.state["motor_torque_nm"][0, 2] <= 0.0


def test_the_probe_ends_even_if_the_motor_does_not_turn() -> None:
    desk = lost()
    cycles = len(wind_probe(desk, 2, 3000, speed=1e-7))
    assert desk.causes()[0] == Cause.TENDON_BROKEN
    assert cycles * desk.dt_s == pytest.approx(LONGEST_S, rel=0.05)


def test_no_motor_of_a_faulted_finger_pulls_but_the_probe() -> None:
    desk = lost()
    step = float(desk.m["torque_rate_nm_s"]) * desk.dt_s
    ramp = math.ceil(desk.m["motor_torque_limit_nm"][0] / step)
    for k in range(900):
        desk.cycle()
        torque = desk.state["motor_torque_nm"][0, :8]
        others = np.delete(torque, 2)
        if k > ramp:
            assert others.max() <= 1e-12
        assert np.all(torque >= -desk.m["motor_torque_limit_nm"][:8])
    assert np.all(np.delete(torque, 2) >= -RELEASE_NM)


def hard_unwound(desk: Desk, seconds: float) -> set[int]:
    """Motors that unwind at the drive's limit within a time."""
    found: set[int] = set()
    for _ in range(round(seconds / desk.dt_s)):
        desk.cycle()
        torque, limit = desk.state["motor_torque_nm"][0, :8], desk.m["motor_torque_limit_nm"][:8]
        found |= {int(i) for i in np.flatnonzero(torque <= -limit * (1.0 - 1e-9))}
    return found


@pytest.mark.parametrize(
    ("lost_tendon", "q_rad", "thrown"),
    [
        (2, (0.0, 0.8, 0.5, 0.4), "abduction"),
        (1, (0.0, 0.8, 0.5, 0.4), "abduction"),
        (0, (-0.1, 1.35, 0.5, 0.4), "flexion"),
        (3, (0.2, -0.1, 0.5, 0.4), "flexion"),
    ],
)
def test_all_that_pulls_the_first_joint_into_its_stop_is_let_go_at_full_torque(
    lost_tendon: int, q_rad: tuple[float, ...], thrown: str
) -> None:
    """Not only the partner: two tendons of the base pull a joint to either side."""
    desk = lost(lost_tendon, q_rad)
    rows, j = desk.keeper["P_tj_m"][0], {"abduction": 0, "flexion": 1}[thrown]
    opposed = {t for t in range(4) if rows[t, j] * rows[lost_tendon, j] < 0.0}
    assert len(opposed) == 2
    assert hard_unwound(desk, 0.017) & {0, 1, 2, 3} == opposed


@pytest.mark.parametrize("lost_tendon", [4, 5])
def test_a_tendon_that_moves_more_than_the_lost_one_is_not_let_go_hard(lost_tendon: int) -> None:
    """Tendons of the last joint also turn the one before; let go, they would throw the last one."""
    desk = lost(lost_tendon)
    assert hard_unwound(desk, 0.017) == {9 - lost_tendon}


def test_what_is_let_go_hard_comes_down_on_its_ramp_is_led_after_that_and_stops_at_slack() -> None:
    """A throw is over once it took half as long again as the full torque: 29 ms."""
    desk = lost(2)
    partner = 1
    desk.cycle(round(0.018 / desk.dt_s))
    full = float(desk.m["motor_torque_limit_nm"][partner])
    torques = []
    for _ in range(round(0.04 / desk.dt_s)):
        desk.cycle()
        torques.append(-float(desk.state["motor_torque_nm"][0, partner]))
    assert np.all(np.diff(torques[2:]) <= 1e-12), "on its way down"
    led = float(desk.m["release_torque_nm"])
    ramp_s = (1.0 - led / full) * 0.1
    assert torques[round(0.01 / desk.dt_s)] > full * (1.0 - 0.011 / 0.1)
    assert HURRY * URGENT_S < 0.018 + ramp_s, "sooner than on the ramp"
    after_s = HURRY * URGENT_S - 0.018 + (full - led) / float(desk.m["torque_rate_nm_s"])
    assert 0.0 < max(torques[round((after_s + 0.004) / desk.dt_s) :]) <= led
    slacken(desk, partner)
    desk.cycle(round(0.01 / desk.dt_s))
    assert desk.state["motor_torque_nm"][0, partner] == 0.0


@law
def _partners(model: object, a: int, b: int) -> bool:
    return partners(model[0], model[0].P_tj_m, 0, a, b)  # type: ignore[index]


def test_partners_are_the_tendons_that_undo_each_other() -> None:
    desk = Desk("finger_bench")
    pairs = {(a, b) for a in range(8) for b in range(8) if _partners(desk.model, a, b)}
    assert pairs == {(0, 3), (3, 0), (1, 2), (2, 1), (4, 5), (5, 4), (6, 7), (7, 6)}


@pytest.mark.parametrize(("reaction", "share"), [(Reaction.HOLD, 0.5), (Reaction.FREEZE, 1.0)])
def test_hold_and_freeze_keep_the_angles(reaction: Reaction, share: float) -> None:
    """A joint out of its range with sound sensors: the configured reaction."""
    desk = Desk("finger_bench")
    desk.m["finger_reaction"][0] = int(reaction)
    desk.to_active()
    beyond = np.array([desk.m["joint_max_rad"][0] + math.radians(10.0), 0.0, 0.0, 0.0])
    for k in range(100):
        desk.place(beyond * (k + 1) / 100, 20.0)
        desk.cycle()
    desk.cycle(1500)
    assert desk.causes()[0] == Cause.JOINT_OUT_OF_RANGE
    held = desk.keeper["hold_angle_rad"][0, :8].copy()
    desk.measurement["motor_angle_rad"][0, :8] = held + 0.004
    desk.cycle(300)
    torque = desk.state["motor_torque_nm"][0, :8]
    assert torque == pytest.approx(-desk.m["position_kp_nm_rad"] * 0.004, rel=2e-2)
    desk.measurement["motor_angle_rad"][0, :8] = held + 0.02
    desk.cycle(300)
    assert desk.state["motor_torque_nm"][0, :8] == pytest.approx(-share * desk.m["motor_torque_limit_nm"][:8])


def test_an_operators_stop_holds_whatever_is_configured() -> None:
    desk = Desk("finger_bench")
    desk.to_active()
    desk.cycle(300)
    desk.ask(Request.STOP)
    desk.cycle(1500)
    held = desk.keeper["hold_angle_rad"][0, :8].copy()
    desk.measurement["motor_angle_rad"][0, :8] = held + 0.004
    desk.cycle(200)
    expected = -desk.m["position_kp_nm_rad"] * 0.004
    assert desk.state["motor_torque_nm"][0, :8] == pytest.approx(expected, rel=2e-2)


def test_a_fault_of_one_finger_leaves_the_others_torque_untouched() -> None:
    """The same run with and without a lost motor in one finger: every other finger's torques are equal."""
    runs = []
    for sick in (False, True):
        desk = Desk("hasy")
        desk.to_active()
        if sick:
            desk.measurement["motor_status"][0, desk.motors_of(1)[0]] = int(ChannelStatus.MISSING)
        desk.cycle(200)
        runs.append(desk)
    healthy, sick_desk = runs
    assert sick_desk.state["finger_state"][0, 1] == MachineState.FAULT
    assert sick_desk.state["machine"][0] == MachineState.ACTIVE
    for f in range(healthy.n_fingers):
        if f != 1:
            motors = healthy.motors_of(f)
            a, b = (d.state["motor_torque_nm"][0, motors] for d in runs)
            assert np.array_equal(a, b)
            assert sick_desk.state["finger_state"][0, f] == MachineState.ACTIVE


def test_the_winding_heats_with_the_square_of_the_current_and_follows_the_report() -> None:
    desk = Desk("finger_bench")
    desk.measurement["motor_temperature_degc"][0, :8] = 25.0
    desk.cycle()
    desk.m["dt_s"] = 0.05
    desk.m["torque_rate_nm_s"] = 0.0
    for _ in range(200):
        desk.stamp()
        desk.keeper["last_torque_nm"][0, :8] = (0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        desk.watch()
    rise = desk.state["winding_temperature_degc"][0, :3] - 25.0
    assert rise[0] == pytest.approx(0.0, abs=1e-9)
    assert rise[2] == pytest.approx(4.0 * rise[1], rel=1e-6)
    loss_w = 1.5 * desk.m["motor_resistance_ohm"][1] / desk.m["motor_torque_constant_nm_a"][1] ** 2
    adiabatic = loss_w * 200 * 0.05 / float(desk.m["thermal_winding_j_k"][1])
    assert 0.8 * adiabatic < rise[1] < adiabatic
    desk.measurement["motor_temperature_degc"][0, 0] = 60.0
    desk.stamp()
    desk.watch()
    assert desk.state["winding_temperature_degc"][0, 0] == 60.0, "never below what the motor reports"
    for _ in range(round(3 * OBSERVER_S / 0.05)):
        desk.stamp()
        desk.watch()
    assert desk.keeper["case_degc"][0, 0] == pytest.approx(60.0, abs=7.0)


@pytest.mark.parametrize("report", [np.nan, np.inf, 0.0, -273.0])
def test_a_temperature_that_cannot_be_is_not_used(report: float) -> None:
    desk = Desk("finger_bench")
    desk.measurement["motor_temperature_degc"][0, :8] = report
    desk.cycle(50)
    shown = desk.state["winding_temperature_degc"][0, :8]
    assert shown == pytest.approx(float(desk.m["ambient_degc"]), abs=0.1)


def test_a_winding_too_hot_releases_its_finger() -> None:
    desk = Desk("finger_bench")
    desk.to_active()
    desk.measurement["motor_temperature_degc"][0, 3] = desk.m["winding_limit_degc"][1] + 1.0
    desk.cycle()
    assert desk.causes()[0] == Cause.MOTOR_TOO_HOT
    assert desk.state["finger_cause_part"][0, 0] == 3
    assert desk.state["finger_cause_limit"][0, 0] == desk.m["winding_limit_degc"][1]


def test_motion_after_a_fault_starts_from_the_measured_pose() -> None:
    """Stop in mid-pose, goal far away: after re-arm and activation the reference begins where the hand is."""
    desk = Desk("finger_bench")
    desk.goal["joint_angle_rad"][0, :4] = (0.1, 0.9, 0.9, 0.6)
    desk.to_active()
    desk.cycle(200)
    desk.ask(Request.STOP)
    desk.cycle(50)
    moved = np.array([-0.1, 0.3, 0.2, 0.4])
    for k in range(1, 201):
        desk.place(moved * k / 200, 20.0 + 5.0 * k / 200)
        desk.cycle()
    desk.ask(Request.REARM)
    desk.cycle(20)
    assert desk.state["machine"][0] == MachineState.HOLDING
    desk.ask(Request.ACTIVATE)
    desk.cycle(2)
    assert desk.state["machine"][0] == MachineState.ACTIVE
    assert desk.state["ref_joint_angle_rad"][0, :4] == pytest.approx(moved, abs=1e-4)
    torques = []
    for _ in range(100):
        desk.cycle()
        torques.append(desk.state["motor_torque_nm"][0, :8].copy())
    assert np.abs(np.diff(torques, axis=0)).max() < 0.05 * desk.m["motor_torque_limit_nm"][0]
