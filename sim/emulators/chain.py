"""Emulated chain of Dynamixel servos on a pty: half-duplex wire time, return delay, latency, faults."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drivers.dynamixel import codec
from drivers.dynamixel.codec import BROADCAST, MAX_LENGTH, ErrorCode, Instruction, Packet, PacketParser
from drivers.dynamixel.models import BAUD_CODES
from sim.emulators.damage import Damage
from sim.emulators.loop import NEVER, Clock
from sim.emulators.pty_line import OnALine, PtyLine
from sim.emulators.servo import EmulatedServo
from sim.emulators.side import DeviceSide
from sim.emulators.wire import HalfDuplex, Outbox, serial_ns

IDLE_NS: Final = 2_000_000
DELAY_UNIT_NS: Final = 2000
BLOCK_OVERHEAD: Final = 4
"""Bytes of a device in a fast reply beside its data: error, id, checksum."""
READS: Final = frozenset(
    {Instruction.SYNC_READ, Instruction.FAST_SYNC_READ, Instruction.BULK_READ, Instruction.FAST_BULK_READ}
)
SPAN: Final = 4
"""Bytes of address and length in front of what a read or a sync instruction is about."""


@dataclass(slots=True)
class LineFaults(Damage):
    """Fault hooks of a serial line."""

    split_ns: int = 0
    """Every reply comes in two pieces, the second later by this."""


class ChainEmulator(OnALine):
    """Servos on one line.

    Args:
        servos: the servos; two with one id collide.
        side: the hand behind them.
        link: stable name of the line.
        adapter_latency_ns: time that the USB adapter keeps a reply.
        clock: monotonic nanoseconds.
        line: makes its end of the line, in the place of a pty.
    """

    def __init__(
        self,
        servos: list[EmulatedServo],
        side: DeviceSide,
        link: Path,
        adapter_latency_ns: int = 0,
        clock: Clock = time.monotonic_ns,
        line: Callable[[Path], PtyLine] | None = None,
    ) -> None:
        self.servos, self.side, self.line = servos, side, (line or PtyLine)(link)
        self.adapter_latency_ns, self._clock = adapter_latency_ns, clock
        self.faults = LineFaults()
        self._parser = PacketParser()
        self._wire = HalfDuplex(57600)
        self._out = Outbox()
        self._idle_ns = clock()
        self.wire_ns = 0
        """Time that the line was occupied."""
        self.packets = self.unstuffed = self.wrong_baud = 0

    # --- Emulator -----------------------------------------------------------------------------------------

    def due_ns(self) -> int:
        """Next reply, or the idle step of hand and watchdogs."""
        return min(self._out.due_ns(NEVER), self._idle_ns)

    def on_time(self, now_ns: int) -> None:
        """Send what is due; let the hand and the watchdogs live."""
        data = self._out.take(now_ns)
        if data:
            self.line.write(data)
        if now_ns >= self._idle_ns:
            self._idle_ns = now_ns + IDLE_NS
            self.side.advance(now_ns)
            for servo in self.servos:
                servo.watch(now_ns)

    def unplug(self) -> None:
        """Fault hook: the adapter is pulled; the servos keep their power."""
        super().unplug()
        self._out.clear()
        self._parser.clear()

    def readable(self, descriptor: int, now_ns: int) -> None:
        """Take what the driver sent."""
        data = self.line.read()
        if not data:
            return
        baud = self.line.baud()
        self._wire.baud = baud or self._wire.baud
        before = self._wire.free_ns
        begun_ns = max(before, now_ns - self.line.hop_in_ns)
        for p in self._parser.feed(data, now_ns):
            self.packets += 1
            self.unstuffed += p.stuffing_missing
            if p.instruction != Instruction.STATUS:
                self._serve(p, begun_ns + serial_ns(len(data), self._wire.baud), now_ns)
        if self._wire.free_ns == before:
            self._wire.take(len(data), now_ns)
        self.wire_ns += self._wire.free_ns - begun_ns

    # --- packets ------------------------------------------------------------------------------------------

    def _hearing(self) -> list[EmulatedServo]:
        """Servos that hear this baud rate."""
        code = BAUD_CODES.get(self._wire.baud)
        hearing = [s for s in self.servos if s.baud == code]
        self.wrong_baud += len(self.servos) - len(hearing)
        return [s for s in hearing if not s.silent]

    def _serve(self, p: Packet, end_ns: int, now_ns: int) -> None:
        """Handle one instruction whose last byte is on the wire at ``end_ns``."""
        self._wire.free_ns = end_ns
        servos = self._hearing()
        for servo in servos:
            servo.fed(now_ns)
        if p.instruction in (Instruction.SYNC_WRITE, Instruction.BULK_WRITE):
            for device_id, address, data in writes_of(p):
                for servo in servos:
                    if device_id in (servo.id, servo.shadow):
                        servo.write(address, data)
            return
        self.side.advance(now_ns)
        for servo in servos:
            servo.sense(now_ns)
        if p.instruction in READS:
            self._read_many(p, servos)
        elif p.instruction == Instruction.PING and p.id == BROADCAST:
            for servo in sorted(servos, key=lambda s: s.id):
                self._reply(servo, codec.status(servo.id, servo.alert, self._identity(servo)))
        else:
            answers = [(s, self._single(s, p)) for s in servos if p.id in (s.id, BROADCAST)]
            replies = [(s, r) for s, r in answers if r and p.id != BROADCAST]
            if len(replies) == 1:
                self._reply(*replies[0])
            elif replies:
                self._collide([r for _, r in replies])

    @staticmethod
    def _identity(servo: EmulatedServo) -> bytes:
        return servo.get("model_number").to_bytes(2, "little") + bytes((servo.get("firmware"),))

    def _single(self, servo: EmulatedServo, p: Packet) -> bytes:
        """Answer of one servo to an instruction for it alone; empty if its status return level wants none."""
        device_id, answers = servo.id, _answers(servo, p.instruction)
        error, data, body = ErrorCode.NONE, b"", p.parameters
        if p.instruction == Instruction.PING:
            data = self._identity(servo)
        elif p.instruction == Instruction.READ:
            found = servo.read(*_span(body)) if len(body) == SPAN else None
            error = ErrorCode.NONE if found is not None else _malformed(body, SPAN, SPAN)
            data = found or b""
        elif p.instruction == Instruction.WRITE:
            error = _malformed(body, 3, MAX_LENGTH)
            if len(body) > 2:
                error = servo.write(body[0] | body[1] << 8, body[2:])
        elif p.instruction == Instruction.REBOOT:
            reply = codec.status(device_id, servo.alert)
            servo.reboot()
            return reply if answers else b""
        else:
            error = ErrorCode.INSTRUCTION
        return codec.status(device_id, error | servo.alert, data) if answers else b""

    def _read_many(self, p: Packet, servos: list[EmulatedServo]) -> None:
        """Every servo waits for the one in front of it: the first that stays silent ends the answer."""
        fast = p.instruction in (Instruction.FAST_SYNC_READ, Instruction.FAST_BULK_READ)
        by_id = {s.id: s for s in servos}
        wanted = reads_of(p)
        blocks: list[tuple[int, int, bytes]] = []
        chain: list[EmulatedServo] = []
        for device_id, address, length in wanted:
            servo = by_id.get(device_id)
            if servo is None or servo.mute or not _answers(servo, Instruction.READ):
                break
            data = None if fast and not servo.fast_reads else servo.read(address, length)
            if data is None:
                break
            chain.append(servo)
            blocks.append((servo.alert, device_id, data))
        if not blocks:
            return
        if not fast:
            for servo, (error, device_id, data) in zip(chain, blocks, strict=True):
                self._reply(servo, codec.status(device_id, error, data))
            return
        missing = [(0, 0, bytes(length)) for _, _, length in wanted[len(blocks) :]]
        whole = codec.fast_reply(blocks + missing)
        answered = sum(len(data) + BLOCK_OVERHEAD for _, _, data in blocks)
        self._reply(chain[0], whole[: codec.FAST_START + answered])

    def _collide(self, replies: list[bytes]) -> None:
        """Two devices answer at once: the line carries the AND of their levels."""
        length = max(map(len, replies))
        mixed = bytearray(b"\xff" * length)
        for k, reply in enumerate(replies):
            shifted = reply[k:].ljust(length, b"\xff")
            mixed = bytearray(a & b for a, b in zip(mixed, shifted, strict=True))
        self._send(bytes(mixed), self._wire.free_ns)

    def _reply(self, servo: EmulatedServo, reply: bytes) -> None:
        if servo.mute:
            return
        self._send(reply, self._wire.free_ns + servo.get("return_delay") * DELAY_UNIT_NS)

    def _send(self, reply: bytes, begun_ns: int) -> None:
        due_ns = self._wire.take(len(reply), begun_ns) + self.adapter_latency_ns - self.line.hop_out_ns
        reply = self.faults.damaged(reply)
        if self.faults.split_ns and len(reply) > 1:
            half = len(reply) // 2
            self._out.put(due_ns, reply[:half])
            self._out.put(due_ns + self.faults.split_ns, reply[half:])
        else:
            self._out.put(due_ns, reply)


def reads_of(p: Packet) -> list[tuple[int, int, int]]:
    """(id, address, length) of everything that a read of several devices asks for; empty if malformed."""
    body = p.parameters
    if p.instruction in (Instruction.SYNC_READ, Instruction.FAST_SYNC_READ):
        if len(body) < SPAN:
            return []
        return [(device_id, *_span(body)) for device_id in body[SPAN:]]
    step = 1 + SPAN
    return [(body[at], *_span(body[at + 1 :])) for at in range(0, len(body) - SPAN, step)]


def writes_of(p: Packet) -> list[tuple[int, int, bytes]]:
    """(id, address, data) of all that a write to several devices holds; what is cut off is left out."""
    body, found = p.parameters, []
    if p.instruction == Instruction.SYNC_WRITE:
        if len(body) < SPAN or not (span := _span(body))[1]:
            return []
        address, length = span
        for at in range(SPAN, len(body) - length, length + 1):
            found.append((body[at], address, body[at + 1 : at + 1 + length]))
    else:
        at = 0
        while at + 1 + SPAN < len(body):
            address, length = _span(body[at + 1 :])
            data = body[at + 1 + SPAN : at + 1 + SPAN + length]
            if not length or len(data) < length:
                break
            found.append((body[at], address, data))
            at += 1 + SPAN + length
    return [(device_id, address, data) for device_id, address, data in found if device_id <= codec.ID_MAX]


def _span(body: bytes) -> tuple[int, int]:
    """Address and length."""
    return body[0] | body[1] << 8, body[2] | body[3] << 8


def _malformed(body: bytes, least: int, most: int) -> ErrorCode:
    """LENGTH for parameters of a wrong length, else RANGE: they ask for what is not there."""
    return ErrorCode.RANGE if least <= len(body) <= most else ErrorCode.LENGTH


def _answers(servo: EmulatedServo, instruction: int) -> bool:
    """By its status return level: 0 answers pings alone, 1 reads too, 2 everything."""
    level = servo.get("status_return_level")
    return level == 2 or instruction == Instruction.PING or (level == 1 and instruction == Instruction.READ)
