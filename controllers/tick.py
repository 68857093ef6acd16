"""The controller's tick: goal + state -> motor torques wanted and wrist axis angles.

Only fingers in state ACTIVE follow goals; every other finger's torque is the guard's (hold, release, off),
and the controller's memory of it is empty, so that it starts afresh from the measured pose. A foreign
controller fills the same fields: ``state.ref_motor_torque_nm`` and, with a wrist, ``command.axis_angle_rad``.
"""

from __future__ import annotations

from typing import Final

from controllers.feedforward import place_ripples, ripple_torques
from controllers.finger import FADE_S, control_finger, rest_finger
from controllers.free_tensions import note_invertible
from controllers.memory import CONTROLLER_MEMORY as CONTROLLER_MEMORY
from controllers.memory import ControllerMemory
from controllers.sprung import SPRUNG, bring_within_reach
from controllers.wrist_feedforward import axis_goals, wrist_path_speeds
from mechanics.blend import fading
from mechanics.collocated import share_of_measured
from mechanics.coupling import move_jacobian, tendon_jacobian
from mechanics.finger_rows import move_rows, place_rows
from signals.compiled import law
from signals.layout import Records
from signals.modes import MachineState
from signals.typed import Command, Goal, Model, State

ACTIVE: Final = int(MachineState.ACTIVE)


@law
def control(
    model: Records[Model],
    goal: Records[Goal],
    memory: Records[ControllerMemory],
    state: Records[State],
    command: Records[Command],
) -> None:
    """Wanted motor torques [N m] into ``state``, wrist axis angles [rad] into ``command``.

    Args:
        model: ``signals.records.MODEL``, shape (1,).
        goal: ``signals.records.GOAL``, shape (1,).
        memory: ``CONTROLLER_MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,), estimated before.
        command: ``signals.records.COMMAND``, shape (1,).
    """
    m, g, mem, s, c = model[0], goal[0], memory[0], state[0], command[0]
    if mem.started == 0:
        tendon_jacobian(m, s.joint_angle_rad, mem.P_tj_m)
        place_rows(m, mem.P_tj_m, mem)
        place_ripples(m, mem)
        note_invertible(m, mem)
        mem.started = 1
    else:
        move_jacobian(m, s.joint_angle_rad, mem.P_tj_m)
        move_rows(m, mem.P_tj_m, mem)
    for f in range(m.n_fingers):
        if m.finger_kind[f] == SPRUNG:
            bring_within_reach(m, g, mem, f)
    axis_goals(m, g, mem, s, c, s.machine == ACTIVE)
    wrist_path_speeds(m, mem, s)
    if s.machine == ACTIVE:
        ripple_torques(m, mem, s)
        mem.feedback_share, mem.fade_left = share_of_measured(m), fading(1.0, m.dt_s, FADE_S)
    for f in range(m.n_fingers):
        if s.machine == ACTIVE and s.finger_state[f] == ACTIVE:
            control_finger(m, g, mem, s, f)
        else:
            rest_finger(m, mem, s, f)
