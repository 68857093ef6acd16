"""Modes of the controller: bumpless changes, finite outputs, what each mode asks of the motors."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.friction import motor_friction_nm
from signals.modes import Mode
from signals.records import GOAL
from tests.rigs.desk import Desk

RUNNING = [m for m in Mode if m is not Mode.OFF]


def goals(desk: Desk) -> None:
    """A goal in every mode that differs from what is measured."""
    g = desk.goal[0]
    g["motor_angle_rad"][: desk.n_motors] = desk.state["motor_angle_rad"][0, : desk.n_motors] + 0.003
    g["motor_torque_nm"][: desk.n_motors] = 0.3
    g["tendon_force_n"][: desk.n_tendons] = 21.0
    g["joint_angle_rad"][:4] = (0.005, 0.49, 0.51, 0.395)
    g["joint_torque_nm"][:4] = (0.004, 0.006, 0.005, 0.002)
    g["pretension_n"][0] = 21.0


def start(desk: Desk, mode: Mode, cycles: int) -> None:
    """A finger at 20 N, so many cycles after it was asked for ``goals`` in this mode."""
    desk.place(np.array([0.0, 0.5, 0.5, 0.4]), 20.0)
    desk.look()
    goals(desk)
    desk.goal["finger_mode"][0, 0] = int(mode)
    desk.to_active()
    desk.cycle(cycles)


@pytest.mark.parametrize(("first", "second"), list(permutations(RUNNING, 2)))
def test_a_change_of_mode_makes_no_torque_step(first: Mode, second: Mode) -> None:
    desk = Desk("finger_bench")
    start(desk, first, 400)
    before = desk.state["motor_torque_nm"][0, :8].copy()
    desk.goal["finger_mode"][0, 0] = int(second)
    desk.cycle()
    assert desk.state["finger_mode"][0, 0] == second
    limit = 0.05 * desk.m["motor_torque_limit_nm"][0]
    assert np.abs(desk.state["motor_torque_nm"][0, :8] - before).max() < limit
    # the controller itself starts from the present command: the guard's rate limit had nothing to do
    assert np.abs(desk.state["ref_motor_torque_nm"][0, :8] - before).max() < limit
    torques = [before]
    for _ in range(60):
        desk.cycle()
        torques.append(desk.state["motor_torque_nm"][0, :8].copy())
    assert np.abs(np.diff(torques, axis=0)).max() < limit


def test_every_mode_settles_at_what_it_was_asked() -> None:
    """Static measurement: each mode's steady torque is its own law."""
    desk = Desk("finger_bench")
    desk.place(np.array([0.0, 0.5, 0.5, 0.4]), 20.0)
    desk.look()
    goals(desk)
    m, g = desk.m, desk.goal[0]
    for mode in RUNNING:
        fresh = Desk("finger_bench")
        fresh.m["ripple_gain"] = 0.0
        fresh.place(np.array([0.0, 0.5, 0.5, 0.4]), 20.0)
        fresh.goal[:] = desk.goal
        fresh.goal["finger_mode"][0, 0] = int(mode)
        fresh.to_active()
        s = fresh.state[0]
        for _ in range(1350):
            fresh.look()
            fresh.steer()
        torque = s["ref_motor_torque_nm"][:8]
        if mode is Mode.MOTOR_TORQUE:
            assert torque == pytest.approx(g["motor_torque_nm"][:8], abs=2e-3)
        elif mode is Mode.MOTOR_POSITION:
            error = g["motor_angle_rad"][:8] - s["motor_angle_rad"][:8]
            assert torque == pytest.approx(m["position_kp_nm_rad"] * error, abs=2e-3)
        elif mode is Mode.TENDON_FORCE:
            assert s["ref_tension_n"][:8] == pytest.approx(21.0)
            assert np.all(torque > 0.21)
        else:
            P, f = m["P_tj_m"][:8, :4], s["ref_tension_n"][:8]
            assert -P.T @ f == pytest.approx(s["cmd_joint_torque_nm"][:4], abs=1e-12)
            assert s["cmd_joint_torque_nm"][:4] == pytest.approx(s["ref_joint_torque_nm"][:4], abs=1e-9)
            assert np.mean(f) == pytest.approx(21.0, abs=1e-6)
            expected = g["joint_torque_nm"][:4].copy()
            if mode is Mode.JOINT_IMPEDANCE:
                expected += g["joint_impedance_nm_rad"][:4] * (
                    g["joint_angle_rad"][:4] - [0.0, 0.5, 0.5, 0.4]
                )
            assert s["ref_joint_torque_nm"][:4] == pytest.approx(expected, abs=1e-4)


def test_torque_out_of_reach_is_scaled_and_reported() -> None:
    desk = Desk("finger_bench")
    desk.place(np.array([0.0, 0.5, 0.5, 0.4]), 20.0)
    desk.goal["finger_mode"][0, 0] = int(Mode.JOINT_TORQUE)
    desk.goal["joint_torque_nm"][0, :4] = (0.0, 3.0, 0.0, 0.0)
    desk.to_active()
    for _ in range(900):  # the goal's torque rises at 13 N m/s
        desk.look()
        desk.steer()
    s = desk.state[0]
    # two flexors at 120 N against two extensors at 5 N on 6.5 mm pulleys
    reach = 2.0 * 0.0065 * 115.0
    assert s["torque_scale"][0] == pytest.approx(reach / 3.0, rel=1e-9)
    assert s["cmd_joint_torque_nm"][1] == pytest.approx(reach, rel=1e-9)
    assert s["cmd_joint_torque_nm"][[0, 2, 3]] == pytest.approx(np.zeros(3), abs=1e-9)
    assert s["ref_joint_torque_nm"][1] == pytest.approx(3.0)


def test_the_tension_reference_obeys_the_rate_limit() -> None:
    desk = Desk("finger_bench")
    desk.goal["finger_mode"][0, 0] = int(Mode.TENDON_FORCE)
    desk.goal["tendon_force_n"][0, :8] = 20.0
    desk.to_active()
    desk.cycle(400)
    desk.goal["tendon_force_n"][0, :8] = 80.0
    last = desk.state["ref_tension_n"][0, :8].copy()
    for _ in range(900):
        desk.look()
        desk.steer()
        now = desk.state["ref_tension_n"][0, :8].copy()
        assert np.all(now - last <= desk.m["tension_rate_n_s"] * desk.dt_s + 1e-9)
        last = now
    assert last == pytest.approx(80.0)


def test_a_finger_without_mode_rests_while_the_others_move() -> None:
    desk = Desk("hasy")
    desk.goal["finger_mode"][0, 1] = int(Mode.OFF)
    desk.goal["pretension_n"][0, : desk.n_fingers] = 30.0
    desk.to_active()
    desk.cycle(300)
    torque = desk.state["ref_motor_torque_nm"][0]
    assert not torque[desk.motors_of(1)].any()
    assert all(torque[desk.motors_of(f)].any() for f in range(desk.n_fingers) if f != 1)


@pytest.mark.parametrize("mode", [Mode.MOTOR_POSITION, Mode.TENDON_FORCE, Mode.JOINT_IMPEDANCE])
def test_each_motors_own_share_of_its_friction_counts_in_tendon_force_and_the_hands_elsewhere(
    mode: Mode,
) -> None:
    desk, own = Desk("finger_bench"), np.linspace(0.6, 0.95, 8)
    desk.m["friction_gain"], desk.m["force_friction_gain"][:8] = 0.5, own
    start(desk, mode, 30)
    m, speeds = desk.m, desk.state["ref_motor_speed_rad_s"][0, :8]
    assert np.abs(speeds).min() > 1e-6
    names = ("friction_gamma_1_s_rad", "friction_gamma_2_nm", "friction_gamma_3_nms_rad")
    whole = [motor_friction_nm(speed, *(m[name][i] for name in names)) for i, speed in enumerate(speeds)]
    share = own if mode is Mode.TENDON_FORCE else 0.5
    assert desk.state["friction_torque_nm"][0, :8] == pytest.approx(share * np.array(whole), rel=1e-6)


def test_wrist_motion_turns_motors_so_that_the_tensions_stay() -> None:
    """Motor position mode: the goal angle carries -dh_wrist/R."""
    desk = Desk("hasy")
    desk.goal["finger_mode"][0, : desk.n_fingers] = int(Mode.MOTOR_POSITION)
    desk.look()
    desk.goal["motor_angle_rad"][0] = desk.state["motor_angle_rad"][0]
    desk.m["ripple_gain"] = 0.0
    desk.to_active()
    for k in range(400):
        axes = desk.m["wrist_neutral_rad"] + np.array([0.0002, 0.0003]) * k
        desk.place(np.zeros(desk.n_joints), 20.0, axes)
        desk.goal["axis_angle_rad"][0, :2] = axes
        desk.cycle()
    still = desk.state["motor_angle_rad"][0].copy()
    speed = desk.state["motor_speed_rad_s"][0].copy()
    wanted = still - desk.goal["motor_angle_rad"][0]
    n = desk.n_tendons
    expected = -desk.state["wrist_length_m"][0, :n] / desk.m["spool_radius_m"][:n]
    assert wanted[:n] == pytest.approx(expected, abs=1e-9)
    proportional = desk.state["ref_motor_torque_nm"][0] - desk.state["friction_torque_nm"][0]
    proportional -= desk.m["position_kd_nms_rad"] * (desk.state["ref_motor_speed_rad_s"][0] - speed)
    assert np.abs(proportional[:n]).max() < 0.02
    assert np.abs(expected).max() > 0.1


fields = st.sampled_from([n for n in GOAL.names if GOAL[n].subdtype is not None and GOAL[n].base.kind == "f"])
wild = st.floats(-1e9, 1e9)


@given(st.sampled_from(RUNNING), st.lists(st.tuples(fields, wild), min_size=1, max_size=4))
def test_any_finite_goal_gives_finite_torques(mode: Mode, changes: list[tuple[str, float]]) -> None:
    desk = Desk("finger_bench")
    desk.goal["finger_mode"][0, 0] = int(mode)
    desk.to_active()
    for name, value in changes:
        desk.goal[name][0] = value
    for _ in range(5):
        desk.look()
        desk.steer()
        assert np.all(np.isfinite(desk.state["ref_motor_torque_nm"][0, :8]))
        assert np.all(np.isfinite(desk.state["ref_tension_n"][0, :8]))


@given(st.sampled_from(RUNNING), fields)
def test_a_goal_that_is_no_number_never_reaches_a_motor(mode: Mode, name: str) -> None:
    desk = Desk("finger_bench")
    desk.goal["finger_mode"][0, 0] = int(mode)
    desk.to_active()
    desk.goal[name][0] = np.nan
    desk.cycle(20)
    assert np.all(np.isfinite(desk.command["motor_current_a"]))
    assert np.all(np.isfinite(desk.command["axis_angle_rad"]))
