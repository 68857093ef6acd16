"""Arms: Lagrange's form equals articulated bodies, J^T is the Jacobian's, and the misprints of the paper."""

from __future__ import annotations

import numpy as np

from mechanics.arm import arm_pose, lagrange_terms, wrench_torque
from mechanics.arm_dynamics import arm_acceleration, arm_energy_j
from mechanics.dynamics.batch import accelerations, mass_matrices, torques
from mechanics.dynamics.crba import jacobian
from mechanics.dynamics.energy import energies
from sim.mechanisms.arm7 import arm_bodies, arm_record
from sim.mechanisms.load import load_mechanism
from sim.mechanisms.trees import tree_of
from tests.rigs.mechanism_cases import COMS, MASSES, Q3, arm, arm_tree


def states(n=20, seed=1):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.5, 1.5, (n, 7)), rng.normal(size=(n, 7)) * 2.0, rng.normal(size=(n, 7))


def test_both_forms_agree_on_every_state_with_a_contact_wrench():
    record, tree, out = arm(), arm_tree(), np.zeros(7)
    hand = tree.frame("j6_frame")
    rng = np.random.default_rng(3)
    for q, qd, tau in zip(*states(), strict=True):
        wrench = rng.normal(size=6)
        loads = np.zeros((len(tree.frames), 6))
        loads[hand] = wrench
        arm_acceleration(record, q, qd, tau, wrench, 0.0, out)
        expected = accelerations(tree, q, qd, tau, loads)[0]
        assert np.abs(out - expected).max() < 1e-10 * np.abs(expected).max()
        m = record[0]
        assert np.abs(m["H"][:7, :7] - mass_matrices(tree, q)[0]).max() < 1e-14
        assert np.abs(m["v"][:7] + m["g"][:7] - torques(tree, q, qd)[0]).max() < 1e-12
        ours, theirs = arm_energy_j(record, q, qd), energies(tree.record, q, qd, tree.work())
        assert np.abs(np.array(ours) - theirs).max() < 1e-12


def test_the_shipped_arm_has_two_equal_forms():
    file = load_mechanism("prosthesis_arm").file
    tree, record, out = tree_of(arm_bodies(file), file.gravity_m_s2), arm_record(file), np.zeros(7)
    for q, qd, tau in zip(*states(5, 2), strict=True):
        q *= 0.1  # inside the stops, which Lagrange's form does not have
        q[[3, 6]] = -abs(q[3]), abs(q[6])
        arm_acceleration(record, q, qd, tau, np.zeros(6), 0.0, out)
        expected = accelerations(tree, q, qd, tau)[0]
        assert np.abs(out - expected).max() < 1e-9 * np.abs(expected).max()


def test_wrench_enters_through_the_transposed_jacobian_of_the_same_frame():
    record, tree = arm(), arm_tree()
    lagrange_terms(record[0], Q3, np.zeros(7))
    R = record[0]["T"][6, :3, :3]
    wrench, J = np.array([3.0, -2.0, 5.0, 0.1, -0.2, 0.05]), np.zeros((6, 7))
    jacobian(tree.record, Q3, tree.frame("j6_frame"), np.zeros(3), tree.work(), J)
    found = np.zeros(7)
    wrench_torque(record[0], wrench, found)
    assert np.abs(found - J.T @ np.concatenate([R @ wrench[:3], R @ wrench[3:]])).max() < 1e-14
    # hand-frame wrench with a world-aligned Jacobian, as (16) invites: joint 1 gets -1.05 instead of -2.17
    assert abs((J.T @ wrench)[0] - -1.05) < 5e-3 and abs(found[0] - -2.17) < 5e-3


def test_jacobian_equals_differences_of_the_pose():
    record, tree, J, h = arm(), arm_tree(), np.zeros((6, 7)), 1e-6
    jacobian(tree.record, Q3, tree.frame("j6_frame"), np.zeros(3), tree.work(), J)
    for k, step in enumerate(h * np.eye(7)):
        poses = []
        for sign in (1.0, -1.0):
            arm_pose(record[0], Q3 + sign * step)
            poses.append(record[0]["T"][6].copy())
        rate = (poses[0] - poses[1]) / (2 * h)
        arm_pose(record[0], Q3)
        spin = rate[:3, :3] @ record[0]["T"][6, :3, :3].T
        assert np.abs(J[:3, k] - rate[:3, 3]).max() < 1e-9
        assert np.abs(J[3:, k] - (spin[2, 1], spin[0, 2], spin[1, 0])).max() < 1e-9


def test_printed_gravity_sum_gives_every_joint_the_same_number():
    record = arm()
    m = record[0]
    arm_pose(m, Q3)
    g = np.array([0.0, 0.0, -9.81, 0.0])
    points = [np.array([*com, 1.0]) for com in COMS]
    printed = -sum(MASSES[j] * g @ m["D"][j] @ m["T"][j] @ points[j] for j in range(7))
    assert abs(printed - 0.0428) < 5e-5
    right = [-sum(MASSES[j] * g @ m["D"][i] @ m["T"][j] @ points[j] for j in range(i, 7)) for i in range(7)]
    lagrange_terms(m, Q3, np.zeros(7))
    assert np.abs(np.array(right) - m["g"][:7]).max() < 1e-13


def test_gravity_of_the_hand_through_j_transposed_repeats_what_g_contains():
    record, tree = arm(), arm_tree()
    m = record[0]
    lagrange_terms(m, Q3, np.zeros(7))
    weight = np.array([0.0, 0.0, -9.81 * MASSES[6]])
    J = np.zeros((6, 7))
    jacobian(tree.record, Q3, tree.frame("j6_frame"), np.array(COMS[6]), tree.work(), J)
    share = np.array([-weight @ (m["D"][i] @ m["T"][6] @ np.array([*COMS[6], 1.0]))[:3] for i in range(7)])
    assert np.abs(J[:3].T @ weight + share).max() < 1e-13
