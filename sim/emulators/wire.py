"""Time on the wire: bits per byte of a serial line, bits per CAN frame with the worst stuffing, arbitration.

A pty or a TCP socket moves data at once; an emulator that did not charge for the wire would make loop rates
look fine that no real bus can give.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Final

BITS_PER_BYTE: Final = 10
"""Start, eight data, stop."""


def serial_ns(n_bytes: int, baud: int) -> int:
    """Time of ``n_bytes`` on a serial line."""
    return n_bytes * BITS_PER_BYTE * 1_000_000_000 // baud


def can_bits(data_bytes: int, worst: bool = True) -> int:
    """Bits of a classic CAN frame with an 11-bit id, inter-frame space included.

    ``47 + 8 n`` and, in the worst case, a stuff bit after every four of the ``33 + 8 n`` stuffed bits.
    """
    bits = 47 + 8 * data_bytes
    return bits + (33 + 8 * data_bytes) // 4 if worst else bits


def can_ns(data_bytes: int, bitrate: int, worst: bool = True) -> int:
    """Time of one CAN frame."""
    return can_bits(data_bytes, worst) * 1_000_000_000 // bitrate


@dataclass(slots=True)
class HalfDuplex:
    """One shared pair of wires: a reply begins when the request has ended, never before the line is free."""

    baud: int
    free_ns: int = 0

    def take(self, n_bytes: int, ready_ns: int) -> int:
        """Occupy the line with ``n_bytes`` as soon as possible after ``ready_ns``; returns when they end."""
        self.free_ns = max(self.free_ns, ready_ns) + serial_ns(n_bytes, self.baud)
        return self.free_ns


@dataclass(slots=True)
class Outbox:
    """Bytes that leave at a given time, in order of their time."""

    _heap: list[tuple[int, int, bytes]] = field(default_factory=list)
    _count: int = 0

    def put(self, due_ns: int, data: bytes) -> None:
        """Send ``data`` at ``due_ns``."""
        self._count += 1
        heapq.heappush(self._heap, (due_ns, self._count, data))

    def due_ns(self, never: int) -> int:
        """When the next piece is due."""
        return self._heap[0][0] if self._heap else never

    def take(self, now_ns: int) -> bytes:
        """Everything that is due."""
        out = b""
        while self._heap and self._heap[0][0] <= now_ns:
            out += heapq.heappop(self._heap)[2]
        return out

    def clear(self) -> None:
        """Forget everything."""
        self._heap.clear()
