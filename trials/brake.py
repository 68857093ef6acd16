"""Currents in the place of the controller's: the strongest brake, and a hand that does not react at all."""

from __future__ import annotations

import numpy as np

from drivers.hal import Bus
from signals.layout import FloatArray
from signals.modes import MotorMode
from signals.records import COMMAND, RecordArray, new
from trials import rules


def ramp_left(since_s: float) -> float:
    """Share of a torque that may be left on the ramp that began some time ago [s]; 1: not begun."""
    return min(max(1.0 - since_s / rules.RAMP_S, 0.0), 1.0)


def most_a(left: float, full_a: FloatArray, weak_a: FloatArray) -> FloatArray:
    """Greatest currents [A] of motors that unwind: what is left of the full ones, at least the weak ones."""
    most: FloatArray = np.maximum(left * abs(full_a), weak_a)
    return most


class Brake:
    """Between the tick and the bus: from a time on its own currents, whatever is commanded.

    Args:
        bus: the plant.
        current_a: currents wanted, shape (n_motors,); NaN: what is commanded.
        limits_a: what may stay once the ramp from the second time on is over, and their greatest change in
            a cycle.
        times_ns: begin, and end of the full currents.
    """

    def __init__(
        self,
        bus: Bus,
        current_a: FloatArray,
        limits_a: tuple[FloatArray, FloatArray],
        times_ns: tuple[int, int],
    ) -> None:
        self._bus, self._command, self._times_ns = bus, new(COMMAND), times_ns
        weak_a, step_a = limits_a
        self._own = np.flatnonzero(np.isfinite(current_a))
        self._full_a, self._step_a, self._weak_a = current_a[self._own], step_a[self._own], weak_a[self._own]
        self._sent_a = np.zeros(len(self._own))

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """As the bus, with these currents."""
        begin_ns, end_ns = self._times_ns
        self._command[:] = command
        current = self._command["motor_current_a"][0]
        if now_ns <= begin_ns:
            self._sent_a[:] = current[self._own]
        else:
            # full, then on the ramp that any torque may have, and what may unwind for longer
            most = most_a(ramp_left(1e-9 * (now_ns - end_ns)), self._full_a, self._weak_a)
            wanted = np.clip(self._full_a, -most, most)
            self._sent_a += np.clip(wanted - self._sent_a, -self._step_a, self._step_a)
            current[self._own] = self._sent_a
            self._command["motor_mode"][0, self._own] = int(MotorMode.CURRENT)
        return self._bus.exchange(self._command, measurement, now_ns)


class Held:
    """From a time on every motor keeps the current that it had then: a hand that does not react at all.

    Args:
        bus: the plant, or what is between.
        begin_ns: that time.
    """

    def __init__(self, bus: Bus, begin_ns: int) -> None:
        self._bus, self._begin_ns, self._kept = bus, begin_ns, new(COMMAND)

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """As the bus, with these currents."""
        if now_ns <= self._begin_ns:
            self._kept[:] = command
        return self._bus.exchange(self._kept, measurement, now_ns)
