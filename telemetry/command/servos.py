"""What drives that take angles, or springs in the place of tendons, cannot fulfil is refused with the reason.

It is never silently left out.
"""

from __future__ import annotations

from typing import Any, Final

from mechanics.drives import FORCE_MODES, angles_taken
from signals.modes import DriveCommand, FingerKind, Mode

FORCES: Final = {
    "joint_torques": "torque",
    "tensions": "tension",
    "tension_rates": "tension",
    "motor_torques": "torque",
    "impedances": "impedance",
    "dampings": "damping",
    "stiffnesses": "stiffness",
}
"""Argument of ``goal`` -> what it wishes for that only a drive with currents gives."""


def _pull_both_ways(m: Any, finger: int) -> bool:
    """Whether a drive of a finger that takes an angle has tendons on both sides."""
    tendons = m["finger_tendon"][finger, : m["finger_n_tendons"][finger]]
    motors, radius = m["tendon_motor"][tendons], m["spool_radius_m"][tendons]
    both = set(motors[radius > 0.0].tolist()) & set(motors[radius < 0.0].tolist())
    return any(m["motor_command"][i] != DriveCommand.CURRENT for i in both)


def finger_of(m: Any, space: str, index: int) -> int:
    """Finger of a joint, a tendon or a motor."""
    if space == "joint":
        return int(m["joint_finger"][index])
    if space == "motor":
        index = int((m["tendon_motor"][: m["n_tendons"]] == index).argmax())
    return int(m["tendon_finger"][index])


def unfulfillable(m: Any, argument: str, space: str, index: int, value: float) -> str:
    """Why a wish cannot be fulfilled; empty if it can. No torque and no stiffness are no wish.

    Args:
        m: MODEL scalar.
        argument: argument of ``goal``.
        space: its index space.
        index: part in it.
        value: what is wished for.
    """
    if argument == "pretension" and value != m["pretension_n"][index] and _pull_both_ways(m, index):
        return "its drives take angles and have tendons on both sides: no angle stretches both"
    stiffer = (argument == "pretension" and value != m["pretension_n"][index]) or (
        argument == "stiffnesses" and value != 0.0
    )
    if stiffer:
        finger = index if space == "finger" else finger_of(m, space, index)
        if m["finger_kind"][finger] == FingerKind.SPRUNG:
            return "springs open its finger: no tendon pulls against another, so that none stiffens it"
    wish = FORCES.get(argument)
    if wish is None or not angles_taken(m, finger_of(m, space, index)):
        return ""
    if value == 0.0 and argument in ("joint_torques", "motor_torques", "stiffnesses", "tension_rates"):
        return ""
    return f"the drives of its finger take angles: their own loops decide, and no {wish} can be asked of them"


def unfulfillable_mode(m: Any, finger: int, mode: Mode) -> str:
    """Why a finger cannot be in a mode; empty if it can."""
    if mode in FORCE_MODES and angles_taken(m, finger):
        return f"its drives take angles; {mode.name.lower()} needs drives that take currents"
    return ""
