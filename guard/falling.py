"""What a tendon does to joints that still move into a stop close by, as their finger is led down.

A finger that a goal had set in motion goes on moving for a moment as a fault stops it, and what leads its
tendons down at rest is no brake then. So what holds such a joint back is not unwound, and what drives it is
let go at once.
"""

from __future__ import annotations

from typing import Final

from guard.memory import GuardMemory
from signals.compiled import law
from signals.typed import Model, State

FALLS_S: Final = 0.2
"""Time after a fault in which what was in motion comes to its stops."""
FALLS_RAD: Final = 0.15
"""Way before a stop within which a joint falls into it,"""
FALLS_RAD_S: Final = 0.3
"""and speed from which on it does."""
DRIVEN_RAD_S: Final = 1.0
"""Speed from which on what drives it is let go: half of what is soft for a stop, more than noise."""

NOTHING: Final = 0
HOLDS: Final = 1
DRIVES: Final = 2


@law
def part_in_fall(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> int:
    """``HOLDS`` if tendon ``t`` holds back a joint of finger ``f`` that falls; ``DRIVES``: drives one."""
    found = NOTHING
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        arm, speed, q = mem.P_tj_m[t, j], s.joint_speed_rad_s[j], s.joint_angle_rad[j]
        way = m.joint_max_rad[j] - q if speed > 0.0 else q - m.joint_min_rad[j]
        if arm == 0.0 or way >= FALLS_RAD or abs(speed) <= FALLS_RAD_S:
            continue
        # pulling turns the joint towards -P
        if (arm > 0.0) == (speed > 0.0):
            return HOLDS
        if abs(speed) > DRIVEN_RAD_S:
            found = DRIVES
    return found
