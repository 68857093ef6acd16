r"""Joint angles of pulley fingers: ``q = P^+ h``, with ``P^+ = (P^T P)^{-1} P^T`` (eq. 5.15 corrected).

With tendons whose length is not known (weights w below 1, ``estimators.weights``) the weighted least squares,
damped towards the last angles so that a direction nobody sees any more stays where it was:

.. math:: (P^T W P + \lambda I)\,q = P^T W h + \lambda\,q_{last}

lambda is the hand file's ``estimation.damping_frac`` of the mean curvature.
"""

from __future__ import annotations

import math
from typing import Final

from estimators.memory import EstimatorMemory
from mechanics.cholesky import factorise, solve_factored
from mechanics.coupling import tendon_length
from mechanics.curves import CURVED, curve_excess, path_length
from mechanics.finger_rows import add_row, along
from mechanics.thumb import INSERTION
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model

POWER_STEPS: Final = 12


@law
def pulley_length(m: Model, f: int, first: int, t: int, length_m: FloatArray, q: FloatArray) -> float:
    """Measured length [m] of tendon ``t`` without what the joints before ``first`` add to it."""
    h = length_m[t]
    for a in range(first):
        j = m.finger_joint[f, a]
        h -= m.P_tj_m[t, j] * q[j]
    return float(h)


@law
def linear_angles(
    m: Model, mem: EstimatorMemory, f: int, first: int, length_m: FloatArray, q_out: FloatArray
) -> None:
    """Angles [rad] of the joints ``first`` and beyond of finger ``f`` into ``q_out``, shape (J,).

    Joints before ``first`` (a tensegrity base) are known already. Curved paths: P at the last angles counts.
    """
    n = m.finger_n_tendons[f]
    for k in range(n):
        mem.row[k] = pulley_length(m, f, first, m.finger_tendon[f, k], length_m, q_out)
    if m.finger_kind[f] == CURVED:
        for k in range(n):
            mem.row[k] -= curve_excess(m, f, m.finger_tendon[f, k], q_out)
    for b in range(first, m.finger_n_joints[f]):
        q_out[m.finger_joint[f, b]] = along(mem.pinv_fbk_1_m[f, b], mem.row, n)


@law
def finger_lengths(m: Model, mem: EstimatorMemory, f: int, q_rad: FloatArray) -> None:
    """Path lengths [m] of finger ``f``'s tendons at joint angles, shape (J,), into ``mem.length_m``."""
    n = m.finger_n_tendons[f]
    for k in range(n):
        mem.row[k] = 0.0
    for b in range(m.finger_n_joints[f]):
        add_row(mem.row, q_rad[m.finger_joint[f, b]], mem.P_fbk_m[f, b], n)
    for k in range(n):
        t = m.finger_tendon[f, k]
        mem.length_m[t] = tendon_length(m, t, q_rad) if m.tendon_kind[t] == INSERTION else mem.row[k]
    if m.finger_kind[f] == CURVED:
        for k in range(n):
            t = m.finger_tendon[f, k]
            mem.length_m[t] = path_length(m, f, t, q_rad)


@law
def normal_matrix(m: Model, mem: EstimatorMemory, f: int, first: int, n: int) -> float:
    """P^T W P of finger ``f`` into the lower half of ``mem.H``; returns its mean diagonal [m^2]."""
    H, P_tj_m = mem.H, mem.P_tj_m
    for a in range(n):
        for b in range(a + 1):
            H[a, b] = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        for a in range(n):
            p = mem.weight[t] * P_tj_m[t, m.finger_joint[f, first + a]]
            for b in range(a + 1):
                H[a, b] += p * P_tj_m[t, m.finger_joint[f, first + b]]
    trace = 0.0
    for a in range(n):
        trace += H[a, a]
    return trace / max(n, 1)


@law
def weighted_angles(
    m: Model, mem: EstimatorMemory, f: int, first: int, length_m: FloatArray, q_out: FloatArray
) -> float:
    """As ``linear_angles`` with the weights in ``mem``; returns the condition number of the weighted P."""
    n, H, x = m.finger_n_joints[f] - first, mem.H, mem.x
    if n <= 0:
        return 1.0
    mean = normal_matrix(m, mem, f, first, n)
    for a in range(n):
        x[a] = m.estimation_damping * mean * q_out[m.finger_joint[f, first + a]]
        H[a, a] += m.estimation_damping * mean + 1e-300
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        h = pulley_length(m, f, first, t, length_m, q_out)
        if m.finger_kind[f] == CURVED:
            h -= curve_excess(m, f, t, q_out)
        h *= mem.weight[t]
        for a in range(n):
            x[a] += mem.P_tj_m[t, m.finger_joint[f, first + a]] * h
    factorise(H, n, 1e-300)
    solve_factored(H, x, n)
    for a in range(n):
        q_out[m.finger_joint[f, first + a]] = x[a]
    return condition_of_factor(H, x, n)


@law
def condition_of_factor(H: FloatArray, x: FloatArray, n: int) -> float:
    """Condition number of P, from the factor of P^T W P: at most sqrt(n) too large.

    The largest eigenvalue is bounded by the trace, the smallest found by power iteration on the inverse.
    """
    largest = 0.0
    for a in range(n):
        for c in range(a + 1):
            largest += H[a, c] * H[a, c]
    for a in range(n):
        x[a] = 1.0 + 0.1 * a
    smallest_inverse = 0.0
    for _ in range(POWER_STEPS):
        norm = 0.0
        for a in range(n):
            norm += x[a] * x[a]
        norm = math.sqrt(norm)
        for a in range(n):
            x[a] /= norm
        solve_factored(H, x, n)
        smallest_inverse = 0.0
        for a in range(n):
            smallest_inverse += x[a] * x[a]
        smallest_inverse = math.sqrt(smallest_inverse)
    return math.sqrt(largest * smallest_inverse)


@law
def finger_residual(
    m: Model, mem: EstimatorMemory, f: int, length_m: FloatArray, residual_out: FloatArray
) -> float:
    """Residuals [m] of the finger's tendons into ``residual_out``, weighted; returns their rms [m].

    ``mem.length_m`` holds the lengths at the estimated angles (``finger_lengths``).
    """
    tendons, n_tendons = m.finger_tendon, m.finger_n_tendons[f]
    total = 0.0
    for k in range(n_tendons):
        t = tendons[f, k]
        residual_out[t] = mem.weight[t] * (length_m[t] - mem.length_m[t])
        total += residual_out[t] * residual_out[t]
    return math.sqrt(total / max(n_tendons, 1))
