"""Dynamics of the whole hand: against Pinocchio, energy, finite differences, and the sparse solver."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys

from mechanics.handsolve import product
from mechanics.handtree import COORDINATES, add_tip_force, energies, factor, hand_dynamics, new_work, solve
from mechanics.wrist import wrist_motion, wrist_pose
from signals.compiled import law
from signals.records import RecordArray
from tests.rigs.hand_dynamics import State, dynamics, full, off
from tests.rigs.kinematics import (
    NEUTRAL,
    finger_model,
    hasy_model,
    pin_tree,
    random_tree_model,
)

seeds = st.integers(0, 10_000)
MODELS = [hasy_model(), random_tree_model(0), random_tree_model(1)]
models = st.sampled_from(range(len(MODELS)))
N = 21


@given(models, seeds)
def test_with_the_wrist_held_the_fingers_equal_pinocchio(index, seed):
    model, s = MODELS[index], State(seed)
    s.axis_d[:] = 0.0
    w = dynamics(model, s)
    tree, spread = pin_tree(model)
    data = tree.createData()
    tree.gravity.linear = w["palm_R"].T @ model[0]["gravity_m_s2"]
    q, qd = spread @ s.q[:19], spread @ s.qd[:19]
    H = spread.T @ full(pin.crba(tree, data, q)) @ spread
    assert off(w["H"][2:N, 2:N], H) <= 1e-12
    assert off(w["bias"][2:N], spread.T @ pin.rnea(tree, data, q, qd, 0.0 * qd)) <= 1e-12


@given(models, seeds)
def test_with_the_wrist_moving_it_equals_pinocchio_on_a_free_flyer(index, seed):
    """The free palm gets the wrist's motion; the wrench it needs, projected on S, is the wrist's torque."""
    model, s = MODELS[index], State(seed)
    w = dynamics(model, s)
    tree, spread = pin_tree(model, free=True)
    data = tree.createData()
    tree.gravity.linear = model[0]["gravity_m_s2"].copy()
    swap = [3, 4, 5, 0, 1, 2]
    S, bias = np.zeros((6, 2)), np.zeros(6)
    wrist_motion(model[0], *s.axis, *s.axis_d, S, bias)
    J = np.zeros((tree.nv, N))
    J[:6, :2] = S[swap]
    J[:, 2:] = spread
    place = pin.SE3(w["palm_R"].copy(), w["palm_o"].copy())
    q = np.concatenate([pin.SE3ToXYZQUAT(place), spread[6:] @ s.q[:19]])
    rest = np.zeros(tree.nv)
    rest[:6] = bias[swap]
    H = J.T @ full(pin.crba(tree, data, q)) @ J
    assert off(w["H"][:N, :N], H) <= 1e-12
    assert off(w["bias"][:N], J.T @ pin.rnea(tree, data, q, J @ s.speed, rest)) <= 1e-12
    qdd = s.rng.normal(0.0, 50.0, N)
    tau = J.T @ pin.rnea(tree, data, q, J @ s.speed, rest + J @ qdd)
    assert off(w["H"][:N, :N] @ qdd + w["bias"][:N], tau) <= 1e-12
    kinetic, potential = energies(model[0], s.axis_d, s.qd, w)
    assert kinetic == pytest.approx(pin.computeKineticEnergy(tree, data, q, J @ s.speed), rel=1e-12)
    assert potential == pytest.approx(pin.computePotentialEnergy(tree, data, q), rel=1e-12, abs=1e-14)


@given(seeds)
def test_the_palms_frame_is_the_wrists(seed):
    s = State(seed)
    w = dynamics(MODELS[0], s)
    R, o = np.zeros((3, 3)), np.zeros(3)
    wrist_pose(MODELS[0][0], *s.axis, R, o)
    np.testing.assert_array_equal(w["palm_R"], R)
    np.testing.assert_array_equal(w["palm_o"], o)


@given(seeds)
def test_mass_matrix_is_symmetric_positive_and_empty_across_fingers(seed):
    w = dynamics(MODELS[0], State(seed))
    H = w["H"][:N, :N]
    np.testing.assert_array_equal(H, H.T)
    assert np.linalg.eigvalsh(H)[0] > 0.0
    fingers = [range(2, 6), range(6, 10), range(10, 14), range(14, 17), [17, 18, 19, 20]]
    for a in fingers:
        for b in fingers:
            if a is not b:
                assert not H[np.ix_(a, b)].any()
    assert np.all(H[17:20, 20] != 0.0), "the HMC carries the fifth finger"


def lagrange_rates(model: RecordArray, s: State) -> np.ndarray:
    """d/dt(H) qd - 1/2 d(qd H qd)/dq + dV/dq by central differences: the bias of Lagrange's equations."""
    step, u = 2e-6, s.speed
    work = new_work(model)

    def moved(along: np.ndarray) -> tuple[np.ndarray, float]:
        t = State(0)
        t.axis, t.axis_d = s.axis + along[:2], s.axis_d
        t.q, t.qd = s.q.copy(), s.qd
        t.q[:19] += along[2:]
        w = dynamics(model, t, work)
        return w["H"][:N, :N].copy(), energies(model[0], t.axis_d, t.qd, w)[1]

    up, _ = moved(step * u)
    down, _ = moved(-step * u)
    total = (up - down) @ u / (2 * step)
    for i in range(N):
        d = np.zeros(N)
        d[i] = step
        (Hu, Vu), (Hd, Vd) = moved(d), moved(-d)
        total[i] -= (u @ (Hu - Hd) @ u / 2 - (Vu - Vd)) / (2 * step)
    return total


@settings(max_examples=15)
@given(models, seeds)
def test_bias_is_that_of_lagranges_equations(index, seed):
    """Independent of any acceleration: only H and the potential enter."""
    s = State(seed)
    w = dynamics(MODELS[index], s)
    assert off(w["bias"][:N], lagrange_rates(MODELS[index], s)) <= 1e-6


@law
def swing(m, axis, axis_d, q, qd, w, A, x, dt, steps, memory):
    """Free swing by RK4: no tendon, no friction, the wrist free too."""
    axes, joints = m.n_axes, m.n_joints
    n = axes + joints
    for _ in range(steps):
        for i in range(n):
            memory[0, i] = axis[i] if i < axes else q[i - axes]
            memory[1, i] = axis_d[i] if i < axes else qd[i - axes]
            memory[2, i] = memory[3, i] = 0.0
        for stage in range(4):
            hand_dynamics(m, axis, axis_d, q, qd, w)
            for i in range(n):
                x[i] = -w.bias[i]
                for j in range(n):
                    A[i, j] = w.H[i, j]
            factor(w, A)
            solve(w, A, x)
            weight = 1.0 if stage in (0, 3) else 2.0
            ahead = dt if stage == 2 else 0.5 * dt
            for i in range(n):
                speed = axis_d[i] if i < axes else qd[i - axes]
                memory[2, i] += weight * speed * dt / 6.0
                memory[3, i] += weight * x[i] * dt / 6.0
                place, rate = memory[0, i] + ahead * speed, memory[1, i] + ahead * x[i]
                if stage == 3:
                    place, rate = memory[0, i] + memory[2, i], memory[1, i] + memory[3, i]
                if i < axes:
                    axis[i], axis_d[i] = place, rate
                else:
                    q[i - axes], qd[i - axes] = place, rate


@pytest.mark.parametrize("moving", ["hand", "finger"])
def test_a_free_swing_keeps_its_energy(moving):
    model = hasy_model() if moving == "hand" else finger_model()
    s = State(7)
    s.qd *= 0.4
    s.axis[:] = NEUTRAL
    if moving == "finger":
        s.q[4:], s.qd[4:] = 0.0, 0.0
    work = new_work(model)
    A, x, memory = np.zeros((COORDINATES, COORDINATES)), np.zeros(COORDINATES), np.zeros((4, COORDINATES))

    def energy() -> float:
        hand_dynamics(model[0], s.axis, s.axis_d, s.q, s.qd, work[0])
        return sum(energies(model[0], s.axis_d, s.qd, work[0]))

    start, place = energy(), s.q.copy()
    kinetic = energies(model[0], s.axis_d, s.qd, work[0])[0]
    drift = []
    for _ in range(2):
        swing(model[0], s.axis, s.axis_d, s.q, s.qd, work[0], A, x, 2e-5, 1000, memory)
        drift.append(abs(energy() - start))
    assert np.abs(s.q - place).max() > 0.05, "something moved"
    assert max(drift) < 1e-11 * kinetic


@given(seeds)
def test_a_tip_force_does_its_work_on_every_coordinate(seed):
    """tau . qd is the force's power on the tip, the wrist's motion included."""
    model, s = MODELS[0], State(seed)
    w = dynamics(model, s)
    step = 1e-6
    for f in range(5):
        force = s.rng.normal(0.0, 10.0, 3)
        tau = np.zeros(COORDINATES)
        add_tip_force(w, model[0], f, force, tau)
        there = w["palm_R"] @ force
        ends = []
        for sign in (1.0, -1.0):
            t = State(seed)
            t.axis, t.q = s.axis + sign * step * s.axis_d, s.q + sign * step * s.qd
            v = dynamics(model, t)
            ends.append(v["palm_o"] + v["palm_R"] @ v["tips"][f])
        power = there @ (ends[0] - ends[1]) / (2 * step)
        assert tau[:N] @ s.speed == pytest.approx(power, rel=1e-7, abs=1e-7)
    tau = np.zeros(COORDINATES)
    add_tip_force(w, model[0], 5, np.ones(3), tau)
    assert not tau.any(), "the HMC has no tip"


def tree_matrix(seed: int) -> tuple[np.ndarray, np.void]:
    """H with damping of every finger's tendons and the wrist's coupling to all, as the plant builds it."""
    model, s = MODELS[seed % 3], State(seed)
    w = dynamics(model, s)
    A = np.zeros((COORDINATES, COORDINATES))
    A[:N, :N] = w["H"][:N, :N]
    for joints in (range(2, 6), range(6, 10), range(10, 14), range(14, 17), range(17, 21)):
        P = s.rng.normal(0.0, 0.01, (8, N))
        keep = np.zeros(N)
        keep[list(joints)] = keep[:2] = 1.0
        P = P * keep
        A[:N, :N] += P.T @ np.diag(s.rng.uniform(0.0, 10.0, 8)) @ P
    return A, w


@given(seeds)
def test_solution_of_a_matrix_with_the_trees_pattern(seed):
    A, w = tree_matrix(seed)
    b = np.zeros(COORDINATES)
    b[:N] = np.random.default_rng(seed).normal(size=N)
    y, x, F = np.zeros(COORDINATES), b.copy(), A.copy()
    assert factor(w, F)
    solve(w, F, x)
    exact = np.linalg.solve(A[:N, :N], b[:N])
    condition = np.linalg.cond(A[:N, :N])
    assert np.abs(x[:N] - exact).max() <= 1e-15 * condition * np.abs(exact).max()
    product(w, A, x, y)
    np.testing.assert_allclose(y[:N], b[:N], rtol=0, atol=1e-15 * condition)
    np.testing.assert_allclose(y[:N], A[:N, :N] @ x[:N], rtol=0, atol=1e-12)


@given(seeds, st.integers(0, N - 1))
def test_a_matrix_that_is_not_positive_is_reported(seed, k):
    A, w = tree_matrix(seed)
    A[k, k] -= 2.0 * A[k, k] + 1.0
    assert not factor(w, A)
    A[k, k] = np.nan
    assert not factor(w, A)


def stretched(change) -> RecordArray:
    model = hasy_model().copy()
    change(model[0])
    return model


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda m: m["body_parent"].__setitem__(3, 9), "body 3: parent 9"),
        (lambda m: m["body_joint"].__setitem__(5, 40), "joint 40"),
        (lambda m: m["body_joint"].__setitem__(5, 0), "off the branch"),
        (lambda m: m["body_joint"].__setitem__(5, -1), "joint 4 moves no body"),
        (lambda m: m["P_tj_m"].__setitem__((2, 9), 0.01), "tendon 2 crosses"),
        (lambda m: m.__setitem__("n_axes", 1), "1 wrist axes"),
        (lambda m: m["body_parent"].__setitem__(0, 0), "body 0"),
        (
            lambda m: (m["body_mass_kg"].__setitem__(8, 0.0), m["body_inertia_kg_m2"].__setitem__(8, 0.0)),
            "without mass",
        ),
    ],
)
def test_trees_that_cannot_move_are_refused(change, word):
    with pytest.raises(ValueError, match=word):
        new_work(stretched(change))


@law
def many_cycles(m, axis, axis_d, q, qd, w, A, x, f, n):
    for _ in range(n):
        hand_dynamics(m, axis, axis_d, q, qd, w)
        for i in range(w.n_coords):
            for j in range(w.n_coords):
                A[i, j] = w.H[i, j]
        factor(w, A)
        solve(w, A, x)
        add_tip_force(w, m, 0, f, x)


def test_nothing_allocates():
    s, work = State(1), new_work(MODELS[0])
    A, x = np.zeros((COORDINATES, COORDINATES)), np.zeros(COORDINATES)
    args = (MODELS[0][0], s.axis, s.axis_d, s.q, s.qd, work[0], A, x, np.ones(3))
    _nrt_python.memsys_enable_stats()
    many_cycles(*args, 1)
    before = rtsys.get_allocation_stats().mi_alloc
    many_cycles(*args, 1)
    few = rtsys.get_allocation_stats().mi_alloc - before
    many_cycles(*args, 101)
    many = rtsys.get_allocation_stats().mi_alloc - before - few
    assert many == few, "allocations grow with the number of cycles"
