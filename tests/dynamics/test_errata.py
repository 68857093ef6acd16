"""The papers' misprints: what each changes, computed here (docs/papers says the same in words)."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.shadow_tree import both
from mechanics.carpal_dynamics import carpal_energy_j, carpal_equations
from mechanics.dynamics.batch import accelerations
from sim.mechanisms.arm7 import arm_mechanism
from tests.rigs.mechanism_cases import TH, THD, arm_file, wrist, y_tree
from tests.rigs.printed_trees import Reading, node_as_printed
from tests.rigs.printed_trees import accelerations as by_paper

Q1, QD1, TAU1 = np.array([0.3, -0.4, 0.5]), np.array([1.0, -2.0, 1.5]), np.array([0.2, -0.1, 0.05])


def hand_state():
    tree, _ = both()
    rng = np.random.default_rng(2)
    n = tree.n_dofs
    return tree, rng.uniform(-1.0, 1.0, n), rng.uniform(-2.0, 2.0, n), rng.uniform(-0.1, 0.1, n)


def test_the_corrected_algorithm_equals_ours():
    loads = np.zeros((3, 6))
    loads[2] = (0.4, 0.0, -0.7, 0.0, 0.03, 0.0)
    tree = y_tree()
    frames = loads.copy()  # our loads count in the user's frames, the paper's in the body frames
    R = tree.record[0]["frame_R"][:3].reshape(3, 3, 3)
    frames[:, :3], frames[:, 3:] = (np.einsum("iab,ib->ia", R, loads[:, k : k + 3]) for k in (0, 3))
    ours = accelerations(tree, Q1, QD1, TAU1, loads)[0]
    assert np.abs(by_paper(tree, Q1, QD1, TAU1, frames) - ours).max() < 1e-13 * np.abs(ours).max()
    hand, q, qd, tau = hand_state()
    ours = accelerations(hand, q, qd, tau)[0]
    assert np.abs(by_paper(hand, q, qd, tau) - ours).max() < 1e-12 * np.abs(ours).max()


@pytest.mark.parametrize(
    ("reading", "errors"),
    [
        (Reading(bias_without_mass=True), (0.195, 9.1e-3)),
        (Reading(parent_vector_unrotated=True), (0.0597, 3.7e-4)),
        (Reading(gravity_as_printed=True), (2.34, 1.01e-2)),
    ],
)
def test_each_printed_equation_of_the_tree_paper_is_off(reading, errors):
    """Relative errors of R1's Y-tree and of a 24-DoF hand, as the documentation states them."""
    for state, expected in zip(((y_tree(), Q1, QD1, TAU1), hand_state()), errors, strict=True):
        right = by_paper(*state)
        wrong = by_paper(*state, reading=reading)
        error = np.abs(wrong - right).max() / np.abs(right).max()
        assert abs(error / expected - 1.0) < 0.02, error


def test_a_load_added_as_in_30_acts_the_wrong_way():
    tree, loads = y_tree(), np.zeros((3, 6))
    loads[2] = (0.4, 0.0, -0.7, 0.0, 0.03, 0.0)
    without = by_paper(tree, Q1, QD1, TAU1)
    right, wrong = (by_paper(tree, Q1, QD1, TAU1, loads, Reading(tip_force_added=p)) for p in (False, True))
    assert np.abs((wrong - without) + (right - without)).max() < 1e-12 * np.abs(right).max()


def test_one_acceleration_for_all_branches_is_not_what_the_branches_do():
    tree = y_tree()
    truth = accelerations(tree, np.zeros(3))[0]
    assert np.abs(truth - (0.0, 20.8101525703, -20.8101525703)).max() < 1e-9
    assert abs(node_as_printed(tree, np.zeros(3), 0.0)) < 1e-12


def test_rotational_energy_of_the_carpal_paper_lacks_a_rotation():
    record = wrist()
    c = record[0]
    carpal_equations(c, TH, THD, 0.0)
    w, R, inertia = c["w"], c["R"], c["inertia_kg_m2"]
    right, printed = 0.5 * w @ R @ inertia @ R.T @ w, 0.5 * w @ R @ inertia @ w
    assert abs(right - 9.7932e-4) < 6e-9
    assert abs(printed - 9.7893e-4) < 6e-9


def lagrangian_parts(th, thd, h=1e-5):
    """-dT/dth and +dV/dth of R4 by differences."""
    record = wrist()
    kinetic = np.array(
        [
            (carpal_energy_j(record, th + e, thd)[0] - carpal_energy_j(record, th - e, thd)[0]) / (2 * h)
            for e in h * np.eye(3)
        ]
    )
    potential = np.array(
        [
            (carpal_energy_j(record, th + e, thd)[1] - carpal_energy_j(record, th - e, thd)[1]) / (2 * h)
            for e in h * np.eye(3)
        ]
    )
    return -kinetic, potential


def test_terms_inside_the_sum_over_m_count_three_times():
    inertial, gravity = lagrangian_parts(TH, THD)
    twice_more = 2.0 * (inertial + gravity)
    assert np.abs(twice_more - (0.979, 0.506, 1.135)).max() < 2e-3


def beta_gradient(record, th):
    """(6.39) with factor 2 and a plus sign: d(beta rate)/d(thd_l), shape (3,), with N and J."""
    c = record[0]
    carpal_equations(c, th, THD, 0.0)
    N, J = c["N"].copy(), c["J"].copy()
    u = N[0] ** 2 + N[1] ** 2
    return 2.0 * (N[0] * J[0] + N[1] * J[1]) / np.sqrt(u * (1.0 - u)), N, J


def test_second_derivative_of_beta_as_corrected_and_as_printed():
    record, h = wrist(), 1e-6
    _, N, J = beta_gradient(record, TH)
    u = N[0] ** 2 + N[1] ** 2
    off = 0.0
    for m, step in enumerate(h * np.eye(3)):
        (ahead, _, J_ahead), (behind, _, J_behind) = (
            beta_gradient(record, TH + s * step) for s in (1.0, -1.0)
        )
        truth, dJ, dN = (ahead - behind) / (2 * h), (J_ahead - J_behind) / (2 * h), J[:2, m]
        slope = N[0] * dN[0] + N[1] * dN[1]
        x = N[0] * dJ[0] + dN[0] * J[0]
        y = N[1] * dJ[1] + dN[1] * J[1]
        right = 2.0 * (x + y) / np.sqrt(u * (1.0 - u))
        right -= 2.0 * (N[0] * J[0] + N[1] * J[1]) * slope * (1.0 - 2.0 * u) / (u - u * u) ** 1.5
        assert np.abs(right - truth).max() < 1e-7
        printed = (x - y) / np.sqrt(u * (1.0 - u))
        printed -= (N[0] * J[0] - N[1] * J[1]) * slope * (1.0 - u) / (u - u * u)
        off = max(off, float(np.abs(printed - truth).max()))
    assert off > 1.5, off


def test_rk4_of_the_arm_paper_has_nearly_its_order_in_free_swing():
    mechanism = arm_mechanism(arm_file())
    ends = [mechanism.run(step_s=h, rows=1).q[-1] for h in (4e-3, 2e-3, 1e-3, 5e-4, 5e-5)]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((orders > 3.3) & (orders < 4.6)), orders


def test_pulley_matrices_of_the_hand_paper():
    r0, r1, r2, r3 = 0.0065, 0.0065, 0.0055, 0.0045
    by_55 = np.array(
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
    by_59 = by_55[[1, 3, 0, 2, 5, 4, 6, 7]]
    printed = np.array([[r0, -r1, 0, 0], [-r0, -r1, 0, 0], [r0, r1, 0, 0], [-r0, r1, 0, 0]])
    assert np.array_equal(by_59[:4], printed)
    # (5.15) as printed wants the inverse of a singular 8 x 8 matrix
    assert np.linalg.matrix_rank(by_55 @ by_55.T) == 4
    right = np.linalg.inv(by_55.T @ by_55) @ by_55.T
    assert np.abs(right - np.linalg.pinv(by_55)).max() < 1e-9


def test_elastic_energy_of_54_is_half_of_what_the_spring_holds():
    k, h = 2000.0, 0.003
    steps = np.linspace(0.0, h, 2001)
    stored = np.trapezoid(k * steps, steps)
    printed = 0.5 * np.trapezoid(k * steps, steps)
    assert abs(stored - 0.009) < 1e-12 and abs(printed - 0.0045) < 1e-12


def test_wrist_circle_of_61_misses_its_centre():
    radius, b, q3 = 0.05, 0.042, 0.2
    t = np.pi / 2.0 - q3
    B = radius * np.array([np.cos(t), np.sin(t)])
    tc = np.arctan2((b * b + radius**2) * np.sin(t) - 2.0 * radius * b, (radius**2 - b * b) * np.cos(t))
    C = radius * np.array([np.cos(tc), np.sin(tc)])
    centre = np.array([0.0, b])
    assert abs(np.linalg.norm(centre + C - B) - b) < 1e-16
    assert abs(abs(np.linalg.norm(C - B) - b) - 2.7e-2) < 1e-3
    bottom = radius**2 + b * b - 2.0 * radius * b * np.sin(t)
    by_64 = (radius**2 - b * b) / bottom * np.array([radius * np.cos(t), radius * np.sin(t) - b])
    assert np.abs(by_64 - (C + centre)).max() < 1e-16


def test_coupled_fingers_lengths_agree_only_for_equal_radii():
    for r42, r43, agree in ((0.005, 0.005, True), (0.005, 0.0045, False)):
        q = 0.7
        by_516 = r42 * q + r43 * (r43 / r42) * q
        by_518 = (r42 + r43) * q
        crossed = r42 * q + r43 * (r42 / r43) * q
        assert (abs(by_516 - by_518) < 1e-15) is agree
        assert abs(crossed - 2.0 * r42 * q) < 1e-15


def test_the_tool_speeds_derivative_lacks_the_tools_centre():
    """(6.23): dv/dth of the tool's centre; printed, the plate's alone. (6.24) and (6.25) do have G."""
    h = 1e-6

    def speeds(th):
        c = wrist()[0]
        carpal_equations(c, th, THD, 0.0)
        return c["Jg"] @ THD, c["Jv"] @ THD, np.cross(c["w"], c["R"] @ c["com_m"])

    ahead, back = ([speeds(TH + s * e) for e in np.eye(3)] for s in (h, -h))
    of_tool, printed, missing = (
        np.array([(a[k] - b[k]) / (2.0 * h) for a, b in zip(ahead, back, strict=True)]) for k in range(3)
    )
    assert np.abs(printed + missing - of_tool).max() < 1e-9
    assert of_tool[2, 2] == pytest.approx(-0.0864, abs=5e-5)
    assert printed[2, 2] == pytest.approx(-0.0525, abs=5e-5)
