"""Latching of causes: the first one of a finger or of the hand stays until an explicit re-arm.

A cause that a probe makes more precise (tension lost -> broken or slack) replaces its forerunner. So does a
fault of a sensor that the probe goes by, which ends it.
"""

from __future__ import annotations

from typing import Final, Protocol

from guard.memory import GuardMemory
from signals.compiled import law
from signals.faults import Cause
from signals.layout import Records, dtype_of
from signals.modes import MachineState
from signals.typed import Model, State

FAULT: Final = int(MachineState.FAULT)
NONE: Final = int(Cause.NONE)

HOLDING: Final = int(MachineState.HOLDING)
ACTIVE: Final = int(MachineState.ACTIVE)


class Finding(Protocol):
    """What a foreign detector says about one part: 1 in ``found`` latches its cause with these figures."""

    found: int
    value: float
    limit: float


FINDING: Final = dtype_of(Finding)

SPACES: Final = ("motor", "tendon", "joint", "finger", "axis", "hand")
"""What the findings of a foreign detector can count, by number; axes and the hand stop the whole hand."""
BY_MOTOR, BY_TENDON, BY_JOINT, BY_FINGER = range(4)

WINDING: Final = 1
"""Phases of a probe (``guard.probe``): it winds;"""
PROBED: Final = 2
"""it has ended."""


@law
def write_finger_cause(s: State, f: int, cause: int, part: int, value: float, limit: float) -> None:
    """Cause and figures of finger ``f`` into the state."""
    s.finger_cause[f] = cause
    s.finger_cause_part[f] = part
    s.finger_cause_value[f] = value
    s.finger_cause_limit[f] = limit
    s.finger_cause_tick[f] = s.tick


@law
def latch_finger(s: State, f: int, cause: int, part: int, value: float, limit: float) -> None:
    """Fault of finger ``f``; nothing happens if it already has one."""
    if s.finger_state[f] != FAULT:
        s.finger_state[f] = FAULT
        write_finger_cause(s, f, cause, part, value, limit)


@law
def latch_probed(
    mem: GuardMemory, s: State, f: int, t: int, cause: int, part: int, value: float, limit: float
) -> None:
    """Fault of a motor's or Hall sensor's channel of tendon ``t``; one that is being probed ends with it.

    What winds by a sensor that is not believed winds without end.
    """
    if s.finger_state[f] != FAULT:
        latch_finger(s, f, cause, part, value, limit)
    elif mem.last_finger_state[f] == FAULT and mem.probe_phase[f] == WINDING and mem.probe_tendon[f] == t:
        write_finger_cause(s, f, cause, part, value, limit)
        mem.probe_phase[f] = PROBED


@law
def note_hand(s: State, cause: int, part: int, value: float, limit: float) -> None:
    """Cause of the whole hand into the state, without a fault."""
    s.hand_cause = cause
    s.hand_cause_part = part
    s.hand_cause_value = value
    s.hand_cause_limit = limit


@law
def latch_hand(m: Model, s: State, cause: int, part: int, value: float, limit: float) -> None:
    """Fault of the whole hand: every finger reacts; nothing happens if the hand already has one."""
    if s.machine != FAULT:
        s.machine = FAULT
        note_hand(s, cause, part, value, limit)
        for f in range(m.n_fingers):
            s.finger_state[f] = FAULT


@law
def finger_of(m: Model, space: int, part: int) -> int:
    """Finger that a part belongs to, -1: the whole hand."""
    if space == BY_MOTOR:
        for t in range(m.n_tendons):
            if m.tendon_motor[t] == part:
                return int(m.tendon_finger[t])
        return -1
    if space == BY_TENDON:
        return int(m.tendon_finger[part])
    if space == BY_JOINT:
        return int(m.joint_finger[part])
    return part if space == BY_FINGER else -1


@law
def latch_findings(
    model: Records[Model], state: Records[State], findings: Records[Finding], space: int, cause: int
) -> None:
    """Latch what a foreign detector found, while the hand is armed.

    Args:
        model: ``signals.records.MODEL``, shape (1,).
        state: ``signals.records.STATE``, shape (1,).
        findings: ``FINDING``, shape (parts,).
        space: index in ``SPACES``.
        cause: number of its cause.
    """
    m, s = model[0], state[0]
    if s.machine != HOLDING and s.machine != ACTIVE:
        return
    for part in range(findings.shape[0]):
        one = findings[part]
        if one.found != 0:
            f = finger_of(m, space, part)
            if f >= 0:
                latch_finger(s, f, cause, part, one.value, one.limit)
            else:
                latch_hand(m, s, cause, part, one.value, one.limit)
