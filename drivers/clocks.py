"""A device's clock on this computer's: unwrapped, and shifted by the least delay seen.

A sample taken at device time ``d`` arrives at ``h = d + offset + delay`` with ``delay >= 0``. The offset
follows the least ``h - d`` of the recent past and may grow by the greatest drift between two crystals, so
that ``d + offset`` is the sample's time plus the least delay of the way, never later than ``h``.
"""

from __future__ import annotations

DRIFT_MAX = 200e-6
"""Greatest relative drift between a microcontroller's crystal and a computer's clock."""


class DeviceClock:
    """Maps a device's counter to monotonic time.

    Args:
        tick_ns: length of one tick of the device's counter [ns].
        bits: width of the counter; it is unwrapped.
        least_delay_ns: least delay of the way, if known, taken off every mapped time [ns].
    """

    __slots__ = ("_bits", "_last", "_last_host_ns", "_least_delay_ns", "_offset_ns", "_tick_ns", "resets")

    def __init__(self, tick_ns: int = 1, bits: int = 64, least_delay_ns: int = 0) -> None:
        self._tick_ns, self._bits, self._least_delay_ns = tick_ns, bits, least_delay_ns
        self.resets = 0
        """How often the device's counter began anew."""
        self.forget()

    def forget(self) -> None:
        """Begin anew (another device, a restart)."""
        self._last = -1
        self._last_host_ns = 0
        self._offset_ns = 0

    def host_ns(self, counter: int, arrived_ns: int) -> int:
        """Monotonic time of a sample [ns], at most ``arrived_ns``.

        Args:
            counter: the device's counter at the sample, as on the wire.
            arrived_ns: monotonic time at which the sample arrived.
        """
        if self._last < 0:
            self._last, self._last_host_ns = counter, arrived_ns
            self._offset_ns = arrived_ns - counter * self._tick_ns
            return arrived_ns - self._least_delay_ns
        step = (counter - self._last) & ((1 << self._bits) - 1)
        if step >> (self._bits - 1):
            step -= 1 << self._bits
        self._last += step
        gone_ns = arrived_ns - self._last_host_ns
        self._last_host_ns = arrived_ns
        seen_ns = arrived_ns - self._last * self._tick_ns
        grown_ns = self._offset_ns + int(gone_ns * DRIFT_MAX)
        if seen_ns - grown_ns > 1_000_000_000:
            self.resets += 1
            self._last, self._offset_ns = counter, arrived_ns - counter * self._tick_ns
            return arrived_ns - self._least_delay_ns
        self._offset_ns = min(seen_ns, grown_ns)
        return self._last * self._tick_ns + self._offset_ns - self._least_delay_ns
