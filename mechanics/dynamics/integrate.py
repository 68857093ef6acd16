"""Integrators and compiled runs: Euler, semi-implicit, linearly implicit, Runge-Kutta of order four.

    euler           th_{k+1} = th_k + h thd_k,      thd_{k+1} = thd_k + h thdd_k    ((6.45), corrected)
    semi-implicit   thd_{k+1} = thd_k + h thdd_k,   th_{k+1} = th_k + h thd_{k+1}
    implicit        the same with springs and dampers at the end of the step (``dynamics.passive``)
    rk4             (17) of the arm paper on (q, qd, z)

A run stops as soon as a number is not finite or a joint moves by more than 1 rad (1 m) in one step.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from mechanics.dynamics.inputs import Arrays, sample
from mechanics.dynamics.systems import Parts, accelerate, applied_torque, energy_j
from signals.compiled import law
from signals.layout import FloatArray

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
def stage_state(stage: int, h: float, n: int, s: FloatArray, q: FloatArray, qd: FloatArray, z: float) -> None:
    """Write a stage's state into rows 6, 7, 8 of ``s``, from the slopes of the stage before (7, 1, 2)."""
    ahead = 0.0 if stage == 0 else (h if stage == 3 else 0.5 * h)
    for i in range(n):
        position, speed = q[i], qd[i]
        if stage > 0:
            position += ahead * s[7, i]
            speed += ahead * s[1, i]
        s[6, i], s[7, i] = position, speed
    s[8, 0] = z + ahead * s[2, 0]


@law
def gather(stage: int, n: int, s: FloatArray) -> None:
    """Add a stage's slopes (7, 1, 2) to the weighted sums (3, 4, 5)."""
    weight = 1.0 if stage == 0 or stage == 3 else 2.0
    for i in range(n):
        if stage == 0:
            s[3, i] = s[4, i] = 0.0
        s[3, i] += weight * s[7, i]
        s[4, i] += weight * s[1, i]
    if stage == 0:
        s[5, 0] = 0.0
    s[5, 0] += weight * s[2, 0]


@law
def finish(
    scheme: int, h: float, n: int, s: FloatArray, q: FloatArray, qd: FloatArray, z: FloatArray
) -> None:
    """Take the step in place from the sums (Runge-Kutta) or the one slope (Euler schemes)."""
    for i in range(n):
        if scheme == RK4:
            q[i] += h / 6.0 * s[3, i]
            qd[i] += h / 6.0 * s[4, i]
        elif scheme == EULER:
            q[i] += h * qd[i]
            qd[i] += h * s[1, i]
        else:
            qd[i] += h * s[1, i]
            q[i] += h * qd[i]
    z[0] += h / 6.0 * s[5, 0] if scheme == RK4 else h * s[2, 0]


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
    parts: Parts,
    t: float,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    u: FloatArray,
    qdd: FloatArray,
    tau: FloatArray,
    row: FloatArray,
) -> None:
    """Write (t, q, qd, qdd, tau, u_extra, z, kinetic, potential) into ``row``, shape (4 n + 5,)."""
    n = q.shape[0]
    applied_torque(kind, parts, q, qd, z, u, tau)
    row[0] = t
    for i in range(n):
        row[1 + i] = q[i]
        row[1 + n + i] = qd[i]
        row[1 + 2 * n + i] = qdd[i]
        row[1 + 3 * n + i] = tau[i]
    row[1 + 4 * n] = u[n]
    row[2 + 4 * n] = z[0]
    row[3 + 4 * n], row[4 + 4 * n] = energy_j(kind, parts, q, qd)


@law
def restore(n: int, s: FloatArray, q: FloatArray, qd: FloatArray, z: FloatArray, save: bool) -> None:
    """Save the state into rows 10, 11, 12 of ``s``, or put it back."""
    for i in range(n):
        if save:
            s[10, i], s[11, i] = q[i], qd[i]
        else:
            q[i], qd[i] = s[10, i], s[11, i]
    if save:
        s[12, 0] = z[0]
    else:
        z[0] = s[12, 0]


@law
def run(
    kind: int,
    parts: Parts,
    inputs: Arrays,
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
    """Advance ``n_steps`` steps in place; the equations stand here once for all schemes (compile time).

    Args:
        kind: ``systems.Kind``.
        parts: the system's records.
        inputs: ``Inputs.arrays()``; time starts at 0.
        scheme: ``Scheme``.
        h: step [s].
        n_steps: number of steps.
        every: steps per row of ``out``, the first at t = 0; 0: no rows.
        q: coordinates, shape (n,).
        qd: speeds, shape (n,).
        z: further state, shape (1,).
        s: scratch, shape (N_ROWS, n + 1).
        loads: scratch, shape (frames, 6), zero.
        out: receives rows of 4 n + 5 numbers (``record_row``).

    Returns:
        Steps done and -1, or the step that failed, to which q, qd, z are put back, and its coordinate or n.
    """
    n = q.shape[0]
    u = s[9, : n + 1]
    stages = 4 if scheme == RK4 else 1
    for k in range(n_steps + 1):
        recorded = every > 0 and k % every == 0
        if k == n_steps and not recorded:
            break
        restore(n, s, q, qd, z, True)
        for stage in range(stages):
            stage_state(stage, h, n, s, q, qd, z[0])
            ahead = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
            sample(inputs, (k + ahead) * h, u, loads)
            implicit_s = h if scheme == IMPLICIT else 0.0
            accelerate(kind, parts, s[6, :n], s[7, :n], s[8, :1], u, loads, implicit_s, s[1, :n], s[2, :1])
            if stage == 0 and recorded:
                record_row(kind, parts, k * h, q, qd, z, u, s[1, :n], s[13, :n], out[k // every])
            if k == n_steps:
                return n_steps, -1
            gather(stage, n, s)
        finish(scheme, h, n, s, q, qd, z)
        bad = gone_wrong(q, qd, z, h)
        if bad >= 0:
            restore(n, s, q, qd, z, False)
            return k, bad
    return n_steps, -1
