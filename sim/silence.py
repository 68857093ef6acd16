"""What a simulated bus says that simulates no more: closed, or diverged."""

from __future__ import annotations

from typing import Final

from signals.compiled import law
from signals.modes import BusStatus, ChannelStatus
from signals.records import RecordArray
from signals.typed import Measurement

_MISSING: Final = int(ChannelStatus.MISSING)


@law
def silence(z: Measurement) -> None:
    """Every channel is missing, values and times stay."""
    for i in range(z.motor_status.shape[0]):
        z.motor_status[i] |= _MISSING
    for t in range(z.hall_status.shape[0]):
        z.hall_status[t] |= _MISSING
    for a in range(z.axis_status.shape[0]):
        z.axis_status[a] |= _MISSING
    for j in range(z.joint_status.shape[0]):
        z.joint_status[j] |= _MISSING


def nothing_answers(measurement: RecordArray) -> int:
    """Every channel is missing, values and times stay; returns the bus' status."""
    for name in ("motor_status", "hall_status", "axis_status", "joint_status"):
        measurement[name] |= _MISSING
    return int(BusStatus.LOST)
