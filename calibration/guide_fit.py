r"""Losses of guides and friction of joints from slow sweeps of joints: arrays in, parameters out.

.. math:: \sum_t P_{tj} T_t = -\sum_t P_{tj} T_t \ell_t s(v_t) - \tau_{c,j} s(\dot q_j) - c_j \dot q_j + b(q)

for every joint j that moves, with the tensions T on the motors' side of the guides, their shares l, the
smooth sign s of the path's speed v = P qd (``mechanics.guides``) and the joint's own friction. What is the
same both ways, b(q) (errors of lever arms and torque constants, inertia), is fitted sweep by sweep.

What is known before with an error - each motor's friction, torque constants, lever arms - moves what is found
by so much as its standard deviation does. The interval has that, and no more: most of an arm's error is the
same both ways, and not a loss.

Guides take a share of the tension, a joint's own friction is the same at every tension: two levels of tension
tell them apart. Two tendons whose losses come in the same proportion in every equation are one unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from signals.layout import FloatArray, IntArray

PARALLEL: Final = 0.995
"""Cosine of the columns of two tendons from which on their losses are one unknown."""
TWO_SIDED_95: Final = 1.96
SHAPE: Final = 3
"""Powers of the joint angle in what is the same both ways: 0, 1, 2."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Equations of one joint in one sweep, shape (n,) or (n, tendons).

    Attributes:
        joint: its index among the joints of the fit.
        angle_rad: of it.
        torque_nm: sum of P T, with the joint's viscous friction added.
        sign: smooth sign of its speed.
        columns: P T s of every tendon.
        move: number of the move that each row belongs to.
        unsure: derivatives of the torque by what is known with an error, shape (n, unsure).
    """

    joint: int
    angle_rad: FloatArray
    torque_nm: FloatArray
    sign: FloatArray
    columns: FloatArray
    move: IntArray
    unsure: FloatArray


@dataclass(frozen=True, slots=True)
class GuideFit:
    """What was found.

    Attributes:
        groups: tendons whose losses are one unknown, as tuples of their indices.
        loss_frac: mean share of each group, shape (groups,).
        loss_half: half 95 % intervals.
        coulomb_nm: of each joint, shape (joints,).
        coulomb_half_nm: half 95 % intervals.
        bound: half widths of independent noise (Cramer-Rao, with what is known before), losses, then joints.
        residual_nm: rms of what is not explained.
    """

    groups: tuple[tuple[int, ...], ...]
    loss_frac: FloatArray
    loss_half: FloatArray
    coulomb_nm: FloatArray
    coulomb_half_nm: FloatArray
    bound: FloatArray
    residual_nm: float


def groups_of(columns: FloatArray) -> tuple[tuple[int, ...], ...]:
    """Tendons with parallel columns, shape (equations, tendons); one in no equation is in no group."""
    size = np.linalg.norm(columns, axis=0)
    left = [t for t in range(columns.shape[1]) if size[t] > 1e-9 * max(float(size.max()), 1e-30)]
    found: list[tuple[int, ...]] = []
    while left:
        first = left[0]
        like = columns[:, left].T @ columns[:, first] / (size[left] * size[first])
        found.append(tuple(t for t, c in zip(left, like, strict=True) if c > PARALLEL))
        left = [t for t in left if t not in found[-1]]
    return tuple(found)


def fit_guides(
    rows: list[Rows], groups: tuple[tuple[int, ...], ...], joints: int, spread: FloatArray
) -> GuideFit:
    """Fit all equations at once.

    Args:
        rows: equations of every joint in every sweep.
        groups: tendons whose losses are one unknown.
        joints: their number.
        spread: standard deviations of what is known with an error, shape (unsure,).

    Raises:
        ValueError: the sweeps do not tell all of it apart; says how many they tell.
    """
    n, count = len(groups) + joints, sum(len(r.torque_nm) for r in rows)
    free = n + SHAPE * len(rows)
    A, y, move = np.zeros((count, free + len(spread))), np.zeros(count), np.zeros(count, dtype=np.int64)
    at = 0
    for k, r in enumerate(rows):
        here = slice(at, at + len(r.torque_nm))
        for g, group in enumerate(groups):
            A[here, g] = -r.columns[:, list(group)].sum(axis=1)
        A[here, len(groups) + r.joint] = -r.sign
        middle = r.angle_rad - r.angle_rad.mean()
        for power in range(SHAPE):
            A[here, n + SHAPE * k + power] = (middle / max(float(np.abs(middle).max()), 1e-9)) ** power
        A[here, free:] = r.unsure
        y[here], move[here] = r.torque_nm, r.move + 1000 * k
        at = here.stop
    size = np.maximum(np.linalg.norm(A[:, :free], axis=0), 1e-12)
    rank = int(np.linalg.matrix_rank(A[:, :free] / size, tol=1e-3))
    if rank < free:
        raise ValueError(f"the sweeps tell {rank - SHAPE * len(rows)} of {n} losses apart")
    x, half, bound, residual = _solved(A[:, :free], A[:, free:], y, move, spread, n)
    g = len(groups)
    return GuideFit(groups, x[:g], half[:g], x[g:n], half[g:], bound, float(np.sqrt(np.mean(residual**2))))


def _solved(
    A: FloatArray, unsure: FloatArray, y: FloatArray, move: IntArray, spread: FloatArray, n: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(values of the first n unknowns, half intervals, those of independent noise, residuals).

    Residuals of one move count as dependent, so noise is that of their sums, move by move. What is known with
    an error stays at what is known: the residuals are no noise of which it could be told.
    """
    size = np.maximum(np.linalg.norm(A, axis=0), 1e-12)
    inverse = np.linalg.pinv((A / size).T @ (A / size)) / np.outer(size, size)
    x = inverse @ (A.T @ y)
    residual = y - A @ x
    starts = np.flatnonzero(np.diff(move, prepend=-1))
    sums = np.add.reduceat(A * residual[:, None], starts, axis=0)
    many = len(starts) / max(len(starts) - n, 1)
    moved = inverse @ (A.T @ unsure) * spread  # by one standard deviation of each
    covariance = inverse @ (sums.T @ sums * many) @ inverse + moved @ moved.T
    noise2 = float(residual @ residual) / max(len(y) - len(x), 1)
    information = _information(A, unsure, spread, noise2)
    scale = np.sqrt(np.maximum(np.diag(information), 1e-30))
    least = np.diag(np.linalg.pinv(information / np.outer(scale, scale))) / scale**2
    half, bound = (TWO_SIDED_95 * np.sqrt(np.maximum(each[:n], 0.0)) for each in (np.diag(covariance), least))
    return x[:n], np.maximum(half, bound), bound, residual


def _information(A: FloatArray, unsure: FloatArray, spread: FloatArray, noise2: float) -> FloatArray:
    """Fisher information of all unknowns, with that of what is known before (van Trees)."""
    whole = np.hstack([A, unsure])
    known = np.concatenate([np.zeros(A.shape[1]), 1.0 / spread**2])
    return np.asarray(whole.T @ whole / noise2 + np.diag(known))
