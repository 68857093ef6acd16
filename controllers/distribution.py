r"""Joint torque of a finger to tensions: ``f = -(P^T)^+ tau + N lambda`` within f_min <= f <= f_max.

Where the torque can be given, ``P^T f = -tau`` holds to 1e-9 N m and f is the nearest to the preferred
tensions. Where it cannot, the torque is scaled by the greatest share that can, which is reported.
"""

from __future__ import annotations

from typing import Any, Final

from controllers.allocation import allocate
from controllers.torque_set import feasible_share, pin_to_facet
from signals.compiled import law

EXACT_NM: Final = 1e-10


@law
def distribute(w: Any, n_tendons: int, n_joints: int) -> float:
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
    if allocate(w, n_tendons, n_joints) <= EXACT_NM:
        return 1.0
    share = feasible_share(w, n_tendons, n_joints)
    for j in range(n_joints):
        w.target[j] *= share
    if share < 1.0:
        pin_to_facet(w, n_tendons, n_joints)
    allocate(w, n_tendons, n_joints)
    return share
