r"""Joint torque of a finger to tensions: ``f = -(P^T)^+ tau + N lambda`` within f_min <= f <= f_max.

Where the torque can be given, ``P^T f = -tau`` holds to 1e-9 N m and f is the nearest to the preferred
tensions. Where it cannot, the torque is scaled by the greatest share that can, which is reported. In the
corners of the tensegrity thumb's range not even a zero torque can be held with all tendons taut: the share
is 0 there, and the tensions give the nearest torque.
"""

from __future__ import annotations

from typing import Final

from controllers.allocation import allocate, clip
from controllers.memory import ControllerMemory
from controllers.torque_set import feasible_share, pin_to_facet
from signals.compiled import law

EXACT: Final = 1e-10
"""Torque error that counts as none, share of what the tendons give at their greatest tensions."""
DONE: Final = 1e-3 * EXACT
SWEEPS: Final = 60
RIDGE: Final = 1e-6


@law
def nearest_torque(w: ControllerMemory, n_tendons: int, n_joints: int) -> None:
    """Tensions within bounds that bring the torque nearest to the target, by coordinate descent.

    Starts from and is held slightly to the preferred tensions, so that the answer is unique.
    """
    A, g, f = w.A, w.gradient, w.tension
    size = 0.0
    for i in range(n_tendons):
        f[i] = clip(w.preferred[i], w.low[i], w.high[i])
        for j in range(n_joints):
            size += A[i, j] * A[i, j]
    ridge = RIDGE * size
    for j in range(n_joints):
        g[j] = -w.target[j]
        for i in range(n_tendons):
            g[j] += A[i, j] * f[i]
    for _ in range(SWEEPS):
        for i in range(n_tendons):
            slope, curvature = ridge * (f[i] - w.preferred[i]), ridge
            for j in range(n_joints):
                slope += A[i, j] * g[j]
                curvature += A[i, j] * A[i, j]
            new = clip(f[i] - slope / curvature, w.low[i], w.high[i]) if curvature > 0.0 else f[i]
            for j in range(n_joints):
                g[j] += A[i, j] * (new - f[i])
            f[i] = new


@law
def greatest_torque_nm(w: ControllerMemory, n_tendons: int, n_joints: int) -> float:
    """Greatest torque that all tendons of a finger would give, pulling at one joint the same way [N m]."""
    most = 0.0
    for j in range(n_joints):
        torque = 0.0
        for i in range(n_tendons):
            torque += abs(w.A[i, j]) * w.high_all[i]
        most = max(most, torque)
    return most


@law
def distribute(w: ControllerMemory, n_tendons: int, n_joints: int) -> float:
    """Tensions of one finger into ``w.tension``; returns the share of the torque that they give.

    Args:
        w: record with ``A`` (rows of P), ``torque`` [N m], ``low_all``, ``high_all``, ``preferred`` [N] of
            the finger filled (``CONTROLLER_MEMORY``).
        n_tendons: tendons of the finger.
        n_joints: joints of the finger.
    """
    for i in range(n_tendons):
        w.low[i], w.high[i] = w.low_all[i], w.high_all[i]
    for j in range(n_joints):
        w.target[j] = -w.torque[j]
    most_nm = greatest_torque_nm(w, n_tendons, n_joints)
    if allocate(w, n_tendons, n_joints, DONE * most_nm) <= EXACT * most_nm:
        return 1.0
    share = feasible_share(w, n_tendons, n_joints)
    for j in range(n_joints):
        w.target[j] *= share
    if share < 1.0:
        pin_to_facet(w, n_tendons, n_joints)
    if allocate(w, n_tendons, n_joints, DONE * most_nm) <= EXACT * most_nm:
        return share
    for i in range(n_tendons):
        w.low[i], w.high[i] = w.low_all[i], w.high_all[i]
    for j in range(n_joints):
        w.target[j] = -w.torque[j]
    nearest_torque(w, n_tendons, n_joints)
    return 0.0
