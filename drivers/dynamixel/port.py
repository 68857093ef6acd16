"""Transactions with servos on a serial line: ask one, ask many, bounded by wire time and adapter latency."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Final

from drivers.counts import WireCounts
from drivers.dynamixel import codec
from drivers.dynamixel.codec import BROADCAST, ErrorCode, Instruction, Packet, PacketParser
from drivers.dynamixel.models import Register
from drivers.errors import ConfigureError, DuplicateId, ReplyTimeout
from drivers.serialport import Clock, LineMaker, SerialPort

BITS_PER_BYTE: Final = 10
TRIES: Final = 3
ANSWERS_ALL: Final = 2
"""Status return level of a servo that answers every instruction."""
LISTEN_NS: Final = 2_000_000
PING_SPACING_S: Final = 0.003


class ServoPort:
    """A half-duplex chain of servos.

    Args:
        path: serial line.
        baud: bits per second.
        name: name of the bus.
        turnaround_ns: adapter latency and operating system together, per exchange.
        readonly: never write.
        clock: monotonic nanoseconds.
        spin_ns: how long before an expected reply to look without sleeping.
        line: makes the line, in the place of ``SerialPort``.
    """

    def __init__(
        self,
        path: str,
        baud: int,
        name: str,
        turnaround_ns: int,
        readonly: bool = False,
        clock: Clock = time.monotonic_ns,
        spin_ns: int = 0,
        line: LineMaker | None = None,
    ) -> None:
        self.name, self.baud, self.clock = name, baud, clock
        self.turnaround_ns = turnaround_ns
        self.spin_ns = spin_ns
        self.serial = (line or SerialPort)(path, baud, name, readonly, clock)
        self.parser = PacketParser()
        self._dirty = True
        self.expected_ns = 0
        """When the reply to the last request is through, by the wire alone."""
        self._tries = self._extra = 0
        self.rehearse: Callable[[], object] | None = None
        """Called while a reply is on the wire, when spinning for it begins."""

    @property
    def counts(self) -> WireCounts:
        """What went wrong on the line."""
        return self.parser.counts

    def wire_ns(self, n_bytes: int) -> int:
        """Time of ``n_bytes`` on the wire."""
        return n_bytes * BITS_PER_BYTE * 1_000_000_000 // self.baud

    def begin(self, request: bytes, reply_bytes: int) -> int:
        """Send a request on a quiet line; the time until which the reply may take [ns]."""
        if self._dirty or not self.parser.idle:
            self.counts.junk_bytes += self.serial.drain()
            self.parser.clear()
            self._dirty = False
        self.parser.damaged = b""
        self.serial.write(request)
        self.expected_ns = self.clock() + self.wire_ns(len(request) + reply_bytes)
        return self.expected_ns + self.turnaround_ns

    def whole(self, until_ns: int) -> bytes | list[Packet]:
        """One whole fast reply if that is what came, else the packets in what came."""
        spin_from_ns = self.expected_ns - self.spin_ns if self.spin_ns else 0
        data = self.serial.read(until_ns, spin_from_ns, self.rehearse)
        if len(data) > codec.OVERHEAD and self.parser.idle and codec.is_fast_reply(data):
            self.counts.frames += 1
            return data
        return self.parser.feed(data, self.clock()) if data else []

    def packets(self, until_ns: int) -> list[Packet]:
        """Packets that came; waits for bytes until ``until_ns``."""
        data = self.serial.read(until_ns)
        return self.parser.feed(data, self.clock()) if data else []

    def give_up(self) -> None:
        """The reply did not come whole: what still arrives belongs to nobody."""
        self._dirty = True

    def tell(self, request: bytes) -> None:
        """Send a request that nobody answers."""
        self.begin(request, 0)

    def ask(self, request: bytes, device_id: int, reply_bytes: int, label: str) -> Packet:
        """The answer of one device.

        Raises:
            ReplyTimeout: it stays silent.
            DuplicateId: bytes come every time, but never a sound packet.
        """
        garbled = 0
        for self._tries in range(1, TRIES + 1):
            errors, arrived = self.counts.errors(), self.serial.bytes_in
            until_ns = self.begin(request, codec.OVERHEAD + 1 + reply_bytes)
            found: list[Packet] = []
            while not any(p.id == device_id for p in found) and self.clock() < until_ns:
                found = [p for p in self.packets(until_ns) if _answers(p, reply_bytes)]
            mine = [p for p in found if p.id == device_id]
            if mine:
                self._extra = len(mine) - 1 if self._tries == 1 else 0
                if self._tries > 1:
                    self._quiet()
                return mine[0]
            self.give_up()
            garbled += self.counts.errors() > errors or self.serial.bytes_in > arrived
        if garbled == TRIES:
            raise DuplicateId(self.name, device_id, f"{TRIES} garbled answers in a row")
        raise ReplyTimeout(label, TRIES * self.turnaround_ns * 1e-9)

    def _quiet(self) -> None:
        """A question was repeated: wait until late answers to it are through."""
        until_ns = self.clock() + self.turnaround_ns
        while self.clock() < until_ns:
            self.serial.read(until_ns)
        self.give_up()

    def have_it_answer(self, device_id: int, register: Register, label: str) -> None:
        """Make a servo answer every instruction, whatever it was set to.

        Below level 2 it acknowledges no write, at level 0 no read either; a ping it always answers.

        Args:
            device_id: a servo that answers pings.
            register: its status return level.
            label: its name in messages.

        Raises:
            ConfigureError: it stays as it is.
        """
        with contextlib.suppress(ReplyTimeout):
            if self.read(device_id, register, label) == ANSWERS_ALL:
                return
        self.tell(codec.write(device_id, register.address, register.encode(ANSWERS_ALL)))
        self._quiet()
        try:
            found: object = self.read(device_id, register, label)
        except ReplyTimeout:
            found = "silent, though it answers pings"
        if found != ANSWERS_ALL:
            raise ConfigureError(label, "status_return_level", ANSWERS_ALL, found)

    def read(self, device_id: int, register: Register, label: str) -> int:
        """Value of a register."""
        request = codec.read(device_id, register.address, register.size)
        answer = self.ask(request, device_id, register.size, label)
        return register.decode(answer.data)

    def write(self, device_id: int, register: Register, value: int, label: str, setting: str) -> None:
        """Write a register; raises ConfigureError with the device's own reason."""
        try:
            data = register.encode(value)
        except OverflowError:
            raise ConfigureError(label, setting, value, "not a value of its register") from None
        request = codec.write(device_id, register.address, data)
        code = self.ask(request, device_id, 0, label).error & ~codec.ALERT
        if code:
            reason = ErrorCode(code).name if code in ErrorCode._value2member_map_ else str(code)
            raise ConfigureError(label, setting, value, f"refused ({reason.lower()} error)")

    def set(self, device_id: int, register: Register, value: int, label: str, setting: str) -> None:
        """Write a register and read it back."""
        self.write(device_id, register, value, label, setting)
        found = self.read(device_id, register, label)
        if found != value:
            raise ConfigureError(label, setting, value, found)

    def ping(self, device_id: int, label: str) -> tuple[int, int]:
        """Model number and firmware of one device.

        Raises:
            DuplicateId: a second answer to the first question follows within the turn-around.
        """
        data = self.ask(codec.ping(device_id), device_id, 3, label).data
        extra, until_ns = self._extra, self.clock() + LISTEN_NS
        while self._tries == 1 and self.clock() < until_ns:
            extra += sum(p.id == device_id for p in self.packets(until_ns))
        if extra:
            self.give_up()
            raise DuplicateId(self.name, device_id, f"{1 + extra} answers to one ping")
        return int.from_bytes(data[:2], "little"), data[2] if len(data) > 2 else 0

    def answers(self, device_id: int) -> bool:
        """Whether a device answers one ping; costs one deadline if not."""
        until_ns = self.begin(codec.ping(device_id), codec.OVERHEAD + 4)
        while self.clock() < until_ns:
            if any(p.id == device_id and p.instruction == Instruction.STATUS for p in self.packets(until_ns)):
                return True
        self.give_up()
        return False

    def find(self) -> list[tuple[int, int, int]]:
        """(id, model number, firmware) of everything that answers a broadcast ping; ids may repeat."""
        until_ns = self.begin(codec.ping(BROADCAST), 14 * (codec.ID_MAX + 1))
        until_ns += int(PING_SPACING_S * 1e9)
        found = []
        while self.clock() < until_ns:
            for p in self.packets(until_ns):
                if p.instruction == Instruction.STATUS and len(p.data) == 3:
                    found.append((p.id, int.from_bytes(p.data[:2], "little"), p.data[2]))
        self.give_up()
        return found

    def close(self) -> None:
        """Close the line."""
        self.serial.close()


def _answers(p: Packet, reply_bytes: int) -> bool:
    """Whether a packet can be the answer: a status with as many data as asked for, or with an error."""
    wanted = len(p.data) == reply_bytes or bool(p.error & ~codec.ALERT)
    return p.instruction == Instruction.STATUS and wanted
