"""Driver of the collector board: one command and one sample per cycle, exchanged in the control process.

The receive buffer is the sample: numpy views of it are taken once, a compiled copy with constant factors
brings it into the measurement record. Nothing is parsed, nothing is allocated per channel.

After the board restarted or lost our session, ``exchange`` sends the set-up in place of the command until the
board confirms it, never more than one datagram per cycle; torque waits for the hand-shake of ``drivers.hal``.
"""

from __future__ import annotations

import time
from typing import Final

from drivers.clocks import DeviceClock
from drivers.collector import codec
from drivers.collector.codec import CommandFlag, Header, Kind, SampleFlag, SetupResult
from drivers.collector.laws import fill_command, take_sample
from drivers.collector.port import Clock, UdpPort
from drivers.collector.search import SEARCH
from drivers.collector.session import Session
from drivers.collector.settings import CollectorSettings
from drivers.collector.wire import CommandWire, SampleWire
from drivers.counts import WireCounts
from drivers.errors import ReadOnly, WrongDevice
from drivers.family import Family
from drivers.hal import BusReport, Capabilities, MotorSetup
from drivers.slots import indices, mark
from signals.modes import BusStatus, ChannelStatus, MotorMode
from signals.names import HandNames
from signals.records import COMMAND, MEASUREMENT, RecordArray, new

REJOIN_NS: Final = 100_000_000
"""Pause between two attempts to take a board back that somebody else holds."""
PRIMING: Final = 50
"""Commands at rest that ``activate`` sends at most until three samples came in time."""
PARTIAL, TIMEOUT, CORRUPT = int(BusStatus.PARTIAL), int(BusStatus.TIMEOUT), int(BusStatus.CORRUPT)
LOST, READ_ONLY = int(BusStatus.LOST), int(BusStatus.READ_ONLY)
MUST_DISARM: Final = int(SampleFlag.MUST_DISARM)
STALE, RESET = int(ChannelStatus.STALE), int(ChannelStatus.RESET)
HELD, DEVICE_ERROR = int(ChannelStatus.HELD), int(ChannelStatus.DEVICE_ERROR)


class CollectorBus:
    """One collector board.

    Args:
        settings: its table of the bus file.
        names: names of the hand.
        readonly: only observe; no command and no setting is ever sent.
        clock, port: monotonic nanoseconds; what sends and receives.

    Raises:
        BusBusy: the board is held by a process of this machine.
        BusLost: it does not answer.
        WrongDevice: it has other counts of motors, Hall channels or axes, or another protocol.
    """

    def __init__(
        self,
        settings: CollectorSettings,
        names: HandNames,
        readonly: bool = False,
        clock: Clock = time.monotonic_ns,
        port: type[UdpPort] = UdpPort,
    ) -> None:
        self.settings, self.readonly, self._clock = settings, readonly, clock
        self._port = port(settings.host, settings.port, settings.name, clock, not readonly)
        try:
            self._session = Session(self._port, settings.name, round(settings.watchdog_ms * 1000))
            self._assign(names)
        except BaseException:
            self._port.close()
            raise
        about = self._session.about
        self._command, self._sample = CommandWire(about.slots), SampleWire(about.slots)
        self._count_per_wire = 2.0**-about.hall_fraction_bits
        self._device_clock = DeviceClock()
        self.counts = WireCounts()
        self._seq = self._exchanges = self._missed = self._bits = 0
        self._active, self._held = False, True
        self._rejoin_ns = -1
        """Time of the next attempt to set the board up again; -1: it is ours."""
        self._reason = ""
        self.round_trip_ns = 0
        self.capabilities = self._capabilities()
        self._warm_up()

    def _assign(self, names: HandNames) -> None:
        settings, about = self.settings, self._session.about
        motors = settings.motor_slots(names)
        halls = settings.tendon_slots(names)
        axes = names.axes if settings.axis_slots is None else settings.axis_slots
        if len(motors) > about.n_motors or len(halls) > about.n_halls or len(axes) > about.n_axes:
            wanted = f"{len(motors)} motors, {len(halls)} Hall channels, {len(axes)} axes"
            found = f"{about.n_motors} motors, {about.n_halls} Hall channels, {about.n_axes} axes"
            raise WrongDevice(settings.name, wanted, found)
        self._motors = indices(motors + ("",) * (about.slots - len(motors)), names.motors)
        self._halls = indices(halls + ("",) * (about.slots - len(halls)), names.tendons)
        self._axes = indices(axes, names.axes)

    def _capabilities(self) -> Capabilities:
        return Capabilities(
            family="collector",
            n_motors=int((self._motors >= 0).sum()),
            n_halls=int((self._halls >= 0).sum()),
            n_axes=int((self._axes >= 0).sum()),
            motor_modes=frozenset(MotorMode),
            rate_max_hz=1e9 / max(self._session.about.sample_period_ns, 1),
            in_control_process=True,
            device_watchdog_s=self.settings.watchdog_ms * 1e-3,
            own_position_loop=True,
            current_max_a=codec.CURRENT_MAX_A,
        )

    def _warm_up(self) -> None:
        """First calls of everything compiled, on records of our own."""
        command, measurement, axes = new(COMMAND), new(MEASUREMENT), self._axes.shape[0]
        head, slots = self._sample.head, self._sample.slots
        fill_command(command, self._command.head, self._command.slots, self._motors, axes)
        take_sample(head, slots, self._motors, self._halls, axes, 1.0, 0, 0, measurement)
        mark(measurement, self._motors, self._halls, self._axes, STALE)

    def configure(self, setups: tuple[MotorSetup, ...]) -> None:
        """Write watchdog and limits into the board and compare what it took."""
        if not self.readonly:
            self._session.configure(setups, self._motors)

    def activate(self) -> None:
        """Let commands through; the board arms with the first one that asks for torque."""
        if self.readonly:
            raise ReadOnly(self.settings.name)
        self._port.drain()
        self._active, self._held, self._bits = True, True, 0
        command, measurement, good = new(COMMAND), new(MEASUREMENT), 0
        before = self.counts.frames + self.counts.unexpected
        for _ in range(PRIMING):
            good = 0 if self.exchange(command, measurement, self._clock()) & TIMEOUT else good + 1
            if good == 3:
                break
        if self.counts.frames + self.counts.unexpected == before:
            self._active = False
            self._session.explain_silence(PRIMING)
        self._held, self._missed = False, 0

    def deactivate(self) -> bool:
        """Release the board; True if it confirmed zero torque."""
        self._active, self._held = False, True
        if self.readonly:
            return True
        self._rejoin_ns = 0
        return self._session.release()

    def recover(self) -> None:
        """Find the board again and set it up as before; raises if it is not there or another one."""
        self._session.check_same()
        if not self.readonly:
            before = self._session.boot
            self._joined(before, self._session.taken_up().boot)
        self._missed = 0

    def close(self) -> None:
        """Release the socket and the lock."""
        self._port.close()

    def report(self) -> BusReport:
        """Counts and state for the slow path."""
        return BusReport(
            name=self.settings.name,
            family="collector",
            place=self._port.place,
            exchanges=self._exchanges,
            lost=self._missed >= self.settings.lost_after,
            reason=self._reason,
            counts=self.counts.as_dict(),
            round_trip_ns=self.round_trip_ns,
        )

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """One datagram out, one in; see ``drivers.hal.Bus``."""
        begun_ns = self._clock()
        self._exchanges += 1
        self._seq = seq = (self._seq + 1) & 0xFFFFFFFF
        if self.readonly:
            sent = self._port.send(codec.plain(Header(kind=Kind.OBSERVE, seq=seq)))
        elif self._rejoin_ns >= 0:
            sent = self._rejoin(begun_ns)
        else:
            sent = self._send(command, seq, now_ns)
        status = self._receive(seq, begun_ns, measurement) if sent else self._silent(measurement)
        if status & TIMEOUT:
            self._missed += 1
            if self._missed >= self.settings.lost_after:
                status |= LOST
                self._held = True
                self._bits |= 0 if self.readonly else HELD
                self._reason = f"no sample for {self._missed} cycles"
        else:
            self._missed = 0
        return status | (READ_ONLY if self.readonly else 0)

    def _send(self, command: RecordArray, seq: int, now_ns: int) -> bool:
        wire = self._command
        wanted = fill_command(command, wire.head, wire.slots, self._motors, self._axes.shape[0])
        arm = self._active and not self._held and wanted > 0
        if self._held and wanted < 2:
            self._held, self._bits = False, 0
        wire.seal(CommandFlag.ARM if arm else 0, self._session.number, seq, now_ns)
        return self._port.send(wire.datagram)

    def _silent(self, measurement: RecordArray) -> int:
        mark(measurement, self._motors, self._halls, self._axes, STALE | self._bits)
        return TIMEOUT

    def _receive(self, seq: int, begun_ns: int, measurement: RecordArray) -> int:
        """Wait for the sample that answers ``seq``; older ones are passed over."""
        sample, until_ns = self._sample, begun_ns + self.settings.reply_timeout_us * 1000
        corrupt = 0
        while True:
            length = self._port.receive(sample.buffer, until_ns)
            if length <= 0:
                return corrupt | self._silent(measurement)
            found = sample.opened(length)
            if found is None:
                corrupt |= self._other(length)
            elif found[2] != seq:
                self.counts.unexpected += 1
            else:
                return corrupt | self._take(found[0], found[1], begun_ns, measurement)

    def _take(self, flags: int, device_ns: int, begun_ns: int, measurement: RecordArray) -> int:
        arrived_ns = self._clock()
        self.counts.frames += 1
        self.round_trip_ns = arrived_ns - begun_ns
        if flags & MUST_DISARM and self._active and not self._held:
            self._held = True
            tripped = bool(flags & SampleFlag.WATCHDOG)
            self._bits |= HELD if tripped else DEVICE_ERROR
            self._reason = "the board's watchdog tripped" if tripped else "board disarmed"
        sample_ns = self._device_clock.host_ns(device_ns, arrived_ns)
        bad = take_sample(
            self._sample.head,
            self._sample.slots,
            self._motors,
            self._halls,
            self._axes.shape[0],
            self._count_per_wire,
            sample_ns,
            self._bits,
            measurement,
        )
        measurement["time_ns"][0] = arrived_ns
        measurement["seq"][0] = self._exchanges
        return PARTIAL if bad else 0

    def _other(self, length: int) -> int:
        """Look at a datagram that is no sample: CORRUPT, or 0 if it was sound."""
        found = codec.opened(bytes(self._sample.buffer[:length]))
        if found is None:
            self.counts.crc += 1
            return CORRUPT
        header, body = found
        if header.kind == Kind.REFUSED:
            holder = codec.refused_by(body)
            held = holder is not None and holder[1] != 0
            nobody = "the board knows no session: restarted"
            self._reason = f"the board is held by {holder[0]}:{holder[1]}" if holder and held else nobody
            self._bits |= HELD if held else RESET
            self._held = True
            self._rejoin_ns = max(self._rejoin_ns, 0)
        elif header.kind == Kind.SETUP_ACK and self._rejoin_ns >= 0:
            answer = codec.setup_answer(header, body)
            if answer is not None and answer.result == SetupResult.OK:
                self._joined(self._session.boot, answer.boot)
        else:
            self.counts.unexpected += 1
        return 0

    def _joined(self, boot_before: int, boot: int) -> None:
        self._rejoin_ns, self._held = -1, True
        restarted = boot != boot_before
        self._bits |= RESET if restarted else HELD
        self._reason = f"board restarted (boot {boot})" if restarted else "session taken up again"
        self._session.boot = boot

    def _rejoin(self, now_ns: int) -> bool:
        if now_ns < self._rejoin_ns or not self._session.datagram:
            return False
        self._rejoin_ns = now_ns + REJOIN_NS
        return self._port.send(self._session.datagram)


FAMILY: Final = Family(
    name="collector", settings=CollectorSettings, open=CollectorBus, in_control_process=True, search=SEARCH
)
