r"""Mechanical joint stiffness by co-contraction: the finger's common tension for a wanted diagonal stiffness.

The springs stiffen with tension, so ``diag(P^T K_t(f) P)`` rises with the common tension p: bisection with a
fixed number of steps finds the least p at which every joint with a want has it. This is a property of the
hand, apart from the impedance gain, which is one of the controller.
"""

from __future__ import annotations

from typing import Final

from mechanics.springs import stiffness_of_force
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Goal, Model

STEPS: Final = 20


@law
def stiff_enough(m: Model, goal: Goal, f: int, P: FloatArray, shift_n: FloatArray, common_n: float) -> bool:
    """True if every wanted stiffness of finger ``f`` is reached at the common tension."""
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        want = goal.joint_stiffness_nm_rad[j]
        if want > 0.0:
            have = 0.0
            for k in range(m.finger_n_tendons[f]):
                t = m.finger_tendon[f, k]
                if P[t, j] != 0.0:
                    force = min(max(common_n + shift_n[t], m.tension_min_n[t]), m.tension_max_n[t])
                    have += P[t, j] * P[t, j] * stiffness_of_force(m, t, force)
            if have < want:
                return False
    return True


@law
def common_tension_n(
    m: Model, goal: Goal, f: int, P: FloatArray, shift_n: FloatArray, least_n: float, most_n: float
) -> float:
    """Least common tension [N] of finger ``f`` between two bounds that gives the wanted stiffnesses.

    Args:
        m: model record.
        goal: goal record with ``joint_stiffness_nm_rad``; 0 is no want.
        f: finger.
        P: dh/dq, shape (T, J).
        shift_n: what the joint torque adds to each tendon's tension, shape (T,).
        least_n: pretension, the least answer.
        most_n: greatest answer, given also where the want is out of reach.
    """
    if stiff_enough(m, goal, f, P, shift_n, least_n):
        return least_n
    low, high = least_n, max(most_n, least_n)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if stiff_enough(m, goal, f, P, shift_n, middle):
            high = middle
        else:
            low = middle
    return high
