"""What a tendon does to joints that move into a stop as their finger, in fault, is let go.

A finger that a goal had set in motion goes on moving for a moment as a fault stops it, and what leads its
tendons down at rest is no brake then. So what holds such a joint back is not unwound, and what drives it is
let go at once. Beside a lost tendon joints are thrown from far: there what holds one back is not unwound
wherever it is.
"""

from __future__ import annotations

from typing import Final

from guard.memory import GuardMemory
from guard.urgent import NEAR_STOP_RAD
from signals.compiled import law
from signals.typed import Model, State

FALLS_S: Final = 0.2
"""Time after a fault in which what was in motion comes to its stops."""
DRIVEN_RAD_S: Final = 1.0
"""Speed from which on what drives a joint is let go: more than the noise of what is told of one at rest."""

NOTHING: Final = 0
HOLDS: Final = 1
DRIVES: Final = 2


@law
def part_in_motion(m: Model, mem: GuardMemory, s: State, f: int, t: int, near_rad: float) -> int:
    """What tendon ``t`` does to joints that are faster than they may come to a stop less than a way ahead.

    ``HOLDS`` if it holds one back, ``DRIVES`` if it only drives one that is fast, else ``NOTHING``.
    """
    found = NOTHING
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        arm, speed, q = mem.P_tj_m[t, j], s.joint_speed_rad_s[j], s.joint_angle_rad[j]
        way = m.joint_max_rad[j] - q if speed > 0.0 else q - m.joint_min_rad[j]
        if arm != 0.0 and way < near_rad and abs(speed) > m.stop_speed_rad_s:
            # pulling turns the joint towards -P
            if (arm > 0.0) == (speed > 0.0):
                return HOLDS
            if abs(speed) > DRIVEN_RAD_S:
                found = DRIVES
    return found


@law
def part_in_fall(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> int:
    """The same of stops close by, for a moment after any fault that lost no tendon."""
    if mem.probe_phase[f] != 0 or mem.fault_age_s[f] >= FALLS_S:
        return NOTHING
    return part_in_motion(m, mem, s, f, t, NEAR_STOP_RAD)
