"""What the slow block of a servo says: reset, tripped watchdog, latched error, temperature."""

from __future__ import annotations

from typing import NamedTuple

from drivers.dynamixel.servo import Servo
from signals.modes import ChannelStatus

TRIPPED = 0xFF
"""Bus watchdog register after the watchdog stopped the servo (-1)."""


class Found(NamedTuple):
    """State of one servo."""

    problem: str
    bits: int
    temperature_degc: float
    reboot: bool = False
    """Only a reboot clears it."""


def found_in(servo: Servo, data: bytes, should_pull: bool) -> Found:
    """State of a servo from its slow block.

    Args:
        servo: whose block it is.
        data: one byte for each name of ``servo.CHECKED``.
        should_pull: whether the driver has switched its torque on.
    """
    error, torque, watchdog, degc = data
    if error:
        text = f"hardware error: {servo.hardware_error(error)}"
        return Found(text, int(ChannelStatus.DEVICE_ERROR), degc, reboot=True)
    if should_pull and watchdog == TRIPPED:
        return Found("its bus watchdog tripped", int(ChannelStatus.HELD), degc)
    if should_pull and not torque:
        return Found("torque is off: it was reset", int(ChannelStatus.RESET), degc)
    return Found("", 0, degc)
