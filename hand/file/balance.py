"""Balance of a finger's tendons: rows of straight base tendons, tensions that leave the joints at rest."""

from __future__ import annotations

import math

import numpy as np

from signals.layout import FloatArray


def insertion_row(
    start_m: FloatArray, end_m: FloatArray, offset_m: float, bone_m: float, q0_rad: float, q1_rad: float
) -> tuple[float, float]:
    """(dh/dq0, dh/dq1) [m/rad] of a tendon from palm point to bone point (eq. 5.20); zeros at length 0."""
    s0, c0, s1, c1 = math.sin(q0_rad), math.cos(q0_rad), math.sin(q1_rad), math.cos(q1_rad)
    along, y, z = bone_m + end_m[0], end_m[1], end_m[2]
    wx, wz = c1 * along - s1 * z, s1 * along + c1 * z
    px, py = c0 * (offset_m + wx) - s0 * y, s0 * (offset_m + wx) + c0 * y
    pull = np.array([px, py, wz]) - start_m
    length = float(np.linalg.norm(pull))
    if length == 0.0:
        return 0.0, 0.0
    turn, lift = np.array([-py, px, 0.0]), np.array([-c0 * wz, -s0 * wz, wx])
    return float(pull @ turn) / length, float(pull @ lift) / length


def taut_pattern(P_tj_m: FloatArray) -> FloatArray | None:
    """Tensions >= 1 with P^T f = 0, shape (nt,), of smallest size; None if there are none."""
    scale = float(np.abs(P_tj_m).max())
    a = P_tj_m.T / scale
    extra = nonnegative_least_squares(a, -a.sum(axis=1))
    pattern = 1.0 + extra
    return pattern if float(np.abs(a @ pattern).max()) < 1e-7 * float(pattern.max()) else None


def nonnegative_least_squares(a: FloatArray, b: FloatArray) -> FloatArray:
    """Least squares of ``a x = b`` with x >= 0 (Lawson and Hanson's active set)."""
    count = a.shape[1]
    x, free = np.zeros(count), np.zeros(count, dtype=bool)
    for _ in range(3 * count):
        gradient = a.T @ (b - a @ x)
        gradient[free] = -np.inf
        if gradient.max() <= 1e-10:
            break
        free[int(np.argmax(gradient))] = True
        while True:
            trial = np.zeros(count)
            trial[free] = np.linalg.lstsq(a[:, free], b, rcond=None)[0]
            bad = free & (trial <= 0.0)
            if not bad.any():
                break
            share = float(np.min(x[bad] / (x[bad] - trial[bad])))
            x = x + share * (trial - x)
            free &= x > 1e-12
            x[~free] = 0.0
        x = trial
    return x
