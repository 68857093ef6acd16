"""ABA, RNEA, CRBA, Jacobians and energy of random trees equal Pinocchio's."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from mechanics.dynamics.batch import accelerations, mass_matrices, torques
from mechanics.dynamics.crba import jacobian
from mechanics.dynamics.energy import energies

STATES = 50


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def states(rng, twin, n=STATES):
    nv, nf = twin.tree.n_dofs, len(twin.tree.frames)
    return (*rng.normal(size=(3, n, nv)), rng.normal(size=(n, nf, 6)))


def test_forward_dynamics_of_ten_thousand_trees_and_states_with_loads(twins):
    rng = np.random.default_rng(1)
    worst = 0.0
    for twin in twins:
        q, qd, tau, loads = states(rng, twin)
        ours = accelerations(twin.tree, q, qd, tau, loads)
        for s in range(STATES):
            theirs = pin.aba(twin.model, twin.data, q[s], qd[s], tau[s], twin.forces(loads[s]))
            worst = max(worst, relative(ours[s], theirs))
    assert worst < 1e-10, worst


def test_inverse_dynamics_of_ten_thousand_trees_and_states_with_loads(twins):
    rng = np.random.default_rng(2)
    worst = 0.0
    for twin in twins:
        q, qd, qdd, loads = states(rng, twin)
        ours = torques(twin.tree, q, qd, qdd, loads)
        for s in range(STATES):
            theirs = pin.rnea(twin.model, twin.data, q[s], qd[s], qdd[s], twin.forces(loads[s]))
            worst = max(worst, relative(ours[s], theirs))
    assert worst < 1e-10, worst


def test_mass_matrix_of_ten_thousand_trees_and_states(twins):
    rng = np.random.default_rng(3)
    worst = 0.0
    for twin in twins[:100]:
        q = rng.normal(size=(2 * STATES, twin.tree.n_dofs))
        ours = mass_matrices(twin.tree, q)
        for s in range(2 * STATES):
            theirs = pin.crba(twin.model, twin.data, q[s])
            theirs = np.triu(theirs) + np.triu(theirs, 1).T
            worst = max(worst, relative(ours[s], theirs))
    assert worst < 1e-10, worst


def test_columns_of_the_mass_matrix_are_torques_of_unit_accelerations(twins):
    rng = np.random.default_rng(7)
    for twin in twins:
        n = twin.tree.n_dofs
        at_rest = twin.tree.with_gravity((0.0, 0.0, 0.0))
        q = np.tile(rng.normal(size=n), (n, 1))
        assert relative(mass_matrices(at_rest, q[:1])[0], torques(at_rest, q, None, np.eye(n)).T) < 1e-12


def test_kinetic_energy_is_half_the_mass_matrix_and_potential_equals_pinocchio(twins):
    rng = np.random.default_rng(4)
    for twin in twins[:100:4]:
        q, qd, _, _ = states(rng, twin, 1)
        kinetic, potential = energies(twin.tree.record, q[0], qd[0], twin.tree.work())
        M = pin.crba(twin.model, twin.data, q[0])
        M = np.triu(M) + np.triu(M, 1).T
        theirs = 0.5 * float(qd[0] @ M @ qd[0])
        assert abs(kinetic - theirs) < 1e-10 * max(1.0, theirs)
        theirs = pin.computePotentialEnergy(twin.model, twin.data, q[0])
        assert abs(potential - theirs) < 1e-10 * max(1.0, abs(theirs))


def test_jacobian_of_a_point_equals_pinocchio(twins):
    rng = np.random.default_rng(5)
    for twin in twins[::4]:
        q = rng.normal(size=twin.tree.n_dofs)
        point = rng.normal(size=3)
        pin.computeJointJacobians(twin.model, twin.data, q)
        J = np.zeros((6, twin.tree.n_dofs))
        for f, (joint, placement) in enumerate(zip(twin.joint_of, twin.placement_of, strict=True)):
            jacobian(twin.tree.record, q, f, point, twin.tree.work(), J)
            if joint == 0:
                assert np.all(J == 0.0)
                continue
            at = pin.SE3(np.eye(3), placement.act(point))
            local = pin.getJointJacobian(twin.model, twin.data, joint, pin.ReferenceFrame.LOCAL)
            turn = pin.SE3(twin.data.oMi[joint].rotation, np.zeros(3)).toActionMatrix()
            theirs = turn @ at.toActionMatrixInverse() @ local.reshape(6, -1)
            assert np.abs(J - theirs).max() < 1e-12


def test_torques_of_the_found_accelerations_are_the_torques_given(twins):
    rng = np.random.default_rng(6)
    for twin in twins[::4]:
        q, qd, tau, loads = states(rng, twin, 5)
        qdd = accelerations(twin.tree, q, qd, tau, loads)
        assert relative(torques(twin.tree, q, qd, qdd, loads), tau) < 1e-9
