"""The wrist: reference table, loops that close, exact velocities, palm angles both ways, the lock."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys

from mechanics.wrist import (
    WristOutOfRange,
    axes_of_palm,
    axis_range,
    palm_angles,
    palm_jacobian,
    palm_lengths,
    palm_ways,
    wrist_jacobian,
    wrist_lengths,
    wrist_margin,
    wrist_motion,
    wrist_pose,
)
from mechanics.wrist_loop import parallelogram
from signals.compiled import law
from tests.rigs.kinematics import NEUTRAL, hasy_model

MODEL = hasy_model()
A, B, C = 0.050, 0.042, 0.036
BAR_BC = math.sqrt(A * A + B * B + C * C)
BAR_A = math.hypot(A, C)
Q71 = st.floats(-0.6, 0.4).map(lambda d: NEUTRAL[0] + d)
Q73 = st.floats(-0.4, 0.4).map(lambda d: NEUTRAL[1] + d)
RATE = st.floats(-3.0, 3.0)


def pose(q71: float, q73: float) -> tuple[np.ndarray, np.ndarray]:
    R, o = np.zeros((3, 3)), np.zeros(3)
    wrist_pose(MODEL[0], q71, q73, R, o)
    return R, o


def lengths(q71: float, q73: float) -> np.ndarray:
    h = np.zeros(64)
    wrist_lengths(MODEL[0], q71, q73, h)
    return h


def corners(q71: float, q73: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B, C from the palm frame: origin between A and M, z from A to M, y along C -> B."""
    R, o = pose(q71, q73)
    a, m = o - 0.5 * C * R[:, 2], o + 0.5 * C * R[:, 2]
    return a, m + 0.5 * B * R[:, 1], m - 0.5 * B * R[:, 1]


def motion(q71, q73, qd71=0.0, qd73=0.0) -> tuple[np.ndarray, np.ndarray]:
    S, bias = np.zeros((6, 2)), np.zeros(6)
    wrist_motion(MODEL[0], q71, q73, qd71, qd73, S, bias)
    return S, bias


# (q71, t_B) offset from neutral; A, B, palm origin [m]; h_wrist of tendons 1, 10, 19, 20, 29, 38 [mm], all
# confirmed with 40-digit arithmetic from the construction by points (not from our chain of angles)
TABLE = [
    (
        (0.0, 0.0),
        (0.05, 0.021, 0.0),
        (0.05, 0.042, 0.036),
        (0.05, 0.021, 0.018),
        (
            46.615448083227,
            46.615448083227,
            46.690470119715,
            46.561786907291,
            46.615448083227,
            46.561786907291,
        ),
    ),
    (
        (0.1, 0.05),
        (0.053578970907, 0.022326547561, 0.00561029536),
        (0.044525968931, 0.04502681188, 0.039370348012),
        (0.049851568705, 0.023231001317, 0.023196893559),
        (
            48.034808022336,
            46.635878873252,
            45.266799013032,
            47.415604527342,
            46.736342971640,
            45.976642905118,
        ),
    ),
    (
        (-0.2, 0.1),
        (0.043175513171, 0.022059226587, -0.0079403357),
        (0.052053205801, 0.047941080181, 0.023497161467),
        (0.049584149475, 0.024724974893, 0.008667589116),
        (
            49.745597814215,
            46.896828199407,
            44.027956644603,
            48.516895822059,
            46.963331670640,
            45.481072426973,
        ),
    ),
]


@pytest.mark.parametrize(("offset", "a", "b", "origin", "h_mm"), TABLE)
def test_reference_table(offset, a, b, origin, h_mm):
    q71, q73 = NEUTRAL[0] + offset[0], NEUTRAL[1] - offset[1]
    at, bt, _ = corners(q71, q73)
    np.testing.assert_allclose(at, a, rtol=0, atol=6e-13)
    np.testing.assert_allclose(bt, b, rtol=0, atol=6e-13)
    np.testing.assert_allclose(pose(q71, q73)[1], origin, rtol=0, atol=6e-13)
    h = lengths(q71, q73)[[0, 9, 18, 19, 28, 37]]
    np.testing.assert_allclose(1e3 * h, h_mm, rtol=0, atol=2e-12)


def test_neutral_is_the_box_with_the_palm_parallel_to_the_forearm():
    R, _ = pose(*NEUTRAL)
    np.testing.assert_allclose(R, np.eye(3), rtol=0, atol=2e-15)
    for got, point in zip(corners(*NEUTRAL), ((A, B / 2, 0), (A, B, C), (A, 0, C)), strict=True):
        np.testing.assert_allclose(got, point, rtol=0, atol=2e-16)
    h = lengths(*NEUTRAL)[:38]
    assert 46.56e-3 < h.min() and h.max() < 46.70e-3
    assert math.degrees(NEUTRAL[0]) == pytest.approx(math.degrees(math.atan2(C, A)))


@given(Q71, Q73)
def test_every_bar_keeps_its_length(q71, q73):
    a, b, c = corners(q71, q73)
    assert abs(np.linalg.norm(b) - BAR_BC) < 1e-12
    assert abs(np.linalg.norm(c - (0, B, 0)) - BAR_BC) < 1e-12
    assert abs(np.linalg.norm(a - (0, B / 2, C)) - BAR_A) < 1e-12
    assert abs(np.linalg.norm(b - c) - B) < 1e-12
    assert abs(np.linalg.norm(a - b) - math.hypot(C, B / 2)) < 1e-12
    assert abs(np.linalg.norm(a - c) - math.hypot(C, B / 2)) < 1e-12
    R, _ = pose(q71, q73)
    np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=2e-15)
    assert np.linalg.det(R) > 0.0


@given(Q71, Q73)
def test_the_potentiometers_read_the_tilt_and_the_bar_in_its_plane(q71, q73):
    """B and C lie in the plane tilted by q71 about B0C0, the bar B0B at t_B = pi/2 - q73 in it."""
    _, b, c = corners(q71, q73)
    normal = np.array([-math.sin(q71), 0.0, math.cos(q71)])
    assert abs(b @ normal) < 1e-16 + 1e-15
    assert abs(c @ normal) < 1e-16 + 1e-15
    along = b @ (math.cos(q71), 0.0, math.sin(q71))
    assert math.atan2(b[1], along) == pytest.approx(math.pi / 2 - q73, abs=1e-14)


@settings(max_examples=30)
@given(Q71, Q73)
def test_the_crossed_solution_is_followed_without_a_jump(q71, q73):
    """From neutral outwards in small steps the palm never moves more than its rates allow."""
    n = 40
    angles = np.linspace(NEUTRAL, (q71, q73), n)
    step = (angles[-1] - angles[0]) / (n - 1)
    before = pose(*angles[0])
    for k in range(1, n):
        R, o = pose(*angles[k])
        S, _ = motion(*angles[k])
        reach = np.linalg.norm(S @ step) * 3.0 + 1e-12
        assert np.linalg.norm(R - before[0]) < math.sqrt(2.0) * reach
        assert np.linalg.norm(o - before[1]) < reach
        assert wrist_margin(MODEL[0], *angles[k]) > 0.1
        before = (R, o)


@given(Q71, Q73)
def test_S_is_the_motion_of_the_palm_in_its_own_frame(q71, q73):
    S, _ = motion(q71, q73)
    R, _ = pose(q71, q73)
    step = 1e-6
    for k, (e71, e73) in enumerate(((step, 0.0), (0.0, step))):
        Ru, ou = pose(q71 + e71, q73 + e73)
        Rd, od = pose(q71 - e71, q73 - e73)
        W = R.T @ (Ru - Rd) / (2 * step)
        np.testing.assert_allclose(S[:3, k], (W[2, 1], W[0, 2], W[1, 0]), rtol=0, atol=2e-8)
        np.testing.assert_allclose(S[3:, k], R.T @ (ou - od) / (2 * step), rtol=0, atol=2e-9)


@given(Q71, Q73, RATE, RATE)
def test_bias_is_the_rate_of_S_along_the_motion(q71, q73, qd71, qd73):
    _, bias = motion(q71, q73, qd71, qd73)
    step, qd = 1e-6, np.array([qd71, qd73])
    up, _ = motion(q71 + step * qd71, q73 + step * qd73)
    down, _ = motion(q71 - step * qd71, q73 - step * qd73)
    scale = 1.0 + np.abs(bias).max()
    np.testing.assert_allclose(bias / scale, (up - down) @ qd / (2 * step) / scale, rtol=0, atol=2e-8)


@given(Q71, Q73)
def test_P_wrist_is_the_derivative_of_the_lengths(q71, q73):
    P = np.zeros((64, 2))
    wrist_jacobian(MODEL[0], q71, q73, P)
    step = 1e-6
    by71 = (lengths(q71 + step, q73) - lengths(q71 - step, q73)) / (2 * step)
    by73 = (lengths(q71, q73 + step) - lengths(q71, q73 - step)) / (2 * step)
    np.testing.assert_allclose(P[:, 0], by71, rtol=0, atol=2e-9)
    np.testing.assert_allclose(P[:, 1], by73, rtol=0, atol=2e-9)
    assert not P[38:].any()


@given(Q71, Q73)
def test_a_known_pose_gives_the_same_lengths_and_rows(q71, q73):
    R, o = pose(q71, q73)
    S, _ = motion(q71, q73)
    h, P, Q = np.zeros(64), np.zeros((64, 2)), np.zeros((64, 2))
    palm_lengths(MODEL[0], R, o, h)
    palm_jacobian(MODEL[0], R, o, S, P)
    wrist_jacobian(MODEL[0], q71, q73, Q)
    # each law is optimised by itself: multiply-adds are fused here and not there. A rate is the sum of six
    # products with S: eight roundings of their sizes, and as many in S
    reach_m = np.abs(MODEL[0]["palm_point_m"]).sum(axis=1).max()
    sizes = reach_m * np.abs(S[:3]).sum(axis=0) + np.abs(S[3:]).sum(axis=0)
    rounding_m = 8.0 * np.finfo(float).eps * sizes.max()
    assert rounding_m < 2e-15
    np.testing.assert_allclose(h, lengths(q71, q73), rtol=0, atol=1e-16)
    np.testing.assert_allclose(P, Q, rtol=0, atol=rounding_m)
    at_once, rows = np.zeros(64), np.zeros((64, 2))
    palm_ways(MODEL[0], q71, q73, R, o, at_once, rows)
    np.testing.assert_allclose(at_once, h, rtol=0, atol=1e-16)
    np.testing.assert_allclose(rows, Q, rtol=0, atol=rounding_m)


@given(Q71, Q73)
def test_lengths_are_distances_from_point_to_point(q71, q73):
    R, o = pose(q71, q73)
    m = MODEL[0]
    points = o + m["palm_point_m"][:38] @ R.T - m["forearm_point_m"][:38]
    np.testing.assert_allclose(
        lengths(q71, q73)[:38], np.linalg.norm(points, axis=1), rtol=0, atol=2e-17 * 10
    )


def palm_with_sites() -> mujoco.MjModel:
    """The palm as a free body in MuJoCo, all 38 tendons from site to site."""
    m = MODEL[0]

    def site(name, point):
        return f'<site name="{name}" pos="{point[0]} {point[1]} {point[2]}"/>'

    forearm = "".join(site(f"f{t}", m["forearm_point_m"][t]) for t in range(38))
    palm = "".join(site(f"p{t}", m["palm_point_m"][t]) for t in range(38))
    tendons = "".join(f'<spatial><site site="f{t}"/><site site="p{t}"/></spatial>' for t in range(38))
    inertial = '<inertial pos="0 0 0" mass="0.3" diaginertia="1e-4 1e-4 1e-4"/>'
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody>{forearm}<body><freejoint/>{inertial}{palm}</body></worldbody>
        <tendon>{tendons}</tendon></mujoco>"""
    )


def test_lengths_and_rows_equal_mujocos_tendons_on_a_free_palm():
    twin = palm_with_sites()
    data = mujoco.MjData(twin)
    for offset in np.random.default_rng(2).uniform(-1, 1, (10, 2)) * (0.4, 0.3):
        q71, q73 = np.array(NEUTRAL) + offset
        R, o = pose(q71, q73)
        data.qpos[:3] = o
        mujoco.mju_mat2Quat(data.qpos[3:7], R.ravel())
        mujoco.mj_fwdPosition(twin, data)
        np.testing.assert_allclose(data.ten_length, lengths(q71, q73)[:38], rtol=0, atol=1e-15)
        by_dof = np.zeros((38, 6))
        mujoco.mju_sparse2dense(
            by_dof,
            np.array(data.ten_J).ravel(),
            np.array(twin.ten_J_rownnz),
            np.array(twin.ten_J_rowadr),
            np.array(twin.ten_J_colind).ravel(),
        )
        S, _ = motion(q71, q73)
        P = np.zeros((64, 2))
        wrist_jacobian(MODEL[0], q71, q73, P)
        # a free joint moves with the world's linear and the body's angular velocity
        dofs = np.vstack([R @ S[3:], S[:3]])
        np.testing.assert_allclose(P[:38], by_dof @ dofs, rtol=0, atol=1e-14)


def test_flexion_moves_all_tendons_little_and_alike_abduction_by_their_place():
    """What chapter 6.2 reports of the real wrist, with the figures of the reference reading."""
    neutral = lengths(*NEUTRAL)[:38]
    flexed = lengths(NEUTRAL[0] + math.radians(13.5), NEUTRAL[1])[:38] - neutral
    assert np.ptp(flexed) < 1e-5
    assert np.abs(flexed - 0.00073).max() < 5e-6
    half = lengths(NEUTRAL[0] + math.radians(6.75), NEUTRAL[1])[:38] - neutral
    assert np.abs(flexed / half - 2.0).min() > 0.5, "nonlinear"
    turned = lengths(NEUTRAL[0], NEUTRAL[1] - math.radians(12))[:38] - neutral
    assert turned[0] == pytest.approx(0.00653, abs=1e-5)
    assert turned[18] == pytest.approx(-0.00605, abs=1e-5)
    for layer in (slice(0, 19), slice(19, 38)):
        place = MODEL[0]["forearm_point_m"][layer, 1]
        assert np.corrcoef(place, turned[layer])[0, 1] < -0.995


@given(st.floats(-math.pi / 4, math.pi / 4), st.floats(-math.radians(20), math.radians(20)))
def test_axes_and_palm_angles_are_inverse(pitch, yaw):
    q71, q73 = axes_of_palm(MODEL, pitch, yaw)
    assert palm_angles(MODEL, q71, q73) == pytest.approx((pitch, yaw), abs=1e-10)
    x = pose(q71, q73)[0][:, 0]
    assert math.atan2(x[2], abs(x[0])) == pytest.approx(pitch, abs=1e-10)
    assert math.asin(x[1]) == pytest.approx(yaw, abs=1e-10)


@given(Q71, Q73)
def test_palm_angles_come_back_as_the_same_axes(q71, q73):
    pitch, yaw = palm_angles(MODEL, q71, q73)
    if max(abs(pitch), abs(yaw)) < 1.0:
        assert axes_of_palm(MODEL, pitch, yaw) == pytest.approx((q71, q73), abs=1e-9)


def test_the_palm_turns_about_twice_as_far_as_the_axis():
    q71, _ = axes_of_palm(MODEL, math.radians(30), 0.0)
    assert 2.0 < math.radians(30) / (q71 - NEUTRAL[0]) < 2.4
    q71, _ = axes_of_palm(MODEL, 0.0, math.radians(20))
    assert q71 - NEUTRAL[0] > 0.01, "a pure yaw needs some q71"


def test_the_axis_range_holds_all_poses_of_the_palms_range():
    edge = math.radians(45), math.radians(20)
    low, high = axis_range(MODEL, (-edge[0], edge[0]), (-edge[1], edge[1]))
    for share in np.random.default_rng(3).uniform(-1, 1, (50, 2)):
        q = axes_of_palm(MODEL, *(share * edge))
        assert np.all(low - 1e-3 <= q) and np.all(q <= high + 1e-3)


def test_poses_beyond_the_lock_are_refused_and_stay_finite():
    with pytest.raises(WristOutOfRange, match="margin"):
        palm_angles(MODEL, math.pi / 2, NEUTRAL[1])
    with pytest.raises(WristOutOfRange, match="pitch 110"):
        axes_of_palm(MODEL, math.radians(110), 0.0)
    with pytest.raises(WristOutOfRange, match="yaw 100"):
        axes_of_palm(MODEL, 0.0, math.radians(100))
    for q71 in np.linspace(-math.pi, math.pi, 41):
        for q73 in NEUTRAL[1] + np.array([-0.4, 0.0, 0.4]):
            P = np.zeros((64, 2))
            wrist_jacobian(MODEL[0], q71, q73, P)
            S, bias = motion(q71, q73, 1.0, 1.0)
            for value in (*pose(q71, q73), lengths(q71, q73), P, S, bias):
                assert np.all(np.isfinite(value))
            R, _ = pose(q71, q73)
            np.testing.assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=1e-14)


@settings(max_examples=12)
@given(st.floats(-0.4, 0.4))
def test_the_margin_falls_to_zero_before_the_crossed_branch_ends(yaw_axis):
    """Walking up in q71 until the margin is used up, the loop closes and A stays on the crossed side."""
    q73 = NEUTRAL[1] + yaw_axis
    steps = np.linspace(NEUTRAL[0], math.pi / 2 + 0.1, 200)
    margins = np.array([wrist_margin(MODEL[0], q, q73) for q in steps])
    lock = int(np.argmax(margins <= 0.0))
    assert margins[0] > 0.9
    assert 0 < lock
    assert np.all(margins[lock:] <= 1e-3), "no second life beyond the lock"
    before = pose(steps[0], q73)[0]
    for q71 in steps[1 : lock - 1]:
        a, _, _ = corners(q71, q73)
        assert abs(np.linalg.norm(a - (0, B / 2, C)) - BAR_A) < 1e-12
        R = pose(q71, q73)[0]
        assert np.linalg.norm(R - before) < 0.1
        before = R


@pytest.mark.parametrize(
    ("q", "tc", "b", "c"),
    [
        (0.2, -0.142617138695, (0.00993346654, 0.049003328892), (0.049492370087, 0.034893291680)),
        (-0.35, -2.484947176024, None, (-0.039602224853, 0.011476831968)),
    ],
)
def test_the_plane_problem_has_the_reference_solution(q, tc, b, c):
    """Eq. 6.3-6.4 alone: R_BB0 = 50 mm, b = 42 mm; length and thickness only matter through R_BB0."""
    width, thickness = 0.042, 0.010
    length = math.sqrt(0.05**2 - width**2 - thickness**2)
    mx, my, sp, cp, *_ = parallelogram(length, width, thickness, math.pi / 2 - q)
    half = 0.5 * width * np.array([-sp, cp])
    np.testing.assert_allclose(np.array([mx, my]) - half, c, rtol=0, atol=1e-12)
    assert math.atan2(my - half[1] - width, mx - half[0]) == pytest.approx(tc, abs=1e-11)
    if b is not None:
        np.testing.assert_allclose(np.array([mx, my]) + half, b, rtol=0, atol=1e-11)


@law
def many_cycles(m, R, o, S, bias, h, P, n):
    for i in range(n):
        q71, q73 = 0.624 + 1e-3 * i, 0.972 - 1e-3 * i
        wrist_pose(m, q71, q73, R, o)
        wrist_motion(m, q71, q73, 0.1, 0.2, S, bias)
        wrist_lengths(m, q71, q73, h)
        wrist_jacobian(m, q71, q73, P)
        palm_lengths(m, R, o, h)
        palm_jacobian(m, R, o, S, P)


def test_no_law_of_the_wrist_allocates():
    work = (np.zeros((3, 3)), np.zeros(3), np.zeros((6, 2)), np.zeros(6), np.zeros(64), np.zeros((64, 2)))
    _nrt_python.memsys_enable_stats()
    many_cycles(MODEL[0], *work, 1)
    before = rtsys.get_allocation_stats().mi_alloc
    many_cycles(MODEL[0], *work, 1)
    few = rtsys.get_allocation_stats().mi_alloc - before
    many_cycles(MODEL[0], *work, 101)
    many = rtsys.get_allocation_stats().mi_alloc - before - few
    assert many == few, "allocations grow with the number of cycles"
