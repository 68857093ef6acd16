"""The estimator inverts the hand: exact lengths give exact joints, and one bad channel harms one finger."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.coupling import tendon_lengths
from mechanics.wrist import wrist_lengths
from signals.modes import ChannelStatus
from tests.rigs.desk import Desk

HANDS = ("finger_bench", "hasy")


def pose_of(desk: Desk, share: list[float]) -> np.ndarray:
    low, high = desk.m["joint_min_rad"], desk.m["joint_max_rad"]
    x = np.resize(np.array(share), desk.n_joints)
    return low[: desk.n_joints] + x * (high - low)[: desk.n_joints]


@pytest.fixture(scope="module", params=HANDS)
def desk(request: pytest.FixtureRequest) -> Desk:
    return Desk(request.param)


shares = st.lists(st.floats(0.02, 0.98), min_size=7, max_size=7)
tensions = st.lists(st.floats(4.5, 130.0), min_size=5, max_size=5)
axes = st.tuples(st.floats(-0.2, 0.2), st.floats(-0.15, 0.15))


@given(shares, tensions, axes)
def test_exact_measurements_give_exact_joint_angles(
    desk: Desk, share: list[float], tension: list[float], axis: tuple[float, float]
) -> None:
    q = pose_of(desk, share)
    f = np.resize(np.array(tension), desk.n_tendons)
    desk.place(q, f, desk.m["wrist_neutral_rad"] + np.array(axis) if desk.m["n_axes"] else None)
    desk.estimator["started"] = 0  # another hand, not one that jumped
    for _ in range(3):
        desk.look()
    s = desk.state[0]
    assert np.abs(s["joint_angle_rad"][: desk.n_joints] - q).max() < 1e-8
    assert np.abs(s["tension_n"][: desk.n_tendons] - f).max() < 1e-6
    assert s["finger_residual_m"].max() < 1e-9
    assert np.abs(s["wrist_error_rad"]).max() < 1e-6


@given(shares, st.lists(st.floats(-1.0, 1.0), min_size=8, max_size=8))
def test_joint_torque_is_the_work_of_the_tensions(desk: Desk, share: list[float], turn: list[float]) -> None:
    """tau . dq = -f . dh for every small turn: the Jacobian in use is that of the lengths in use."""
    q, dq = pose_of(desk, share), np.resize(np.array(turn), desk.n_joints)
    f = np.linspace(6.0, 60.0, desk.n_tendons)
    desk.place(q, f)
    desk.estimator["started"] = 0
    for _ in range(3):
        desk.look()
    h = [np.zeros(len(desk.m["tendon_kind"])) for _ in range(2)]
    for sign, out in zip((1.0, -1.0), h, strict=True):
        full = np.zeros(len(desk.m["joint_min_rad"]))
        full[: desk.n_joints] = q + sign * 1e-5 * dq
        tendon_lengths(desk.m, full, out)
    work = -f @ (h[0] - h[1])[: desk.n_tendons] / 2e-5
    assert desk.state["joint_torque_nm"][0, : desk.n_joints] @ dq == pytest.approx(work, abs=2e-6)


@given(st.sampled_from([0, 1]), st.integers(0, 7), st.sampled_from(["nan", "missing", "inf"]))
def test_a_bad_channel_harms_its_own_finger_only(where: int, finger_seed: int, kind: str) -> None:
    healthy, sick = Desk("hasy"), Desk("hasy")
    t = (finger_seed * 5) % healthy.n_tendons
    finger = int(healthy.m["tendon_finger"][t])
    for desk in (healthy, sick):
        desk.place(pose_of(desk, [0.4, 0.6, 0.5]), 25.0)
        desk.look()
    name, status = (("motor_angle_rad", "motor_status"), ("hall_fine_count", "hall_status"))[where]
    index = int(sick.m["tendon_motor"][t]) if where == 0 else t
    before = sick.state["joint_angle_rad"][0].copy()
    if kind == "missing":
        sick.measurement[status][0, index] = int(ChannelStatus.MISSING)
        sick.measurement[name][0, index] = 1e9
    else:
        sick.measurement[name][0, index] = float(kind)
    healthy.look()
    sick.look()
    for f in range(sick.n_fingers):
        same = sick.m["joint_finger"][: sick.n_joints] == f
        a = sick.state["joint_angle_rad"][0, : sick.n_joints][same]
        b = healthy.state["joint_angle_rad"][0, : sick.n_joints][same]
        assert np.array_equal(a, b), "the last good value was the same value"
        assert (sick.state["finger_status"][0, f] != 0) == (f == finger)
    assert np.allclose(sick.state["joint_angle_rad"][0], before, atol=1e-12)
    assert np.all(np.isfinite(sick.state["fingertip_m"][0]))


def test_a_slack_tendon_says_nothing_about_the_joints(desk: Desk) -> None:
    """One tendon per finger wound off by a centimetre at its slack stop: the angles stay."""
    q = pose_of(desk, [0.3, 0.7, 0.45, 0.55])
    desk.place(q, 20.0)
    desk.estimator["started"] = 0  # another hand: its levers' loops say nothing yet
    desk.look()
    z, m = desk.measurement[0], desk.m
    for f in range(desk.n_fingers):
        t = int(m["finger_tendon"][f, 0])
        k = m["tendon_spring"][t]
        z["hall_fine_count"][t] = m["hall_zero_count"][t] + m["lever_max_rad"][k] * m["hall_counts_rad"][t]
        z["motor_angle_rad"][m["tendon_motor"][t]] -= 1.0
    for _ in range(60):
        desk.look()
    s = desk.state[0]
    assert np.abs(s["joint_angle_rad"][: desk.n_joints] - q).max() < 1e-6
    assert s["finger_residual_m"].max() < 1e-8
    assert np.all(s["finger_status"][: desk.n_fingers] & int(ChannelStatus.OUT_OF_RANGE))
    assert np.all(s["finger_condition"][: desk.n_fingers] >= m["finger_condition"][: desk.n_fingers] - 1e-9)


@given(shares, st.floats(1e-4, 3e-3), st.integers(0, 7))
def test_a_slipped_tendon_is_named_as_its_antagonist_pair(share: list[float], slip_m: float, t: int) -> None:
    desk = Desk("finger_bench")
    desk.place(pose_of(desk, share), 30.0)
    desk.measurement["motor_angle_rad"][0, t] += slip_m / desk.m["spool_radius_m"][t]
    desk.look()
    r = desk.state["residual_m"][0, :8]
    pair = {0: 3, 3: 0, 1: 2, 2: 1, 4: 5, 5: 4, 6: 7, 7: 6}[t]
    others = [i for i in range(8) if i not in (t, pair)]
    assert np.abs(r[[t, pair]]) == pytest.approx(slip_m / 2, rel=1e-6)
    assert np.abs(r[others]).max() < 1e-9


@given(shares, st.lists(st.floats(-1e-3, 1e-3), min_size=8, max_size=8))
def test_residuals_are_what_no_joint_angle_explains(share: list[float], noise: list[float]) -> None:
    """(I - P P+) is a projection: residuals are orthogonal to P's columns."""
    desk = Desk("finger_bench")
    desk.place(pose_of(desk, share), 30.0)
    desk.measurement["motor_angle_rad"][0, :8] += np.array(noise) / desk.m["spool_radius_m"][:8]
    desk.look()
    P = desk.m["P_tj_m"][:8, :4]
    r = desk.state["residual_m"][0, :8]
    assert np.abs(P.T @ r).max() < 1e-12
    projector = np.eye(8) - P @ np.linalg.pinv(P)
    assert np.allclose(r, projector @ (-np.array(noise)), atol=1e-10)


@pytest.mark.parametrize("yaw", [-0.1, 0.0, 0.15])
def test_a_wrong_abduction_sensor_is_seen_by_the_fingers(yaw: float) -> None:
    desk = Desk("hasy")
    axes = desk.m["wrist_neutral_rad"] + np.array([0.02, yaw])
    desk.place(pose_of(desk, [0.4]), 20.0, axes)
    desk.measurement["axis_angle_rad"][0, 1] += np.radians(3.0)
    desk.look()
    assert desk.state["wrist_error_rad"][0, 1] == pytest.approx(np.radians(3.0), rel=0.15)


def test_the_wrist_feels_the_work_of_all_tendons() -> None:
    """tau_w . dq_w = -f . dh_wrist by finite differences of the lengths."""
    desk = Desk("hasy")
    axes = desk.m["wrist_neutral_rad"] + np.array([0.1, -0.08])
    f = np.linspace(5.0, 50.0, desk.n_tendons)
    desk.place(np.zeros(desk.n_joints), f, axes)
    for _ in range(3):
        desk.look()
    for a in range(2):
        h = [np.zeros(len(desk.m["tendon_kind"])) for _ in range(2)]
        for sign, out in zip((1.0, -1.0), h, strict=True):
            moved = axes.copy()
            moved[a] += sign * 1e-5
            wrist_lengths(desk.m, moved[0], moved[1], out)
        torque = -f @ (h[0] - h[1])[: desk.n_tendons] / 2e-5
        assert desk.state["wrist_torque_nm"][0, a] == pytest.approx(torque, abs=1e-6)


def test_fingertips_in_the_forearm_frame_keep_their_distances() -> None:
    desk = Desk("hasy")
    desk.place(pose_of(desk, [0.4, 0.6]), 20.0, desk.m["wrist_neutral_rad"] + np.array([0.15, 0.1]))
    for _ in range(3):
        desk.look()
    has_tip = desk.m["finger_tip_body"][: desk.n_fingers] >= 0
    palm = desk.state["fingertip_m"][0, : desk.n_fingers][has_tip]
    forearm = desk.state["fingertip_forearm_m"][0, : desk.n_fingers][has_tip]
    for a in range(len(palm)):
        for b in range(a):
            assert np.linalg.norm(palm[a] - palm[b]) == pytest.approx(np.linalg.norm(forearm[a] - forearm[b]))
    assert np.abs(palm - forearm).max() > 0.01
