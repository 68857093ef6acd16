"""The palm of the hand's dynamics: its pose, twist and acceleration, renewed where the wrist has moved."""

from __future__ import annotations

import math

from mechanics.handlayout import HandtreeWork
from mechanics.wrist import wrist_motion, wrist_pose
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model


@law
def _is_at(w: HandtreeWork, axis_q_rad: FloatArray, axis_qd_rad_s: FloatArray) -> bool:
    """True if the palm was computed for these wrist axes; if not, it is going to be."""
    same = True
    for a in range(2):
        same = same and w.axis_at_rad[a] == axis_q_rad[a] and w.axis_at_rad_s[a] == axis_qd_rad_s[a]
        w.axis_at_rad[a], w.axis_at_rad_s[a] = axis_q_rad[a], axis_qd_rad_s[a]
    return same


@law
def forget_palm(w: HandtreeWork) -> None:
    """The palm is computed anew next time: the model may have changed."""
    w.axis_at_rad[0] = math.nan


@law
def move_palm(m: Model, axis_q_rad: FloatArray, axis_qd_rad_s: FloatArray, w: HandtreeWork) -> None:
    """Pose, twist and acceleration (gravity included) of the palm, from the wrist axes."""
    twist, rate = w.twist[0], w.rate[0]
    R, o, S, bias = w.palm_R, w.palm_o, w.S, w.S_bias
    g = m.gravity_m_s2
    if m.n_axes == 2:
        if not _is_at(w, axis_q_rad, axis_qd_rad_s):
            wrist_pose(m, axis_q_rad[0], axis_q_rad[1], R, o)
            wrist_motion(m, axis_q_rad[0], axis_q_rad[1], axis_qd_rad_s[0], axis_qd_rad_s[1], S, bias)
        for i in range(6):
            twist[i] = S[i, 0] * axis_qd_rad_s[0] + S[i, 1] * axis_qd_rad_s[1]
    else:
        for i in range(3):
            o[i] = m.wrist_origin_m[i]
            for k in range(3):
                R[i, k] = 1.0 if i == k else 0.0
        for i in range(6):
            twist[i] = 0.0
            bias[i] = 0.0
    for i in range(3):
        rate[i] = bias[i]
        rate[3 + i] = bias[3 + i] - (R[0, i] * g[0] + R[1, i] * g[1] + R[2, i] * g[2])
