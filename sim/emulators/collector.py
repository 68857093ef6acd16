"""Emulated collector board: the device's half of docs/collector_protocol.md, with its own watchdog.

It answers with its newest sample and lets the hand move afterwards, as a board does that samples on its own.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from drivers.collector import codec
from drivers.collector.codec import CommandFlag, Description, Header, Kind, SampleFlag, SetupResult
from drivers.collector.laws import fill_sample, take_command
from drivers.collector.wire import CommandWire, SampleWire
from drivers.slots import limp
from signals.layout import BoolArray
from signals.modes import ChannelStatus, MotorMode
from sim.emulators.boardfaults import CollectorFaults
from sim.emulators.loop import Clock
from sim.emulators.side import DeviceSide

ARMED: Final = int(SampleFlag.ARMED)
POSITION: Final = int(MotorMode.POSITION)
WRONG_MODE: Final = np.uint32(ChannelStatus.WRONG_MODE)
IDLE_STEP_NS: Final = 1_000_000
WATCHDOG_MIN_US, WATCHDOG_MAX_US = 1000, 1_000_000


class CollectorEmulator:
    """One board.

    Args:
        side: the hand behind it.
        n_motors: motors it drives.
        n_halls: Hall channels it reads.
        n_axes: wrist axes.
        host: address to listen on.
        port: UDP port; 0 takes a free one.
        hall_fraction_bits: fraction of a Hall count on the wire.
        serial: serial number it reports.
        clock: its clock.
    """

    def __init__(
        self,
        side: DeviceSide,
        n_motors: int,
        n_halls: int,
        n_axes: int = 0,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        hall_fraction_bits: int = 4,
        serial: str = "EMULATED",
        clock: Clock = time.monotonic_ns,
    ) -> None:
        self.side, self.faults, self._clock = side, CollectorFaults(), clock
        self.about = Description(
            n_motors=n_motors,
            n_halls=n_halls,
            n_axes=n_axes,
            hall_fraction_bits=hall_fraction_bits,
            watchdog_min_us=WATCHDOG_MIN_US,
            watchdog_max_us=WATCHDOG_MAX_US,
            boot=1,
            sample_period_ns=100_000,
            firmware=1,
            serial=serial,
            name="emulated collector",
        )
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((host, port))
        self._socket.setblocking(False)
        self.host, self.port = self._socket.getsockname()
        slots = self.about.slots
        self._command, self._sample = CommandWire(slots), SampleWire(slots)
        self._sample.head["boot"] = 1
        self._limits = np.zeros(slots, dtype=codec.LIMIT_SLOT)
        self._late: list[tuple[int, bytes, tuple[str, int]]] = []
        self._hall_per_count = float(1 << hall_fraction_bits)
        self.boot = 1
        self._forget()
        self.commands = self.trips = self.gaps = 0
        self.before_answer: Callable[[], None] | None = None
        """Called before a sample leaves, while the hand still is as the sample shows it."""
        fill_sample(side.measurement, self._sample.head, self._sample.slots, n_axes, 1.0, 0)
        take_command(self._command.head, self._command.slots, n_axes, side.command)

    def _forget(self) -> None:
        """State after power-up."""
        self._session, self._holder = 0, ("0.0.0.0", 0)
        self._watchdog_ns = WATCHDOG_MAX_US * 1000
        self._newest: int | None = None
        """seq of the newest good command; None: the next one may have any."""
        self._fed_ns = self._stepped_ns = self._clock()
        self.armed = self.tripped = False
        self.must_disarm = True
        self._wrong_mode: BoolArray | None = None
        """Motors that were asked for a position, behind a hand that cannot; shape (motors,)."""
        limp(self.side.command)

    def restart(self) -> None:
        """Fault hook: the board loses power and comes back."""
        self.boot += 1
        self._sample.head["boot"] = self.boot & 0xFFFF
        self._forget()

    # --- Emulator -----------------------------------------------------------------------------------------

    def descriptors(self) -> list[int]:
        """The socket."""
        return [self._socket.fileno()]

    def due_ns(self) -> int:
        """Next step of the idle hand, or the next late datagram."""
        idle_ns = self._stepped_ns + IDLE_STEP_NS
        return min(idle_ns, self._late[0][0]) if self._late else idle_ns

    def on_time(self, now_ns: int) -> None:
        """Watchdog, idle motion, late datagrams."""
        if self._session and now_ns - self._fed_ns > self._watchdog_ns and not self.must_disarm:
            self.armed, self.must_disarm, self.tripped = False, True, True
            self.trips += 1
            limp(self.side.command)
        if now_ns - self._stepped_ns >= IDLE_STEP_NS:
            self._step(now_ns)
        while self._late and self._late[0][0] <= now_ns:
            _, datagram, address = self._late.pop(0)
            self._send(datagram, address)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def readable(self, descriptor: int, now_ns: int) -> None:
        """Answer everything that waits."""
        while True:
            try:
                length, address = self._socket.recvfrom_into(self._command.raw)
            except OSError:
                return
            if self.faults.deaf:
                continue
            now_ns = self._clock()
            command = self._command.opened(length)
            if command is not None:
                self._commanded(*command, address, now_ns)
            else:
                found = codec.opened(bytes(self._command.raw[:length]))
                if found is not None:
                    self._other(*found, address, now_ns)

    # --- the cycle ----------------------------------------------------------------------------------------

    def _commanded(
        self, flags: int, session: int, seq: int, host_time_ns: int, address: tuple[str, int], now_ns: int
    ) -> None:
        if session != self._session:
            header = Header(kind=Kind.REFUSED, session=session, seq=seq)
            self._send(codec.refused(header, self._holder), address)
            return
        gap = 1 if self._newest is None else (seq - self._newest) & 0xFFFFFFFF
        if gap == 0 or gap >= 1 << 31:
            return
        self.gaps += gap - 1
        self._newest, self._fed_ns, self._holder = seq, now_ns, address
        self.commands += 1
        wants = bool(flags & CommandFlag.ARM)
        if not wants:
            self.must_disarm = self.tripped = False
        self.armed = wants and not self.must_disarm
        self._answer(seq, host_time_ns, gap > 1, address, now_ns)
        take_command(self._command.head, self._command.slots, self.about.n_axes, self.side.command)
        self._limit()
        self._refuse_positions()
        if not self.armed:
            limp(self.side.command)
        self._step(now_ns)

    def _refuse_positions(self) -> None:
        """Mode 2 where the hand behind cannot: no torque, and the slot says WRONG_MODE."""
        if not self.side.positions:
            modes = self.side.command["motor_mode"][0, : self.about.n_motors]
            self._wrong_mode = modes == POSITION
            modes[self._wrong_mode] = 0

    def _limit(self) -> None:
        top_a = self._limits["current"][: self.about.n_motors] * codec.CURRENT_LSB_A
        current_a = self.side.command["motor_current_a"][0, : self.about.n_motors]
        np.clip(current_a, -top_a, top_a, out=current_a)

    def _step(self, now_ns: int) -> None:
        self._stepped_ns = now_ns
        self.side.advance(now_ns)

    def _answer(self, seq: int, host_time_ns: int, gap: bool, address: tuple[str, int], now_ns: int) -> None:
        about = self.about
        status = self.side.measurement["motor_status"][0]
        for i in self.faults.stale_motors:
            status[i] |= ChannelStatus.STALE
        if self._wrong_mode is not None:
            motors = status[: about.n_motors]
            motors[:] = np.where(self._wrong_mode, motors | WRONG_MODE, motors & ~WRONG_MODE)
        fill_sample(
            self.side.measurement,
            self._sample.head,
            self._sample.slots,
            about.n_axes,
            self._hall_per_count,
            now_ns,
        )
        flags = ARMED if self.armed else 0
        if self.tripped or self.must_disarm or gap:
            flags |= (
                (SampleFlag.WATCHDOG if self.tripped else 0)
                | (SampleFlag.MUST_DISARM if self.must_disarm else 0)
                | (SampleFlag.COMMAND_GAP if gap else 0)
            )
        self._sample.seal(
            flags=flags,
            session=self._session,
            seq=self.commands & 0xFFFFFFFF,
            times_ns=(now_ns, host_time_ns),
            echo_seq=seq,
            command_age_us=min((now_ns - self._fed_ns) // 1000, 0xFFFFFFFF),
        )
        if self.before_answer is not None:
            self.before_answer()
        self._deliver(self._sample.datagram, address, now_ns)

    def _deliver(self, datagram: memoryview, address: tuple[str, int], now_ns: int) -> None:
        if not self.faults.any:
            self._send(datagram, address)
            return
        for out in self.faults.arriving(datagram):
            if self.faults.delay_ns:
                self._late.append((now_ns + self.faults.delay_ns, out, address))
            else:
                self._send(out, address)

    def _send(self, datagram: bytes | memoryview, address: tuple[str, int]) -> None:
        try:
            self._socket.sendto(datagram, address)
        except OSError:
            return

    # --- everything else ----------------------------------------------------------------------------------

    def _other(self, header: Header, body: bytes, address: tuple[str, int], now_ns: int) -> None:
        if header.kind == Kind.HELLO:
            self._send(codec.describe(Header(kind=Kind.DESCRIBE), self._description()), address)
        elif header.kind == Kind.SETUP:
            self._setup(header, body, address, now_ns)
        elif header.kind == Kind.RELEASE:
            if header.session == self._session:
                self._forget()
            if self._session:
                self._send(
                    codec.refused(Header(kind=Kind.REFUSED, session=header.session), self._holder), address
                )
            else:
                self._send(codec.plain(Header(kind=Kind.RELEASED, session=header.session)), address)
        elif header.kind == Kind.OBSERVE:
            self._answer(header.seq, 0, False, address, now_ns)

    def _description(self) -> Description:
        return replace(self.about, boot=self.boot, holder_session=self._session, holder=self._holder)

    def _setup(self, header: Header, body: bytes, address: tuple[str, int], now_ns: int) -> None:
        found = codec.setup_of(header, body)
        if found is None:
            return
        watchdog_us, limits = found
        result = SetupResult.OK
        alive = now_ns - self._fed_ns <= self._watchdog_ns
        if self._session and header.session != self._session and alive:
            result = SetupResult.HELD
        elif header.slots != self.about.slots:
            result = SetupResult.SLOTS
        elif not WATCHDOG_MIN_US <= watchdog_us <= WATCHDOG_MAX_US:
            result = SetupResult.OUT_OF_RANGE
        else:
            kept = self._newest if self.faults.keeps_seq else None
            self._forget()
            self._newest = kept
            self._session, self._holder = header.session, address
            self._watchdog_ns = watchdog_us * 1000
            self._limits[:] = limits
            if self.faults.limit_refused >= 0:
                self._limits["current"][self.faults.limit_refused] //= 2
        answer = codec.SetupAnswer(
            result=result,
            watchdog_us=self._watchdog_ns // 1000,
            boot=self.boot,
            holder=self._holder,
            limits=self._limits,
        )
        reply = Header(kind=Kind.SETUP_ACK, slots=self.about.slots, session=header.session)
        self._send(codec.setup_ack(reply, answer), address)
