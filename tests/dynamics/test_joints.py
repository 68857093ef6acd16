"""Joints that are not plain: custom joints with several coordinates, coupled pairs, welded bodies, stops."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from mechanics.carpal_dynamics import carpal_acceleration
from mechanics.dynamics.aba import aba
from mechanics.dynamics.batch import accelerations, mass_matrices, torques
from mechanics.dynamics.bodies import Body, Joint
from mechanics.dynamics.crba import crba
from mechanics.dynamics.energy import energies
from mechanics.dynamics.joint_laws import CustomLaw
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.rnea import rnea
from mechanics.dynamics.tree import NO_LOADS, tree_of
from tests.rigs.mechanism_cases import TH, THD, wrist
from tests.rigs.random_trees import random_bodies, random_inertia, random_rotation, twin_of


def rotations(q):
    """Rz(q0) Ry(q1) Rx(q2)."""
    (cz, cy, cx), (sz, sy, sx) = np.cos(q), np.sin(q)
    Rz = np.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    Ry = np.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    Rx = np.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    return Rz @ Ry @ Rx


def fill_ball(work, body, slot, E0, r0, q, qd):
    """Spherical joint by z, y, x angles: body-frame rates and their derivative."""
    (_, cy, cx), (_, sy, sx) = np.cos(q), np.sin(q)
    S = np.array([[-sy, 0.0, 1.0], [cy * sx, cx, 0.0], [cy * cx, -sx, 0.0]])
    dy, dx = qd[1], qd[2]
    Sd = np.array(
        [
            [-cy * dy, 0.0, 0.0],
            [-sy * dy * sx + cy * cx * dx, -sx * dx, 0.0],
            [-sy * dy * cx - cy * sx * dx, -cx * dx, 0.0],
        ]
    )
    w = work[0]
    w["E"][body] = (rotations(q).T @ E0).ravel()
    w["r"][body] = r0
    w["S"][slot, 3:, :3] = S
    w["s"][slot, 3:] = Sd @ qd


def ball_chain(rng, gravity):
    """Hinge, ball, hinge; in both engines."""
    ours, model = [], pin.Model()
    model.gravity.linear = gravity
    parent, joint = None, 0
    ball = pin.JointModelSphericalZYX()
    for k in range(3):
        mass, R, p = float(rng.uniform(0.2, 2.0)), random_rotation(rng), rng.normal(size=3) * 0.2
        com, inertia = rng.normal(size=3) * 0.1, random_inertia(rng, mass)
        axis = rng.normal(size=3)
        kind = Joint(kind=JointKind.REVOLUTE, axis=axis)
        if k == 1:
            kind = Joint(kind=JointKind.CUSTOM, coordinates=("yaw", "pitch", "roll"), armature=0.01)
        ours.append(
            Body(
                name=f"b{k}",
                parent=parent,
                joint=kind,
                R_PB=R,
                p_PB_m=p,
                mass_kg=mass,
                com_m=com,
                inertia_kg_m2=inertia,
            )
        )
        theirs = ball if k == 1 else pin.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        joint = model.addJoint(joint, theirs, pin.SE3(R, p), f"b{k}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, com, inertia), pin.SE3.Identity())
        parent = f"b{k}"
    model.armature = np.array([0.0, 0.01, 0.01, 0.01, 0.0])
    return tree_of(ours, gravity), model


def test_a_joint_with_three_coordinates_filled_by_the_caller_equals_pinocchio():
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(25):
        tree, model = ball_chain(rng, rng.normal(size=3) * 5.0)
        data, work = model.createData(), tree.work()
        t = tree.record[0]
        q, qd, x = rng.uniform(-1.0, 1.0, size=(3, 5))
        out, M = np.zeros(5), np.zeros((5, 5))
        fill_ball(work, 1, 0, t["E0"][1].reshape(3, 3), t["r0"][1], q[1:4], qd[1:4])
        aba(tree.record, q, qd, x, NO_LOADS, 0.0, work, out)
        expected = pin.aba(model, data, q, qd, x)
        worst = max(worst, np.abs(out - expected).max() / np.abs(expected).max())
        rnea(tree.record, q, qd, x, NO_LOADS, work, out)
        expected = pin.rnea(model, data, q, qd, x)
        worst = max(worst, np.abs(out - expected).max() / np.abs(expected).max())
        crba(tree.record, q, work, M)
        expected = pin.crba(model, data, q)
        expected = np.triu(expected) + np.triu(expected, 1).T
        worst = max(worst, np.abs(M - expected).max())
        kinetic, potential = energies(tree.record, q, qd, work)
        assert abs(kinetic - 0.5 * qd @ expected @ qd) < 1e-10
        assert abs(potential - pin.computePotentialEnergy(model, data, q)) < 1e-10
    assert worst < 1e-10, worst


def coupled_tree(rng, ratio):
    """A tree with one coupled pair, and the same tree with the pair uncoupled."""
    bodies = random_bodies(rng, 8, fixed_share=0.0)
    owner = int(rng.integers(0, 8))
    hinge = Joint(kind=JointKind.REVOLUTE, axis=rng.normal(size=3), armature=0.02)
    mass = 0.7
    shape = {
        "R_PB": random_rotation(rng),
        "p_PB_m": rng.normal(size=3) * 0.2,
        "mass_kg": mass,
        "com_m": rng.normal(size=3) * 0.1,
        "inertia_kg_m2": random_inertia(rng, mass),
        "parent": bodies[owner].name,
    }
    last = Body(
        name="beyond",
        parent="pair",
        joint=hinge,
        p_PB_m=rng.normal(size=3) * 0.1,
        mass_kg=0.3,
        inertia_kg_m2=random_inertia(rng, 0.3),
    )
    free = Joint(kind=JointKind.REVOLUTE, axis=(0.0, 1.0, 0.0))
    tied = Joint(kind=JointKind.REVOLUTE, axis=(0.0, 1.0, 0.0), parent_ratio=ratio)
    return (
        tree_of([*bodies, Body(name="pair", joint=tied, **shape), last]),
        tree_of([*bodies, Body(name="pair", joint=free, **shape), last]),
        owner,
    )


@pytest.mark.parametrize("ratio", [1.0, -0.6, 1.7])
def test_a_coupled_pair_equals_the_projected_free_tree(ratio):
    rng = np.random.default_rng(11)
    for _ in range(20):
        tied, free, owner = coupled_tree(rng, ratio)
        n = tied.n_dofs
        G = np.zeros((n + 1, n))
        columns = [d for d in range(n + 1) if d != 8]
        G[columns, range(n)] = 1.0
        G[8, owner] = ratio
        q, qd, tau = rng.normal(size=(3, n))
        M = G.T @ mass_matrices(free, G @ q)[0] @ G
        bias = G.T @ torques(free, G @ q, G @ qd)[0]
        expected = np.linalg.solve(M, tau - bias)
        assert np.abs(mass_matrices(tied, q)[0] - M).max() < 1e-12
        assert np.abs(accelerations(tied, q, qd, tau)[0] - expected).max() < 1e-10 * np.abs(expected).max()
        assert np.abs(torques(tied, q, qd, expected)[0] - tau).max() < 1e-9


def test_a_welded_body_is_part_of_its_parent():
    rng = np.random.default_rng(3)
    bodies = random_bodies(rng, 12, fixed_share=0.6)
    twin = twin_of(bodies, np.array([0.0, 0.0, -9.81]))
    welded = sum(b.joint.kind == JointKind.FIXED for b in bodies)
    assert welded > 2 and twin.tree.record["n_bodies"][0] == len(bodies) - welded
    assert twin.model.nv == twin.tree.n_dofs


def test_the_carpal_wrist_as_a_custom_joint_equals_its_closed_form():
    record = wrist()
    c = record[0]
    joint = Joint(
        kind=JointKind.CUSTOM,
        coordinates=("a", "b", "c"),
        custom_law=int(CustomLaw.CARPAL),
        params=(float(c["r_m"]), float(c["l_m"])),
    )
    tool = Body(
        name="tool",
        joint=joint,
        mass_kg=1.2,
        com_m=c["com_m"].copy(),
        inertia_kg_m2=c["inertia_kg_m2"].copy(),
    )
    tree = tree_of([tool])
    rng = np.random.default_rng(2)
    out = np.zeros(3)
    for _ in range(20):
        th, thd = TH + rng.uniform(-0.3, 0.3, 3), THD + rng.normal(size=3)
        motor = rng.normal(size=3)
        carpal_acceleration(record, th, thd, motor, 0.0, out)
        found = accelerations(tree, th, thd, motor)[0]
        assert np.abs(found - out).max() < 1e-10 * np.abs(out).max()
        assert np.abs(mass_matrices(tree, th)[0] - c["A"]).max() < 1e-14


def test_the_hands_wrist_as_a_joint_moves_as_its_pose():
    joint = Joint(
        kind=JointKind.CUSTOM,
        coordinates=("q71", "q73"),
        custom_law=int(CustomLaw.DOUBLE_PARALLELOGRAM),
        params=(0.05, 0.042, 0.036),
    )
    palm = Body(
        name="palm",
        joint=joint,
        mass_kg=0.3,
        com_m=(0.045, 0.003, -0.01),
        inertia_kg_m2=np.diag([3e-4, 2.5e-4, 4.5e-4]),
    )
    tree = tree_of([palm])
    q, qd = np.array([0.75, 1.05]), np.array([1.3, -0.9])

    # Lagrange's equations by differences of the energy
    def lagrangian(q, qd):
        kinetic, potential = energies(tree.record, q, qd, tree.work())
        return kinetic - potential

    def momentum(q, qd, h=1e-5):
        return np.array([(lagrangian(q, qd + e) - lagrangian(q, qd - e)) / (2 * h) for e in h * np.eye(2)])

    h = 1e-5
    force = np.array([(lagrangian(q + e, qd) - lagrangian(q - e, qd)) / (2 * h) for e in h * np.eye(2)])
    drift = (momentum(q + h * qd, qd) - momentum(q - h * qd, qd)) / (2 * h)
    M = mass_matrices(tree, q)[0]
    expected = np.linalg.solve(M, force - drift)
    found = accelerations(tree, q, qd)[0]
    assert np.abs(found - expected).max() < 1e-4 * np.abs(expected).max()


def test_implicit_springs_and_dampers_solve_the_linear_system_exactly():
    rng = np.random.default_rng(8)
    bodies = random_bodies(rng, 10, fixed_share=0.0)
    bare = tree_of(bodies)
    n = bare.n_dofs
    c, k, rest = rng.uniform(0.1, 1.0, size=(3, n))
    sprung = tree_of(bodies)
    sprung.record["damping"][0][:n], sprung.record["stiffness"][0][:n], sprung.record["rest"][0][:n] = (
        c,
        k,
        rest,
    )
    q, qd, tau = rng.normal(size=(3, n))
    h = 1e-2
    M = mass_matrices(bare, q)[0]
    rhs = tau - torques(bare, q, qd)[0] - c * qd - k * (q + h * qd - rest)
    expected = np.linalg.solve(M + np.diag(h * c + h * h * k), rhs)
    assert (
        np.abs(accelerations(sprung, q, qd, tau, step_s=h)[0] - expected).max()
        < 1e-11 * np.abs(expected).max()
    )


def test_a_stop_pushes_back_into_the_range_and_never_pulls():
    joint = Joint(
        kind=JointKind.REVOLUTE,
        axis=(0.0, 1.0, 0.0),
        lower=-0.5,
        upper=0.5,
        stop_stiffness=100.0,
        stop_damping=1.0,
    )
    body = Body(name="b", joint=joint, mass_kg=1.0, inertia_kg_m2=np.eye(3))
    tree = tree_of([body], (0.0, 0.0, 0.0))
    for step_s in (0.0, 1e-3):
        pushed = [accelerations(tree, np.array([q]), np.array([v]), step_s=step_s)[0, 0] for q, v in
                  ((0.4, 0.1), (0.6, 0.0), (0.6, -20.0), (-0.6, 0.0), (-0.6, 20.0))]  # fmt: skip
        assert pushed[0] == 0.0 and pushed[1] < 0.0 and pushed[3] > 0.0
        assert pushed[2] == 0.0 and pushed[4] == 0.0
