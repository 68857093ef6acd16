"""R1 to R4 of the mechanics page, to the digits given there."""

from __future__ import annotations

import numpy as np
import pytest

from mechanics.arm import wrench_torque
from mechanics.arm_dynamics import arm_acceleration
from mechanics.carpal_dynamics import carpal_acceleration
from mechanics.dynamics.batch import accelerations, mass_matrices
from mechanics.dynamics.inputs import constant
from mechanics.dynamics.simulate import simulate
from mechanics.muscle_finger import finger_acceleration
from sim.mechanisms.arm7 import arm_mechanism
from tests.rigs.mechanism_cases import (
    Q3,
    TH,
    THD,
    arm,
    arm_file,
    arm_tree,
    finger,
    finger_system,
    muscled_finger,
    tree_system,
    wrist,
    wrist_system,
    y_tree,
)

Q1, QD1, TAU1 = np.array([0.3, -0.4, 0.5]), np.array([1.0, -2.0, 1.5]), np.array([0.2, -0.1, 0.05])
QD3 = np.array([0.5, -1.0, 0.8, 1.2, -0.7, 2.0, -1.5])
TAU3 = np.array([1.0, -2.0, 0.5, 1.5, 0.2, -0.1, 0.05])
F3 = np.array([3.0, -2.0, 5.0, 0.1, -0.2, 0.05])
QDD3 = [
    25.518324987222,
    -53.616224854508,
    17.196147926481,
    104.022552158069,
    53.496238457645,
    -53.494856742972,
    120.892531872892,
]
QDD3_LOADED = [
    23.919189683137,
    -53.547710796214,
    29.532072762058,
    86.645592196280,
    51.411536600994,
    388.091083811393,
    58.738231002616,
]


def digits(found, printed, places=10):
    """Equal to the printed figures: ``places`` significant digits of the largest."""
    printed = np.asarray(printed)
    return bool(
        np.abs(np.asarray(found) - printed).max() <= 0.6 * 10.0**-places * max(1.0, np.abs(printed).max())
    )


def test_r1_accelerations_and_mass_matrix():
    tree = y_tree()
    assert digits(accelerations(tree, np.zeros(3))[0], [0.0, 20.81015257032, -20.81015257032])
    assert digits(
        accelerations(tree, Q1, QD1, TAU1)[0], [5.135497634943, 4.582109899512, -10.985153918845], 12
    )
    M = mass_matrices(tree, Q1)[0]
    assert digits(M[0], [0.641497111153, 0.099232978792, 0.096515576785], 11)
    assert digits(M[1:, 1:], [[0.041666666667, 0.0], [0.0, 0.041666666667]], 11)


def test_r1_with_springs_and_dampers_and_with_a_load():
    sprung = y_tree(stiffness=1.5, damping=0.02, rest=0.1)
    assert digits(
        accelerations(sprung, Q1, QD1, TAU1)[0], [1.048781000021, 33.274999463388, -16.638790402631], 12
    )
    loads = np.zeros((3, 6))
    loads[2] = (0.4, 0.0, -0.7, 0.0, 0.03, 0.0)
    found = accelerations(y_tree(), Q1, QD1, TAU1, loads)[0]
    assert digits(found, [3.378734133287, 8.766002906763, -6.195832895561], 12)


def test_r1_free_fall():
    run = simulate(tree_system(y_tree()), 1.0, 1e-4, q=np.array([0.1, 0.0, 0.0]), record_every=500)
    at = {round(t, 3): k for k, t in enumerate(run.time_s)}
    assert digits(run.q[at[0.1]], [0.109336395547, 0.092107633159, -0.118480489886], 9)
    assert digits(run.qd[at[0.1]], [0.194672977617, 1.852254328689, -2.428817831827], 9)
    assert digits(run.q[at[0.25]], [0.161737271983, 0.609669011784, -0.806474527826], 9)
    assert digits(run.q[at[0.5]], [0.315210906448, 2.627784202079, -3.160752965020], 9)
    assert digits(run.qd[at[0.5]], [1.996265311663, 8.690891572713, -9.653841134883], 9)
    assert digits(run.q[at[1.0]], [1.857155473543, 7.332890394378, -5.478021691697], 8)
    assert np.abs(run.energy_j - run.energy_j[0]).max() < 3e-13 * 10.0


def test_r2_inertia_coriolis_gravity_and_acceleration():
    record, out = finger(), np.zeros(3)
    q, qd = np.array([0.4, 0.7, -0.3]), np.array([2.0, -3.0, 5.0])
    finger_acceleration(record, q, qd, np.array([0.01, 0.004, 0.001]), 0.0, 20.0, 0.0, out)
    f = record[0]
    D = f["D"] * 1e5
    assert digits(
        [D[0, 0], D[0, 1], D[0, 2], D[1, 1], D[1, 2], D[2, 2]],
        [6.080835694371, 1.878236794519, 0.4421446071667, 0.8948378946671, 0.2245439473336, 0.089125],
        11,
    )
    assert digits(f["coriolis"] * 1e5, [1.459417717009, 3.576442010282, 0.3261103441874], 11)
    assert digits(f["gravity"], [0.008505098781, 0.001348896967, 0.000358821373], 12)
    assert digits(out, [-190.555889904326, 748.837768880173, -225.548130087966], 13)


def test_r2_with_springs_dampers_and_muscle_force():
    record, out = muscled_finger(), np.zeros(3)
    q, qd = np.array([0.4, 0.7, -0.3]), np.array([2.0, -3.0, 5.0])
    finger_acceleration(record, q, qd, np.zeros(3), 3.0, 20.0, 0.0, out)
    assert digits(out, [1007.693832334307, -11219.05204827499, 31499.7541764503], 13)
    finger_acceleration(record, np.zeros(3), np.zeros(3), np.zeros(3), 3.0, 20.0, 0.0, out)
    assert digits(out, [-162.070881879671, -902.506282656165, 5638.945287027023], 13)
    run = simulate(
        finger_system(record), 0.1, 2e-5, inputs=constant(np.array([0.0, 0.0, 0.0, 3.0])), record_every=2500
    )
    assert digits(run.q[1], [-0.094985639824, 0.114177042041, 0.122827401333], 11)
    assert digits(run.q[2], [-0.182816585817, 0.066909108745, 0.108902920955], 11)


def test_r2_reduced_model_is_as_wrong_as_the_page_says():
    record, out = finger(), np.zeros(3)
    record["reduced"] = 1
    q, qd = np.array([0.4, 0.7, -0.3]), np.array([2.0, -3.0, 5.0])
    finger_acceleration(record, q, qd, np.array([0.01, 0.004, 0.001]), 0.0, 20.0, 0.0, out)
    assert np.abs(out - (24.6, 296.3, 719.4)).max() < 0.05
    reduced = muscled_finger()
    reduced["reduced"] = 1
    pull = constant(np.array([0.0, 0.0, 0.0, 3.0]))
    run = simulate(finger_system(reduced), 0.1, 1e-4, inputs=pull, record_every=1000)
    assert abs(run.q[-1, 0] - -0.1971) < 5e-5


def test_r3_lagrange_terms_and_acceleration():
    record, out = arm(), np.zeros(7)
    arm_acceleration(record, Q3, QD3, TAU3, np.zeros(6), 0.0, out)
    m = record[0]
    H = m["H"][:7, :7]
    diagonal = [0.318284929657, 0.330806063994, 0.044057966874, 0.056462106001]
    assert digits(np.diag(H), [*diagonal, 0.004690838810, 0.001557908233, 0.0015764], 11)
    row = [0.318284929657, 0.019542809317, -0.073079422156, -0.060624069085]
    assert digits(H[0], [*row, 0.008276724805, -0.002783300547, 0.009170375910], 11)
    v = [-0.211627542614, 0.008593475041, 0.025835637695, 0.123484773245]
    assert digits(m["v"][:7], [*v, -0.016706845808, -0.002552129921, -0.011859796721], 11)
    g = [0.0, 8.101040838712, -1.233235205542, 1.953821815518]
    assert digits(m["g"][:7], [*g, -0.035274921176, 0.131909597945, 0.018007002531], 12)
    assert digits(out, QDD3, 13)


def test_r3_contact_wrench_and_free_swing():
    record, out, torque = arm(), np.zeros(7), np.zeros(7)
    arm_acceleration(record, Q3, QD3, TAU3, F3, 0.0, out)
    wrench_torque(record[0], F3, torque)
    expected = [-2.171981145109, 1.414944187676, 0.188689232562, 0.992973181675]
    assert digits(torque, [*expected, -0.102754481376, 0.607906879784, -0.11], 11)
    assert digits(out, QDD3_LOADED, 13)


@pytest.mark.parametrize("form", ["tree", "lagrange"])
def test_r3_free_swing(form):
    run = arm_mechanism(arm_file(form)).run()
    swing = [0.24165104759, -0.920942876076, 0.548362376865, 0.560123790642]
    assert digits(run.q[-1], [*swing, -0.07306567999, 2.119455231588, 0.041094870437], 10)


def test_r3_by_articulated_bodies_equals_lagrange():
    tree = arm_tree()
    assert digits(accelerations(tree, Q3, QD3, TAU3)[0], QDD3, 13)
    loads = np.zeros((len(tree.frames), 6))
    loads[tree.frame("j6_frame")] = F3
    assert digits(accelerations(tree, Q3, QD3, TAU3, loads)[0], QDD3_LOADED, 13)


def test_r4_pose_jacobian_and_velocity():
    record, out = wrist(), np.zeros(3)
    carpal_acceleration(record, TH, THD, np.array([0.3, -0.2, 0.1]), 0.0, out)
    c = record[0]
    N = c["N"]
    assert digits(N, [0.008860659473, -0.075389176610, 0.997114818245], 11)
    assert digits(c["p"], 0.0714408798002, 12)
    alpha, beta = np.arctan2(N[1], N[0]), 2.0 * np.arctan2(np.hypot(N[0], N[1]), N[2])
    assert digits([alpha, beta], [-1.4538008262, 0.1519623691], 10)
    assert digits(c["D"], [0.0012623739, -0.010740659786, 0.142058469296], 10)
    J = [[-0.350333185212, 0.172641012183, 0.170219206965], [0.017139907376, -0.285661133234, 0.315915597702]]
    assert digits(c["J"], [*J, [0.018090845731, 0.018365199220, 0.018064913778]], 11)
    assert digits(c["w"], [-0.950376444374, -0.254018690380, -0.010760343413], 11)
    Nd = c["J"] @ THD
    square = N[0] ** 2 + N[1] ** 2
    beta_rate = 2.0 * (N[0] * Nd[0] + N[1] * Nd[1]) / np.sqrt(square * (1.0 - square))
    assert digits(beta_rate, -0.9735308004, 10)
    assert digits((N[0] * Nd[1] - N[1] * Nd[0]) / square, -0.9337270167, 10)


def test_r4_equations_and_motion():
    record, out = wrist(), np.zeros(3)
    carpal_acceleration(record, TH, THD, np.array([0.3, -0.2, 0.1]), 0.0, out)
    c = record[0]
    A = c["A"]
    assert digits(A[0], [0.012831998364, -0.004501425536, -0.002725852898], 11)
    assert digits([A[1, 1], A[1, 2], A[2, 2]], [0.011032678068, -0.004182371350, 0.013666849331], 11)
    assert digits(c["h"], [0.475712623801, 0.254291347096, 0.551455637747], 11)
    assert digits(out, [-62.958232877298, -95.190037625707, -74.720265130451], 13)
    run = simulate(wrist_system(wrist()), 0.1, 5e-5, q=TH, qd=THD, record_every=1000)
    assert digits(run.q[1], [0.829320801479, 0.922105055003, 0.750465176004], 10)
    assert digits(run.qd[1], [-3.340068470434, -4.465313879153, -2.925854109393], 10)
    assert digits(run.q[2], [0.593351785152, 0.632636260688, 0.532099493075], 10)


def test_r4_at_home_where_the_tilt_is_zero():
    record, out = wrist(), np.zeros(3)
    carpal_acceleration(record, np.ones(3), THD, np.zeros(3), 0.0, out)
    assert digits(record[0]["h"], [0.405214849551, 0.353123360973, 0.369979957367], 11)
    assert np.all(np.isfinite(out))
