"""Coupling of joints and tendons: virtual work, derivatives, the reference pseudo-inverse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.assembly.tendons import refresh_pseudo_inverse
from mechanics.coupling import joint_stiffness, joint_torque, tendon_jacobian, tendon_lengths
from signals.records import RecordArray
from tests.rigs.kinematics import finger_model, hasy_model, joint_box

shares = st.lists(st.floats(0.0, 1.0), min_size=19, max_size=19).map(np.array)
tensions = st.lists(st.floats(0.0, 135.0), min_size=38, max_size=38).map(np.array)


def posed(share: np.ndarray) -> np.ndarray:
    low, high = joint_box()
    q = np.zeros(32)
    q[:19] = low + share * (high - low)
    return q


def padded(values: np.ndarray) -> np.ndarray:
    full = np.zeros(64)
    full[: len(values)] = values
    return full


def lengths(model: RecordArray, q: np.ndarray) -> np.ndarray:
    h = np.zeros(64)
    tendon_lengths(model[0], q, h)
    return h


def jacobian(model: RecordArray, q: np.ndarray) -> np.ndarray:
    P = np.zeros((64, 32))
    tendon_jacobian(model[0], q, P)
    return P


def torque(model: RecordArray, q: np.ndarray, f: np.ndarray) -> np.ndarray:
    tau = np.zeros(32)
    joint_torque(model[0], jacobian(model, q), f, tau)
    return tau


def with_inverses(model: RecordArray) -> RecordArray:
    model = model.copy()
    refresh_pseudo_inverse(model)
    return model


@given(shares)
def test_P_is_the_derivative_of_the_lengths(share):
    model, q = hasy_model(), posed(share)
    P = jacobian(model, q)
    step = 1e-6
    for j in range(19):
        d = np.zeros(32)
        d[j] = step
        slope = (lengths(model, q + d) - lengths(model, q - d)) / (2 * step)
        np.testing.assert_allclose(P[:, j], slope, rtol=0, atol=1e-9)
    assert not P[38:].any()
    assert not P[:, 19:].any()


@given(shares, tensions, st.lists(st.floats(-5.0, 5.0), min_size=19, max_size=19))
def test_tendons_lose_the_power_that_joints_gain(share, f, rates):
    model, q = hasy_model(), posed(share)
    qd = np.zeros(32)
    qd[:19] = rates
    path_speed = jacobian(model, q) @ qd
    joint_power = torque(model, q, padded(f)) @ qd
    assert joint_power == pytest.approx(-padded(f) @ path_speed, abs=1e-9)


@given(shares, tensions)
def test_stiffness_is_minus_the_derivative_of_the_torque(share, f):
    """The tendons are springs about this pose: f(q) = f + k (h(q) - h(here))."""
    model, q = hasy_model(), posed(share)
    f = padded(f)
    k = padded(np.linspace(2.6e3, 55e3, 38))
    here = lengths(model, q)
    K = np.full((32, 32), 7.0)
    joint_stiffness(model[0], q, f, k, jacobian(model, q), K)
    K = K[:19, :19]
    step = 1e-5
    for j in range(19):
        d = np.zeros(32)
        d[j] = step
        up = torque(model, q + d, f + k * (lengths(model, q + d) - here))
        down = torque(model, q - d, f + k * (lengths(model, q - d) - here))
        np.testing.assert_allclose(K[:, j], -(up - down)[:19] / (2 * step), rtol=0, atol=2e-7)
    np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-12)


@given(shares)
def test_geometric_stiffness_is_the_thumbs_alone(share):
    model, q = hasy_model(), posed(share)
    K = np.zeros((32, 32))
    joint_stiffness(model[0], q, padded(np.full(38, 50.0)), np.zeros(64), jacobian(model, q), K)
    assert np.abs(K[:2, :2]).max() > 0.1
    K[:2, :2] = 0.0
    assert not K.any()


@given(shares)
def test_joint_to_tendon_to_joint_returns_the_start(share):
    model, q = with_inverses(hasy_model()), posed(share)
    h = lengths(model, q)
    back = model[0]["pinv_jt_1_m"] @ h
    np.testing.assert_allclose(back[2:19], q[2:19], rtol=0, atol=1e-13)


def test_pseudo_inverse_of_eq_5_5_is_the_reference():
    r0, r1, r2, r3 = 0.01, 0.01, 0.008, 0.006
    P = np.array(
        [
            [r0, r1, 0, 0],
            [r0, -r1, 0, 0],
            [-r0, r1, 0, 0],
            [-r0, -r1, 0, 0],
            [0, 0, r2, 0],
            [0, 0, -r2, 0],
            [0, 0, r2, -r3],
            [0, 0, -r2, r3],
        ]
    )
    c = 83.3333333333
    reference = [
        [25, 25, -25, -25, 0, 0, 0, 0],
        [25, -25, 25, -25, 0, 0, 0, 0],
        [0, 0, 0, 0, 62.5, -62.5, 0, 0],
        [0, 0, 0, 0, c, -c, -c, c],
    ]
    model = finger_model().copy()
    model[0]["P_tj_m"][:8, :4] = P
    refresh_pseudo_inverse(model)
    np.testing.assert_allclose(model[0]["pinv_jt_1_m"][:4, :8], reference, rtol=0, atol=1e-9)
    assert not (P.T @ np.ones(8)).any(), "equal tensions leave the joints at rest"


def test_the_index_finger_has_the_rows_of_eq_5_5():
    q = np.zeros(32)
    q[:4] = 0.3, -0.2, 0.7, 0.5
    a, b, c, d = 0.0065 * q[0], 0.0065 * q[1], 0.0055 * q[2], 0.0045 * q[3]
    expected = [a + b, a - b, b - a, -a - b, c, -c, c - d, d - c]
    np.testing.assert_allclose(lengths(finger_model(), q)[:8], expected, rtol=0, atol=1e-18)


def test_the_residual_names_the_antagonist_pair_only():
    P = finger_model()[0]["P_tj_m"][:8, :4]
    left = np.eye(8) - P @ with_inverses(finger_model())[0]["pinv_jt_1_m"][:4, :8]
    assert np.linalg.matrix_rank(left) == 4
    for a, b in ((0, 3), (1, 2), (4, 5), (6, 7)):
        np.testing.assert_allclose(left[:, a], left[:, b], rtol=0, atol=1e-12)
