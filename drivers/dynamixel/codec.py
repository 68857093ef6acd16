"""Dynamixel protocol 2.0 as pure bytes: packets, byte stuffing, fast replies, a stream parser that recovers.

Packet: ``FF FF FD 00 | id | length (2) | instruction | parameters | CRC-16 (2)``, little-endian; length
counts from the instruction to the CRC. Inside instruction and parameters every ``FF FF FD`` is followed by an
extra ``FD``; the replies of the fast reads are the exception, they are not stuffed.

Source: e-Manual, protocol 2.0. Its printed CRC of the fast bulk read request is wrong (20 F2 for DA 2D), and
the vendor's Python SDK does not send the stuffing; tests/golden/dynamixel.py holds what holds.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import fastcrc.crc16

from drivers.counts import WireCounts

HEADER: Final = b"\xff\xff\xfd\x00"
STUFFED: Final = b"\xff\xff\xfd\xfd"
UNSTUFFED: Final = b"\xff\xff\xfd"
BROADCAST: Final = 0xFE
FAST_HEADER: Final = HEADER + b"\xfe"
ID_MAX: Final = 252
OVERHEAD: Final = 10
"""Bytes of a packet without parameters."""
MAX_LENGTH: Final = 1500
"""Greatest believable length field: a fast reply of 100 motors with 10 bytes each."""
crc16 = fastcrc.crc16.umts


class Instruction(IntEnum):
    """Instruction byte."""

    PING = 0x01
    READ = 0x02
    WRITE = 0x03
    REG_WRITE = 0x04
    ACTION = 0x05
    FACTORY_RESET = 0x06
    REBOOT = 0x08
    CLEAR = 0x10
    STATUS = 0x55
    SYNC_READ = 0x82
    SYNC_WRITE = 0x83
    FAST_SYNC_READ = 0x8A
    BULK_READ = 0x92
    BULK_WRITE = 0x93
    FAST_BULK_READ = 0x9A


class ErrorCode(IntEnum):
    """Low seven bits of a status packet's error byte."""

    NONE = 0
    RESULT_FAIL = 1
    INSTRUCTION = 2
    CRC = 3
    RANGE = 4
    LENGTH = 5
    LIMIT = 6
    ACCESS = 7


ALERT: Final = 0x80
"""Error byte: a hardware error is latched; the data are valid all the same."""


class Packet(NamedTuple):
    """One sound packet, unstuffed. A fast reply keeps ``raw``, whose inner checksums run over it."""

    id: int
    instruction: int
    parameters: bytes
    raw: bytes = b""
    stuffing_missing: bool = False
    """The sender left out the stuffing (its parameters hold FF FF FD)."""

    @property
    def error(self) -> int:
        """Error byte of a status packet."""
        return self.parameters[0] if self.instruction == Instruction.STATUS and self.parameters else 0

    @property
    def data(self) -> bytes:
        """Data of a status packet."""
        return self.parameters[1:]


def packet(device_id: int, instruction: int, parameters: bytes = b"", stuff: bool = True) -> bytes:
    """One packet as it goes over the wire."""
    body = bytes((instruction,)) + parameters
    if stuff:
        body = body.replace(UNSTUFFED, STUFFED)
    head = HEADER + bytes((device_id,)) + (len(body) + 2).to_bytes(2, "little") + body
    return head + crc16(head).to_bytes(2, "little")


def ping(device_id: int = BROADCAST) -> bytes:
    """Ask for model number and firmware."""
    return packet(device_id, Instruction.PING)


def read(device_id: int, address: int, length: int) -> bytes:
    """Read registers of one device."""
    return packet(device_id, Instruction.READ, address.to_bytes(2, "little") + length.to_bytes(2, "little"))


def write(device_id: int, address: int, data: bytes) -> bytes:
    """Write registers of one device."""
    return packet(device_id, Instruction.WRITE, address.to_bytes(2, "little") + data)


def reboot(device_id: int) -> bytes:
    """Restart one device: clears a latched hardware error, drops torque and whole turns."""
    return packet(device_id, Instruction.REBOOT)


def sync_read(ids: bytes, address: int, length: int, fast: bool) -> bytes:
    """Read the same registers of many devices; ``fast``: all in one reply."""
    head = address.to_bytes(2, "little") + length.to_bytes(2, "little")
    return packet(BROADCAST, Instruction.FAST_SYNC_READ if fast else Instruction.SYNC_READ, head + ids)


def sync_write(ids: bytes, address: int, length: int, data: bytes) -> bytes:
    """Write the same registers of many devices; ``data`` holds ``length`` bytes for every id, in order."""
    head = address.to_bytes(2, "little") + length.to_bytes(2, "little")
    blocks = b"".join(ids[i : i + 1] + data[i * length : (i + 1) * length] for i in range(len(ids)))
    return packet(BROADCAST, Instruction.SYNC_WRITE, head + blocks)


def status(device_id: int, error: int, data: bytes = b"", stuff: bool = True) -> bytes:
    """Status packet (the device's side)."""
    return packet(device_id, Instruction.STATUS, bytes((error,)) + data, stuff)


def fast_reply(blocks: list[tuple[int, int, bytes]]) -> bytes:
    """Reply to a fast read from (error, id, data) of every device (the devices' side).

    Every device appends its block and the checksum over all bytes so far, earlier checksums included.
    """
    length = 1 + sum(len(data) + 4 for _, _, data in blocks)
    reply = HEADER + bytes((BROADCAST,)) + length.to_bytes(2, "little") + bytes((Instruction.STATUS,))
    for error, device_id, data in blocks:
        reply += bytes((error, device_id)) + data
        reply += crc16(reply).to_bytes(2, "little")
    return reply


FAST_START: Final = 8
"""Bytes of a fast reply before its first block."""


def fast_blocks(raw: bytes, length: int) -> list[tuple[int, int, bytes]]:
    """(error, id, data) of every sound block of a fast reply, complete or not.

    The running checksums make each block good on its own: a silent or damaged device costs its own block and
    those behind it, never those in front.

    Args:
        raw: what came from the header on.
        length: data bytes per device.
    """
    blocks = []
    at, step = FAST_START, length + 4
    running = crc16(raw[:at])
    while at + step <= len(raw):
        running = crc16(raw[at : at + step - 2], running)
        if running != raw[at + step - 2] | raw[at + step - 1] << 8:
            break
        blocks.append((raw[at], raw[at + 1], raw[at + 2 : at + step - 2]))
        running = crc16(raw[at + step - 2 : at + step], running)
        at += step
    return blocks


def is_fast_reply(data: bytes) -> bool:
    """Whether ``data`` is exactly one sound fast reply, as nearly every read of a running chain brings it."""
    return (
        data[:5] == FAST_HEADER
        and len(data) == 7 + (data[5] | data[6] << 8)
        and data[7] == Instruction.STATUS
        and crc16(data[:-2]) == data[-2] | data[-1] << 8
    )


class PacketParser:
    """Bytes in, sound packets out; never believes a length before its checksum.

    After a wrong checksum the search goes on one byte behind the failed header, so that a packet swallowed by
    a wrong length is found again. Half a packet expires after ``timeout_ns`` of silence.
    """

    def __init__(self, timeout_ns: int = 20_000_000, max_length: int = MAX_LENGTH) -> None:
        self.counts = WireCounts()
        self.damaged = b""
        """Newest fast reply whose checksum failed: its first blocks may be sound."""
        self._buffer = bytearray()
        self._timeout_ns, self._max_length = timeout_ns, max_length
        self._fed_ns = 0

    @property
    def idle(self) -> bool:
        """Nothing unfinished."""
        return not self._buffer

    @property
    def pending(self) -> bytes:
        """Bytes of an unfinished packet, from its header on."""
        return bytes(self._buffer)

    def feed(self, data: bytes, now_ns: int) -> list[Packet]:
        """Take bytes as they came, return the packets that are complete."""
        found = self.expire(now_ns) if self._buffer else []
        self._buffer += data
        self._fed_ns = now_ns
        found += self._scan()
        return found

    def expire(self, now_ns: int) -> list[Packet]:
        """Give up half packets that got no byte for the time-out; packets found behind them are returned."""
        found: list[Packet] = []
        while len(self._buffer) >= len(HEADER) and now_ns - self._fed_ns > self._timeout_ns:
            self.counts.expired += 1
            del self._buffer[0]
            found += self._scan()
        return found

    def clear(self) -> bytes:
        """Forget what is unfinished and return it."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return rest

    def _scan(self) -> list[Packet]:
        buffer, counts = self._buffer, self.counts
        found: list[Packet] = []
        at = 0
        while True:
            start = buffer.find(HEADER, at)
            if start < 0:
                rest = _header_tail(buffer, at)
                counts.junk_bytes += rest - at
                at = rest
                break
            counts.junk_bytes += start - at
            at = start
            if len(buffer) - at < 7:
                break
            length = buffer[at + 5] | buffer[at + 6] << 8
            if not 3 <= length <= self._max_length:
                counts.length += 1
                at += 1
                continue
            end = at + 7 + length
            if end > len(buffer):
                break
            raw = bytes(buffer[at:end])
            if crc16(raw[:-2]) != raw[-2] | raw[-1] << 8:
                counts.crc += 1
                if raw[4] == BROADCAST and raw[7] == Instruction.STATUS:
                    self.damaged = raw
                at += 1
                continue
            found.append(self._opened(raw))
            at = end
        del buffer[:at]
        return found

    def _opened(self, raw: bytes) -> Packet:
        self.counts.frames += 1
        if raw[4] == BROADCAST and raw[7] == Instruction.STATUS:
            return Packet(BROADCAST, raw[7], raw[8:-2], raw)
        body = raw[7:-2]
        if UNSTUFFED not in body:
            return Packet(raw[4], body[0], body[1:])
        missing = body.count(UNSTUFFED) != body.count(STUFFED)
        if missing:
            self.counts.framing += 1
        return Packet(raw[4], body[0], body.replace(STUFFED, UNSTUFFED)[1:], stuffing_missing=missing)


def _header_tail(buffer: bytearray, at: int) -> int:
    """Where a header may just be beginning at the end of the buffer; its length if nowhere."""
    for keep in (3, 2, 1):
        if len(buffer) - at >= keep and buffer.endswith(HEADER[:keep]):
            return len(buffer) - keep
    return len(buffer)
