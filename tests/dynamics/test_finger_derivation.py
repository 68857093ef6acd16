"""The finger derived again by SymPy from positions: D, the 27 symbols, gravity; and the misprints."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import sympy as sp

from mechanics.muscle_finger import finger_acceleration, finger_coriolis, finger_gravity, finger_inertia
from tests.rigs.mechanism_cases import finger

Q = sp.symbols("q1:4")
QD = sp.symbols("v1:4")
L1, L2, C1, C2, C3, M1, M2, M3, I1, I2, I3, G = sp.symbols(
    "l1 l2 c1 c2 c3 m1 m2 m3 I1 I2 I3 g", positive=True
)
H1 = L1 * C2 * sp.sin(Q[1])
H2 = L1 * C3 * sp.sin(Q[1] + Q[2])
H3 = L2 * C3 * sp.sin(Q[2])
H4 = L1 * L2 * sp.sin(Q[1])


@cache
def derived():
    """(D, potential energy) from centres of mass."""
    a, b, c = Q[0], Q[0] + Q[1], Q[0] + Q[1] + Q[2]
    points = (
        (C1 * sp.cos(a), C1 * sp.sin(a)),
        (L1 * sp.cos(a) + C2 * sp.cos(b), L1 * sp.sin(a) + C2 * sp.sin(b)),
        (L1 * sp.cos(a) + L2 * sp.cos(b) + C3 * sp.cos(c), L1 * sp.sin(a) + L2 * sp.sin(b) + C3 * sp.sin(c)),
    )
    turns = (QD[0], QD[0] + QD[1], QD[0] + QD[1] + QD[2])
    kinetic = sp.Integer(0)
    potential = sp.Integer(0)
    for (x, y), turn, mass, inertia in zip(points, turns, (M1, M2, M3), (I1, I2, I3), strict=True):
        vx, vy = (sum(sp.diff(k, q) * v for q, v in zip(Q, QD, strict=True)) for k in (x, y))
        kinetic += mass * (vx**2 + vy**2) / 2 + inertia * turn**2 / 2
        potential += mass * G * y
    return sp.hessian(kinetic, QD), potential


def corrected_d():
    k2, k3, k23 = sp.cos(Q[1]), sp.cos(Q[2]), sp.cos(Q[1] + Q[2])
    d33 = M3 * C3**2 + I3
    d23 = M3 * (C3**2 + L2 * C3 * k3) + I3
    d13 = M3 * (C3**2 + L1 * C3 * k23 + L2 * C3 * k3) + I3
    d22 = M3 * (L2**2 + C3**2 + 2 * L2 * C3 * k3) + M2 * C2**2 + I2 + I3
    d12 = M2 * (C2**2 + L1 * C2 * k2) + I2 + I3
    d12 += M3 * (L2**2 + C3**2 + 2 * L2 * C3 * k3 + L1 * L2 * k2 + L1 * C3 * k23)
    d11 = M1 * C1**2 + M2 * (L1**2 + C2**2 + 2 * L1 * C2 * k2) + I1 + I2 + I3
    across = 2 * L1 * L2 * k2 + 2 * L2 * C3 * k3 + 2 * L1 * C3 * k23
    d11 += M3 * (L1**2 + L2**2 + C3**2 + across)
    return sp.Matrix([[d11, d12, d13], [d12, d22, d23], [d13, d23, d33]])


def printed_symbols():
    """(A18): C_ijk by one-based indices."""
    first, second, third = M2 * H1 + M3 * (H2 + H4), M3 * (H2 + H3), M3 * H3
    table = {(1, 1, 2): first, (1, 1, 3): second}
    table |= dict.fromkeys([(1, 2, 3), (2, 1, 3), (2, 2, 3)], third)
    table |= dict.fromkeys([(1, 2, 1), (2, 1, 1), (2, 2, 1)], -first)
    table |= dict.fromkeys([(2, 3, 2), (3, 2, 2), (3, 3, 2), (1, 3, 2), (3, 1, 2)], -third)
    table |= dict.fromkeys([(1, 3, 1), (3, 1, 1), (2, 3, 1), (3, 2, 1), (3, 3, 1)], -second)
    return {key: table.get(key, sp.Integer(0)) for key in itertools.product((1, 2, 3), repeat=3)}


def christoffel(D, i, j, k):
    return (sp.diff(D[k, j], Q[i]) + sp.diff(D[k, i], Q[j]) - sp.diff(D[i, j], Q[k])) / 2


def a14(D, i, j, k):
    return sp.diff(D[k, j], Q[i]) - sp.diff(D[i, j], Q[k]) / 2


def zero(expression) -> bool:
    """Exponentials of the angles are independent: an expanded sum of them is zero only if it is empty."""
    waves = sp.expand(sp.sympify(expression).rewrite(sp.exp))
    return sp.expand(sp.powsimp(waves)) == 0


def test_inertia_is_a17_with_one_change():
    D, _ = derived()
    assert all(zero(e) for e in D - corrected_d())
    printed = corrected_d()[0, 0] - M3 * (2 * L1 - 1) * C3 * sp.cos(Q[1] + Q[2])
    assert zero(D[0, 0] - printed - M3 * C3 * (2 * L1 - 1) * sp.cos(Q[1] + Q[2]))


def test_all_27_printed_symbols_are_the_standard_ones_of_the_corrected_inertia():
    D = corrected_d()
    printed = printed_symbols()
    for i, j, k in itertools.product(range(3), repeat=3):
        assert zero(christoffel(D, i, j, k) - printed[i + 1, j + 1, k + 1]), (i, j, k)


def test_a14_differs_in_18_single_symbols_but_not_in_the_sums():
    D = corrected_d()
    differ = [
        key for key in itertools.product(range(3), repeat=3) if not zero(christoffel(D, *key) - a14(D, *key))
    ]
    assert len(differ) == 18
    for k in range(3):
        total = sum(
            (christoffel(D, i, j, k) - a14(D, i, j, k)) * QD[i] * QD[j] for i in range(3) for j in range(3)
        )
        assert zero(total)


def test_ddot_minus_2c_is_skew_with_the_standard_symbols_and_not_with_a14():
    D = corrected_d()
    for law, skew in ((christoffel, True), (a14, False)):
        rate = sum((sp.diff(D, q) * v for q, v in zip(Q, QD, strict=True)), sp.zeros(3))
        C = sp.Matrix(3, 3, lambda k, j, law=law: sum(law(D, i, j, k) * QD[i] for i in range(3)))
        S = rate - 2 * C
        assert all(zero(e) for e in S + S.T) is skew


def test_compiled_laws_equal_the_derivation():
    D, potential = derived()
    record = finger()
    f = record[0]
    values = dict(
        zip(
            (L1, L2, C1, C2, C3, M1, M2, M3, I1, I2, I3, G),
            (*f["length_m"][:2], *f["com_m"], *f["mass_kg"], *f["inertia_kg_m2"], f["gravity_m_s2"]),
            strict=True,
        )
    )
    symbols = [*Q, *QD]
    coriolis = [
        sum(christoffel(corrected_d(), i, j, k) * QD[i] * QD[j] for i in range(3) for j in range(3))
        for k in range(3)
    ]
    law = sp.lambdify(symbols, [list(D.subs(values)), [c.subs(values) for c in coriolis],
                                [sp.diff(potential, q).subs(values) for q in Q]])  # fmt: skip
    rng = np.random.default_rng(4)
    out = np.zeros(3)
    for _ in range(20):
        q, qd = rng.uniform(-2.0, 2.0, 3), rng.normal(size=3) * 5.0
        finger_inertia(f, q)
        finger_coriolis(f, q, qd)
        finger_gravity(f, q)
        inertia, bias, gravity = law(*q, *qd)
        assert np.abs(f["D"].ravel() - inertia).max() < 1e-18
        assert np.abs(f["coriolis"] - bias).max() < 1e-17
        assert np.abs(f["gravity"] - gravity).max() < 1e-16
        finger_acceleration(record, q, qd, np.array([0.01, 0.0, 0.0]), 0.0, 20.0, 0.0, out)
        expected = np.linalg.solve(f["D"], np.array([0.01, 0.0, 0.0]) - bias - gravity)
        assert np.abs(out - expected).max() < 1e-10 * np.abs(expected).max()
