"""Joints that another one takes along: a dip goes with its pip where the tendons over both stand in guides.

They stand because their motors do, or because friction holds them while their motors turn: then a joint is
moved by a motor whose tendon does not run over it.
"""

from __future__ import annotations

from typing import Final

from guard.memory import GuardMemory
from signals.compiled import inlined, law
from signals.layout import FloatArray
from signals.typed import Model

TAKEN_ALONG: Final = 0.5
"""Turn of a joint per turn of one before it from which on the one takes the other along."""


@law
def note_carriers(m: Model, mem: GuardMemory) -> None:
    """Which joint takes each joint along, and its turn per turn of that one, into ``mem``; 0: none does.

    Where tendons over both stand in their guides, by their motors or by friction alone, joint j turns with
    joint i: ``dq_j = c dq_i`` with ``c = -sum P_ti P_tj / sum P_tj^2``. That of the straight hand.
    """
    P = m.P_tj_m
    for j in range(m.n_joints):
        f = m.joint_finger[j]
        mem.carrier[j], mem.carried_turn[j] = j, 0.0
        for b in range(m.finger_n_joints[f]):
            i = m.finger_joint[f, b]
            both = own = alone = 0.0
            for k in range(m.finger_n_tendons[f]):
                t = m.finger_tendon[f, k]
                both += P[t, i] * P[t, j]
                own += P[t, j] * P[t, j]
                alone = max(alone, abs(P[t, i]) if P[t, j] == 0.0 else 0.0)
            turn = -both / own if i != j and own > 0.0 and alone > 0.0 else 0.0
            if abs(turn) > max(TAKEN_ALONG, abs(mem.carried_turn[j])):
                mem.carrier[j], mem.carried_turn[j] = i, turn


@inlined
def arm_m(mem: GuardMemory, P: FloatArray, t: int, j: int) -> float:
    """Arm [m] of tendon ``t`` at joint ``j``, or where it has none by the joint that takes ``j`` along."""
    if P[t, j] == 0.0 and mem.carried_turn[j] != 0.0:
        return float(P[t, mem.carrier[j]] / mem.carried_turn[j])
    return float(P[t, j])
