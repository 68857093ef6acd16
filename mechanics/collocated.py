r"""Joint feedback for the impedance: motor side above a few hertz, tendon lengths below.

Between motor and joint lie springs: with the inertia of a finger they resonate at 13 to 70 Hz. A gain on the
measured joint angle drives these resonances (the sensor is not where the motor is) and, at the tensions of
the reference hand, is unstable once the motor moves and its friction no longer damps. The part of the joint
angle that the motor itself makes, ``dq_m = -P^+ (R dtheta + dh_wrist)``, is safe to feed back at any
frequency, and free of the Hall sensors' noise. So the feedback angle follows it at once, and the measured
angle with a slow low-pass:

.. math:: \hat q \leftarrow \hat q + dq_m, \qquad \hat q \leftarrow \hat q + a\,(q - \hat q)

At rest it is the measured angle: the stiffness that is felt is the one asked for.
"""

from __future__ import annotations

import math
from typing import Final, Protocol

from signals.compiled import law
from signals.layout import FloatArray
from signals.modes import FingerKind, TendonKind
from signals.typed import Model, State

TENSEGRITY: Final = int(FingerKind.TENSEGRITY_BASE)
INSERTION: Final = int(TendonKind.INSERTION_POINTS)
CROSSOVER_HZ: Final = 4.0
LEAST_DETERMINANT: Final = 1e-6
"""Share of the squared curvature below which two base tendons count as parallel and are not used."""


class FeedbackMemory(Protocol):
    """Fields of a memory that joint feedback uses: per joint, per tendon and the coupling matrix."""

    feedback_rad: FloatArray
    feedback_speed_rad_s: FloatArray
    change_rad: FloatArray
    last_motor_rad: FloatArray
    last_wrist_m: FloatArray
    path_m: FloatArray
    path_speed_m_s: FloatArray
    wrist_speed_m_s: FloatArray
    P_tj_m: FloatArray


@law
def base_inverse(m: Model, P: FloatArray, f: int) -> tuple[float, float, float]:
    """(P^T P)^-1 of a tensegrity base: entries 00, 01, 11 [1/m^2]; zero where it is singular."""
    j0, j1 = m.finger_joint[f, 0], m.finger_joint[f, 1]
    a00 = a01 = a11 = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.tendon_kind[t] == INSERTION:
            a00 += P[t, j0] * P[t, j0]
            a01 += P[t, j0] * P[t, j1]
            a11 += P[t, j1] * P[t, j1]
    determinant = a00 * a11 - a01 * a01
    if determinant <= LEAST_DETERMINANT * a00 * a11:
        return 0.0, 0.0, 0.0
    return a11 / determinant, -a01 / determinant, a00 / determinant


@law
def from_tendons(m: Model, P: FloatArray, f: int, path: FloatArray, out: FloatArray) -> None:
    """Joint motion of finger ``f`` that the tendon motions ``path`` (T,) make: ``-P^+ path`` into ``out``."""
    first = 0
    if m.finger_kind[f] == TENSEGRITY:
        first = 2
        c00, c01, c11 = base_inverse(m, P, f)
        j0, j1 = m.finger_joint[f, 0], m.finger_joint[f, 1]
        b0 = b1 = 0.0
        for k in range(m.finger_n_tendons[f]):
            t = m.finger_tendon[f, k]
            if m.tendon_kind[t] == INSERTION:
                b0 -= P[t, j0] * path[t]
                b1 -= P[t, j1] * path[t]
        out[j0], out[j1] = c00 * b0 + c01 * b1, c01 * b0 + c11 * b1
    for b in range(first, m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        out[j] = 0.0
        for k in range(m.finger_n_tendons[f]):
            t = m.finger_tendon[f, k]
            out[j] -= m.pinv_jt_1_m[j, t] * path[t]


@law
def begin_feedback(m: Model, mem: FeedbackMemory, s: State, f: int) -> None:
    """Feedback of finger ``f`` starts at the measured angles."""
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        mem.feedback_rad[j] = s.joint_angle_rad[j]
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        mem.last_motor_rad[t] = s.motor_angle_rad[m.tendon_motor[t]]
        mem.last_wrist_m[t] = s.wrist_length_m[t]


@law
def joint_feedback(m: Model, mem: FeedbackMemory, s: State, f: int) -> None:
    """Feedback angles [rad] and speeds [rad/s] of finger ``f`` into ``mem``, one cycle on."""
    share = 1.0 - math.exp(-2.0 * math.pi * CROSSOVER_HZ * m.dt_s)
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        angle, wrist = s.motor_angle_rad[i], s.wrist_length_m[t]
        wound = m.spool_radius_m[t] * (angle - mem.last_motor_rad[t])
        mem.path_m[t] = wound + wrist - mem.last_wrist_m[t]
        mem.path_speed_m_s[t] = m.spool_radius_m[t] * s.motor_speed_rad_s[i] + mem.wrist_speed_m_s[t]
        mem.last_motor_rad[t], mem.last_wrist_m[t] = angle, wrist
    from_tendons(m, mem.P_tj_m, f, mem.path_m, mem.change_rad)
    from_tendons(m, mem.P_tj_m, f, mem.path_speed_m_s, mem.feedback_speed_rad_s)
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        mem.feedback_rad[j] += mem.change_rad[j]
        mem.feedback_rad[j] += share * (s.joint_angle_rad[j] - mem.feedback_rad[j])
