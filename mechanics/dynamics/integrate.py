"""Integrators and compiled runs: Euler, semi-implicit, linearly implicit, Runge-Kutta of order four.

    euler           th_{k+1} = th_k + h thd_k,      thd_{k+1} = thd_k + h thdd_k    ((6.45), corrected)
    semi-implicit   thd_{k+1} = thd_k + h thdd_k,   th_{k+1} = th_k + h thd_{k+1}
    implicit        the same with springs and dampers at the end of the step (``dynamics.passive``)
    rk4             (17) of the arm paper on (q, qd, z)

A run stops as soon as a number is not finite or a joint moves by more than 1 rad (1 m) in one step.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mechanics.dynamics.inputs import sample
from mechanics.dynamics.systems import accelerate, applied_torque, energy_j
from signals.compiled import law

FloatArray = NDArray[np.float64]
JUMP: Final = 1.0
"""Greatest motion in one step [rad or m]."""
N_ROWS: Final = 16


class Scheme(IntEnum):
    """Integration scheme."""

    EULER = 0
    SEMI_IMPLICIT = 1
    IMPLICIT = 2
    RK4 = 3


EULER: Final = int(Scheme.EULER)
IMPLICIT: Final = int(Scheme.IMPLICIT)
RK4: Final = int(Scheme.RK4)


@law
def slope(
    kind: int,
    parts: Any,
    inputs: Any,
    t: float,
    step_s: float,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    u: FloatArray,
    loads: FloatArray,
    qdd: FloatArray,
    zd: FloatArray,
) -> None:
    """Inputs at ``t``, then accelerations and rates."""
    sample(inputs, t, u, loads)
    accelerate(kind, parts, q, qd, z, u, loads, step_s, qdd, zd)


@law
def step_euler(
    kind: int,
    parts: Any,
    inputs: Any,
    scheme: int,
    t: float,
    h: float,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    s: FloatArray,
    u: FloatArray,
    loads: FloatArray,
) -> None:
    """One step of the three Euler schemes, in place."""
    n = q.shape[0]
    qdd, zd = s[0, :n], s[1, :1]
    slope(kind, parts, inputs, t, h if scheme == IMPLICIT else 0.0, q, qd, z, u, loads, qdd, zd)
    for i in range(n):
        if scheme == EULER:
            q[i] += h * qd[i]
            qd[i] += h * qdd[i]
        else:
            qd[i] += h * qdd[i]
            q[i] += h * qd[i]
    z[0] += h * zd[0]


@law
def step_rk4(
    kind: int,
    parts: Any,
    inputs: Any,
    t: float,
    h: float,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    s: FloatArray,
    u: FloatArray,
    loads: FloatArray,
) -> None:
    """One Runge-Kutta step, in place. Rows of ``s``: k of q, qd, z, sums of each, and the stage's state."""
    n = q.shape[0]
    for i in range(n):
        s[3, i] = s[4, i] = 0.0
        s[6, i], s[7, i] = q[i], qd[i]
    s[5, 0], s[8, 0] = 0.0, z[0]
    for stage in range(4):
        ahead = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
        weight = 1.0 if stage == 0 or stage == 3 else 2.0
        slope(kind, parts, inputs, t + ahead, 0.0, s[6, :n], s[7, :n], s[8, :1], u, loads, s[1, :n], s[2, :1])
        nxt = h if stage == 2 else 0.5 * h
        for i in range(n):
            k_q, k_v = s[7, i], s[1, i]
            s[3, i] += weight * k_q
            s[4, i] += weight * k_v
            s[6, i], s[7, i] = q[i] + nxt * k_q, qd[i] + nxt * k_v
        s[5, 0] += weight * s[2, 0]
        s[8, 0] = z[0] + nxt * s[2, 0]
    for i in range(n):
        q[i] += h / 6.0 * s[3, i]
        qd[i] += h / 6.0 * s[4, i]
    z[0] += h / 6.0 * s[5, 0]


@law
def step(
    kind: int,
    parts: Any,
    inputs: Any,
    scheme: int,
    t: float,
    h: float,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    s: FloatArray,
    u: FloatArray,
    loads: FloatArray,
) -> None:
    """Advance q, qd (n,) and z (1,) in place by ``h`` [s]; the last three arrays are scratch."""
    if scheme == RK4:
        step_rk4(kind, parts, inputs, t, h, q, qd, z, s, u, loads)
    else:
        step_euler(kind, parts, inputs, scheme, t, h, q, qd, z, s, u, loads)


@law
def gone_wrong(q: FloatArray, qd: FloatArray, z: FloatArray, h: float) -> int:
    """Index of the first coordinate that is not finite or moves too far in a step, n for z, -1: none."""
    for i in range(q.shape[0]):
        if not (abs(qd[i]) * h < JUMP and abs(q[i]) < 1e12):
            return i
    return -1 if abs(z[0]) < 1e6 else q.shape[0]


@law
def record_row(
    kind: int,
    parts: Any,
    inputs: Any,
    t: float,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    s: FloatArray,
    u: FloatArray,
    loads: FloatArray,
    row: FloatArray,
) -> None:
    """Write (t, q, qd, qdd, tau, u_extra, z, kinetic, potential) into ``row``, shape (4 n + 5,)."""
    n = q.shape[0]
    slope(kind, parts, inputs, t, 0.0, q, qd, z, u, loads, s[0, :n], s[1, :1])
    applied_torque(kind, parts, q, qd, z, u, s[2, :n])
    row[0] = t
    for i in range(n):
        row[1 + i] = q[i]
        row[1 + n + i] = qd[i]
        row[1 + 2 * n + i] = s[0, i]
        row[1 + 3 * n + i] = s[2, i]
    row[1 + 4 * n] = u[n]
    row[2 + 4 * n] = z[0]
    row[3 + 4 * n], row[4 + 4 * n] = energy_j(kind, parts, q, qd)


@law
def run(
    kind: int,
    parts: Any,
    inputs: Any,
    scheme: int,
    h: float,
    n_steps: int,
    every: int,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    s: FloatArray,
    loads: FloatArray,
    out: FloatArray,
) -> tuple[int, int]:
    """Advance ``n_steps`` steps from t = 0, one row of ``out`` per ``every`` steps, the first at t = 0.

    ``s`` has N_ROWS rows of n + 1. On trouble q, qd, z hold the state before the bad step.

    Returns:
        Steps done and -1, or the step that failed and the coordinate (n: the extra state).
    """
    n = q.shape[0]
    u = s[9, : n + 1]
    record_row(kind, parts, inputs, 0.0, q, qd, z, s, u, loads, out[0])
    for k in range(n_steps):
        for i in range(n):
            s[10, i], s[11, i] = q[i], qd[i]
        s[12, 0] = z[0]
        step(kind, parts, inputs, scheme, k * h, h, q, qd, z, s, u, loads)
        bad = gone_wrong(q, qd, z, h)
        if bad >= 0:
            for i in range(n):
                q[i], qd[i] = s[10, i], s[11, i]
            z[0] = s[12, 0]
            return k, bad
        if (k + 1) % every == 0:
            record_row(kind, parts, inputs, (k + 1) * h, q, qd, z, s, u, loads, out[(k + 1) // every])
    return n_steps, -1
