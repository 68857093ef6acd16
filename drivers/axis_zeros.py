"""A bus whose wrist axes tell angles of the hand: zeros of their sensors are taken off, drives get them back.

The drive of an axis closes its loop by the axis' own sensor, so what it is asked for has the zero too. A hand
whose zeros are 0 has its bus as it is, and no copy is made.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drivers.hal import Bus
from drivers.passing import Passing
from signals.records import COMMAND, MEASUREMENT, RecordArray, new


def with_zeros(bus: Bus, zeros_rad: Sequence[float]) -> Bus:
    """The bus of a hand whose axes' sensors have these zeros [rad]."""
    return ZeroedAxes(bus, zeros_rad) if any(zeros_rad) else bus


class ZeroedAxes(Passing):
    """Between hand and devices.

    Args:
        bus: the devices, all of them.
        zeros_rad: what the sensor of each axis shows beyond the axis' angle.
    """

    def __init__(self, bus: Bus, zeros_rad: Sequence[float]) -> None:
        super().__init__(bus)
        self._zeros = np.array(zeros_rad, dtype=np.float64)
        n = len(self._zeros)
        self._command, self._measurement = new(COMMAND), new(MEASUREMENT)
        self._wanted: np.ndarray = self._command["axis_angle_rad"][0, :n]
        self._target: RecordArray | None = None
        self._told = self._wanted

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Exchange in the sensors' angles; what a silent axis has told stays, as its record does."""
        if measurement is not self._target:
            self._target = measurement
            self._told = measurement["axis_angle_rad"][0, : len(self._zeros)]
        status = self.bus.exchange(self._shown(command), self._measurement, now_ns)
        np.copyto(measurement, self._measurement)
        self._told -= self._zeros
        return status

    def forward(self, command: RecordArray) -> None:
        """As the bus, in the sensors' angles."""
        super().forward(self._shown(command))

    def _shown(self, command: RecordArray) -> RecordArray:
        np.copyto(self._command, command)
        self._wanted += self._zeros
        return self._command
