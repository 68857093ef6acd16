r"""Motor position and motor torque of a finger's motors.

.. math:: \tau_m = k_p (\theta_d - \Delta h_{wrist}/R - \theta) + k_d (w_d - w) + \text{feedforward}

The wrist's share is taken off the goal, so that the tensions stay while the wrist moves.
"""

from __future__ import annotations

from controllers.feedforward import friction_torque_nm
from controllers.memory import ControllerMemory
from controllers.reference import shape_motor
from mechanics.blend import share_left, share_rate
from signals.compiled import law
from signals.typed import Goal, Model, State


@law
def motor_position(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int) -> None:
    """Torques [N m] of finger ``f`` in MOTOR_POSITION into ``s.ref_motor_torque_nm``."""
    x = mem.age_s[f] / mem.blend_s[f]
    left, rate = share_left(x), share_rate(x, mem.blend_s[f])
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        s.ref_tension_n[t] = 0.0
        if m.tendon_follows[t] != 0:
            continue
        radius = m.spool_radius_m[t]
        shape_motor(m, goal, mem, i, left, rate)
        # the wrist's path at the change of mode is part of the measured angle that the offset starts from
        angle = mem.shaped_motor_rad[i] - (s.wrist_length_m[t] - mem.wrist_start_m[t] * left) / radius
        speed = mem.shaped_motor_rad_s[i] - mem.wrist_speed_m_s[t] / radius
        s.ref_motor_speed_rad_s[i] = speed
        s.friction_torque_nm[i] = friction_torque_nm(m, i, speed, m.friction_gain)
        s.ripple_torque_nm[i] = mem.ripple_nm[i]
        s.ref_motor_torque_nm[i] = (
            m.position_kp_nm_rad * (angle - s.motor_angle_rad[i])
            + m.position_kd_nms_rad * (speed - s.motor_speed_rad_s[i])
            + s.friction_torque_nm[i]
            + s.ripple_torque_nm[i]
        )


@law
def motor_torque(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int) -> None:
    """Torques [N m] of finger ``f`` in MOTOR_TORQUE: the goal's, with ripple feedforward."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        s.ref_motor_speed_rad_s[i] = 0.0
        s.friction_torque_nm[i] = 0.0
        s.ripple_torque_nm[i] = mem.ripple_nm[i]
        s.ref_motor_torque_nm[i] = goal.motor_torque_nm[i] + s.ripple_torque_nm[i]
        s.ref_tension_n[t] = 0.0
