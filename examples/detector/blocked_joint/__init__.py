"""A detector of joints that something holds: they stand still, far from where they are wanted.

flexor itself pushes on, within all limits, for a hand may be meant to hold things. Where it is not, a hand
file says so:

    [[detectors]]
    function = "blocked_joint:detect"
    cause = "JOINT_BLOCKED"
    space = "joint"
    sentence = "{name}: stands still {value:.1f} deg from its goal, allowed are {limit:.1f} deg"
    hint = "take away what holds it, then re-arm"
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from signals.sizes import JOINTS

FAR_RAD: Final = math.radians(8.0)
"""Springs and friction alone leave less between a joint and its reference."""
STILL_RAD: Final = math.radians(2.0)
"""Travel within ``LONG_S`` that counts as none: joint speeds are too noisy for it."""
LONG_S: Final = 0.3

MEMORY: Final = np.dtype([("from_rad", "f8", (JOINTS,)), ("held_s", "f8", (JOINTS,))], align=True)
"""A record that flexor makes once and hands over in every cycle, zero at the start."""


def detect(model: Any, measurement: Any, memory: Any, state: Any, command: Any, findings: Any) -> None:
    """Mark every joint that has been held for long.

    Args:
        model: the hand, ``signals.records.MODEL``, shape (1,).
        measurement: what the sensors said, ``signals.records.MEASUREMENT``, shape (1,).
        memory: ``MEMORY``, shape (1,).
        state: what is estimated and wanted, ``signals.records.STATE``, shape (1,).
        command: what goes to the motors, ``signals.records.COMMAND``, shape (1,).
        findings: one for each joint, for ``space`` says so; ``found`` is 0 when this is called.
    """
    s, n = state[0], findings.shape[0]
    angle_rad, from_rad, held_s = s["joint_angle_rad"][:n], memory[0]["from_rad"][:n], memory[0]["held_s"][:n]
    away_rad = np.abs(s["ref_joint_angle_rad"][:n] - angle_rad)
    held = (away_rad > FAR_RAD) & (np.abs(angle_rad - from_rad) < STILL_RAD)
    from_rad[:] = np.where(held, from_rad, angle_rad)
    held_s[:] = np.where(held, held_s + float(s["dt_s"]), 0.0)
    findings["value"], findings["limit"] = np.degrees(away_rad), math.degrees(FAR_RAD)
    findings["found"] = held_s > LONG_S
