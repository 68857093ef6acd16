"""P and its pseudo-inverse finger by finger, one row per joint: what the inner loops of a tick read.

In the model a finger's entries stand among those of all tendons and joints. Here they stand side by side: a
loop over them needs no index from another table. A memory that has these fields is filled at the start; the
rows of a tensegrity base are brought to every pose.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

from mechanics.cholesky import factorise, solve_factored
from mechanics.curves import CURVED
from mechanics.thumb import INSERTION
from signals.compiled import inlined, law
from signals.layout import FloatArray
from signals.modes import FingerKind
from signals.sizes import FINGER_JOINTS, FINGER_TENDONS, FINGERS
from signals.typed import Model

TENSEGRITY: Final = int(FingerKind.TENSEGRITY_BASE)
BASE_JOINTS: Final = 2
LEAST_DETERMINANT: Final = 1e-6
"""Share of the squared curvature below which two base tendons count as parallel and are not used."""


class FingerRows(Protocol):
    """Fields of a memory that holds P and its pseudo-inverse by finger; scratch for a finger's tendons."""

    P_fbk_m: Annotated[FloatArray, FINGERS, FINGER_JOINTS, FINGER_TENDONS]
    pinv_fbk_1_m: Annotated[FloatArray, FINGERS, FINGER_JOINTS, FINGER_TENDONS]
    row: Annotated[FloatArray, FINGER_TENDONS]
    other_row: Annotated[FloatArray, FINGER_TENDONS]
    gram: Annotated[FloatArray, FINGER_JOINTS, FINGER_JOINTS]


@law
def first_pulley_joint(m: Model, f: int) -> int:
    """Number of the first joint of finger ``f`` that pulleys move."""
    return BASE_JOINTS if m.finger_kind[f] == TENSEGRITY else 0


@law
def place_rows(m: Model, P: FloatArray, rows: FingerRows) -> None:
    """Rows of all fingers from P at a pose, shape (T, J), and the model's pseudo-inverse; once."""
    for f in range(m.n_fingers):
        for k in range(m.finger_n_tendons[f]):
            t = m.finger_tendon[f, k]
            for b in range(m.finger_n_joints[f]):
                j = m.finger_joint[f, b]
                rows.P_fbk_m[f, b, k] = P[t, j]
                rows.pinv_fbk_1_m[f, b, k] = m.pinv_jt_1_m[j, t]
    move_rows(m, P, rows)


@law
def move_curved_rows(m: Model, P: FloatArray, rows: FingerRows, f: int) -> None:
    """Rows of a finger with curved paths and their pseudo-inverse (P^T P)^-1 P^T, at P of a pose."""
    n, count, row, inverse = (
        m.finger_n_joints[f],
        m.finger_n_tendons[f],
        rows.P_fbk_m[f],
        rows.pinv_fbk_1_m[f],
    )
    for b in range(n):
        for k in range(count):
            row[b, k] = P[m.finger_tendon[f, k], m.finger_joint[f, b]]
    for b in range(n):
        for c in range(b + 1):
            rows.gram[b, c] = along(row[b], row[c], count)
    factorise(rows.gram, n, 1e-300)
    for k in range(count):
        for b in range(n):
            rows.other_row[b] = row[b, k]
        solve_factored(rows.gram, rows.other_row, n)
        for b in range(n):
            inverse[b, k] = rows.other_row[b]


@law
def move_rows(m: Model, P: FloatArray, rows: FingerRows) -> None:
    """Bring the rows that move to P at a pose; where a tensegrity base is singular its inverse is zero."""
    for f in range(m.n_fingers):
        if m.finger_kind[f] == TENSEGRITY:
            row, inverse = rows.P_fbk_m[f], rows.pinv_fbk_1_m[f]
            j0, j1 = m.finger_joint[f, 0], m.finger_joint[f, 1]
            a00 = a01 = a11 = 0.0
            for k in range(m.finger_n_tendons[f]):
                t = m.finger_tendon[f, k]
                if m.tendon_kind[t] == INSERTION:
                    p0, p1 = P[t, j0], P[t, j1]
                    row[0, k], row[1, k] = p0, p1
                    a00 += p0 * p0
                    a01 += p0 * p1
                    a11 += p1 * p1
            determinant = a00 * a11 - a01 * a01
            share = 1.0 / determinant if determinant > LEAST_DETERMINANT * a00 * a11 else 0.0
            for k in range(m.finger_n_tendons[f]):
                if m.tendon_kind[m.finger_tendon[f, k]] == INSERTION:
                    inverse[0, k] = share * (a11 * row[0, k] - a01 * row[1, k])
                    inverse[1, k] = share * (a00 * row[1, k] - a01 * row[0, k])
    for f in range(m.n_fingers):
        if m.finger_kind[f] == CURVED:
            move_curved_rows(m, P, rows, f)


@inlined
def gather(m: Model, f: int, values: FloatArray, row: FloatArray) -> None:
    """Values of the tendons of finger ``f``, of shape (T,), side by side into ``row``."""
    for k in range(m.finger_n_tendons[f]):
        row[k] = values[m.finger_tendon[f, k]]


@inlined
def along(row: FloatArray, other: FloatArray, n: int) -> float:
    """Sum of the products of two rows over their first ``n`` places; 6 and 8 in pairs: vector code."""
    if n == 8:
        even = row[0] * other[0] + row[2] * other[2] + row[4] * other[4] + row[6] * other[6]
        odd = row[1] * other[1] + row[3] * other[3] + row[5] * other[5] + row[7] * other[7]
        return float(even + odd)
    if n == 6:
        even = row[0] * other[0] + row[2] * other[2] + row[4] * other[4]
        odd = row[1] * other[1] + row[3] * other[3] + row[5] * other[5]
        return float(even + odd)
    total = 0.0
    for k in range(n):
        total += row[k] * other[k]
    return total


@inlined
def add_row(row: FloatArray, factor: float, other: FloatArray, n: int) -> None:
    """Add ``factor`` times another row to a row, over their first ``n`` places.

    All is read before anything is written, so that the compiler need not ask whether the rows are one.
    """
    if n == 8:
        a, b, c, d = (
            row[0] + factor * other[0],
            row[1] + factor * other[1],
            row[2] + factor * other[2],
            row[3] + factor * other[3],
        )
        e, f, g, h = (
            row[4] + factor * other[4],
            row[5] + factor * other[5],
            row[6] + factor * other[6],
            row[7] + factor * other[7],
        )
        row[0], row[1], row[2], row[3] = a, b, c, d
        row[4], row[5], row[6], row[7] = e, f, g, h
        return
    if n == 6:
        a, b, c = row[0] + factor * other[0], row[1] + factor * other[1], row[2] + factor * other[2]
        d, e, f = row[3] + factor * other[3], row[4] + factor * other[4], row[5] + factor * other[5]
        row[0], row[1], row[2], row[3], row[4], row[5] = a, b, c, d, e, f
        return
    for k in range(n):
        row[k] += factor * other[k]
