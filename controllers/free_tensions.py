r"""Tensions of a finger where no bound is active: pseudo-inverse and null space, without a search.

.. math:: f = p - (P^+)^T (P^T p + \tau)

is the nearest to the preferred tensions p of all that give the torque: what ``controllers.allocation`` finds
in several rounds, in almost every cycle. A tensegrity base has a pseudo-inverse of its own at each pose; the
other joints have the model's.
"""

from __future__ import annotations

from typing import Final

from controllers.memory import ControllerMemory
from controllers.sprung import SPRUNG
from mechanics.finger_rows import TENSEGRITY, add_row, along, first_pulley_joint
from signals.compiled import law
from signals.typed import Model

EXACT: Final = 1e-12
"""Greatest entry of ``P^+ P - I`` of a finger whose pseudo-inverse gives every torque."""


@law
def is_invertible(m: Model, f: int) -> bool:
    """True if the pulleys of finger ``f`` give every torque of its joints, and move no joint of its base.

    Or if springs take the place of tendons: the same law then gives the tensions that do the torque's work.
    """
    if m.finger_kind[f] == SPRUNG:
        return True
    first = first_pulley_joint(m, f)
    for a in range(m.finger_n_joints[f]):
        i = m.finger_joint[f, a]
        for b in range(m.finger_n_joints[f]):
            j = m.finger_joint[f, b]
            off = -1.0 if a == b and a >= first else 0.0
            for k in range(m.finger_n_tendons[f]):
                t = m.finger_tendon[f, k]
                if a < first and m.P_tj_m[t, i] != 0.0:
                    return False
                off += m.pinv_jt_1_m[i, t] * m.P_tj_m[t, j]
            if abs(off) > EXACT:
                return False
    return True


@law
def note_invertible(m: Model, mem: ControllerMemory) -> None:
    """Which fingers ``free_tensions`` may be asked for, into ``mem``; once, at the start."""
    for f in range(m.n_fingers):
        mem.invertible[f] = 1 if is_invertible(m, f) else 0


@law
def is_singular(m: Model, mem: ControllerMemory, f: int) -> bool:
    """True if the base of finger ``f`` has no pseudo-inverse at this pose."""
    if m.finger_kind[f] != TENSEGRITY:
        return False
    for k in range(m.finger_n_tendons[f]):
        if mem.pinv_fbk_1_m[f, 0, k] != 0.0:
            return False
    return True


@law
def free_tensions(m: Model, mem: ControllerMemory, f: int) -> bool:
    """Tensions [N] of finger ``f`` into ``mem.tension``; false where a bound is active or P is singular.

    ``mem`` holds ``torque``, ``preferred``, ``low_all``, ``high_all`` and the rows at the present pose.
    """
    if mem.invertible[f] == 0 or is_singular(m, mem, f):
        return False
    n_tendons, preferred, tension = m.finger_n_tendons[f], mem.preferred, mem.tension
    for k in range(n_tendons):
        tension[k] = preferred[k]
    for b in range(m.finger_n_joints[f]):
        P, inverse = mem.P_fbk_m[f, b], mem.pinv_fbk_1_m[f, b]
        left = mem.torque[b] + along(P, preferred, n_tendons)
        add_row(tension, -left, inverse, n_tendons)
    for k in range(n_tendons):
        if not mem.low_all[k] < tension[k] < mem.high_all[k]:
            return False
    return True
