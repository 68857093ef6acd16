"""What a simulated bus says that simulates no more: closed, or diverged."""

from __future__ import annotations

from signals.modes import BusStatus, ChannelStatus
from signals.records import RecordArray


def nothing_answers(measurement: RecordArray) -> int:
    """Every channel is missing, values and times stay; returns the bus' status."""
    for name in ("motor_status", "hall_status", "axis_status"):
        measurement[name] |= int(ChannelStatus.MISSING)
    return int(BusStatus.LOST)
