"""The reference hand as a tree with its wrist as a joint equals the hand's own composite-body dynamics."""

from __future__ import annotations

import numpy as np

from hand.assembly.assemble import model_of, names_of
from hand.file import load_hand
from mechanics.dynamics.batch import accelerations, mass_matrices, torques
from mechanics.dynamics.tree import Tree, tree_of
from mechanics.handtree import hand_dynamics, new_work
from sim.mechanisms.hand_on_arm import Springs, hand_bodies
from sim.mechanisms.load import load_mechanism

NONE = Springs(
    joint_stiffness_nm_rad=0.0, joint_rest_rad=0.0, wrist_stiffness_nm_rad=0.0, wrist_damping_nms_rad=0.0
)
GRAVITY = (1.0, -3.0, -9.0)


def test_mass_matrix_and_bias_of_the_whole_hand_by_two_independent_codes():
    hand = load_hand("hasy")
    model, names = model_of(hand), names_of(hand)
    model["gravity_m_s2"] = GRAVITY
    tree = tree_of(hand_bodies(model, names, NONE, None), GRAVITY)
    tree.record["damping"] = tree.record["stop_stiffness"] = 0.0
    order = [tree.dof(name) for name in (*names.axes, *names.joints)]
    n, work = len(order), new_work(model)
    rng = np.random.default_rng(3)
    m = model[0]
    for _ in range(10):
        axis = m["wrist_neutral_rad"] + rng.uniform(-0.15, 0.15, 2)
        axis_rate = rng.normal(size=2)
        q, qd = np.zeros(m["joint_min_rad"].shape), np.zeros(m["joint_min_rad"].shape)
        q[: n - 2], qd[: n - 2] = rng.uniform(-0.3, 1.0, n - 2), rng.normal(size=n - 2) * 3.0
        hand_dynamics(m, axis, axis_rate, q, qd, work[0])
        ours, ours_rate = np.zeros(n), np.zeros(n)
        ours[order] = np.concatenate([axis, q[: n - 2]])
        ours_rate[order] = np.concatenate([axis_rate, qd[: n - 2]])
        H, bias = work["H"][0, :n, :n], work["bias"][0, :n]
        M = mass_matrices(tree, ours)[0][np.ix_(order, order)]
        assert np.abs(M - H).max() < 1e-12 * np.abs(H).max()
        found = torques(tree, ours, ours_rate)[0][order]
        assert np.abs(found - bias).max() < 1e-10 * np.abs(bias).max()
        tau = rng.normal(size=n) * 0.1
        expected = np.linalg.solve(H, tau - bias)
        given = np.zeros(n)
        given[order] = tau
        qdd = accelerations(tree, ours, ours_rate, given)[0][order]
        assert np.abs(qdd - expected).max() < 1e-8 * np.abs(expected).max()


def test_forward_and_inverse_dynamics_of_the_whole_limb_undo_each_other_with_a_load_on_a_finger():
    system = load_mechanism("hand_on_arm").mechanism.system
    frames = system.frames
    tree = Tree(system.parts[0], system.dofs, frames, (-1,) * len(frames), system.sliders)
    rng = np.random.default_rng(4)
    n = system.n_dofs
    q, qd, tau = rng.uniform(-0.1, 0.1, n), rng.normal(size=n), rng.normal(size=n) * 0.1
    q[5:7] += tree.record["rest"][0][5:7]
    loads = np.zeros((len(frames), 6))
    loads[tree.frame("index_dip")] = rng.normal(size=6)
    qdd = accelerations(tree, q, qd, tau, loads)[0]
    assert np.abs(torques(tree, q, qd, qdd, loads)[0] - tau).max() < 1e-9
    assert np.linalg.eigvalsh(mass_matrices(tree, q)[0]).min() > 0.0
