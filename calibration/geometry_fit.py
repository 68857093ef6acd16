r"""Lever arms and spools from poses in which a joint's angle is known: arrays in, parameters out.

.. math:: e_t = R_t \theta_t + \sum_j P_{tj} q_j + e_{0,t}

with elongations e from the levers and motor angles theta. Joint angles q are unknown, but for one joint at a
time: it lies at a stop. Unknown angles are taken out by a projection. A force that
is known wrongly stretches its tendon otherwise: its scale is fitted too. What is left are relative errors of
P and R around the hand file's, whose tolerances are known: a Bayesian least squares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from signals.layout import FloatArray, IntArray

TWO_SIDED_95: Final = 1.96
ROUNDS: Final = 4
ANYWHERE_M: Final = 0.01
"""Standard deviation of e0 before."""


@dataclass(frozen=True, slots=True)
class Poses:
    """Poses of one run.

    Attributes:
        elongation_m: shape (n, nt).
        motor_rad: shape (n, nt).
        stretch_m: share of the tendon itself in the elongation, shape (n, nt).
        run: number of the run; each has offsets e0 of its own.
        joint: whose angle is known; -1: none.
        angle_rad: of it.
        angle_sd_rad: standard deviation of that.
        length_sd_m: of each length.
        independent: how many of the poses say something of their own.
    """

    elongation_m: FloatArray
    motor_rad: FloatArray
    stretch_m: FloatArray
    run: int
    joint: int
    angle_rad: float
    angle_sd_rad: float
    length_sd_m: float
    independent: int


@dataclass(frozen=True, slots=True)
class GeometryFit:
    """What was found.

    Attributes:
        P_tj_m: lever arms, shape (nt, nj).
        spool_m: radii, shape (nt,).
        P_half: half 95 % intervals, relative, shape (nt, nj).
        spool_half: the same of the spools.
        residual: rms of what is not explained, in standard deviations of the poses.
    """

    P_tj_m: FloatArray
    spool_m: FloatArray
    P_half: FloatArray
    spool_half: FloatArray
    residual: float


def fit_geometry(
    poses: list[Poses],
    P_tj_m: FloatArray,
    spool_m: FloatArray,
    arm_sd: float,
    spool_sd: float,
    force_sd: float,
) -> GeometryFit:
    """Fit all poses at once.

    Args:
        poses: of all runs.
        P_tj_m: lever arms of the hand file, shape (nt, nj); a zero stays.
        spool_m: its radii.
        arm_sd: relative standard deviation of a lever arm.
        spool_sd: of a radius.
        force_sd: of a tension.
    """
    nt, arms = len(spool_m), np.argwhere(P_tj_m != 0.0)
    runs = 1 + max(p.run for p in poses)
    spread = np.concatenate(
        [
            np.full(nt, spool_sd),
            np.full(len(arms), arm_sd),
            np.full(nt, force_sd),
            np.full(nt * runs, ANYWHERE_M),
        ]
    )
    spread, x = np.maximum(spread, 1e-9), np.zeros(2 * nt + len(arms) + nt * runs)
    for _ in range(ROUNDS):
        rows, left = [], []
        for each in poses:
            A, y = _equations(each, x, P_tj_m, spool_m, arms)
            rows.append(A)
            left.append(y)
        A, y = np.vstack([*rows, np.diag(1.0 / spread)]), np.concatenate([*left, -x / spread])
        size = np.linalg.norm(A, axis=0)
        x = x + np.linalg.lstsq(A / size, y, rcond=None)[0] / size
    half = TWO_SIDED_95 * np.sqrt(np.diag(np.linalg.inv((A / size).T @ (A / size)))) / size
    P, R = _values(x, P_tj_m, spool_m, arms)
    P_half = np.zeros_like(P)
    P_half[tuple(arms.T)] = half[nt : nt + len(arms)]
    residual = float(np.sqrt(np.mean(np.concatenate(left) ** 2)))
    return GeometryFit(P, R, P_half, half[:nt], residual)


def _values(
    x: FloatArray, P_tj_m: FloatArray, spool_m: FloatArray, arms: IntArray
) -> tuple[FloatArray, FloatArray]:
    P, nt = P_tj_m.copy(), len(spool_m)
    P[tuple(arms.T)] *= 1.0 + x[nt : nt + len(arms)]
    return P, spool_m * (1.0 + x[:nt])


def _equations(
    each: Poses, x: FloatArray, P_tj_m: FloatArray, spool_m: FloatArray, arms: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Derivatives and residuals of some poses, in their standard deviations, without the unknown angles."""
    nt, nj = P_tj_m.shape
    P, R = _values(x, P_tj_m, spool_m, arms)
    force = nt + len(arms)
    first = force + nt * (1 + each.run)
    free = [j for j in range(nj) if j != each.joint and P[:, j].any()]
    u, _, _ = np.linalg.svd(P[:, free])
    blind = u[:, len(free) :].T  # what no unknown angle changes
    noise = each.length_sd_m**2 * np.eye(len(blind))
    if each.joint >= 0:
        along = blind @ P[:, each.joint] * each.angle_sd_rad
        noise += np.outer(along, along)
    repeats = np.sqrt(each.independent / len(each.motor_rad))
    weight = repeats * np.linalg.solve(np.linalg.cholesky(noise), blind)
    inverse, rows, left = np.linalg.pinv(P[:, free]), [], []
    for e, theta, stretch in zip(each.elongation_m, each.motor_rad, each.stretch_m, strict=True):
        length = e + x[force : force + nt] * stretch - R * theta - x[first : first + nt]
        q = np.zeros(nj)
        if each.joint >= 0:
            q[each.joint] = each.angle_rad
            length = length - P[:, each.joint] * each.angle_rad
        q[free] = inverse @ length
        J = np.zeros((nt, len(x)))
        J[:, :nt] = np.diag(spool_m * theta)
        J[arms[:, 0], nt + np.arange(len(arms))] = P_tj_m[tuple(arms.T)] * q[arms[:, 1]]
        J[:, force : force + nt] = -np.diag(stretch)
        J[:, first : first + nt] = np.eye(nt)
        rows.append(weight @ J)
        left.append(weight @ length)
    return np.vstack(rows), np.concatenate(left)
