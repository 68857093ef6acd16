r"""Set-points of drives that take angles: where a motor has to be for its lines at the wanted joints.

.. math:: \theta_d = \frac{e_d - e_0 - h(q_d) - h_{wrist}}{R}, \qquad
          e_d = e(f_0) + (f_d - f_0) / k

with e the elongation at the co-contraction f, or at the tension that holds the springs of a finger of kind
SPRUNG, the mean over the lines of a motor. The reference of the joints
glides as in the impedance mode; the loop is the device's, so there is no feedforward of friction or ripple.
On entry the measured angle is where the set-point starts; what the law is off by fades along the blend.
"""

from __future__ import annotations

from typing import Final

from controllers.enter import common_goal_n
from controllers.memory import ControllerMemory
from controllers.reference import MOTOR_SPEED_SHARE, shape_motor, shape_reference
from controllers.sprung import SPRUNG, spring_tension_n
from mechanics.blend import share_left, share_rate
from mechanics.coupling import tendon_length
from mechanics.springs import stiffness_of_force
from signals.compiled import law
from signals.modes import Mode
from signals.typed import Goal, Model, State

MOTOR_POSITION: Final = int(Mode.MOTOR_POSITION)
JOINT_IMPEDANCE: Final = int(Mode.JOINT_IMPEDANCE)


@law
def line_angle_rad(m: Model, s: State, t: int, common_n: float) -> float:
    """Angle [rad] of the motor of line ``t`` for the joint references, at a co-contraction [N]."""
    start_n = m.pretension_n[m.tendon_finger[t]]
    elongation = m.elongation_goal_m[t]
    if common_n != start_n:
        elongation += (common_n - start_n) / stiffness_of_force(m, t, 0.5 * (common_n + start_n))
    path = tendon_length(m, t, s.ref_joint_angle_rad) + s.wrist_length_m[t]
    return float((elongation - m.elongation_offset_m[t] - path) / m.spool_radius_m[t])


@law
def joint_references(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int) -> None:
    """Joint angles [rad] of finger ``f`` that glide to the goal's, into ``s.ref_joint_angle_rad``."""
    x = mem.age_s[f] / mem.blend_s[f]
    left, rate = share_left(x), share_rate(x, mem.blend_s[f])
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        offset = mem.offset_joint_rad[j]
        angle = min(max(goal.joint_angle_rad[j] + offset * left, m.joint_min_rad[j]), m.joint_max_rad[j])
        shape_reference(m, mem, j, angle, goal.joint_speed_rad_s[j] + offset * rate)
        s.ref_joint_angle_rad[j] = mem.shaped_rad[j]


@law
def set_points(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int, mode: int) -> None:
    """Set-points [rad] of the motors of finger ``f`` into ``s.ref_motor_angle_rad``.

    A mode that asks for forces has none: the motors stay where they are. The command server refuses it.
    """
    by_joints, by_motors, entering = mode == JOINT_IMPEDANCE, mode == MOTOR_POSITION, mem.entering[f] != 0
    if by_joints:
        joint_references(m, goal, mem, s, f)
    common, left = common_goal_n(m, goal, f), share_left(mem.age_s[f] / mem.blend_s[f])
    for k in range(m.finger_n_tendons[f]):
        i = m.tendon_motor[m.finger_tendon[f, k]]
        mem.set_point_rad[i] = 0.0
        mem.set_lines[i] = 0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        if by_joints:
            if m.finger_kind[f] == SPRUNG:
                common = spring_tension_n(m, mem, s, f, k)
            mem.set_point_rad[i] += line_angle_rad(m, s, t, common)
        elif by_motors and mem.set_lines[i] == 0:
            wrist = (s.wrist_length_m[t] - mem.wrist_start_m[t] * left) / m.spool_radius_m[t]
            shape_motor(m, goal, mem, i, left, share_rate(mem.age_s[f] / mem.blend_s[f], mem.blend_s[f]))
            mem.set_point_rad[i] = mem.shaped_motor_rad[i] - wrist
        mem.set_lines[i] += 1
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        s.ref_tension_n[t] = 0.0
        if mem.set_lines[i] == 0:
            continue
        angle = mem.set_point_rad[i] / (mem.set_lines[i] if by_joints else 1)
        mem.set_lines[i] = 0
        if entering:
            known = angle if by_joints or by_motors else s.motor_angle_rad[i]
            mem.offset_point_rad[i] = s.motor_angle_rad[i] - known
            mem.last_point_rad[i] = s.motor_angle_rad[i]
        if not (by_joints or by_motors):
            angle = mem.last_point_rad[i]
        step = MOTOR_SPEED_SHARE * m.motor_speed_limit_rad_s[i] * m.dt_s
        change = angle + mem.offset_point_rad[i] * left - mem.last_point_rad[i]
        change = min(max(change, -step), step)
        mem.last_point_rad[i] += change
        s.ref_motor_angle_rad[i] = mem.last_point_rad[i]
        s.ref_motor_speed_rad_s[i] = change / m.dt_s
        s.friction_torque_nm[i] = s.ripple_torque_nm[i] = s.ref_motor_torque_nm[i] = 0.0
    mem.entering[f] = 0
