"""Encoder stream of the ORCA hand as pure bytes: AA A9 frames of 17 words, 8-bit checksum.

Frame: ``AA A9 00 | u16 length = 35 | u8 error | 17 x u16 | LRC``, little-endian; LRC makes the byte sum 0. A
word is even parity (bit 15), sensor error (bit 14) and 14 bits of angle. Eight bits of checksum and one of
parity per word let about one in 256 of heavily damaged frames pass, so the driver also bounds the step
between two frames (``Plausible``); single and double bit errors are always caught by checksum and parity
together, or by the step.

Source: orcahand/orca_core, hardware/sensing/encoder_protocol.py.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drivers.counts import WireCounts
from signals.layout import BoolArray, IntArray

HEADER: Final = b"\xaa\xa9\x00\x23\x00"
SLOTS: Final = 17
FRAME_BYTES: Final = len(HEADER) + 1 + 2 * SLOTS + 1
PARITY: Final = 0x8000
ERROR: Final = 0x4000
VALUE_MASK: Final = 0x3FFF
COUNTS_PER_TURN: Final = 16384
_NIBBLE_PARITY: Final = 0x6996


class Reading(NamedTuple):
    """One frame."""

    error: int
    words: NDArray[np.uint16]
    """Raw words, shape (17,)."""
    parity_good: BoolArray
    """Shape (17,)."""


def odd_parity(words: NDArray[np.uint16]) -> BoolArray:
    """True where a word has an odd number of ones."""
    x = words ^ (words >> 8)
    x ^= x >> 4
    odd: BoolArray = ((np.uint16(_NIBBLE_PARITY) >> (x & 0xF)) & 1).astype(np.bool_)
    return odd


def frame(values: NDArray[Any], sensor_error: NDArray[Any] | None = None, error: int = 0) -> bytes:
    """One frame from 14-bit values, shape (17,) (the device's side)."""
    words: NDArray[np.uint16] = (values.astype(np.uint16) & VALUE_MASK).astype(np.uint16)
    if sensor_error is not None:
        words |= np.where(sensor_error, ERROR, 0).astype(np.uint16)
    words |= np.where(odd_parity(words), PARITY, 0).astype(np.uint16)
    body = HEADER + bytes((error,)) + words.astype("<u2").tobytes()
    return body + bytes((-sum(body) & 0xFF,))


class OrcaParser:
    """Bytes in, readings out; data may hold the header, so a failed frame is searched from its 2nd byte."""

    def __init__(self, timeout_ns: int = 20_000_000) -> None:
        self.counts = WireCounts()
        self._buffer = bytearray()
        self._timeout_ns, self._fed_ns = timeout_ns, 0

    def forget(self) -> None:
        """Bytes were thrown away: what is unfinished stays so."""
        self._buffer.clear()

    def feed(self, data: bytes, now_ns: int) -> list[Reading]:
        """Take bytes as they came, return the frames that are complete."""
        buffer, counts = self._buffer, self.counts
        if buffer and now_ns - self._fed_ns > self._timeout_ns:
            counts.expired += len(buffer) >= len(HEADER)
            counts.junk_bytes += len(buffer)
            buffer.clear()
        self._fed_ns = now_ns
        buffer += data
        found = []
        at = 0
        while True:
            start = buffer.find(HEADER, at)
            if start < 0:
                keep = max(at, len(buffer) - len(HEADER) + 1)
                counts.junk_bytes += keep - at
                at = keep
                break
            counts.junk_bytes += start - at
            at = start
            if len(buffer) - at < FRAME_BYTES:
                break
            raw = buffer[at : at + FRAME_BYTES]
            if sum(raw) & 0xFF:
                counts.crc += 1
                at += 1
                continue
            words = np.frombuffer(bytes(raw), "<u2", SLOTS, len(HEADER) + 1)
            counts.frames += 1
            found.append(Reading(raw[len(HEADER)], words, ~odd_parity(words)))
            at += FRAME_BYTES
        del buffer[:at]
        return found


class Plausible:
    """Bounds the step of every channel between two frames; a step is believed when it is seen twice.

    Args:
        step_max: greatest believable change between two frames [counts].
    """

    def __init__(self, step_max: int) -> None:
        self._step_max = step_max
        self._last: IntArray | None = None
        self._doubted: IntArray | None = None

    def judge(self, values: NDArray[Any]) -> BoolArray:
        """Which of the 14-bit values, shape (n,), may be used."""
        now = values.astype(np.int64)
        if self._last is None or self._doubted is None:
            self._last, self._doubted = now.copy(), now.copy()
            return np.ones(now.shape, dtype=np.bool_)
        good = (self._far(now, self._last) <= self._step_max) | (
            self._far(now, self._doubted) <= self._step_max
        )
        self._last[good] = now[good]
        self._doubted = now.copy()
        return good

    @staticmethod
    def _far(a: IntArray, b: IntArray) -> IntArray:
        half = COUNTS_PER_TURN // 2
        far: IntArray = np.abs((a - b + half) % COUNTS_PER_TURN - half)
        return far
