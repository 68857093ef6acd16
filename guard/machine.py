"""State machine of the hand: off, ready, holding, active, fault (docs/state_machine.md).

A request counts once, when its number changes. Faults leave only by REARM; after it the hand holds the
measured pose, and moves again only after ACTIVATE.
"""

from __future__ import annotations

from typing import Final

from guard.latch import FAULT, NONE, latch_hand, note_hand, write_finger_cause
from guard.memory import GuardMemory
from signals.compiled import law
from signals.faults import Cause
from signals.modes import MachineState, Request
from signals.typed import Goal, Model, State

OFF: Final = int(MachineState.OFF)
READY: Final = int(MachineState.READY)
HOLDING: Final = int(MachineState.HOLDING)
ACTIVE: Final = int(MachineState.ACTIVE)
ARM: Final = int(Request.ARM)
ACTIVATE: Final = int(Request.ACTIVATE)
STOP: Final = int(Request.STOP)
REARM: Final = int(Request.REARM)
SWITCH_OFF: Final = int(Request.OFF)
COMMAND_TOO_OLD: Final = int(Cause.COMMAND_TOO_OLD)
OPERATOR_STOP: Final = int(Cause.OPERATOR_STOP)

GOOD_CYCLES: Final = 10
"""Complete measurements in a row before an unpowered hand counts as ready."""


@law
def goal_age_s(goal: Goal, s: State) -> float:
    """Age of the goal [s]; a motion's goal (time 0) never ages."""
    return 0.0 if goal.time_ns == 0 else 1e-9 * float(s.time_ns - goal.time_ns)


@law
def set_fingers(m: Model, s: State, state: int, keep_faults: bool) -> None:
    """State of all fingers; those in fault keep it if asked to."""
    for f in range(m.n_fingers):
        if not (keep_faults and s.finger_state[f] == FAULT):
            s.finger_state[f] = state


@law
def clear_causes(m: Model, s: State) -> None:
    """No cause is latched any more, of the hand or of a finger; no joint's sensor is left out."""
    note_hand(s, NONE, -1, 0.0, 0.0)
    for j in range(m.n_joints):
        s.joint_sensor_cause[j] = NONE
    for f in range(m.n_fingers):
        write_finger_cause(s, f, NONE, -1, 0.0, 0.0)


@law
def take_request(m: Model, goal: Goal, mem: GuardMemory, s: State) -> None:
    """Effect of a new request on the state."""
    if goal.request_seq == mem.request_seq:
        return
    mem.request_seq = goal.request_seq
    request = goal.request
    if request == SWITCH_OFF:
        mem.off_wanted, mem.arm_pending, mem.activate_pending = 1, 0, 0
        s.machine = OFF
        clear_causes(m, s)
        set_fingers(m, s, OFF, False)
    elif request == STOP:
        mem.arm_pending = mem.activate_pending = 0
        if s.machine == HOLDING or s.machine == ACTIVE:
            latch_hand(m, s, OPERATOR_STOP, -1, 0.0, 0.0)
    elif request == ARM:
        mem.off_wanted = 0
        if s.machine == OFF or s.machine == READY:
            mem.arm_pending = 1
        elif s.machine == ACTIVE:
            s.machine = HOLDING
            set_fingers(m, s, HOLDING, True)
    elif request == ACTIVATE:
        if s.machine == HOLDING or s.machine == ACTIVE or mem.arm_pending != 0:
            mem.activate_pending = 1
    elif request == REARM:
        rearm(m, mem, s)


@law
def rearm(m: Model, mem: GuardMemory, s: State) -> None:
    """Clear faults; what was in fault holds the measured pose. Without a fault nothing happens."""
    mem.activate_pending = 0
    if s.machine == FAULT:
        clear_causes(m, s)
        s.machine = HOLDING
        set_fingers(m, s, HOLDING, False)
    elif s.machine == ACTIVE or s.machine == HOLDING:
        for f in range(m.n_fingers):
            if s.finger_state[f] == FAULT:
                s.finger_state[f] = HOLDING
                write_finger_cause(s, f, NONE, -1, 0.0, 0.0)


@law
def advance(m: Model, goal: Goal, mem: GuardMemory, s: State, complete: bool) -> None:
    """Transitions that need no request; ``complete``: every channel delivered a usable value.

    Off and ready follow the measurement; holding and active are reached by what was asked for before. An
    old goal turns active into holding. A hand whose fingers are all in fault is in fault itself.
    """
    mem.good_cycles = mem.good_cycles + 1 if complete else 0
    if s.machine == OFF and mem.off_wanted == 0 and mem.good_cycles >= GOOD_CYCLES:
        s.machine = READY
        set_fingers(m, s, READY, False)
    elif s.machine == READY and not complete:
        s.machine = OFF
        set_fingers(m, s, OFF, False)
    if s.machine == READY and mem.arm_pending != 0:
        mem.arm_pending = 0
        s.machine = HOLDING
        set_fingers(m, s, HOLDING, False)
    age = goal_age_s(goal, s)
    expired = age > m.command_age_s
    if mem.activate_pending != 0 and (s.machine == HOLDING or s.machine == ACTIVE):
        mem.activate_pending = 0
        if not expired:
            s.machine = ACTIVE
            set_fingers(m, s, ACTIVE, True)
            note_hand(s, NONE, -1, 0.0, 0.0)
    if s.machine == ACTIVE and expired:
        s.machine = HOLDING
        set_fingers(m, s, HOLDING, True)
        note_hand(s, COMMAND_TOO_OLD, -1, 1e3 * age, 1e3 * m.command_age_s)


@law
def fall_with_fingers(m: Model, s: State) -> None:
    """A hand whose fingers are all in fault is in fault; the causes are the fingers' own."""
    if s.machine == HOLDING or s.machine == ACTIVE:
        count = 0
        for f in range(m.n_fingers):
            if s.finger_state[f] == FAULT:
                count += 1
        if count == m.n_fingers and count > 0:
            s.machine = FAULT
