"""What is done with an axis outside the cycle: listen, set up, close the loop, idle - each with its proof."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from drivers.errors import ConfigureError, DuplicateId, ReplyTimeout
from drivers.hal import MotorSetup
from drivers.motors import TURN_RAD
from drivers.odrive import codec
from drivers.odrive.axes import Axes
from drivers.odrive.codec import AxisState, Command, ControlMode, Frame
from drivers.odrive.port import CanPort
from drivers.odrive.settings import Endpoint, OdriveSettings

LISTEN_BEATS: Final = 3.5
STATE_S: Final = 3.0
ANSWER_S: Final = 0.1
NO_SPEED_LIMIT_TURNS_S: Final = 1000.0
_WRITE, _READ = 1, 0
_VALUE: Final[dict[str, str]] = {
    "current_soft_max": "<f",
    "vel_limit": "<f",
    "watchdog_timeout": "<f",
    "enable_watchdog": "<?",
}


class Startup:
    """Slow path of one bus of axes."""

    def __init__(self, settings: OdriveSettings, port: CanPort, axes: Axes) -> None:
        self._settings, self._port, self._axes = settings, port, axes

    @property
    def verifies_watchdog(self) -> bool:
        """Whether the axes' own watchdog can be set and read back."""
        return "watchdog_timeout" in self._settings.endpoints

    def label(self, i: int) -> str:
        """Name of an axis for messages."""
        device = self._settings.device[i]
        return f"motor {device.motor} (node {device.node})"

    def listen(self) -> None:
        """Wait until every axis has shown heartbeat and encoder; count the heartbeats.

        Raises:
            ReplyTimeout: an axis stays silent.
            DuplicateId: a node beats twice as often as it should.
        """
        axes, period_ns = self._axes, self._settings.heartbeat_ms * 1_000_000
        self._port.drain()
        axes.beats[:] = 0
        axes.fresh[:] = False
        begun_ns = self._port.clock()
        until_ns = begun_ns + int(LISTEN_BEATS * period_ns)
        while self._port.clock() < until_ns:
            axes.take(self._port.receive(until_ns), self._port.clock())
        for i, device in enumerate(self._settings.device):
            if not axes.beats[i] or not axes.fresh[i]:
                what = "" if axes.beats[i] else " (no heartbeat)"
                raise ReplyTimeout(self.label(i) + what, LISTEN_BEATS * period_ns * 1e-9)
            if axes.beats[i] >= 2 * LISTEN_BEATS - 1:
                times = f"{LISTEN_BEATS} periods of {self._settings.heartbeat_ms} ms"
                evidence = f"{axes.beats[i]} heartbeats in {times}, if that is what the drive is set to"
                raise DuplicateId(self._settings.name, device.node, evidence)

    def frames(self, i: int, setup: MotorSetup, control: ControlMode) -> Iterator[Frame]:
        """Frames of a set-up."""
        device = self._settings.device[i]
        speed = setup.speed_limit_rad_s
        turns_s = NO_SPEED_LIMIT_TURNS_S if speed is None else speed / TURN_RAD * device.gear_ratio
        yield codec.axis_state(device.node, AxisState.IDLE)
        yield codec.clear_errors(device.node)
        yield codec.controller_mode(device.node, control)
        yield codec.limits(device.node, turns_s, setup.current_limit_a)
        yield codec.input_torque(device.node, 0.0)

    def set_up(self, wanted: dict[int, tuple[MotorSetup, ControlMode]]) -> None:
        """Write set-ups to all axes, wait for idle without errors, read back what can be read.

        Args:
            wanted: set-up and controller mode by axis.

        Raises:
            ConfigureError, ReplyTimeout: naming the axis.
        """
        for i, (setup, control) in wanted.items():
            for frame in self.frames(i, setup, control):
                self._port.send(frame)
        self._until(list(wanted), AxisState.IDLE)
        for i in wanted:
            if self._axes.error[i]:
                raise ConfigureError(self.label(i), "errors", 0, hex(int(self._axes.error[i])))
        for i, (setup, _) in wanted.items():
            if "current_soft_max" in self._settings.endpoints:
                self._confirm(i, "current_soft_max", setup.current_limit_a, write=False)
            if self.verifies_watchdog:
                self._confirm(i, "watchdog_timeout", self._settings.watchdog_ms * 1e-3)
                self._confirm(i, "enable_watchdog", True)

    def close_loop(self, rows: list[int]) -> None:
        """Zero torque, closed loop, confirmed by the heartbeat of every axis."""
        for i in rows:
            node = self._settings.device[i].node
            self._port.send(codec.input_torque(node, 0.0))
            self._port.send(codec.axis_state(node, AxisState.CLOSED_LOOP))
        self._until(rows, AxisState.CLOSED_LOOP, feed=True)

    def idle(self, rows: list[int]) -> bool:
        """Idle; True if the heartbeats confirm it."""
        for i in rows:
            self._port.send(codec.axis_state(self._settings.device[i].node, AxisState.IDLE))
        try:
            self._until(rows, AxisState.IDLE)
        except ConfigureError:
            return False
        return True

    def _until(self, rows: list[int], wanted: AxisState, feed: bool = False) -> None:
        """Wait for a heartbeat of every axis that shows a state; ``feed`` keeps their watchdogs quiet."""
        clock, axes = self._port.clock, self._axes
        beats, until_ns = axes.beats.copy(), clock() + int(STATE_S * 1e9)
        step_ns = int(self._settings.watchdog_ms * 0.3e6)
        missing = list(rows)
        while missing:
            if clock() > until_ns:
                raise ConfigureError(
                    self.label(missing[0]), "state", int(wanted), int(axes.state[missing[0]])
                )
            axes.take(self._port.receive(min(clock() + step_ns, until_ns)), clock())
            missing = [i for i in rows if axes.beats[i] == beats[i] or axes.state[i] != wanted]
            for i in rows if feed and missing else []:
                self._port.send(codec.input_torque(self._settings.device[i].node, 0.0))

    def _confirm(self, i: int, name: Endpoint, value: float, write: bool = True) -> None:
        """Write an endpoint and read it back."""
        endpoint, kind = self._settings.endpoints[name], _VALUE[name]
        data = struct.pack(kind, value)
        if write:
            self._port.send(sdo(self._settings.device[i].node, _WRITE, endpoint, data))
        self._axes.replies.pop((i, endpoint), None)
        self._port.send(sdo(self._settings.device[i].node, _READ, endpoint, b""))
        until_ns = self._port.clock() + int(ANSWER_S * 1e9)
        while (i, endpoint) not in self._axes.replies:
            if self._port.clock() > until_ns:
                raise ReplyTimeout(f"{self.label(i)}, endpoint {name}", ANSWER_S)
            self._axes.take(self._port.receive(until_ns), self._port.clock())
        found = self._axes.replies[i, endpoint][: struct.calcsize(kind)]
        if found != data:
            raise ConfigureError(self.label(i), name, value, struct.unpack(kind, found)[0])


def sdo(node: int, opcode: int, endpoint: int, data: bytes) -> Frame:
    """Read (0) or write (1) an endpoint."""
    head = struct.pack("<BHB", opcode, endpoint, 0)
    return Frame(codec.frame_id(node, Command.RX_SDO), (head + data).ljust(8, b"\0"))
