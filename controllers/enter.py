"""Entry of a mode: every reference starts from what is measured, the torque from the present command.

On entry the distance between goal and measurement is noted; it fades along a blend whose duration keeps the
reference below a gentle speed. So motion after a stop, a fault or a change of mode starts from the measured
pose, whatever the goal says.
"""

from __future__ import annotations

from typing import Final

from controllers.lever_observer import begin_observer
from controllers.memory import ControllerMemory
from mechanics.blend import duration_s
from mechanics.collocated import begin_feedback
from signals.compiled import law
from signals.modes import Mode
from signals.typed import Goal, Model, State

MOTOR_POSITION: Final = int(Mode.MOTOR_POSITION)
TENDON_FORCE: Final = int(Mode.TENDON_FORCE)
JOINT_IMPEDANCE: Final = int(Mode.JOINT_IMPEDANCE)
JOINT_TORQUE: Final = int(Mode.JOINT_TORQUE)

SHORTEST_S: Final = 0.1


@law
def common_goal_n(m: Model, goal: Goal, f: int) -> float:
    """Co-contraction wanted of finger ``f`` [N]: the goal's, or the hand's where the goal names none."""
    return float(goal.pretension_n[f]) if goal.pretension_n[f] > 0.0 else float(m.pretension_n[f])


@law
def mean_tension_n(m: Model, s: State, f: int) -> float:
    """Mean of the measured tensions of finger ``f`` [N]: the co-contraction that it starts from."""
    total = 0.0
    for k in range(m.finger_n_tendons[f]):
        total += s.tension_n[m.finger_tendon[f, k]]
    return float(total / max(m.finger_n_tendons[f], 1))


@law
def enter_mode(m: Model, goal: Goal, mem: ControllerMemory, s: State, f: int, mode: int) -> None:
    """Note the offsets of finger ``f`` as it starts in ``mode``."""
    longest = SHORTEST_S
    begin_feedback(m, mem, s, f)
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        mem.offset_joint_rad[j] = 0.0
        mem.shaped_rad[j] = s.joint_angle_rad[j]
        mem.shaped_speed_rad_s[j] = 0.0
        mem.shaped_torque_nm[j] = 0.0
        if mode == JOINT_IMPEDANCE:
            offset = s.joint_angle_rad[j] - goal.joint_angle_rad[j]
            mem.offset_joint_rad[j] = offset
            longest = max(longest, duration_s(offset, m.enter_joint_rad_s, SHORTEST_S))
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        mem.ref_tension_n[t] = s.tension_n[t]
        mem.ref_tension_n_s[t] = 0.0
        mem.shaped_motor_rad[i] = s.motor_angle_rad[i]
        mem.shaped_motor_rad_s[i] = 0.0
        mem.tension_rate_n_s[t] = 0.0
        mem.shift_n[t] = 0.0
        mem.offset_tension_n[t] = 0.0
        begin_observer(mem, s, t)
        mem.offset_motor_rad[i] = 0.0
        if mode == TENDON_FORCE:
            offset = s.tension_n[t] - goal.tendon_force_n[t]
            mem.offset_tension_n[t] = offset
            longest = max(longest, duration_s(offset, m.enter_tension_n_s, SHORTEST_S))
        elif mode == MOTOR_POSITION:
            offset = s.motor_angle_rad[i] - goal.motor_angle_rad[i]
            mem.offset_motor_rad[i] = offset
            mem.wrist_start_m[t] = s.wrist_length_m[t]
            longest = max(longest, duration_s(offset, m.enter_motor_rad_s, SHORTEST_S))
    mem.common_n[f], mem.common_n_s[f] = mean_tension_n(m, s, f), 0.0
    mem.offset_common_n[f] = mem.common_n[f] - common_goal_n(m, goal, f)
    if mode == JOINT_IMPEDANCE or mode == JOINT_TORQUE:
        longest = max(longest, duration_s(mem.offset_common_n[f], m.enter_tension_n_s, SHORTEST_S))
    mem.mode[f] = mode
    mem.age_s[f] = 0.0
    mem.blend_s[f] = longest
    mem.entering[f] = 1
