r"""Joint angles of pulley fingers: ``q = P^+ h``, with ``P^+ = (P^T P)^{-1} P^T`` (eq. 5.15 corrected).

The residual ``(I - P P^+) h`` is what no joint angle explains: zero for a healthy finger.
"""

from __future__ import annotations

import math
from typing import Any

from signals.compiled import law


@law
def linear_angles(m: Any, f: int, first: int, length_m: Any, q_out: Any) -> None:
    """Angles [rad] of the joints ``first`` and beyond of finger ``f`` into ``q_out``, shape (J,).

    Joints before ``first`` (a tensegrity base) are known already; what they add to the pulley tendons'
    lengths is taken off.
    """
    tendons, joints, pinv_jt, P_tj_m = m.finger_tendon, m.finger_joint, m.pinv_jt_1_m, m.P_tj_m
    n_tendons = m.finger_n_tendons[f]
    for b in range(first, m.finger_n_joints[f]):
        q_out[joints[f, b]] = 0.0
    for k in range(n_tendons):
        t = tendons[f, k]
        h = length_m[t]
        for a in range(first):
            h -= P_tj_m[t, joints[f, a]] * q_out[joints[f, a]]
        for b in range(first, m.finger_n_joints[f]):
            j = joints[f, b]
            q_out[j] += pinv_jt[j, t] * h


@law
def finger_residual(m: Any, f: int, expected_m: Any, length_m: Any, residual_out: Any) -> float:
    """Residuals [m] of the finger's tendons into ``residual_out``; returns their rms [m].

    Args:
        m: model record.
        f: finger.
        expected_m: lengths at the estimated angles (``mechanics.coupling.tendon_lengths``), shape (T,).
        length_m: measured lengths, shape (T,).
        residual_out: receives the differences, shape (T,).
    """
    tendons, n_tendons = m.finger_tendon, m.finger_n_tendons[f]
    total = 0.0
    for k in range(n_tendons):
        t = tendons[f, k]
        residual_out[t] = length_m[t] - expected_m[t]
        total += residual_out[t] * residual_out[t]
    return math.sqrt(total / max(n_tendons, 1))
