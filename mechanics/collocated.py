r"""Joint feedback for the impedance: motor side above a few hertz, tendon lengths below.

Between motor and joint lie springs: with the inertia of a finger they resonate at 13 to 70 Hz. A gain on the
measured joint angle drives these resonances (the sensor is not where the motor is) and, at the tensions of
the reference hand, is unstable once the motor moves and its friction no longer damps. The part of the joint
angle that the motor itself makes, ``dq_m = -P^+ (R dtheta + dh_wrist)``, is safe to feed back at any
frequency, and free of the Hall sensors' noise. So the feedback angle follows it at once, and the measured
angle with a slow low-pass:

.. math:: \hat q \leftarrow \hat q + dq_m, \qquad \hat q \leftarrow \hat q + a\,(q - \hat q)

At rest it is the measured angle: the stiffness that is felt is the one asked for. Motor motion that only
stretches tendons for a torque that was fed forward is left out of dq_m (``guide_stretch_m``).
"""

from __future__ import annotations

from typing import Final, Protocol

from mechanics.finger_rows import FingerRows, along
from mechanics.low_pass import filter_share
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model, State

CROSSOVER_HZ: Final = 4.0


class FeedbackMemory(FingerRows, Protocol):
    """Fields of a memory that joint feedback uses: per joint, per tendon and the coupling by finger."""

    feedback_share: float
    feedback_rad: FloatArray
    feedback_speed_rad_s: FloatArray
    change_rad: FloatArray
    last_motor_rad: FloatArray
    last_wrist_m: FloatArray
    wrist_speed_m_s: FloatArray
    guide_stretch_m: FloatArray


@law
def from_tendons(m: Model, rows: FingerRows, f: int, row: FloatArray, out: FloatArray) -> None:
    """Joint motion of finger ``f`` that its tendons' motions in ``row`` make: ``-P^+ row`` into ``out``."""
    for b in range(m.finger_n_joints[f]):
        out[m.finger_joint[f, b]] = -along(rows.pinv_fbk_1_m[f, b], row, m.finger_n_tendons[f])


@law
def share_of_measured(m: Model) -> float:
    """Share of the measured angle in the feedback, one cycle on: the same for all fingers."""
    return filter_share(CROSSOVER_HZ, m.dt_s)


@law
def begin_feedback(m: Model, mem: FeedbackMemory, s: State, f: int) -> None:
    """Feedback of finger ``f`` starts at the measured angles."""
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        mem.feedback_rad[j] = s.joint_angle_rad[j]
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        mem.last_motor_rad[t] = s.motor_angle_rad[m.tendon_motor[t]]
        mem.last_wrist_m[t], mem.guide_stretch_m[t] = s.wrist_length_m[t], 0.0


@law
def joint_feedback(m: Model, mem: FeedbackMemory, s: State, f: int) -> None:
    """Feedback angles [rad] and speeds [rad/s] of finger ``f`` into ``mem``, one cycle on."""
    share = mem.feedback_share
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        angle, wrist = s.motor_angle_rad[i], s.wrist_length_m[t]
        wound = m.spool_radius_m[t] * (angle - mem.last_motor_rad[t])
        mem.row[k] = wound + wrist - mem.last_wrist_m[t] - mem.guide_stretch_m[t]
        mem.other_row[k] = m.spool_radius_m[t] * s.motor_speed_rad_s[i] + mem.wrist_speed_m_s[t]
        mem.last_motor_rad[t], mem.last_wrist_m[t] = angle, wrist
    from_tendons(m, mem, f, mem.row, mem.change_rad)
    from_tendons(m, mem, f, mem.other_row, mem.feedback_speed_rad_s)
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        mem.feedback_rad[j] += mem.change_rad[j]
        mem.feedback_rad[j] += share * (s.joint_angle_rad[j] - mem.feedback_rad[j])
