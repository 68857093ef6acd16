"""Sensors that talk without being asked: newest sample of every channel, its time, its errors.

``exchange`` takes everything that waits and keeps the newest sample; it waits for the next one only if none
came since the last call, at most two sample periods, so that a dead stream costs no more than that. Where
frames come faster than ``look_us`` it lets them gather that long: a wake-up costs more than all work on a
frame, and only the newest is wanted. Bytes from before ``activate`` are thrown away with their age. A silent
stream is lost until it speaks again; a broken line is lost until ``recover``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.counts import WireCounts
from drivers.errors import BusLost, ConfigureError, ReadOnly
from drivers.hal import BusReport, Capabilities, MotorSetup
from drivers.hallbridge.laws import take_channels, take_joints
from drivers.hallbridge.settings import StreamSettings
from drivers.serialport import CHUNK, Clock, LineMaker, SerialPort
from drivers.slots import Channels, indices
from signals.layout import IntArray
from signals.modes import BusStatus, ChannelStatus, MotorMode
from signals.names import HandNames
from signals.records import MEASUREMENT, RecordArray, new

NONE: Final[IntArray] = np.zeros(0, dtype=np.int64)
STALE: Final = int(ChannelStatus.STALE)
LEAST_WAIT_NS: Final = 2_000_000
OLD_NS: Final = 50_000_000
"""Time within which bytes that waited in the kernel while nobody read are through: they come in pieces."""


class Newest(NamedTuple):
    """Newest sample of all channels; arrays of shape (channels,)."""

    time_ns: int
    counts: IntArray
    bits: NDArray[np.uint32]
    """ChannelStatus bits; a channel with STALE keeps its last value."""


class StreamBus(ABC):
    """A stream on a serial line; a family adds its parser.

    Args:
        settings: its table of the bus file.
        names: names of the hand.
        readonly: never write.
        clock: monotonic nanoseconds.
        line: makes the line, in the place of ``SerialPort``.

    Raises:
        BusBusy, BusLost: the line is taken or missing.
    """

    def __init__(
        self,
        settings: StreamSettings,
        names: HandNames,
        readonly: bool,
        clock: Clock,
        line: LineMaker | None = None,
    ) -> None:
        self.readonly, self._clock, self._stream = readonly, clock, settings
        self._halls = indices(settings.channels, names.tendons)
        self._joints = indices(settings.joint_channels, names.joints)
        self._axes = indices(settings.axes(names), names.axes)
        self._all = Channels(NONE, self._halls, self._axes, self._joints)
        self._axis_channel = np.array([a.channel for a in settings.axis], dtype=np.int64)
        self._axis_zero = np.array([a.zero_count for a in settings.axis])
        self._axis_rad = np.array([a.rad_count for a in settings.axis])
        self._exchanges = 0
        self._newest_ns = clock()
        self._look_ns = self._looked_ns = 0
        self.pace(int(1e9 / settings.rate_hz))
        self._lost, self._why = False, ""
        self._all.mark_stale(new(MEASUREMENT))  # compiled before the first cycle
        channels = len(settings.channels)
        blank = Newest(0, np.zeros(channels, dtype=np.int64), np.zeros(channels, dtype=np.uint32))
        self._fill(blank, new(MEASUREMENT))
        self._port = (line or SerialPort)(settings.port, settings.baud, settings.name, readonly, clock)
        self.capabilities = Capabilities(
            family=settings.family,
            n_motors=0,
            n_halls=int((self._halls >= 0).sum()),
            n_axes=int(self._axes.size),
            motor_modes=frozenset[MotorMode](),
            rate_max_hz=settings.rate_hz,
            in_control_process=False,
            device_watchdog_s=None,
        )

    @property
    @abstractmethod
    def counts(self) -> WireCounts:
        """Counts of the parser."""

    @abstractmethod
    def parse(self, data: bytes, now_ns: int) -> Newest | None:
        """Newest sample in what came, or None."""

    @abstractmethod
    def start(self) -> None:
        """Ask the device to send, if it has to be asked."""

    @abstractmethod
    def forget(self) -> None:
        """Bytes are missing: no half frame, no number, no time from before counts."""

    @abstractmethod
    def restarted(self) -> None:
        """The line was opened again: find out what is on it."""

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """There are no motors."""
        for setup in setups:
            raise ConfigureError(f"motor {setup.name}", "bus", "one with motors", self._stream.family)

    def activate(self) -> None:
        """Begin to listen."""
        if self.readonly:
            raise ReadOnly(self._stream.name)
        self.start()
        self._throw_away()

    def pace(self, frame_ns: int) -> None:
        """Frames come ``frame_ns`` apart: gather them for a look's time if longer; one may be missed."""
        look_ns = self._stream.look_us * 1000
        self._look_ns = look_ns if frame_ns < look_ns else 0
        self._wait_ns = max(2 * frame_ns, LEAST_WAIT_NS)

    def _throw_away(self) -> None:
        """What came while nobody read: old, with gaps, and in the kernel's buffers up to seconds."""
        until_ns = self._clock() + OLD_NS
        while self._clock() < until_ns:
            self._port.read(until_ns)
        self.forget()
        self._newest_ns = self._clock()  # nobody was listened to: silence counts from here

    def deactivate(self) -> bool:
        """Nothing moves."""
        return True

    def recover(self) -> None:
        """Open the line again and wait for the stream; raises if it does not come."""
        self._port.open()
        self.restarted()
        if not self.readonly:
            self.start()
        until_ns = self._clock() + int(self._stream.lost_ms * 2e6) + 1_000_000_000
        while self._clock() < until_ns:
            data = self._port.read(until_ns)
            if data and self.parse(data, self._clock()) is not None:
                self._newest_ns, self._lost = self._clock(), False
                return
        raise BusLost(self._stream.name, f"{self._stream.port}: no sound frame", "check baud and firmware")

    def close(self) -> None:
        """Close the line and its lock."""
        self._port.close()

    def report(self) -> BusReport:
        """Counts and state for the slow path."""
        lost = self._lost or self._clock() - self._newest_ns > self._stream.lost_ms * 1e6
        return BusReport(
            name=self._stream.name,
            family=self._stream.family,
            place=f"{self._stream.port} at {self._stream.baud} baud",
            exchanges=self._exchanges,
            lost=lost,
            reason=self._why if lost else "",
            counts=self.counts.as_dict(),
            round_trip_ns=0,
        )

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """Newest sample of every channel; see ``drivers.hal.Bus``."""
        self._exchanges += 1
        read_only = int(BusStatus.READ_ONLY) if self.readonly else 0
        if self._lost:
            self._all.mark_stale(measurement)
            return int(BusStatus.LOST) | read_only
        errors = self.counts.errors()
        if self._look_ns:
            self._port.pause(self._looked_ns + self._look_ns)
        begun_ns = self._looked_ns = self._clock()
        try:
            newest = self._listen(begun_ns + self._wait_ns)
        except BusLost as error:
            return self._give_up(str(error), measurement) | read_only
        if newest is None:
            self._all.mark_stale(measurement)
            silent_ns = self._clock() - self._newest_ns
            lost = silent_ns > self._stream.lost_ms * 1e6
            if lost:
                self._why = f"silent for {silent_ns * 1e-6:.0f} ms"
            return int(BusStatus.TIMEOUT) | (int(BusStatus.LOST) if lost else 0) | read_only
        self._newest_ns = self._clock()
        bad = self._fill(newest, measurement)
        measurement["seq"][0] = self._exchanges
        status = (int(BusStatus.PARTIAL) if bad else 0) | read_only
        return status | (int(BusStatus.CORRUPT) if self.counts.errors() > errors else 0)

    def _listen(self, until_ns: int) -> Newest | None:
        """Everything that waits; the newest sample of it."""
        newest: Newest | None = None
        wait_ns = 0 if self._look_ns else until_ns  # after a pause it is there already
        while True:
            data = self._port.read(wait_ns)
            if data:
                newest = self.parse(data, self._clock()) or newest
            drained = len(data) < CHUNK
            if drained and (newest is not None or (wait_ns and self._clock() >= until_ns)):
                return newest
            wait_ns = until_ns if newest is None else 0

    def _fill(self, newest: Newest, measurement: RecordArray) -> int:
        """Write into the measurement; returns channels with a status."""
        times_ns = (newest.time_ns, self._newest_ns)
        bad = take_channels(
            newest.counts,
            newest.bits,
            self._halls,
            self._axes,
            self._axis_channel,
            self._axis_zero,
            self._axis_rad,
            times_ns,
            measurement,
        )
        own = take_joints(newest.counts, newest.bits, self._joints, newest.time_ns, measurement)
        return int(bad + own)

    def _give_up(self, why: str, measurement: RecordArray) -> int:
        self._lost, self._why = True, why
        self._all.mark_stale(measurement)
        return int(BusStatus.LOST)
