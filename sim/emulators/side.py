"""What an emulated device needs of the hand behind it: commands in, measurements out, time in between.

The same two records as at the HAL: an emulator decodes what came over its wire into ``command`` and sends
what stands in ``measurement``. Several emulators share one side, each touches its own channels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from drivers.hal import Bus
from signals.modes import MotorMode
from signals.records import COMMAND, MEASUREMENT, RecordArray, new


class DeviceSide(Protocol):
    """The hand as its electronics see it."""

    command: RecordArray
    """``signals.records.COMMAND``, shape (1,): what the motors are told."""
    measurement: RecordArray
    """``signals.records.MEASUREMENT``, shape (1,): what the sensors show."""
    positions: bool
    """Whether its motors follow an angle (MotorMode.POSITION); devices refuse their position modes if not."""

    def advance(self, now_ns: int) -> None:
        """Let time pass until ``now_ns`` under the present command, then refresh ``measurement``."""


class BackendSide:
    """A plant behind the HAL (``sim.backend.SimulatedBus`` in real time).

    The plant's time begins with the first command that asks for torque: until then the hand is held as it
    was made, pretensioned at its start pose. (Its smooth friction would let go of the tension in seconds; the
    friction of real gears does not.)

    Args:
        make: makes the backend; called twice, the first one only shows the start pose.
        least_ns: shortest step; emulators ask far more often than the plant needs. Asked twice at one
            instant it is not moved: a backend takes no exchange for no time at all.
    """

    def __init__(self, make: Callable[[], Bus], least_ns: int = 1) -> None:
        self.command, self.measurement = new(COMMAND), new(MEASUREMENT)
        self._least_ns, self._stepped_ns = least_ns, 0
        make().exchange(self.command, self.measurement, 1)
        self.bus, self.held = make(), True
        self.positions = MotorMode.POSITION in self.bus.capabilities.motor_modes
        self.bus.activate()

    def advance(self, now_ns: int) -> None:
        """One exchange with the backend, unless the last one was just now."""
        if self.held:
            if not self.command["motor_mode"].any():
                self._show_again(now_ns)
                return
            self.held = False
        if now_ns - self._stepped_ns >= self._least_ns:
            self._stepped_ns = now_ns
            self.bus.exchange(self.command, self.measurement, now_ns)

    def _show_again(self, now_ns: int) -> None:
        x = self.measurement
        for name in ("time_ns", "motor_time_ns", "hall_time_ns", "joint_time_ns", "axis_time_ns"):
            x[name] = now_ns


class SpringSide:
    """Motors, each against a spring and a damper: small, exact in time, for tests of wires.

    ``b w = kt i - k angle`` has the exact step ``angle = rest + (angle - rest) exp(-k dt / b)`` with ``rest =
    kt i / k``; a motor in POSITION mode goes to its goal with the same time constant. Hall channel i shows
    ``2048 + 400 angle_i``; an axis follows its command with a lag of 20 ms.
    """

    positions = True
    KT_NM_A, K_NM_RAD, LAG_S, AXIS_LAG_S = 1.0, 1.0, 0.02, 0.02
    HALL_ZERO_COUNT, HALL_COUNTS_RAD = 2048.0, 400.0

    def __init__(self, motors: int, halls: int = 0, axes: int = 0, least_ns: int = 0) -> None:
        self.least_ns = least_ns
        """Shortest step; a bus full of devices asks far more often than these motors move."""
        self.command, self.measurement = new(COMMAND), new(MEASUREMENT)
        self.n, self.halls, self.axes = motors, halls, axes
        self.angle_rad, self.speed_rad_s = np.zeros(motors), np.zeros(motors)
        self.axis_rad = np.zeros(axes)
        self._now_ns = 0
        self._show(0)

    def advance(self, now_ns: int) -> None:
        """Move exactly to ``now_ns`` under the present command."""
        if now_ns - self._now_ns < self.least_ns:
            return
        c, n = self.command[0], self.n
        mode = c["motor_mode"][:n]
        dt_s = (now_ns - self._now_ns) * 1e-9 if self._now_ns else 0.0
        self._now_ns = now_ns
        rest = np.where(mode == 1, c["motor_current_a"][:n] * (self.KT_NM_A / self.K_NM_RAD), 0.0)
        if (mode == 2).any():
            rest = np.where(mode == 2, c["motor_angle_rad"][:n], rest)
        away = (self.angle_rad - rest) * math.exp(-dt_s / self.LAG_S)
        self.angle_rad, self.speed_rad_s = rest + away, -away / self.LAG_S
        lag = 1.0 - math.exp(-dt_s / self.AXIS_LAG_S)
        wanted = c["axis_angle_rad"][: self.axes] - self.axis_rad
        self.axis_rad = self.axis_rad + np.where(c["axis_enable"][: self.axes] != 0, wanted * lag, 0.0)
        self._show(now_ns)

    def _show(self, now_ns: int) -> None:
        x, c, n = self.measurement[0], self.command[0], self.n
        x["motor_angle_rad"][:n], x["motor_speed_rad_s"][:n] = self.angle_rad, self.speed_rad_s
        x["motor_current_a"][:n] = np.where(c["motor_mode"][:n] == 1, c["motor_current_a"][:n], 0.0)
        x["motor_temperature_degc"][:n] = 30.0
        x["motor_time_ns"][:n] = x["hall_time_ns"][: self.halls] = now_ns
        angle = np.zeros(self.halls)
        angle[: min(n, self.halls)] = self.angle_rad[: self.halls]
        fine = np.clip(self.HALL_ZERO_COUNT + self.HALL_COUNTS_RAD * angle, 0, 4095)
        x["hall_count"][: self.halls] = np.rint(fine)
        x["hall_fine_count"][: self.halls] = x["hall_count"][: self.halls]
        x["axis_angle_rad"][: self.axes] = self.axis_rad
        x["axis_time_ns"][: self.axes] = now_ns
        x["time_ns"] = now_ns
