"""Poses, fingertips and Jacobians of the body tree: against Table 5.1, Pinocchio and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.bodies import Body, FingerShape, finger_bodies, place_bodies
from mechanics.frames import cross, rotated, rotation, rotation_rpy
from mechanics.kinematics import body_poses, fingertips, tip_jacobian, tips_by_chain
from signals.records import MODEL, new
from tests.rigs.kinematics import (
    FIFTH,
    FINGERS,
    INDEX,
    JOINTS,
    finger_model,
    hasy_model,
    joint_box,
    pin_tree,
    random_tree_model,
)

unit_share = st.floats(0.0, 1.0)
shares = st.lists(unit_share, min_size=19, max_size=19).map(np.array)


def posed(share: np.ndarray) -> np.ndarray:
    low, high = joint_box()
    q = np.zeros(32)
    q[:19] = low + share * (high - low)
    return q


def poses(model, q):
    R, p = np.zeros((32, 3, 3)), np.zeros((32, 3))
    tips = np.zeros((8, 3))
    fingertips(model[0], q, R, p, tips)
    return R, p, tips


def trans(x: float, y: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def turn_z(q: float) -> np.ndarray:
    T = np.eye(4)
    T[:2, :2] = [[math.cos(q), -math.sin(q)], [math.sin(q), math.cos(q)]]
    return T


@given(st.lists(st.floats(-1.5, 1.5), min_size=4, max_size=4))
def test_index_finger_is_the_product_of_table_5_1(q):
    turn_x = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], dtype=float)
    T = trans(0.095, -0.033, 0.0) @ turn_z(q[0]) @ turn_x @ trans(0.006, 0, 0) @ turn_z(q[1])
    T = T @ trans(0.04038, 0, 0) @ turn_z(q[2]) @ trans(0.0298, 0, -0.005) @ turn_z(q[3])
    T = T @ trans(0.0201, 0, -0.0007)
    R, _, tips = poses(finger_model(), np.array([*q, *[0.0] * 28]))
    np.testing.assert_allclose(tips[0], T[:3, 3], rtol=0, atol=1e-16)
    np.testing.assert_allclose(R[4], T[:3, :3], rtol=0, atol=1e-15)


@given(shares)
def test_poses_of_the_whole_hand_equal_pinocchio(share):
    model = hasy_model()
    q = posed(share)
    R, p, _ = poses(model, q)
    tree, spread = pin_tree(model)
    data = tree.createData()
    pin.forwardKinematics(tree, data, spread @ q[:19])
    for b in range(1, 22):
        np.testing.assert_allclose(R[b], data.oMi[b].rotation, rtol=0, atol=2e-15)
        np.testing.assert_allclose(p[b], data.oMi[b].translation, rtol=0, atol=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_poses_hold_for_any_axes_and_offsets(seed):
    model = random_tree_model(seed)
    q = np.zeros(32)
    q[:19] = np.random.default_rng(seed).uniform(-3, 3, 19)
    R, p, _ = poses(model, q)
    tree, spread = pin_tree(model)
    data = tree.createData()
    pin.forwardKinematics(tree, data, spread @ q[:19])
    for b in range(1, 22):
        np.testing.assert_allclose(R[b], data.oMi[b].rotation, rtol=0, atol=1e-14)
        np.testing.assert_allclose(p[b], data.oMi[b].translation, rtol=0, atol=1e-14)


@given(shares)
def test_tip_jacobian_is_the_derivative_of_the_tip(share):
    model = hasy_model()
    q = posed(share)
    R, p, _ = poses(model, q)
    jac = np.zeros((3, 32))
    step = 1e-6
    for f in range(6):
        tip_jacobian(model[0], f, R, p, jac)
        for j in range(19):
            d = np.zeros(32)
            d[j] = step
            slope = (poses(model, q + d)[2][f] - poses(model, q - d)[2][f]) / (2 * step)
            np.testing.assert_allclose(jac[:, j], slope, rtol=0, atol=1e-9)
        if FINGERS[f] != "hmc":
            moving = set(np.flatnonzero(np.abs(jac[:, :19]).max(axis=0) > 1e-6))
            assert moving <= {*JOINTS[FINGERS[f]], 18}


def test_hmc_carries_the_fifth_finger_and_has_no_tip():
    model = hasy_model()
    jac = np.zeros((3, 32))
    R, p, tips = poses(model, np.zeros(32))
    tip_jacobian(model[0], FINGERS.index("fifth"), R, p, jac)
    assert np.linalg.norm(jac[:, 18]) > 0.03
    assert jac[2, 18] > 0.0, "positive HMC angle moves the fifth finger palmar"
    tip_jacobian(model[0], FINGERS.index("hmc"), R, p, jac)
    assert not jac.any()
    assert not tips[FINGERS.index("hmc")].any()


@pytest.mark.parametrize("finger", [f for f in FINGERS if f != "hmc"])
@pytest.mark.parametrize("k", [1, 2])
def test_positive_flexion_moves_the_tip_palmar(finger, k):
    model = hasy_model()
    q = np.zeros(32)
    straight = poses(model, q)[2][FINGERS.index(finger)]
    q[JOINTS[finger][k]] = 0.3
    bent = poses(model, q)[2][FINGERS.index(finger)]
    assert bent[2] - straight[2] > 0.003


@given(st.floats(0.2, 2.0), st.floats(-0.3, 1.6))
def test_coupled_distal_joint_follows_by_its_ratio(ratio, q_pip):
    coupled = FingerShape(
        **{name: getattr(FIFTH, name) for name in FIFTH.__slots__ if name != "coupled_ratio"},
        coupled_ratio=ratio,
    )
    free = FingerShape(**{name: getattr(FIFTH, name) for name in FIFTH.__slots__ if name != "coupled_ratio"})
    ends = []
    for shape, joints, q in (
        (coupled, [0, 1, 2], [0.1, 0.4, q_pip]),
        (free, [0, 1, 2, 3], [0.1, 0.4, q_pip, ratio * q_pip]),
    ):
        model = new(MODEL)
        own, tip = finger_bodies(shape, parent=0, first_body=1, joints=joints)
        place_bodies(model, [palm(), *own])
        m = model[0]
        m["n_joints"], m["n_fingers"] = len(joints), 1
        m["finger_tip_body"][0], m["finger_tip_m"][0] = 4, tip
        ends.append(poses(model, np.array([*q, *[0.0] * (32 - len(q))]))[2][0])
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-15)


def palm() -> Body:
    return Body(
        parent=-1,
        joint=-1,
        rotation=np.eye(3),
        origin_m=np.zeros(3),
        axis=np.array([0.0, 0.0, 1.0]),
        mass_kg=0.0,
        com_m=np.zeros(3),
        inertia_kg_m2=np.zeros((3, 3)),
    )


def test_finger_hangs_together_like_its_bones():
    own, tip = finger_bodies(INDEX, parent=0, first_body=1, joints=[4, 5, 6, 7])
    assert [b.parent for b in own] == [0, 1, 2, 3]
    assert [b.joint for b in own] == [4, 5, 6, 7]
    assert sum(b.mass_kg for b in own) == pytest.approx(0.020)
    np.testing.assert_allclose(own[2].com_m, 0.45 * np.array([0.0298, 0.0, -0.005]))
    np.testing.assert_allclose(tip, (0.0201, 0.0, -0.0007))


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"bone_lengths_m": (0.04, 0.03)}, "bone_lengths"),
        ({"masses_kg": (0.001,)}, "masses"),
        ({"coupled_ratio": 1.0}, "3 joints"),
        ({"masses_kg": (0.001, -0.009, 0.006, 0.004)}, "negative"),
        ({"inertia_diag_kg_m2": ((1e-7, 1e-9, 1e-9),) * 4}, "principal moments"),
    ],
)
def test_impossible_fingers_are_refused_with_the_reason(change, word):
    values = {name: getattr(INDEX, name) for name in INDEX.__slots__} | change
    with pytest.raises(ValueError, match=word):
        finger_bodies(FingerShape(**values), parent=0, first_body=1, joints=[0, 1, 2, 3])


def test_parents_come_before_their_children():
    own, _ = finger_bodies(INDEX, parent=0, first_body=1, joints=[0, 1, 2, 3])
    with pytest.raises(ValueError, match="parent"):
        place_bodies(new(MODEL), [palm(), *own[::-1]])


angles = st.floats(-math.pi, math.pi)
vectors = st.tuples(*[st.floats(-2.0, 2.0)] * 3)
axes = vectors.filter(lambda v: np.linalg.norm(v) > 0.1)


@given(axes, angles, angles, vectors)
def test_rotations_are_a_group(axis, first, second, v):
    R, S = rotation(axis, first), rotation(axis, second)
    np.testing.assert_allclose(R @ S, rotation(axis, first + second), rtol=0, atol=2e-15)
    np.testing.assert_allclose(R @ R.T, np.eye(3), rtol=0, atol=2e-15)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(
        R, pin.AngleAxis(first, np.array(axis) / np.linalg.norm(axis)).matrix(), atol=2e-15
    )
    np.testing.assert_allclose(rotated(R, *v), R @ v, rtol=0, atol=1e-14)
    np.testing.assert_allclose(cross(*axis, *v), np.cross(axis, v), rtol=0, atol=1e-15)


@given(angles, st.floats(-1.5, 1.5), angles)
def test_rpy_is_yaw_after_pitch_after_roll(roll, pitch, yaw):
    np.testing.assert_allclose(
        rotation_rpy((roll, pitch, yaw)), pin.rpy.rpyToMatrix(roll, pitch, yaw), atol=1e-15
    )


def test_an_axis_without_direction_is_refused():
    with pytest.raises(ValueError, match="no direction"):
        rotation((0.0, 0.0, 0.0), 0.3)


def test_body_poses_write_the_palm_as_identity():
    R, p = np.full((32, 3, 3), 9.0), np.full((32, 3), 9.0)
    body_poses(hasy_model()[0], np.ones(32), R, p)
    np.testing.assert_array_equal(R[0], np.eye(3))
    np.testing.assert_array_equal(p[0], 0.0)


@given(shares, st.booleans())
def test_tips_carried_down_their_chains_are_those_of_the_poses(share, handed):
    """Also where a joint turns about an axis of its own, as all bodies' do here by a half of the draws."""
    model = hasy_model().copy()
    if handed:
        axis = model["body_axis"][0]
        axis[:] = np.array([0.36, -0.48, 0.8])
    q, tips = posed(share), np.ones((8, 3))
    _, _, wanted = poses(model, q)
    tips_by_chain(model[0], q, np.zeros(32), np.zeros(32), tips)
    fingers = int(model["n_fingers"][0])
    assert tips[:fingers] == pytest.approx(wanted[:fingers], abs=1e-11)
