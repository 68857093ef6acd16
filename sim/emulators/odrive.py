"""One emulated ODrive axis: states, cyclic messages, watchdog, endpoints - what CANSimple shows of it."""

from __future__ import annotations

import math
import struct
from typing import Final

from drivers.odrive import codec
from drivers.odrive.codec import AxisState, Command, ControlMode, Frame
from signals.modes import MotorMode
from sim.emulators.loop import NEVER
from sim.emulators.side import DeviceSide

ENCODER: Final = int(Command.ENCODER)
ERROR_WATCHDOG: Final = codec.WATCHDOG_EXPIRED["0.6"]
ERROR_ESTOP: Final = codec.ESTOP_REQUESTED["0.6"]
ERROR_NO_POSITION: Final = 0x10
"""Configuration refused: position control behind a hand that moves by currents alone."""
BUS_V: Final = 24.0
ASKED: Final = frozenset(
    {Command.HEARTBEAT, Command.ENCODER, Command.IQ, Command.TEMPERATURE, Command.BUS_VOLTAGE_CURRENT}
)
"""Messages that a remote frame asks for; it comes as a frame without data (socketcand knows no other)."""
ENDPOINTS: Final = {
    10: ("current_soft_max", "<f"),
    11: ("vel_limit", "<f"),
    12: ("watchdog_timeout", "<f"),
    13: ("enable_watchdog", "<?"),
}
"""Made-up endpoint numbers of the emulated firmware."""


class EmulatedAxis:
    """One axis.

    Velocity control is not emulated; position control only where the hand behind it can (``side.positions``).
    An axis that is asked for closed loop in another mode latches ``ERROR_NO_POSITION``.

    Args:
        node: its node.
        side: the hand behind it.
        motor: its motor's index there.
        torque_constant_nm_a: torque of the shaft per ampere.
        direction: sign of the device's angle.
        gear_ratio: turns of the shaft per turn of the spool.
        heartbeat_ms: period of the heartbeat.
        feedback_ms: period of the encoder message.
        slow_ms: period of Iq and temperature; 0: none.
        start_ns: when it begins to talk.
        watchdog_s: time of its watchdog, saved in the drive; 0: off.
    """

    def __init__(
        self,
        node: int,
        side: DeviceSide,
        motor: int,
        *,
        torque_constant_nm_a: float = 0.05,
        direction: int = 1,
        gear_ratio: float = 1.0,
        heartbeat_ms: int = 100,
        feedback_ms: int = 10,
        slow_ms: int = 50,
        start_ns: int = 0,
        watchdog_s: float = 0.0,
    ) -> None:
        self.node, self.side, self.motor = node, side, motor
        self._nm_a, self._direction = torque_constant_nm_a, direction
        self._turns_per_rad = direction * gear_ratio / (2.0 * math.pi)
        self._periods_ns = {  # by plain number: an enumeration's hash is a call
            int(Command.HEARTBEAT): heartbeat_ms * 1_000_000,
            int(Command.ENCODER): feedback_ms * 1_000_000,
            int(Command.IQ): slow_ms * 1_000_000,
            int(Command.TEMPERATURE): 4 * slow_ms * 1_000_000,
        }
        x = side.measurement
        self._angle_rad, self._speed_rad_s = x["motor_angle_rad"][0], x["motor_speed_rad_s"][0]
        self._due_ns = {c: start_ns + p for c, p in self._periods_ns.items() if p}
        self._next_ns = min(self._due_ns.values())
        self._saved = {
            "current_soft_max": 10.0,
            "vel_limit": 100.0,
            "watchdog_timeout": watchdog_s,
            "enable_watchdog": watchdog_s > 0.0,
        }
        self.values: dict[str, float] = {}
        """Endpoints; what was not saved is forgotten without power."""
        self.silent = False
        """Fault hook: says nothing, hears everything."""
        self.reboots = 0
        self._fed_ns = start_ns
        self._power_up()

    def _power_up(self) -> None:
        self.values = dict(self._saved)
        self.state, self.error = AxisState.IDLE, 0
        self.control = ControlMode.VELOCITY
        self.torque_nm = self.turns = 0.0
        self._offset_turns = 0.0
        self._let_go()

    def reboot(self) -> None:
        """Fault hook: power lost; idle, whole turns forgotten."""
        self.reboots += 1
        self._power_up()
        turns = float(self.side.measurement["motor_angle_rad"][0, self.motor]) * self._turns_per_rad
        self._offset_turns = -math.floor(turns)

    def trip(self, error: int) -> None:
        """Latch an error and disarm."""
        self.error |= error
        self.state = AxisState.IDLE
        self._let_go()

    def _let_go(self) -> None:
        self.torque_nm = 0.0
        self.side.command["motor_mode"][0, self.motor] = MotorMode.OFF
        self.side.command["motor_current_a"][0, self.motor] = 0.0

    # --- Node -----------------------------------------------------------------------------------------------

    def due_ns(self) -> int:
        """Next cyclic message."""
        return self._next_ns

    def cyclic(self, now_ns: int) -> list[Frame]:
        """Messages whose time has come; the watchdog is looked at on the way."""
        if self.values["enable_watchdog"] and self.state == AxisState.CLOSED_LOOP:
            if now_ns - self._fed_ns > self.values["watchdog_timeout"] * 1e9:
                self.trip(ERROR_WATCHDOG)
        frames, periods_ns, next_ns = [], self._periods_ns, NEVER
        for command, due_ns in self._due_ns.items():
            if due_ns <= now_ns:
                period_ns = periods_ns[command]
                due_ns += (1 + (now_ns - due_ns) // period_ns) * period_ns
                self._due_ns[command] = due_ns
                frames.append(self._message(command, now_ns))
            next_ns = min(next_ns, due_ns)
        self._next_ns = next_ns
        return [] if self.silent else frames

    def _message(self, command: int, now_ns: int) -> Frame:
        if command == ENCODER:
            self.side.advance(now_ns)
            turns = float(self._angle_rad[self.motor]) * self._turns_per_rad + self._offset_turns
            speed = float(self._speed_rad_s[self.motor]) * self._turns_per_rad
            return codec.pair(self.node, Command.ENCODER, turns, speed)
        if command == Command.HEARTBEAT:
            return codec.heartbeat(self.node, self.error, self.state)
        x, i = self.side.measurement[0], self.motor
        if command == Command.IQ:
            iq_a = float(x["motor_current_a"][i]) * self._direction
            return codec.pair(self.node, Command.IQ, self.torque_nm / self._nm_a, iq_a)
        if command == Command.BUS_VOLTAGE_CURRENT:
            return codec.pair(self.node, Command.BUS_VOLTAGE_CURRENT, BUS_V, abs(self.torque_nm) / self._nm_a)
        degc = float(x["motor_temperature_degc"][i])
        return codec.pair(self.node, Command.TEMPERATURE, degc, degc)

    def received(self, frame: Frame, now_ns: int) -> list[Frame]:
        """Obey a frame for this axis; any of them feeds the watchdog."""
        if frame.id >> 5 != self.node:
            return []
        self._fed_ns = now_ns
        command = frame.command
        if command in ASKED and not frame.data:
            return [] if self.silent else [self._message(command, now_ns)]
        if command == Command.AXIS_STATE:
            return self._state_wanted(codec.u32_of(frame))
        if command == Command.CONTROLLER_MODE:
            modes = codec.u32_pair_of(frame)
            if modes is not None and modes[0] in ControlMode._value2member_map_:
                self.control = ControlMode(modes[0])
                if self.state == AxisState.CLOSED_LOOP and self.control != ControlMode.TORQUE:
                    self._state_wanted(AxisState.CLOSED_LOOP)  # a change under torque is checked as well
        elif command == Command.LIMITS:
            pair = codec.pair_of(frame)
            if pair is not None:
                self.values["vel_limit"], self.values["current_soft_max"] = pair
        elif command == Command.CLEAR_ERRORS:
            self.error = 0
        elif command == Command.ESTOP:
            self.trip(ERROR_ESTOP)
        elif command == Command.REBOOT:
            self.reboot()
        elif command == Command.RX_SDO and len(frame.data) == 8:
            return self._endpoint(frame)
        elif command in codec.SETPOINTS:
            self._setpoint(frame)
        return []

    def _state_wanted(self, state: int | None) -> list[Frame]:
        if state == AxisState.CLOSED_LOOP and not self.error:
            if self.control == ControlMode.TORQUE or self._positions:
                self.state = AxisState.CLOSED_LOOP
            else:
                self.trip(ERROR_NO_POSITION)
        elif state == AxisState.IDLE:
            self.state = AxisState.IDLE
            self._let_go()
        return [] if self.silent else [codec.heartbeat(self.node, self.error, self.state)]

    @property
    def _positions(self) -> bool:
        return self.control == ControlMode.POSITION and self.side.positions

    def _setpoint(self, frame: Frame) -> None:
        if self.state != AxisState.CLOSED_LOOP:
            return
        c, i = self.side.command[0], self.motor
        if frame.command == Command.INPUT_TORQUE and self.control == ControlMode.TORQUE:
            torque_nm = codec.torque_of(frame)
            if torque_nm is not None:
                top_nm = max(0.0, self.values["current_soft_max"]) * self._nm_a
                self.torque_nm = max(-top_nm, min(top_nm, torque_nm))
                c["motor_mode"][i] = MotorMode.CURRENT
                c["motor_current_a"][i] = self.torque_nm / self._nm_a * self._direction
        elif frame.command == Command.INPUT_POS and self._positions:
            wanted = codec.position_of(frame)
            if wanted is not None:
                c["motor_mode"][i] = MotorMode.POSITION
                c["motor_angle_rad"][i] = (wanted[0] - self._offset_turns) / self._turns_per_rad

    def _endpoint(self, frame: Frame) -> list[Frame]:
        opcode, endpoint = frame.data[0], frame.data[1] | frame.data[2] << 8
        if endpoint not in ENDPOINTS:
            return []
        name, kind = ENDPOINTS[endpoint]
        if opcode == codec.SDO_WRITE:
            (value,) = struct.unpack_from(kind, frame.data, 4)
            if math.isfinite(value):
                self.values[name] = value
            return []
        head = struct.pack("<BHB", codec.SDO_READ, endpoint, 0)
        data = (head + struct.pack(kind, self.values[name])).ljust(8, b"\0")
        return [] if self.silent else [Frame(codec.frame_id(self.node, Command.TX_SDO), data)]
