"""The guard: last word before the wire, every cycle, whatever the controller did.

detectors -> state machine -> torque by the finger's state -> limits -> current. Fingers that are not ACTIVE
get the guard's own torque (none, hold, reaction); a controller cannot move them.
"""

from __future__ import annotations

import math
from typing import Final

from guard.channel_checks import complete, degraded
from guard.detectors import detect
from guard.envelope import joint_margins, note_turns, wrist_load
from guard.hold import begin_hold, hold_torque_nm
from guard.latch import FAULT, latch_finger
from guard.limits import NOT_FINITE, envelope_bounds, motor_bounds, range_bounds, rate_bounds
from guard.lookahead import look_ahead
from guard.machine import ACTIVE, HOLDING, advance, fall_with_fingers, take_request
from guard.memory import GUARD_MEMORY as GUARD_MEMORY
from guard.memory import GuardMemory
from guard.paths import path_speeds
from guard.probe import WINDING, judge_probe
from guard.reaction import begin_reaction, change_choice, fault_torque_nm, note_lost_sight, reaction_of
from guard.second_break import note_second_break
from guard.servos import command_servos, note_torques
from guard.winding import check_windings, winding_temperatures
from mechanics.coupling import move_jacobian, tendon_jacobian
from mechanics.drives import takes_angles
from mechanics.finger_rows import move_rows, place_rows
from mechanics.lines import sense_of
from signals.compiled import inlined, law
from signals.faults import Cause
from signals.layout import Records
from signals.modes import Clip, MotorMode
from signals.typed import Command, Goal, Measurement, Model, State

NOT_FINITE_COMMAND: Final = int(Cause.NOT_FINITE_COMMAND)
STATE: Final = int(Clip.STATE)
MOTOR_OFF: Final = int(MotorMode.OFF)
MOTOR_CURRENT: Final = int(MotorMode.CURRENT)


@law
def check_command(m: Model, s: State) -> None:
    """Latch torques of active fingers that are not numbers."""
    torque, odd = s.ref_motor_torque_nm, 0
    for i in range(m.n_motors):
        odd |= 0 if torque[i] - torque[i] == 0.0 else 1
    if odd == 0:
        return
    for t in range(m.n_tendons):
        f, i = m.tendon_finger[t], m.tendon_motor[t]
        if s.finger_state[f] == ACTIVE and not math.isfinite(s.ref_motor_torque_nm[i]):
            latch_finger(s, f, NOT_FINITE_COMMAND, i, 0.0, 0.0)


@law
def begin_states(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """What begins as fingers change their state: hold, reaction, fresh timers."""
    for f in range(m.n_fingers):
        state = int(s.finger_state[f])
        if state != mem.last_finger_state[f]:
            if state == HOLDING or state == FAULT:
                begin_hold(m, mem, s, f)
            if state == FAULT and takes_angles(m, f):
                mem.fault_age_s[f], mem.probe_phase[f] = 0.0, 0
            elif state == FAULT:
                begin_reaction(m, mem, z, s, f)  # asks since when a tendon is slack
            for k in range(m.finger_n_tendons[f]):
                t = m.finger_tendon[f, k]
                mem.slack_s[t] = 0.0
                # a hand that was off may have let its tendons go
                if mem.last_finger_state[f] == FAULT or mem.last_finger_state[f] < HOLDING:
                    mem.taut[t], mem.taut_s[t] = 0, 0.0
            if mem.last_finger_state[f] < HOLDING:  # off it came to rest unseen
                mem.unrest_m_s[f] = 0.0
            mem.last_finger_state[f] = state
        elif state == FAULT:
            mem.fault_age_s[f] += m.dt_s
            if takes_angles(m, f):
                continue
            note_lost_sight(m, mem, z, s, f)
            note_second_break(m, mem, s, f)
            if mem.probe_phase[f] == WINDING:
                judge_probe(m, mem, s, f)


@law
def torque_by_state(
    m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, t: int, reaction: int
) -> tuple[float, int]:
    """Torque [N m] for the motor of tendon ``t`` by the state of its finger, and clip bits."""
    i = m.tendon_motor[t]
    state, wanted = s.finger_state[f], s.ref_motor_torque_nm[i]
    bits = 0 if math.isfinite(wanted) else NOT_FINITE
    if state == ACTIVE:
        if bits != 0:
            return 0.0, bits
        if mem.all_young == 0 and degraded(m, z, s, t):
            return float(mem.last_torque_nm[i]), STATE
        return float(wanted), 0
    if wanted != 0.0:
        bits |= STATE
    if state == HOLDING:
        return hold_torque_nm(m, mem, s, t), bits
    if state == FAULT:
        return fault_torque_nm(m, mem, s, f, t, reaction), bits
    return 0.0, bits


@inlined
def tendon_bounds(
    m: Model, mem: GuardMemory, s: State, f: int, t: int, x: float, bits: int, whole: bool
) -> tuple[float, int]:
    """Torque ``x`` [N m] that winds tendon ``t``, within what its joints and its tension allow.

    ``whole``: the finger is not in fault; a probe has to wind, wherever the joint seems to be.
    """
    if whole:
        x, bits = range_bounds(m, mem, s, f, t, x, bits)
    return envelope_bounds(m, mem, s, f, t, x, bits)


@law
def shared_bounds(
    m: Model, mem: GuardMemory, s: State, f: int, i: int, x: float, bits: int
) -> tuple[float, int]:
    """The same for every tendon that motor ``i`` winds, each in its own sense."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.tendon_motor[t] == i:
            sense = sense_of(m, t)
            x, bits = tendon_bounds(m, mem, s, f, t, sense * x, bits, s.finger_state[f] != FAULT)
            x *= sense
    return x, bits


@law
def command_motors(m: Model, mem: GuardMemory, z: Measurement, s: State, c: Command) -> None:
    """Currents [A] of all motors into the command, torques and clips into the state."""
    for f in range(m.n_fingers):
        if takes_angles(m, f):
            command_servos(m, mem, z, s, c, f)
            continue
        reaction, powered = reaction_of(m, s, f), s.finger_state[f] >= HOLDING
        shares, whole = m.finger_shares[f] != 0, s.finger_state[f] != FAULT
        if powered:
            joint_margins(m, mem, s, f)
        for k in range(m.finger_n_tendons[f]):
            t = m.finger_tendon[f, k]
            i = m.tendon_motor[t]
            if shares and m.tendon_follows[t] != 0:
                continue
            x, bits = torque_by_state(m, mem, z, s, f, t, reaction)
            if powered:
                if shares:
                    x, bits = shared_bounds(m, mem, s, f, i, x, bits)
                else:
                    x, bits = tendon_bounds(m, mem, s, f, t, x, bits, whole)
            x, bits = motor_bounds(m, mem, s, i, x, bits)
            x, bits = rate_bounds(m, mem, i, x, bits)
            if not math.isfinite(x):
                x, bits = 0.0, bits | NOT_FINITE
            mem.last_torque_nm[i] = x
            s.motor_torque_nm[i] = x
            s.clip[i] = bits
            if bits != 0:
                s.clip_count[i] += 1
            c.motor_current_a[i] = x / m.motor_torque_constant_nm_a[i]
            c.motor_angle_rad[i] = s.motor_angle_rad[i]
            c.motor_mode[i] = MOTOR_CURRENT if powered or x != 0.0 else MOTOR_OFF


@law
def command_axes(m: Model, mem: GuardMemory, s: State, c: Command) -> None:
    """Wrist axes: the controller's angles while active, else the measured ones at the change, held."""
    following = s.machine == ACTIVE
    powered = s.machine >= HOLDING
    for a in range(m.n_axes):
        wanted = c.axis_angle_rad[a]
        if not following:
            if mem.axis_held == 0:
                mem.hold_axis_rad[a] = s.axis_angle_rad[a]
            wanted = mem.hold_axis_rad[a]
        elif not math.isfinite(wanted):
            wanted = s.axis_angle_rad[a]
        c.axis_angle_rad[a] = min(max(wanted, m.axis_min_rad[a]), m.axis_max_rad[a])
        c.axis_enable[a] = 1 if powered else 0
    mem.axis_held = 1 if powered and not following else 0


@law
def guard(
    model: Records[Model],
    goal: Records[Goal],
    measurement: Records[Measurement],
    memory: Records[GuardMemory],
    state: Records[State],
    command: Records[Command],
) -> None:
    """Faults, state machine and limits; the command as it goes to the wire.

    Args:
        model: ``signals.records.MODEL``, shape (1,).
        goal: ``signals.records.GOAL``, shape (1,); its request drives the state machine.
        measurement: ``signals.records.MEASUREMENT``, shape (1,).
        memory: ``GUARD_MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,), with ``ref_motor_torque_nm`` of the controller.
        command: ``signals.records.COMMAND``, shape (1,), with the controller's wrist angles.
    """
    m, g, z, mem, s, c = model[0], goal[0], measurement[0], memory[0], state[0], command[0]
    if mem.started == 0:
        tendon_jacobian(m, s.joint_angle_rad, mem.P_tj_m)
        place_rows(m, mem.P_tj_m, mem)
        note_turns(m, mem)
    else:
        move_jacobian(m, s.joint_angle_rad, mem.P_tj_m)
        move_rows(m, mem.P_tj_m, mem)
    if m.n_servos != 0:
        note_torques(m, mem, z)
    winding_temperatures(m, mem, z, s)
    mem.all_well = mem.all_young = 0  # until the detectors have looked
    if s.machine >= HOLDING:
        detect(m, mem, z, s)
        check_windings(m, s)
        check_command(m, s)
        look_ahead(m, mem, s)
        mem.started = 1
    else:
        mem.started = 0
    take_request(m, g, mem, s)
    advance(m, g, mem, s, complete(m, mem, z))
    fall_with_fingers(m, s)
    begin_states(m, mem, z, s)
    change_choice(m, mem, s)
    path_speeds(m, mem, s)
    wrist_load(m, mem, s)
    command_motors(m, mem, z, s, c)
    command_axes(m, mem, s, c)
    c.time_ns = s.time_ns
    c.seq = s.tick
