"""What an emulated device needs of the hand behind it: commands in, measurements out, time in between.

The same two records as at the HAL: an emulator decodes what came over its wire into ``command`` and sends
what stands in ``measurement``. Several emulators share one side, each touches its own channels.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from drivers.hal import Bus
from signals.records import COMMAND, MEASUREMENT, RecordArray, new


class DeviceSide(Protocol):
    """The hand as its electronics see it."""

    command: RecordArray
    """``signals.records.COMMAND``, shape (1,): what the motors are told."""
    measurement: RecordArray
    """``signals.records.MEASUREMENT``, shape (1,): what the sensors show."""

    def advance(self, now_ns: int) -> None:
        """Let time pass until ``now_ns`` under the present command, then refresh ``measurement``."""


class BackendSide:
    """A plant behind the HAL (``sim.backend.SimulatedBus`` in real time).

    Args:
        bus: the backend; configured and activated here.
    """

    def __init__(self, bus: Bus) -> None:
        self.bus = bus
        self.command, self.measurement = new(COMMAND), new(MEASUREMENT)
        bus.activate()

    def advance(self, now_ns: int) -> None:
        """One exchange with the backend."""
        self.bus.exchange(self.command, self.measurement, now_ns)


class BenchSide:
    """Motors on a test bench, each against a spring: small, exact at rest, for tests of wires.

    ``J w' = kt i - b w - k angle``; at rest ``angle = kt i / k``. A motor in POSITION mode follows a stiff
    spring to its goal within its current limit. Hall channel i shows ``2048 + 400 angle_i``; an axis follows
    its command with a lag of 20 ms.
    """

    STEP_NS = 250_000
    KT_NM_A, K_NM_RAD, B_NMS_RAD, J_KG_M2 = 1.0, 1.0, 0.08, 0.0008
    SERVO_NM_RAD, CURRENT_MAX_A = 40.0, 8.0
    HALL_ZERO_COUNT, HALL_COUNTS_RAD, AXIS_LAG_S = 2048.0, 400.0, 0.02

    def __init__(self, motors: int, halls: int = 0, axes: int = 0, start_ns: int = 0) -> None:
        self.command, self.measurement = new(COMMAND), new(MEASUREMENT)
        self.n, self.halls, self.axes = motors, halls, axes
        self.angle_rad, self.speed_rad_s = np.zeros(motors), np.zeros(motors)
        self.axis_rad = np.zeros(axes)
        self._now_ns = start_ns
        self._show(start_ns)

    def advance(self, now_ns: int) -> None:
        """Integrate in fixed steps (semi-implicit Euler)."""
        if not self._now_ns:
            self._now_ns = now_ns
        c, n = self.command[0], self.n
        mode, goal_rad = c["motor_mode"][:n], c["motor_angle_rad"][:n]
        steps = min((now_ns - self._now_ns) // self.STEP_NS, 4000)
        dt_s = self.STEP_NS * 1e-9
        for _ in range(steps):
            servo_a = np.clip(
                self.SERVO_NM_RAD * (goal_rad - self.angle_rad), -self.CURRENT_MAX_A, self.CURRENT_MAX_A
            )
            current_a = np.select([mode == 1, mode == 2], [c["motor_current_a"][:n], servo_a], 0.0)
            torque_nm = self.KT_NM_A * current_a - self.K_NM_RAD * self.angle_rad
            self.speed_rad_s += dt_s * torque_nm / self.J_KG_M2
            self.speed_rad_s /= 1.0 + dt_s * self.B_NMS_RAD / self.J_KG_M2
            self.angle_rad += dt_s * self.speed_rad_s
            enable = c["axis_enable"][: self.axes] != 0
            lag = (c["axis_angle_rad"][: self.axes] - self.axis_rad) * dt_s / self.AXIS_LAG_S
            self.axis_rad += np.where(enable, lag, 0.0)
        if now_ns - self._now_ns > 4000 * self.STEP_NS:
            self._now_ns = now_ns
        else:
            self._now_ns += steps * self.STEP_NS
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
