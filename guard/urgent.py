"""Which tendons of a finger are let go in a hurry once one of them is lost, before anybody looks ahead.

The partner of the lost one, what pulls the joint that gets to its stop first, and what pulls another joint
into a stop close by.
"""

from __future__ import annotations

import math
from typing import Final

from numpy import float64
from numpy.typing import NDArray

from signals.compiled import law
from signals.typed import Model

FloatArray = NDArray[float64]

URGENT_S: Final = 0.0195
"""Time in which it is let go at full torque; a joint is at its stop after some 25 ms."""
RAMP_S: Final = 0.1
"""Time in which full torque would be gone after that; a tendon that still pulls is let go further on it."""
NEAR_STOP_RAD: Final = 0.15
NEARER: Final = 0.8
"""Share of the way of every other joint below which one clearly is at its stop first."""
OPPOSITE: Final = -0.9
"""Cosine between the rows of P below which two tendons are partners."""


@law
def partners(m: Model, P: FloatArray, f: int, a: int, b: int) -> bool:
    """True if tendons ``a`` and ``b`` of finger ``f`` turn its joints in opposite senses."""
    aa = bb = ab = 0.0
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        aa += P[a, j] * P[a, j]
        bb += P[b, j] * P[b, j]
        ab += P[a, j] * P[b, j]
    return bool(ab < OPPOSITE * (aa * bb) ** 0.5)


@law
def pulls_into_stop(m: Model, P: FloatArray, angle_rad: FloatArray, f: int, t: int) -> bool:
    """True if tendon ``t`` pulls a joint of finger ``f`` towards a stop that it is close to.

    A tendon over several such joints is judged by the most distal, the lightest one.
    """
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, m.finger_n_joints[f] - 1 - k]
        q = angle_rad[j]
        to_max, to_min = m.joint_max_rad[j] - q, q - m.joint_min_rad[j]
        if P[t, j] != 0.0 and min(to_max, to_min) < NEAR_STOP_RAD:
            # pulling turns the joint towards -P
            return bool(P[t, j] < 0.0) if to_max < to_min else bool(P[t, j] > 0.0)
    return False


@law
def first_at_stop(m: Model, P: FloatArray, angle_rad: FloatArray, f: int, lost: int) -> int:
    """Joint of finger ``f`` that the loss of tendon ``lost`` throws at its stop first; -1: no joint clearly.

    Without its pull a joint is driven towards +P. All joints of one tendon are thrown about alike, so the
    least way decides.
    """
    joint, least, second = -1, math.inf, math.inf
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        if P[lost, j] == 0.0:
            continue
        q = angle_rad[j]
        way = m.joint_max_rad[j] - q if P[lost, j] > 0.0 else q - m.joint_min_rad[j]
        if way < least:
            joint, least, second = j, way, least
        else:
            second = min(second, way)
    return joint if least < NEARER * second else -1


@law
def throws_with(m: Model, P: FloatArray, f: int, t: int, lost: int, thrown: int) -> bool:
    """True if tendon ``t`` throws a joint where the loss of tendon ``lost`` does.

    Its partner does, and what pulls joint ``thrown`` there and moves no joint that the lost one leaves alone.
    """
    if partners(m, P, f, t, lost):
        return True
    if thrown < 0 or P[t, thrown] * P[lost, thrown] >= 0.0:
        return False
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        if P[t, j] != 0.0 and P[lost, j] == 0.0:
            return False
    return True


@law
def hurried(m: Model, P: FloatArray, angle_rad: FloatArray, f: int, lost: int) -> tuple[int, int, int]:
    """Tendons of finger ``f`` to be let go once tendon ``lost`` is, as sets of their places in it.

    Args:
        m: model record.
        P: coupling [m], shape (T, J).
        angle_rad: joint angles, shape (J,).
        f: finger.
        lost: tendon.

    Returns:
        Those that throw a joint where the loss does; these and those that pull one into a stop close by; the
        lost one's partners.
    """
    thrown = first_at_stop(m, P, angle_rad, f, lost)
    throws = close = others = 0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if t == lost:
            continue
        if throws_with(m, P, f, t, lost, thrown):
            throws |= 1 << k
        if pulls_into_stop(m, P, angle_rad, f, t):
            close |= 1 << k
        if partners(m, P, f, t, lost):
            others |= 1 << k
    return throws, throws | close, others
