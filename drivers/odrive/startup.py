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
from drivers.odrive.codec import AxisState, ControlMode, Frame
from drivers.odrive.port import CanPort
from drivers.odrive.settings import FORMATS, OdriveSettings, endpoint_bytes

LISTEN_BEATS: Final = 3.5
STATE_S: Final = 3.0
ANSWER_S: Final = 0.1
NO_SPEED_LIMIT_TURNS_S: Final = 1000.0
NO_WATCHDOG: Final = (
    "set watchdog_timeout and enable_watchdog in the drive and save them, or give their endpoints in the bus "
    "file; without_watchdog = true drives it all the same"
)


class Startup:
    """Slow path of one bus of axes."""

    def __init__(self, settings: OdriveSettings, port: CanPort, axes: Axes) -> None:
        self._settings, self._port, self._axes = settings, port, axes

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
        yield codec.axis_state(device.node, AxisState.IDLE)
        yield codec.clear_errors(device.node)
        yield codec.controller_mode(device.node, control)
        yield codec.limits(device.node, self._turns_s(i, setup), setup.current_limit_a)
        yield codec.input_torque(device.node, 0.0)

    def _turns_s(self, i: int, setup: MotorSetup) -> float:
        """Speed limit of the shaft."""
        speed = setup.speed_limit_rad_s
        if speed is None:
            return NO_SPEED_LIMIT_TURNS_S
        return speed / TURN_RAD * self._settings.device[i].gear_ratio

    def frames_again(self, i: int, setup: MotorSetup, control: ControlMode) -> Iterator[Frame]:
        """Frames of a set-up in the middle of a run: an axis that was reset forgot its watchdog too."""
        yield from self.frames(i, setup, control)
        node = self._settings.device[i].node
        for endpoint, value in self._settings.watchdog_values().items():
            self._axes.replies.pop((i, endpoint), None)
            yield codec.sdo(node, codec.SDO_WRITE, endpoint, value)
            yield codec.sdo(node, codec.SDO_READ, endpoint)

    def set_up(self, wanted: dict[int, tuple[MotorSetup, ControlMode]]) -> None:
        """Write set-ups to all axes, wait for idle without errors, read back limits, prove the watchdogs.

        Args:
            wanted: set-up and controller mode by axis.

        Raises:
            ConfigureError, ReplyTimeout: naming the axis.
        """
        settings = self._settings
        self._written(wanted)
        for i, (setup, _) in wanted.items():
            limits = {"current_soft_max": setup.current_limit_a, "vel_limit": self._turns_s(i, setup)}
            for name, value in limits.items():
                if name in settings.endpoints:
                    self._confirm(i, name, value, write=False)
            if settings.reads_watchdog:
                self._confirm(i, "watchdog_timeout", settings.watchdog_ms * 1e-3)
                self._confirm(i, "enable_watchdog", True)
        if not settings.reads_watchdog and not settings.without_watchdog:
            self._starve(list(wanted))
            self._written(wanted)
        self._axes.proven[list(wanted)] = True

    def _written(self, wanted: dict[int, tuple[MotorSetup, ControlMode]]) -> None:
        """Set-ups to all axes; idle without errors."""
        for i, (setup, control) in wanted.items():
            for frame in self.frames(i, setup, control):
                self._port.send(frame)
        self._until(list(wanted), AxisState.IDLE, sound=True)

    def _starve(self, rows: list[int]) -> None:
        """See every axis let go by itself: closed loop without torque, then no frame at all.

        Raises:
            ConfigureError: naming an axis that stays in closed loop, or left it for another reason.
        """
        axes, clock = self._axes, self._port.clock
        self.close_loop(rows)
        until_ns = clock() + axes.starve_ns
        while clock() < until_ns and (axes.state[rows] == AxisState.CLOSED_LOOP).any():
            axes.take(self._port.receive(until_ns), clock())
        pulling = [i for i in rows if axes.state[i] == AxisState.CLOSED_LOOP]
        wanted = f"{self._settings.watchdog_ms:g} ms"
        if pulling:
            self.idle(rows)
            found = f"off: closed loop {axes.starve_ns * 1e-6:.0f} ms after the last frame"
            raise ConfigureError(self.label(pulling[0]), "its own watchdog", wanted, found, NO_WATCHDOG)
        for i in rows:
            if not axes.error[i] & axes.expired:
                found = f"not what stopped it (error {int(axes.error[i]):#x})"
                raise ConfigureError(self.label(i), "its own watchdog", wanted, found, NO_WATCHDOG)

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

    def _until(self, rows: list[int], wanted: AxisState, feed: bool = False, sound: bool = False) -> None:
        """Wait for a heartbeat of every axis that shows a state.

        Args:
            rows: the axes.
            wanted: the state.
            feed: keep their watchdogs quiet.
            sound: and no error any more; a heartbeat from before it was cleared may still be on its way.
        """
        clock, axes = self._port.clock, self._axes
        beats, until_ns = axes.beats.copy(), clock() + int(STATE_S * 1e9)
        step_ns = int(self._settings.watchdog_ms * 0.3e6)
        missing = list(rows)
        while missing:
            if clock() > until_ns:
                i = missing[0]
                if sound and axes.error[i]:
                    raise ConfigureError(self.label(i), "errors", 0, hex(int(axes.error[i])))
                error = f" (error {int(axes.error[i]):#x})" if axes.error[i] else ""
                raise ConfigureError(self.label(i), "state", int(wanted), f"{int(axes.state[i])}{error}")
            axes.take(self._port.receive(min(clock() + step_ns, until_ns)), clock())
            done = (axes.beats > beats) & (axes.state == wanted) & ((axes.error == 0) | (not sound))
            missing = [i for i in rows if not done[i]]
            for i in rows if feed and missing else []:
                self._port.send(codec.input_torque(self._settings.device[i].node, 0.0))

    def _confirm(self, i: int, name: str, value: float, write: bool = True) -> None:
        """Write an endpoint and read it back."""
        endpoint, kind = self._settings.endpoints[name], FORMATS[name]  # type: ignore[index]
        data, node = endpoint_bytes(name, value), self._settings.device[i].node
        if write:
            self._port.send(codec.sdo(node, codec.SDO_WRITE, endpoint, data))
        self._axes.replies.pop((i, endpoint), None)
        self._port.send(codec.sdo(node, codec.SDO_READ, endpoint))
        until_ns = self._port.clock() + int(ANSWER_S * 1e9)
        while (i, endpoint) not in self._axes.replies:
            if self._port.clock() > until_ns:
                raise ReplyTimeout(f"{self.label(i)}, endpoint {name}", ANSWER_S)
            self._axes.take(self._port.receive(until_ns), self._port.clock())
        found = self._axes.replies[i, endpoint][: struct.calcsize(kind)]
        if found != data:
            raise ConfigureError(self.label(i), name, value, struct.unpack(kind, found)[0])
