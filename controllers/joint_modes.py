r"""Joint torque and joint impedance of a finger: wanted torque, then tensions that give it.

.. math:: \tau = K_d (q_d - \hat q) + D (\dot q_d - \dot{\hat q}) + \tau_{goal}

with the feedback of ``mechanics.collocated`` and the reference of ``controllers.reference``.

The common tension serves two separate wants: the impedance gain K_d is the controller's, the mechanical
stiffness the co-contraction's (``controllers.stiffness``).
"""

from __future__ import annotations

from typing import Final

from controllers.distribution import distribute
from controllers.enter import common_goal_n
from controllers.free_tensions import free_tensions
from controllers.guide_feedforward import add_guide_torques
from controllers.memory import ControllerMemory
from controllers.reference import glide, shape_reference
from controllers.sprung import SPRUNG, within_bounds
from controllers.stiffness import common_tension_n
from controllers.tension_modes import tension_pace, wanted_paths
from mechanics.blend import share_left, share_rate
from mechanics.collocated import joint_feedback
from mechanics.finger_rows import along, gather
from mechanics.passive_rows import rows_torque_nm
from signals.compiled import law
from signals.modes import Mode
from signals.typed import Goal, Model, State

JOINT_IMPEDANCE: Final = int(Mode.JOINT_IMPEDANCE)


@law
def wanted_torque_nm(
    m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int, j: int, mode: int
) -> float:
    """Wanted torque [N m] of joint ``j``; its references into ``s`` and ``mem``."""
    step = m.joint_torque_rate_nm_s[j] * m.dt_s
    torque = float(mem.shaped_torque_nm[j])
    torque += min(max(goal.joint_torque_nm[j] - torque, -step), step)
    mem.shaped_torque_nm[j] = torque
    s.ref_joint_angle_rad[j] = s.joint_angle_rad[j]
    mem.joint_speed_rad_s[j] = 0.0
    if mode == JOINT_IMPEDANCE:
        x = mem.age_s[f] / mem.blend_s[f]
        offset = mem.offset_joint_rad[j]
        angle = goal.joint_angle_rad[j] + offset * share_left(x)
        angle = min(max(angle, m.joint_min_rad[j]), m.joint_max_rad[j])
        speed = goal.joint_speed_rad_s[j] + offset * share_rate(x, mem.blend_s[f])
        s.ref_joint_angle_rad[j] = angle
        shape_reference(m, mem, j, angle, speed)
        mem.joint_speed_rad_s[j] = mem.shaped_speed_rad_s[j]
        torque += goal.joint_impedance_nm_rad[j] * (mem.shaped_rad[j] - mem.feedback_rad[j])
        torque += goal.joint_damping_nms_rad[j] * (mem.shaped_speed_rad_s[j] - mem.feedback_speed_rad_s[j])
    return float(torque)


@law
def load_of_others_nm(m: Model, s: State, f: int, j: int) -> float:
    """Torque [N m] that joint ``j`` has to hold against tendons of the fingers that finger ``f`` carries."""
    load = 0.0
    for t in range(m.n_tendons):
        if m.tendon_finger[t] != f:
            load += m.P_tj_m[t, j] * s.tension_n[t]
    return load


@law
def spring_torque_nm(m: Model, mem: ControllerMemory, s: State, j: int, mode: int) -> float:
    """Torque [N m] of springs and passive rows at joint ``j``, where it is wanted, or else where it is.

    By the reference there is no feedback; by the measured angle the spring is as good as not there, as who
    wishes for a torque expects.
    """
    q_rad = mem.shaped_rad if mode == JOINT_IMPEDANCE else s.joint_angle_rad
    torque = m.joint_spring_nm_rad[j] * (q_rad[j] - m.joint_rest_rad[j])
    return float(torque + rows_torque_nm(m, j, q_rad))


@law
def shaped_common_n(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int) -> float:
    """Co-contraction [N] of finger ``f``: it glides to the goal's as the weakest of its motors can follow.

    Its rate is every tendon's, for the motors' wanted speeds: all tendons of the finger wind together.
    """
    left = share_left(mem.age_s[f] / mem.blend_s[f])
    least, most = common_goal_n(m, goal, f) + mem.offset_common_n[f] * left, 0.0
    rate, acceleration = float(m.tension_rate_n_s), 1e9
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        least = max(least, m.tension_min_n[t])
        most = max(most, m.tension_max_n[t])
        fastest, hardest = tension_pace(m, s, t)
        rate, acceleration = min(rate, fastest), min(acceleration, hardest)
    wanted = common_tension_n(m, goal, f, mem.P_tj_m, mem.shift_n, least, most)
    mem.common_n[f], mem.common_n_s[f] = glide(
        mem.common_n[f], mem.common_n_s[f], wanted, 0.0, rate, acceleration, 0.0, most, m.dt_s
    )
    for k in range(m.finger_n_tendons[f]):
        mem.tension_rate_n_s[m.finger_tendon[f, k]] = mem.common_n_s[f]
    return float(mem.common_n[f])


@law
def joint_tensions(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int, mode: int) -> None:
    """Wanted tensions of finger ``f`` into ``mem.wanted_n`` in a joint mode; torques and scale into ``s``."""
    n_tendons, n_joints = m.finger_n_tendons[f], m.finger_n_joints[f]
    tendons, joints = m.finger_tendon, m.finger_joint
    joint_feedback(m, mem, s, f)
    for b in range(n_joints):
        j = joints[f, b]
        mem.torque[b] = wanted_torque_nm(m, goal, mem, s, f, j, mode)
        if m.finger_loaded[f] != 0:
            mem.torque[b] += load_of_others_nm(m, s, f, j) + spring_torque_nm(m, mem, s, j, mode)
    wanted_paths(m, mem, f)
    add_guide_torques(m, mem, s, f)
    for b in range(n_joints):
        s.ref_joint_torque_nm[joints[f, b]] = mem.torque[b]
    common = shaped_common_n(m, goal, mem, s, f)
    for k in range(n_tendons):
        t = tendons[f, k]
        mem.low_all[k], mem.high_all[k] = m.tension_min_n[t], m.tension_max_n[t]
        mem.preferred[k] = min(max(common, m.tension_min_n[t]), m.tension_max_n[t])
    s.torque_scale[f] = 1.0
    if not free_tensions(m, mem, f):
        if m.finger_kind[f] == SPRUNG:
            s.torque_scale[f] = within_bounds(m, mem, f)
        else:
            for k in range(n_tendons):
                for b in range(n_joints):
                    mem.A[k, b] = mem.P_tj_m[tendons[f, k], joints[f, b]]
            s.torque_scale[f] = distribute(mem, n_tendons, n_joints)
    for k in range(n_tendons):
        t = tendons[f, k]
        mem.wanted_n[t] = mem.tension[k]
        mem.shift_n[t] = mem.tension[k] - common


@law
def report_given_torque(m: Model, mem: ControllerMemory, s: State, f: int) -> None:
    """Joint torque ``-P^T f`` [N m] of the tensions that are asked for, into ``s``."""
    gather(m, f, mem.ref_tension_n, mem.row)
    for b in range(m.finger_n_joints[f]):
        torque = -along(mem.P_fbk_m[f, b], mem.row, m.finger_n_tendons[f])
        s.cmd_joint_torque_nm[m.finger_joint[f, b]] = torque
