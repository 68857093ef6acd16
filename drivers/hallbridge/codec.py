"""Hall bridge protocol HB1 as pure bytes: COBS frames with CRC-16, batches of N channels.

Frame on the wire: COBS of (body, CRC-16/IBM-3740 of the body), closed by 0x00. Body, little-endian::

    0  u8  type   01 sample, 02 info, 03 status, 10 ask for info, 11 start, 12 stop
    1  u8  flags  1 overrun, 2 sync pulse seen, 4 supply fault
    2  u16 seq    counts sample frames; a gap is a loss
    4  u32 t_us   device time of the first sample, wraps after 71 minutes
    8  u8  channels (1..64), 9 u8 samples (1..16)
   10  samples x channels x u16: bits 0..13 value, 14 sensor error, 15 stale or parity error

An info frame has channels, samples, then u32 period_us, u8 bits, u8 kind, u16 firmware, 16 bytes of serial
number.
"""

from __future__ import annotations

import struct
from enum import IntEnum, IntFlag
from typing import Any, Final, NamedTuple

import fastcrc.crc16
import numpy as np
from cobs import cobs
from numpy.typing import NDArray

from drivers.counts import WireCounts

crc16 = fastcrc.crc16.ibm_3740
DELIMITER: Final = b"\0"
HEAD: Final = struct.Struct("<BBHIBB")
_INFO: Final = struct.Struct("<IBBH16s")
CHANNELS_MAX: Final = 64
SAMPLES_MAX: Final = 16
MAX_BODY: Final = HEAD.size + 2 * CHANNELS_MAX * SAMPLES_MAX + 2
MAX_WIRE: Final = MAX_BODY + MAX_BODY // 254 + 2
VALUE_MASK: Final = 0x3FFF
SENSOR_ERROR: Final = 0x4000
STALE: Final = 0x8000


class Type(IntEnum):
    """Type of a frame."""

    SAMPLE = 0x01
    INFO = 0x02
    STATUS = 0x03
    ASK_INFO = 0x10
    START = 0x11
    STOP = 0x12


class Flag(IntFlag):
    """Flags of a sample."""

    OVERRUN = 1
    SYNC = 2
    SUPPLY = 4


class Info(NamedTuple):
    """What a bridge says about itself."""

    channels: int
    samples: int
    period_us: int
    bits: int
    kind: int
    firmware: int
    serial: str


class Sample(NamedTuple):
    """One batch."""

    flags: int
    seq: int
    t_us: int
    words: NDArray[np.uint16]
    """Raw words, shape (samples, channels)."""


Message = Sample | Info | Type


def framed(body: bytes) -> bytes:
    """Body as it goes over the wire."""
    return bytes(cobs.encode(body + crc16(body).to_bytes(2, "little"))) + DELIMITER


def sample(seq: int, t_us: int, words: NDArray[Any], flags: int = 0) -> bytes:
    """A batch on the wire; ``words`` has shape (samples, channels)."""
    samples, channels = words.shape
    head = HEAD.pack(Type.SAMPLE, flags, seq & 0xFFFF, t_us & 0xFFFFFFFF, channels, samples)
    return framed(head + words.astype("<u2").tobytes())


def info(seq: int, t_us: int, about: Info) -> bytes:
    """An info frame on the wire."""
    head = HEAD.pack(Type.INFO, 0, seq & 0xFFFF, t_us & 0xFFFFFFFF, about.channels, about.samples)
    tail = _INFO.pack(
        about.period_us, about.bits, about.kind, about.firmware, about.serial.encode("ascii")[:16]
    )
    return framed(head + tail)


def ask(kind: Type) -> bytes:
    """A frame from the computer: ask for info, start, stop."""
    return framed(HEAD.pack(kind, 0, 0, 0, 0, 0))


class HallParser:
    """Bytes in, sound messages out.

    A frame ends at 0x00 wherever it began, so one damaged frame costs itself and, where the damage hit the
    delimiter, its successor; nothing longer than the longest frame is ever kept.
    """

    def __init__(self, timeout_ns: int = 20_000_000) -> None:
        self.counts = WireCounts()
        self._buffer = bytearray()
        self._timeout_ns, self._fed_ns = timeout_ns, 0
        self._seq = -1
        self._skip = True
        """The first piece of a stream is the end of a frame that began before us."""

    def forget(self) -> None:
        """Bytes were thrown away: what comes next begins within a frame and follows no number."""
        self._buffer.clear()
        self._skip, self._seq = True, -1

    def feed(self, data: bytes, now_ns: int) -> list[Message]:
        """Take bytes as they came, return the messages that are complete."""
        buffer = self._buffer
        if buffer and now_ns - self._fed_ns > self._timeout_ns:
            self.counts.expired += 1
            buffer.clear()
            self._skip = True
        self._fed_ns = now_ns
        buffer += data
        pieces = buffer.split(DELIMITER)
        rest = pieces.pop()
        found: list[Message] = []
        for piece in pieces:
            if piece:
                message = self._opened(bytes(piece))
                if message is not None:
                    found.append(message)
            self._skip = False
        if len(rest) > MAX_WIRE:
            self.counts.length += 1
            self.counts.junk_bytes += len(rest)
            rest = bytearray()
            self._skip = True
        self._buffer = rest
        return found

    def _opened(self, piece: bytes) -> Message | None:
        first, counts = self._skip, self.counts
        message, reason = opened(piece)
        if message is None:
            counts.junk_bytes += len(piece)
            if not first:
                setattr(counts, reason, getattr(counts, reason) + 1)
            return None
        counts.frames += 1
        if isinstance(message, Sample):
            if self._seq >= 0:
                counts.lost += (message.seq - self._seq - 1) & 0xFFFF
            self._seq = message.seq
        return message


def opened(piece: bytes) -> tuple[Message | None, str]:
    """Message of one COBS piece without its delimiter, or None and the kind of damage."""
    try:
        body = cobs.decode(piece)
    except cobs.DecodeError:
        return None, "framing"
    if len(body) < HEAD.size + 2:
        return None, "length"
    if crc16(body[:-2]) != body[-2] | body[-1] << 8:
        return None, "crc"
    kind, flags, seq, t_us, channels, samples = HEAD.unpack_from(body)
    payload = len(body) - HEAD.size - 2
    if kind == Type.SAMPLE:
        if not (1 <= channels <= CHANNELS_MAX and 1 <= samples <= SAMPLES_MAX):
            return None, "length"
        if payload != 2 * channels * samples:
            return None, "length"
        words = np.frombuffer(body, "<u2", channels * samples, HEAD.size).reshape(samples, channels)
        return Sample(flags, seq, t_us, words), ""
    if kind == Type.INFO:
        if payload != _INFO.size or not 1 <= channels <= CHANNELS_MAX:
            return None, "length"
        period_us, bits, sensor, firmware, serial = _INFO.unpack_from(body, HEAD.size)
        text = serial.rstrip(b"\0").decode("ascii", "replace")
        return Info(channels, samples, period_us, bits, sensor, firmware, text), ""
    if kind in (Type.STATUS, Type.ASK_INFO, Type.START, Type.STOP):
        return Type(kind), ""
    return None, "unexpected"
