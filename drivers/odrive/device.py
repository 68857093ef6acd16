"""Driver of ODrive axes on one CAN bus: a torque frame out per axis and cycle, cyclic feedback in.

The protocol has no broadcast set-point and no read-back of limits but by endpoints (SDO). Where the bus file
gives none, every start says so, and ``configure`` proves the watchdog of every axis by leaving it without
frames. Any frame to an axis feeds its watchdog, so an axis without a command gets no traffic at all.
"""

from __future__ import annotations

import math
import time
from typing import Final

import numpy as np

from drivers.errors import BusLost, ConfigureError, DriverError, ReadOnly
from drivers.family import Family
from drivers.hal import BusReport, Capabilities, MotorSetup
from drivers.motors import MotorMap
from drivers.odrive import codec
from drivers.odrive.axes import Axes
from drivers.odrive.codec import AxisState, ControlMode
from drivers.odrive.port import CanPort, Clock
from drivers.odrive.search import SEARCH
from drivers.odrive.settings import OdriveSettings
from drivers.odrive.startup import Startup
from drivers.slots import NONE, indices, mark
from signals.modes import BusStatus, ChannelStatus, MotorMode
from signals.names import HandNames
from signals.records import MEASUREMENT, RecordArray, new

STALE: Final = int(ChannelStatus.STALE)
WRONG_MODE: Final = int(ChannelStatus.WRONG_MODE)
RESET, HELD = int(ChannelStatus.RESET), int(ChannelStatus.HELD)
CONTROL: Final = {MotorMode.CURRENT: ControlMode.TORQUE, MotorMode.POSITION: ControlMode.POSITION}
MANY_RAD: Final = 1e4
"""An angle that no motor has; keeps infinities away from the drive."""
FRAME_BITS: Final = 135
"""An 8-byte frame with the worst stuffing."""


class OdriveBus:
    """Axes on one CAN bus.

    Args:
        settings: its table of the bus file.
        names: names of the hand.
        readonly: listen only.
        clock: monotonic nanoseconds.

    Raises:
        BusBusy, BusLost: the interface is taken or does not open.
        ReplyTimeout, DuplicateId: an axis is silent, or there twice.
    """

    def __init__(
        self,
        settings: OdriveSettings,
        names: HandNames,
        readonly: bool = False,
        clock: Clock = time.monotonic_ns,
    ) -> None:
        self.settings, self.readonly, self._clock = settings, readonly, clock
        self._motors = indices(settings.motors(names), names.motors)
        mark(new(MEASUREMENT), self._motors, NONE, NONE, STALE)  # compiled before the first cycle
        self._port = CanPort(settings, readonly, clock)
        self._map = MotorMap(settings.device, self._motors)
        self._axes = Axes(settings, self._map, self._port.counts)
        self._start = Startup(settings, self._port, self._axes)
        self._nm_a = np.array([d.torque_constant_nm_a for d in settings.device])
        self._limit_a = np.zeros(len(settings.device))
        self._modes = np.zeros(len(settings.device), dtype=np.uint32)
        self._setups: dict[int, MotorSetup] = {}
        self._exchanges = self.round_trip_ns = 0
        self._lost, self._lost_why = False, ""
        try:
            self._start.listen()
        except BaseException:
            self._port.close()
            raise
        self.capabilities = self._capabilities()

    def _capabilities(self) -> Capabilities:
        n = len(self.settings.device)
        return Capabilities(
            family="odrive",
            n_motors=n,
            n_halls=0,
            n_axes=0,
            motor_modes=frozenset(MotorMode),
            rate_max_hz=self.settings.bitrate / (2.0 * n * FRAME_BITS),
            in_control_process=False,
            device_watchdog_s=None if self.settings.without_watchdog else self.settings.watchdog_ms * 1e-3,
            own_position_loop=True,
        )

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Idle, errors cleared, mode and limits written; read back where endpoints are known."""
        if self.readonly:
            return
        for setup in setups:
            found = np.nonzero(self._motors == setup.index)[0]
            if found.size == 0:
                raise ConfigureError(f"motor {setup.name}", "axis", "one of this bus", None)
            self._setups[int(found[0])] = setup
        self._set_up()
        for i in self._setups:
            self._axes.choose_turns(i)

    def _set_up(self) -> None:
        wanted = {}
        for i, setup in self._setups.items():
            control = CONTROL.get(setup.mode)
            if control is None:
                raise ConfigureError(f"motor {setup.name}", "mode", setup.mode.name, "not offered")
            wanted[i] = (setup, control)
        self._start.set_up(wanted)
        for i, setup in self._setups.items():
            self._modes[i], self._limit_a[i] = setup.mode, setup.current_limit_a

    def activate(self) -> None:
        """Closed loop with zero torque in every axis, confirmed by its heartbeat."""
        if self.readonly:
            raise ReadOnly(self.settings.name)
        for i in range(len(self.settings.device)):
            if i not in self._setups:
                raise ConfigureError(self._start.label(i), "set-up", "written before activate", "nothing")
        self._start.close_loop(list(range(len(self.settings.device))))
        self._axes.begin()
        self._axes.pulling = True

    def deactivate(self) -> bool:
        """Idle in every axis; True if all heartbeats confirm it."""
        self._axes.pulling = False
        if self.readonly:
            return True
        try:
            return self._start.idle(list(range(len(self.settings.device))))
        except DriverError as error:
            self._axes.reason = str(error)
            return False

    def recover(self) -> None:
        """Open the interface again; every axis has to show fresh feedback and takes its set-up anew."""
        pulling, self._axes.pulling = self._axes.pulling, False
        self._port.open()
        self._start.listen()
        if not self.readonly:
            self._set_up()
            if pulling:
                self._start.close_loop(list(self._setups))
        self._axes.begin(held=not self.readonly, bits=0 if self.readonly else HELD)
        for i in self._setups:
            if self._axes.turns_lost[i]:
                self._axes.shake.bits[i] |= RESET
            self._axes.take_home(i)
        self._axes.pulling = pulling
        self._lost = False

    def close(self) -> None:
        """Close interface and lock."""
        self._port.close()

    def report(self) -> BusReport:
        """Counts and state for the slow path."""
        reason = self._lost_why if self._lost else self._axes.reason
        return BusReport(
            name=self.settings.name,
            family="odrive",
            place=self._port.place,
            exchanges=self._exchanges,
            lost=self._lost,
            reason=reason,
            counts=self._port.counts.as_dict(),
            round_trip_ns=self.round_trip_ns,
        )

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Set-points out, then wait for an encoder message of every axis; see ``drivers.hal.Bus``."""
        self._exchanges += 1
        read_only = int(BusStatus.READ_ONLY) if self.readonly else 0
        if self._lost:
            mark(measurement, self._motors, NONE, NONE, STALE)
            return int(BusStatus.LOST) | read_only
        begun_ns = self._clock()
        try:
            if self._axes.pulling:
                self._command(command)
            missing = self._collect(begun_ns)
        except BusLost as error:
            self._lost, self._lost_why = True, str(error)
            self._axes.lost()
            mark(measurement, self._motors, NONE, NONE, STALE)
            return int(BusStatus.LOST) | read_only
        done_ns = self._clock()
        self.round_trip_ns = done_ns - begun_ns
        bad = self._axes.fill(measurement, done_ns)
        measurement["seq"][0] = self._exchanges
        return (int(BusStatus.PARTIAL) if bad else 0) | (int(BusStatus.TIMEOUT) if missing else 0) | read_only

    def _command(self, command: RecordArray) -> None:
        axes = self._axes
        for i in axes.shake.released(command):
            if axes.state[i] != AxisState.CLOSED_LOOP:
                self._port.send(codec.axis_state(self.settings.device[i].node, AxisState.CLOSED_LOOP))
                axes.closing_ns[i] = self._clock()
        c = command[0]
        mode, current_a = c["motor_mode"][self._motors], c["motor_current_a"][self._motors]
        turns = self._map.turns(np.clip(c["motor_angle_rad"][self._motors], -MANY_RAD, MANY_RAD))
        held, silent = axes.shake.held, axes.silent(self._clock())
        for i, device in enumerate(self.settings.device):
            if held[i] or silent[i]:
                self._repair(i, bool(silent[i]))
                if self.settings.without_watchdog:  # no silence would stop it
                    self._port.send(codec.input_torque(device.node, 0.0))
                continue
            if axes.closing_ns[i]:  # it may not be counted on yet; unfed, its watchdog has to show itself
                axes.shake.bits[i] = HELD if axes.proven[i] else RESET
                if axes.proven[i]:
                    self._port.send(codec.input_torque(device.node, 0.0))
                continue
            fits = mode[i] == self._modes[i] or mode[i] == MotorMode.OFF
            axes.shake.bits[i] = 0 if fits else WRONG_MODE
            if fits and mode[i] == MotorMode.POSITION:  # an angle that is none: where it is
                goal = turns[i] if turns[i] == turns[i] else axes.turns[i]
                self._port.send(codec.input_pos(device.node, float(goal)))
                continue
            wanted_a = float(current_a[i]) if fits and mode[i] == MotorMode.CURRENT else 0.0
            wanted_a = 0.0 if math.isnan(wanted_a) else wanted_a
            wanted_a = max(-self._limit_a[i], min(self._limit_a[i], wanted_a))
            self._port.send(codec.input_torque(device.node, device.direction * wanted_a * self._nm_a[i]))

    def _repair(self, i: int, silent: bool) -> None:
        """An axis that is held: nothing while it is silent or sound, its set-up again if it misbehaved."""
        axes = self._axes
        if silent:
            axes.went_silent(i)
        elif axes.needs_set_up(i, self._clock()):
            control = CONTROL[MotorMode(int(self._modes[i]))]
            for frame in self._start.frames_again(i, self._setups[i], control):
                self._port.send(frame)

    def _collect(self, begun_ns: int) -> bool:
        """Take frames until every axis that lives has sent its encoder; True if one did not in time."""
        axes = self._axes
        until_ns = begun_ns + 2 * self.settings.feedback_ms * 1_000_000
        while True:
            now_ns = self._clock()
            waiting = ~axes.fresh & ~axes.silent(now_ns)
            if not waiting.any() or now_ns >= until_ns:
                break
            axes.take(self._port.receive(until_ns), self._clock())
        axes.fresh[:] = False
        return bool(waiting.any()) or bool(axes.silent(self._clock()).any())


FAMILY: Final = Family(
    name="odrive", settings=OdriveSettings, open=OdriveBus, in_control_process=False, search=SEARCH
)
