"""Latching of causes: the first one of a finger or of the hand stays until an explicit re-arm.

A cause that a probe makes more precise (tension lost -> broken or slack) replaces its forerunner.
"""

from __future__ import annotations

from typing import Any, Final

from signals.compiled import law
from signals.faults import Cause
from signals.modes import MachineState

FAULT: Final = int(MachineState.FAULT)
NONE: Final = int(Cause.NONE)


@law
def write_finger_cause(s: Any, f: int, cause: int, part: int, value: float, limit: float) -> None:
    """Cause and figures of finger ``f`` into the state."""
    s.finger_cause[f] = cause
    s.finger_cause_part[f] = part
    s.finger_cause_value[f] = value
    s.finger_cause_limit[f] = limit
    s.finger_cause_tick[f] = s.tick


@law
def latch_finger(s: Any, f: int, cause: int, part: int, value: float, limit: float) -> None:
    """Fault of finger ``f``; nothing happens if it already has one."""
    if s.finger_state[f] != FAULT:
        s.finger_state[f] = FAULT
        write_finger_cause(s, f, cause, part, value, limit)


@law
def note_hand(s: Any, cause: int, part: int, value: float, limit: float) -> None:
    """Cause of the whole hand into the state, without a fault."""
    s.hand_cause = cause
    s.hand_cause_part = part
    s.hand_cause_value = value
    s.hand_cause_limit = limit


@law
def latch_hand(m: Any, s: Any, cause: int, part: int, value: float, limit: float) -> None:
    """Fault of the whole hand: every finger reacts; nothing happens if the hand already has one."""
    if s.machine != FAULT:
        s.machine = FAULT
        note_hand(s, cause, part, value, limit)
        for f in range(m.n_fingers):
            s.finger_state[f] = FAULT
