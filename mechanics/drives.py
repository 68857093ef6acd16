"""What drives take and tell. A hand without servos is asked once: ``n_servos`` stands before all else."""

from __future__ import annotations

from typing import Any, Final

from signals.compiled import law
from signals.modes import DriveCommand, DriveReport, Mode
from signals.typed import Model

CURRENT_COMMAND: Final = int(DriveCommand.CURRENT)
REPORTS_CURRENT: Final = int(DriveReport.CURRENT)
FORCE_MODES: Final = (Mode.MOTOR_TORQUE, Mode.TENDON_FORCE, Mode.JOINT_TORQUE)
"""What only a drive that takes currents can do."""


@law
def is_servo(m: Model, i: int) -> bool:
    """True if motor ``i`` takes angles."""
    return bool(m.motor_command[i] != CURRENT_COMMAND)


@law
def takes_angles(m: Model, f: int) -> bool:
    """True if the motors of finger ``f`` take angles; a finger has one kind of drive."""
    return bool(
        m.n_servos != 0 and m.finger_n_tendons[f] > 0 and is_servo(m, m.tendon_motor[m.finger_tendon[f, 0]])
    )


def angles_taken(m: Any, f: int) -> bool:
    """``takes_angles`` without compiled code; ``m``: MODEL scalar."""
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    return bool((m["motor_command"][m["tendon_motor"][tendons]] != CURRENT_COMMAND).any())


@law
def tells_current(m: Model, i: int) -> bool:
    """True if motor ``i`` reports its current."""
    return bool((m.motor_reports[i] & REPORTS_CURRENT) != 0)
