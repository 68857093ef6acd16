"""One finger's control: mode and its entry, the mode's law, the fading torque of the change-over."""

from __future__ import annotations

from typing import Final

from controllers.enter import JOINT_IMPEDANCE, MOTOR_POSITION, TENDON_FORCE, enter_mode
from controllers.joint_modes import joint_tensions, report_given_torque
from controllers.lever_observer import observe_tensions
from controllers.memory import ControllerMemory
from controllers.motor_modes import motor_position, motor_torque
from controllers.set_points import set_points
from controllers.tension_modes import force_goals, tension_torques, wanted_paths
from mechanics.drives import takes_angles
from signals.compiled import law
from signals.modes import Mode
from signals.typed import Goal, Model, State

OFF: Final = int(Mode.OFF)
MOTOR_TORQUE: Final = int(Mode.MOTOR_TORQUE)
FADE_S: Final = 0.05
"""Time constant with which the torque step of a change of mode fades."""


@law
def rest_finger(m: Model, mem: ControllerMemory, s: State, f: int) -> None:
    """References of a finger that follows no goal: measured pose, no torque, nothing carried on."""
    mem.mode[f] = OFF
    s.finger_mode[f] = OFF
    s.torque_scale[f] = 1.0
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        s.ref_joint_angle_rad[j] = s.joint_angle_rad[j]
        s.ref_joint_torque_nm[j] = 0.0
        s.cmd_joint_torque_nm[j] = 0.0
        s.guide_torque_nm[j] = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        s.ref_tension_n[t] = s.observed_tension_n[t] = 0.0
        s.ref_motor_speed_rad_s[i] = 0.0
        s.friction_torque_nm[i] = 0.0
        s.ripple_torque_nm[i] = 0.0
        s.ref_motor_torque_nm[i] = 0.0
        s.ref_motor_angle_rad[i] = s.motor_angle_rad[i]


@law
def stand_joints(m: Model, mem: ControllerMemory, s: State, f: int) -> None:
    """References of the joints of finger ``f`` in a mode that asks nothing of them."""
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        mem.joint_speed_rad_s[j] = 0.0
        s.ref_joint_angle_rad[j] = s.joint_angle_rad[j]
        s.ref_joint_torque_nm[j] = 0.0
        s.cmd_joint_torque_nm[j] = 0.0
        s.guide_torque_nm[j] = 0.0


@law
def mode_law(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int, mode: int) -> None:
    """The law of the mode in force; torques into ``s.ref_motor_torque_nm``."""
    s.torque_scale[f] = 1.0
    if mode == MOTOR_POSITION or mode == MOTOR_TORQUE or mode == TENDON_FORCE:
        stand_joints(m, mem, s, f)
    if mode == MOTOR_POSITION:
        motor_position(m, goal, mem, s, f)
    elif mode == MOTOR_TORQUE:
        motor_torque(m, goal, mem, s, f)
    elif mode == TENDON_FORCE:
        force_goals(m, goal, mem, f)
        wanted_paths(m, mem, f)
        observe_tensions(m, mem, s, f)
        tension_torques(m, mem, s, f, True)
    else:
        joint_tensions(m, goal, mem, s, f, mode)
        tension_torques(m, mem, s, f, False)
        report_given_torque(m, mem, s, f)


@law
def fade_change_over(m: Model, mem: ControllerMemory, s: State, f: int) -> None:
    """Torque starts from the present command: what the change would have made a step fades away."""
    entering = mem.entering[f] != 0
    left, shares = mem.fade_left, m.finger_shares[f] != 0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        if shares and m.tendon_follows[t] != 0:
            continue
        if entering:
            mem.offset_torque_nm[i] = s.motor_torque_nm[i] - s.ref_motor_torque_nm[i]
        else:
            mem.offset_torque_nm[i] *= left
        s.ref_motor_torque_nm[i] += mem.offset_torque_nm[i]
    mem.entering[f] = 0


@law
def control_finger(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int) -> None:
    """Motor torques [N m] of an active finger ``f`` into ``s.ref_motor_torque_nm``."""
    mode = int(goal.finger_mode[f])
    known = JOINT_IMPEDANCE >= mode >= MOTOR_POSITION
    if not known:
        rest_finger(m, mem, s, f)
        return
    if mem.mode[f] != mode:
        enter_mode(m, goal, mem, s, f, mode)
    s.finger_mode[f] = mode
    if takes_angles(m, f):
        s.torque_scale[f] = 1.0
        stand_joints(m, mem, s, f)
        set_points(m, goal, mem, s, f, mode)
    else:
        mode_law(m, goal, mem, s, f, mode)
        fade_change_over(m, mem, s, f)
    mem.age_s[f] += m.dt_s
