"""Force distribution: exact where it can be, else the greatest feasible share; nearest to the preferred."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers.allocation import ROUNDS, allocate
from controllers.distribution import distribute
from controllers.memory import new_controller_memory
from mechanics.coupling import tendon_jacobian
from signals.compiled import law
from signals.layout import FloatArray
from tests.rigs.desk import model_record

MEMORY = new_controller_memory()


@law
def _run(memory: object, n_tendons: int, n_joints: int) -> float:
    return distribute(memory[0], n_tendons, n_joints)  # type: ignore[index]


def solve(
    P: FloatArray, torque: FloatArray, preferred: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[float, FloatArray]:
    n_t, n_j = P.shape
    w = MEMORY[0]
    w["A"][:n_t, :n_j] = P
    w["torque"][:n_j] = torque
    w["preferred"][:n_t], w["low_all"][:n_t], w["high_all"][:n_t] = preferred, low, high
    share = _run(MEMORY, n_t, n_j)
    return share, w["tension"][:n_t].copy()


def rows_of(hand: str, finger: str, q_share: float = 0.5) -> FloatArray:
    from tests.rigs.desk import loaded, names_of

    model = model_record(hand)
    m = model[0]
    f = names_of(loaded(hand)).fingers.index(finger)
    q = np.zeros(m["P_tj_m"].shape[1])
    n = int(m["n_joints"])
    q[:n] = m["joint_min_rad"][:n] + q_share * (m["joint_max_rad"] - m["joint_min_rad"])[:n]
    P = np.zeros_like(m["P_tj_m"])
    tendon_jacobian(m, q, P)
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
    return np.ascontiguousarray(P[np.ix_(tendons, joints)])


FINGERS = {
    "index": rows_of("hasy", "index"),
    "ring": rows_of("hasy", "ring"),
    "hmc": rows_of("hasy", "hmc"),
    "thumb": rows_of("hasy", "thumb", 0.5),
    "thumb bent": rows_of("hasy", "thumb", 0.8),
}


def greatest_share(P: FloatArray, torque: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Oracle: max s <= 1 of {P^T f = -s torque, low <= f <= high} over all vertices of the programme."""
    n_t, n_j = P.shape
    best = -np.inf
    full = np.hstack([P.T, torque[:, None]])  # n_j x (n_t + 1), columns f and s
    for basic in combinations(range(n_t), n_j - 1):
        at_bound = [i for i in range(n_t) if i not in basic]
        columns = full[:, [*basic, n_t]]
        if np.linalg.cond(columns) > 1e10:
            continue
        inverse = np.linalg.inv(columns)
        bounds = np.array(list(product(*[(low[i], high[i]) for i in at_bound])))
        x = -(inverse @ full[:, at_bound] @ bounds.T).T
        f, s = x[:, :-1], x[:, -1]
        inside = np.all((f >= low[list(basic)] - 1e-9) & (f <= high[list(basic)] + 1e-9), axis=1)
        if inside.any():
            best = max(best, float(s[inside].max()))
    return min(best, 1.0)


torques = st.lists(st.floats(-1.0, 1.0), min_size=4, max_size=4)


@given(st.sampled_from(sorted(FINGERS)), torques, st.floats(0.05, 6.0), st.floats(0.0, 90.0))
def test_the_torque_given_is_the_greatest_feasible_share(
    finger: str, direction: list[float], size: float, common: float
) -> None:
    P = FINGERS[finger]
    n_t, n_j = P.shape
    torque = size * np.array(direction)[:n_j] * np.abs(P).max(axis=0) * 100.0
    low, high = np.full(n_t, 5.0), np.full(n_t, 120.0)
    share, f = solve(P, torque, np.full(n_t, np.clip(common, 5.0, 120.0)), low, high)
    assert np.abs(P.T @ f + share * torque).max() < 1e-9
    assert f.min() >= 5.0 - 1e-9
    assert f.max() <= 120.0 + 1e-9
    if np.abs(torque).max() > 1e-6:
        assert share == pytest.approx(greatest_share(P, torque, low, high), abs=1e-7)


@given(
    st.sampled_from(sorted(FINGERS)),
    torques,
    st.floats(0.05, 1.5),
    st.lists(st.floats(5, 120), min_size=8, max_size=8),
)
def test_no_feasible_tensions_are_nearer_to_the_preferred(
    finger: str, direction: list[float], size: float, wish: list[float]
) -> None:
    """Variational inequality: (f - p).(g - f) >= 0 for every other solution g of the same torque."""
    P = FINGERS[finger]
    n_t, n_j = P.shape
    torque = size * np.array(direction)[:n_j] * np.abs(P).max(axis=0) * 60.0
    low, high = np.full(n_t, 5.0), np.full(n_t, 120.0)
    preferred = np.array(wish)[:n_t]
    share, f = solve(P, torque, preferred, low, high)
    for common in (5.0, 30.0, 120.0, preferred[::-1].copy()):
        other_share, g = solve(P, torque, np.broadcast_to(common, (n_t,)), low, high)
        assert other_share == pytest.approx(share, abs=1e-9)
        assert (f - preferred) @ (g - f) >= -1e-6


@given(torques, st.floats(10.0, 80.0))
def test_inside_the_bounds_it_is_pseudo_inverse_plus_null_space(
    direction: list[float], common: float
) -> None:
    P = FINGERS["index"]
    torque = 0.02 * np.array(direction)
    share, f = solve(P, torque, np.full(8, common), np.full(8, 5.0), np.full(8, 120.0))
    expected = np.full(8, common) - np.linalg.pinv(P.T) @ (torque + P.T @ np.full(8, common))
    assert share == 1.0
    assert np.allclose(f, expected, atol=1e-9)


@pytest.mark.parametrize("lost", range(8))
def test_every_broken_tendon_leaves_a_torque_set_that_is_respected(lost: int) -> None:
    """With one tendon at zero and its partner free to go slack, what can be given is given exactly."""
    P = FINGERS["index"]
    low, high = np.full(8, 0.0), np.full(8, 120.0)
    high[lost] = 0.0
    rng = np.random.default_rng(lost)
    for _ in range(20):
        torque = rng.normal(size=4) * np.array([0.4, 0.4, 0.3, 0.2])
        share, f = solve(P, torque, np.full(8, 20.0).clip(low, high), low, high)
        assert f[lost] == 0.0
        assert np.abs(P.T @ f + share * torque).max() < 1e-9
        assert f.min() >= 0.0
        assert f.max() <= 120.0
        assert share == pytest.approx(max(greatest_share(P, torque, low, high), 0.0), abs=1e-7)


def test_the_work_is_bounded() -> None:
    """Even a problem without a solution ends after the fixed number of rounds, with finite tensions."""

    @law
    def run(memory: object) -> float:
        return allocate(memory[0], 8, 4, 1e-12)  # type: ignore[index]

    w = MEMORY[0]
    w["A"][:8, :4] = FINGERS["index"]
    w["target"][:4] = (100.0, -100.0, 50.0, 3.0)
    w["preferred"][:8], w["low"][:8], w["high"][:8] = 20.0, 5.0, 120.0
    assert run(MEMORY) > 1.0
    assert np.all(np.isfinite(w["tension"][:8]))
    assert ROUNDS <= 32


@given(st.sampled_from([0.87, 0.9, 0.95, 1.0]), torques)
def test_where_no_balance_is_possible_the_nearest_torque_is_given(
    q_share: float, direction: list[float]
) -> None:
    """Corner of the thumb's range: the answer is a projection on the torque set, and reported as share 0."""
    P = rows_of("hasy", "thumb", q_share)
    low, high = np.full(8, 5.0), np.full(8, 120.0)
    torque = 0.05 * np.array(direction)
    share, f = solve(P, torque, np.full(8, 20.0), low, high)
    if share > 0.0:
        assert np.abs(P.T @ f + share * torque).max() < 1e-9
        return
    error = P.T @ f + torque
    rng = np.random.default_rng(3)
    for _ in range(200):
        g = rng.uniform(5.0, 120.0, 8)
        assert error @ (P.T @ (g - f)) >= -2e-4 * np.linalg.norm(error) - 1e-6
