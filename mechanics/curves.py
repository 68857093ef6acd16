r"""Paths whose lever arm depends on a joint angle: rolling contacts, cams, cords that leave their pulley.

.. math:: P = dh/dq = P_0 + c_1 q + c_2 q^2 + c_3 q^3, \qquad
          h = P_0 q + c_1 q^2/2 + c_2 q^3/3 + c_3 q^4/4

``m.curve_m`` holds c_1 to c_3 of every tendon and joint of a finger of kind CURVED. Where the tendons of a
joint wind on the rocker of its linkage (``mechanics.fourbar``), P_0 q is replaced by the rocker's way.
"""

from __future__ import annotations

from typing import Final

from mechanics.fourbar import rocker_turn
from signals.compiled import law
from signals.layout import FloatArray
from signals.modes import FingerKind
from signals.typed import Model

CURVED: Final = int(FingerKind.CURVED)


@law
def curve_length(m: Model, t: int, j: int, q: float) -> float:
    """What the curve adds to tendon ``t``'s length [m] at angle ``q`` [rad] of joint ``j``."""
    c = m.curve_m[t, j]
    h = q * q * (c[0] / 2.0 + q * (c[1] / 3.0 + q * c[2] / 4.0))
    if m.four_bar_crank_m[j] > 0.0:
        h += m.P_tj_m[t, j] * (rocker_turn(m, j, q)[0] - q)
    return float(h)


@law
def curve_slope(m: Model, t: int, j: int, q: float) -> float:
    """What the curve adds to dh/dq [m/rad]."""
    c = m.curve_m[t, j]
    p = q * (c[0] + q * (c[1] + q * c[2]))
    if m.four_bar_crank_m[j] > 0.0:
        p += m.P_tj_m[t, j] * (rocker_turn(m, j, q)[1] - 1.0)
    return float(p)


@law
def curve_bend(m: Model, t: int, j: int, q: float) -> float:
    """Second derivative of the length by the angle [m/rad2]."""
    c = m.curve_m[t, j]
    bend = c[0] + q * (2.0 * c[1] + q * 3.0 * c[2])
    if m.four_bar_crank_m[j] > 0.0:
        bend += m.P_tj_m[t, j] * rocker_turn(m, j, q)[2]
    return float(bend)


@law
def curved_length(m: Model, f: int, t: int, q_rad: FloatArray) -> float:
    """What all curves of finger ``f`` add to tendon ``t``'s length [m]."""
    h = 0.0
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        h += curve_length(m, t, j, q_rad[j])
    return h


@law
def path_length(m: Model, f: int, t: int, q_rad: FloatArray) -> float:
    """Path length [m] of tendon ``t`` in finger ``f``, curves and all."""
    h = curved_length(m, f, t, q_rad)
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        h += m.P_tj_m[t, j] * q_rad[j]
    return float(h)


@law
def curve_excess(m: Model, f: int, t: int, q_rad: FloatArray) -> float:
    """Length [m] of tendon ``t`` beyond P(q) q: what a linear solution about ``q_rad`` has to take off."""
    h = 0.0
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        h += curve_length(m, t, j, q_rad[j]) - curve_slope(m, t, j, q_rad[j]) * q_rad[j]
    return h


@law
def move_curved(m: Model, f: int, q_rad: FloatArray, P: FloatArray) -> None:
    """Rows of finger ``f``'s tendons in P, shape (T, J), at joint angles, shape (J,)."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        for b in range(m.finger_n_joints[f]):
            j = m.finger_joint[f, b]
            P[t, j] = m.P_tj_m[t, j] + curve_slope(m, t, j, q_rad[j])
