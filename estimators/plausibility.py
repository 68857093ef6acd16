r"""Wrist angle error from the residuals of all fingers: a redundant wrist sensor.

A wrist reading off by eps changes every measured length by ``-P_w eps``; the part of that which no joint
angle explains is the residual ``r = -A eps``, ``A = (I - P P^+) P_w``. Least squares over all fingers:

.. math:: \hat\varepsilon = -(A^T A + \lambda I)^{-1} A^T r, \qquad r_{left} = r + A \hat\varepsilon

A finger with a fault of its own would drag the estimate along and so blame all others: fingers in fault take
no part, and the one without which the others agree far better is left out.

Flexion (q71) hardly shows near the neutral pose, where its column of A is almost zero: lambda then keeps the
estimate at zero instead of at noise. An offset that was there at homing is absorbed by e0 and cannot be seen.
What is left unexplained is a finger's own fault, whatever the wrist's sensor says.
"""

from __future__ import annotations

from typing import Final

from estimators.memory import EstimatorMemory
from mechanics.finger_rows import add_row, along, gather
from signals.compiled import law
from signals.modes import MachineState
from signals.typed import Model, State

FAULT: Final = int(MachineState.FAULT)
LEAST_FINGERS: Final = 3
"""Fingers that have to take part before one of them may be left out."""
OUTLIER_SHARE: Final = 0.4
"""A finger is left out if the squares that the others leave without it are below this share of all."""


@law
def project_wrist_columns(m: Model, f: int, mem: EstimatorMemory) -> None:
    """A = (I - P P^+) P_w of finger ``f`` into ``mem.residual_wrist_m`` [m/rad]; a base at its pose."""
    n, P_w, first, second = (
        m.finger_n_tendons[f],
        mem.P_wrist_m,
        mem.residual_wrist_m[f, 0],
        mem.residual_wrist_m[f, 1],
    )
    q0, q1 = mem.x, mem.H[0]
    for k in range(n):
        t = m.finger_tendon[f, k]
        first[k], second[k] = P_w[t, 0], P_w[t, 1]
    for b in range(m.finger_n_joints[f]):
        inverse = mem.pinv_fbk_1_m[f, b]
        q0[b], q1[b] = along(inverse, first, n), along(inverse, second, n)
    for b in range(m.finger_n_joints[f]):
        P = mem.P_fbk_m[f, b]
        add_row(first, -q0[b], P, n)
        add_row(second, -q1[b], P, n)


@law
def collect_sums(m: Model, mem: EstimatorMemory, s: State) -> int:
    """Sums of the normal equations of every finger into ``mem.wrist_sums``; returns how many take part.

    Columns: A^T A (00, 01, 11), -A^T r (0, 1), r^T r. Fingers in fault or with a slack tendon
    (``estimators.weights``) stay zero.
    """
    r, sums, count = mem.row, mem.wrist_sums, 0
    for f in range(m.n_fingers):
        if mem.degraded[f] != 0 or s.finger_state[f] == FAULT:
            for c in range(6):
                sums[f, c] = 0.0
            continue
        count += 1
        project_wrist_columns(m, f, mem)
        n, first, second = m.finger_n_tendons[f], mem.residual_wrist_m[f, 0], mem.residual_wrist_m[f, 1]
        gather(m, f, s.residual_m, r)
        sums[f, 0], sums[f, 1] = along(first, first, n), along(first, second, n)
        sums[f, 2], sums[f, 5] = along(second, second, n), along(r, r, n)
        sums[f, 3], sums[f, 4] = -along(first, r, n), -along(second, r, n)
    return count


@law
def solve_without(m: Model, mem: EstimatorMemory, out: int) -> tuple[float, float, float]:
    """Wrist angle errors [rad] of all fingers but ``out`` (-1: of all), and the squares they leave [m^2]."""
    a00, a01, a11 = m.wrist_regularisation_m2, 0.0, m.wrist_regularisation_m2
    b0 = b1 = rr = 0.0
    for f in range(m.n_fingers):
        if f != out:
            a00 += mem.wrist_sums[f, 0]
            a01 += mem.wrist_sums[f, 1]
            a11 += mem.wrist_sums[f, 2]
            b0 += mem.wrist_sums[f, 3]
            b1 += mem.wrist_sums[f, 4]
            rr += mem.wrist_sums[f, 5]
    determinant = a00 * a11 - a01 * a01
    e0, e1 = (a11 * b0 - a01 * b1) / determinant, (a00 * b1 - a01 * b0) / determinant
    return e0, e1, rr - e0 * b0 - e1 * b1


@law
def wrist_error(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Wrist angle errors [rad], measured minus true, that explain the residuals, and what they leave."""
    r = s.residual_m
    for t in range(m.n_tendons):
        s.residual_unexplained_m[t] = r[t]
    if m.n_axes < 2:
        return
    count = collect_sums(m, mem, s)
    e0, e1, left = solve_without(m, mem, -1)
    if count >= LEAST_FINGERS:
        best = OUTLIER_SHARE * left
        for f in range(m.n_fingers):
            if mem.wrist_sums[f, 5] > 0.0:
                without0, without1, rest = solve_without(m, mem, f)
                if rest < best:
                    best, e0, e1 = rest, without0, without1
    s.wrist_error_rad[0], s.wrist_error_rad[1] = e0, e1
    for f in range(m.n_fingers):
        if mem.degraded[f] == 0 and s.finger_state[f] != FAULT:
            first, second = mem.residual_wrist_m[f, 0], mem.residual_wrist_m[f, 1]
            for k in range(m.finger_n_tendons[f]):
                t = m.finger_tendon[f, k]
                s.residual_unexplained_m[t] = r[t] + first[k] * e0 + second[k] * e1
