r"""Base angles of the tensegrity thumb from absolute tendon lengths (eq. 5.19-5.20), fixed work per cycle.

Least squares ``min |h_meas - h(q)|^2``, weighted (``estimators.weights``), over the two base joints by one of
two searches, both warm-started:

* Gauss-Newton with the exact P: error 4e-16 rad after 5 steps from anywhere in +-0.6 rad. No step leaves the
  joints' ranges by more than ``BEYOND_RAD``: from one start in a thousand a free step would reach the
  mirrored pose, behind the palm, and stay there (plausible insertion points);
* the step-halving gradient search of Algorithm 1, corrected (gradient of the pose that was taken, best cost
  updated, first step sized by the curvature): 1.7e-5 rad after 30 steps.
"""

from __future__ import annotations

from typing import Final

from mechanics.thumb import INSERTION, insertion_gradient, insertion_length
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model

DAMPING: Final = 1e-12
"""Share of the curvature added to it: keeps the step bounded where two tendons become parallel."""
BEYOND_RAD: Final = 0.35
"""Farther beyond its range no stop lets a joint be, whatever pulls it."""


@law
def length_error_m2(
    m: Model, f: int, weight: FloatArray, length_m: FloatArray, q0: float, q1: float
) -> float:
    """Sum of squared length errors [m^2] of the finger's base tendons at base angles (q0, q1)."""
    total = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.tendon_kind[t] == INSERTION:
            e = length_m[t] - insertion_length(m, f, t, q0, q1)
            total += weight[t] * e * e
    return total


@law
def normal_equations(
    m: Model, f: int, weight: FloatArray, length_m: FloatArray, q0: float, q1: float
) -> tuple[float, float, float, float, float]:
    """(P^T P)_00, _01, _11 [m^2] and P^T (h_meas - h) [m^2] of the base tendons at (q0, q1)."""
    a00 = a01 = a11 = b0 = b1 = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.tendon_kind[t] == INSERTION:
            h, p0, p1 = insertion_gradient(m, f, t, q0, q1)
            e = length_m[t] - h
            w0, w1 = weight[t] * p0, weight[t] * p1
            a00 += w0 * p0
            a01 += w0 * p1
            a11 += w1 * p1
            b0 += w0 * e
            b1 += w1 * e
    return a00, a01, a11, b0, b1


@law
def gauss_newton(
    m: Model, f: int, weight: FloatArray, length_m: FloatArray, q0: float, q1: float, steps: int
) -> tuple[float, float]:
    """Base angles [rad] after ``steps`` Gauss-Newton steps from (q0, q1), within reach of their ranges."""
    j0, j1 = m.finger_joint[f, 0], m.finger_joint[f, 1]
    low0, high0 = m.joint_min_rad[j0] - BEYOND_RAD, m.joint_max_rad[j0] + BEYOND_RAD
    low1, high1 = m.joint_min_rad[j1] - BEYOND_RAD, m.joint_max_rad[j1] + BEYOND_RAD
    for _ in range(steps):
        a00, a01, a11, b0, b1 = normal_equations(m, f, weight, length_m, q0, q1)
        a00 += DAMPING * (a00 + a11)
        a11 += DAMPING * (a00 + a11)
        determinant = a00 * a11 - a01 * a01
        if determinant > 0.0:
            q0 = min(max(q0 + (a11 * b0 - a01 * b1) / determinant, low0), high0)
            q1 = min(max(q1 + (a00 * b1 - a01 * b0) / determinant, low1), high1)
    return q0, q1


@law
def gradient_search(
    m: Model, f: int, weight: FloatArray, length_m: FloatArray, q0: float, q1: float, steps: int
) -> tuple[float, float]:
    """Base angles [rad] after ``steps`` steps of the corrected Algorithm 1 from (q0, q1).

    A step along the gradient that lowers the cost is taken; one that does not halves the step.
    """
    a00, _, a11, b0, b1 = normal_equations(m, f, weight, length_m, q0, q1)
    best = length_error_m2(m, f, weight, length_m, q0, q1)
    if a00 + a11 <= 0.0:
        return q0, q1
    size = 2.0 / (a00 + a11)
    for _ in range(steps):
        try0, try1 = q0 + size * b0, q1 + size * b1
        cost = length_error_m2(m, f, weight, length_m, try0, try1)
        if cost < best:
            best, q0, q1 = cost, try0, try1
            _, _, _, b0, b1 = normal_equations(m, f, weight, length_m, q0, q1)
        else:
            size *= 0.5
    return q0, q1


@law
def base_angles(
    m: Model, f: int, weight: FloatArray, length_m: FloatArray, q0: float, q1: float
) -> tuple[float, float]:
    """Base angles [rad] by the search that the model names, from the last ones."""
    if m.thumb_gauss_newton != 0:
        return gauss_newton(m, f, weight, length_m, q0, q1, m.thumb_iterations)
    return gradient_search(m, f, weight, length_m, q0, q1, m.thumb_iterations)
