"""What drives take and tell. A hand without servos is asked once: ``n_servos`` stands before all else."""

from __future__ import annotations

from typing import Final

from signals.compiled import law
from signals.modes import DriveCommand, DriveReport
from signals.typed import Model

CURRENT_COMMAND: Final = int(DriveCommand.CURRENT)
REPORTS_CURRENT: Final = int(DriveReport.CURRENT)


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


@law
def tells_current(m: Model, i: int) -> bool:
    """True if motor ``i`` reports its current."""
    return bool((m.motor_reports[i] & REPORTS_CURRENT) != 0)
