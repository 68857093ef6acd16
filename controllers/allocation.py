r"""Tensions nearest to preferred ones that give a joint torque, within bounds: dual Newton method.

.. math:: \min_f \tfrac12 |f - p|^2 \quad\text{s.t.}\quad A^T f = b,\; l \le f \le u

with A the finger's rows of P and b = -tau. The solution is ``f = clip(p + A y, l, u)`` with y the root of the
monotone, piecewise linear ``g(y) = A^T clip(p + A y, l, u) - b``. Where no bound is active that is
``f = p - P (P^T P)^{-1} (P^T p + tau)``: pseudo-inverse plus null space. Newton's steps with an exact search
along the line find the active bounds in a few rounds; their number is bounded.
"""

from __future__ import annotations

import math
from typing import Final

from controllers.memory import ControllerMemory
from mechanics.cholesky import factorise, solve_factored
from signals.compiled import law

ROUNDS: Final = 24
RIDGE: Final = 1e-9
"""Share of the mean curvature added to it: gives a direction where no tendon is free."""


@law
def clip(x: float, low: float, high: float) -> float:
    """Value within [low, high]."""
    return min(max(x, low), high)


@law
def tensions_and_gradient(w: ControllerMemory, n_tendons: int, n_joints: int) -> float:
    """Tensions of ``w.y`` into ``w.tension``, ``A^T f - b`` into ``w.gradient``; returns the largest."""
    A, y, g = w.A, w.y, w.gradient
    for j in range(n_joints):
        g[j] = -w.target[j]
    for i in range(n_tendons):
        x = w.preferred[i]
        for j in range(n_joints):
            x += A[i, j] * y[j]
        w.free[i] = x
        f = clip(x, w.low[i], w.high[i])
        w.tension[i] = f
        for j in range(n_joints):
            g[j] += A[i, j] * f
    worst = 0.0
    for j in range(n_joints):
        worst = max(worst, abs(g[j]))
    return worst


@law
def newton_direction(w: ControllerMemory, n_tendons: int, n_joints: int) -> None:
    """Solves ``H step = -gradient`` by Cholesky, H the curvature of the tendons within their bounds."""
    A, H, x = w.A, w.H, w.step
    trace = 0.0
    for a in range(n_joints):
        for b in range(n_joints):
            H[a, b] = 0.0
    for i in range(n_tendons):
        inside = w.low[i] < w.free[i] < w.high[i]
        for a in range(n_joints):
            trace += A[i, a] * A[i, a]
            if inside:
                for b in range(a + 1):
                    H[a, b] += A[i, a] * A[i, b]
    ridge = RIDGE * trace / n_joints + 1e-300
    for a in range(n_joints):
        H[a, a] += ridge
        x[a] = -w.gradient[a]
    factorise(H, n_joints, ridge)
    solve_factored(H, x, n_joints)


@law
def slope_along(w: ControllerMemory, n_tendons: int, offset: float, t: float) -> float:
    """Derivative of the dual function along the step, at ``y + t step``."""
    slope = -offset
    for i in range(n_tendons):
        slope += w.along[i] * clip(w.free[i] + t * w.along[i], w.low[i], w.high[i])
    return slope


@law
def step_length(w: ControllerMemory, n_tendons: int, n_joints: int) -> float:
    """Where the dual function is least along the step; the last kink if it falls for ever (infeasible)."""
    offset = 0.0
    for j in range(n_joints):
        offset += w.step[j] * w.target[j]
    size = 0.0
    for i in range(n_tendons):
        d = 0.0
        for j in range(n_joints):
            d += w.A[i, j] * w.step[j]
        w.along[i] = d
        size += abs(d)
    below, above = 0.0, math.inf
    slope_below, slope_above = slope_along(w, n_tendons, offset, 0.0), math.inf
    if slope_below >= 0.0:
        return 1.0 if size == 0.0 else 0.0
    for i in range(n_tendons):
        if w.along[i] != 0.0:
            for bound in (w.low[i], w.high[i]):
                t = (bound - w.free[i]) / w.along[i]
                if t > below and t < above:
                    slope = slope_along(w, n_tendons, offset, t)
                    if slope < 0.0:
                        below, slope_below = t, slope
                    else:
                        above, slope_above = t, slope
    if above == math.inf:
        # beyond the last kink the slope is constant up to rounding
        next_slope = slope_along(w, n_tendons, offset, below + 1.0)
        if next_slope - slope_below > 1e-9 * size:
            return below - slope_below / (next_slope - slope_below)
        return below
    return below - slope_below * (above - below) / (slope_above - slope_below)


@law
def allocate(w: ControllerMemory, n_tendons: int, n_joints: int, tolerance_nm: float) -> float:
    """Tensions into ``w.tension`` for the problem in ``w``; returns the largest torque error left [N m].

    Args:
        w: record with ``A``, ``target``, ``low``, ``high``, ``preferred`` filled (``CONTROLLER_MEMORY``).
        n_tendons: tendons of the finger.
        n_joints: joints of the finger.
        tolerance_nm: torque error with which it is done.
    """
    for j in range(n_joints):
        w.y[j] = 0.0
    worst = tensions_and_gradient(w, n_tendons, n_joints)
    for _ in range(ROUNDS):
        if worst <= tolerance_nm:
            break
        newton_direction(w, n_tendons, n_joints)
        t = step_length(w, n_tendons, n_joints)
        if t <= 0.0:
            break
        for j in range(n_joints):
            w.y[j] += t * w.step[j]
        worst = tensions_and_gradient(w, n_tendons, n_joints)
    return worst
