"""The last seconds at full rate in memory, compressed, for the fault that nobody was recording.

A chunk is compressed by columns: each frame is the exclusive or with the one before, and bytes of the same
place stand together. What does not change becomes zeros; 30 s of 38 tendons (1 GB) fit into 300 MB.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import zstandard

from signals.records import RecordArray
from telemetry.columns import Columns
from telemetry.record.attachment import Attachment

BEFORE_S: Final = 20.0
"""Kept before a fault."""
AFTER_S: Final = 10.0
"""Written after it."""
CHUNK: Final = 128
"""Frames of a chunk: writing one takes some milliseconds."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Compressed frames.

    Attributes:
        first_ns: time of the first frame.
        last_ns: time of the last one.
        cycle: number of the first frame's cycle.
        count: frames.
        data: their bytes.
    """

    first_ns: int
    last_ns: int
    cycle: int
    count: int
    data: bytes


def packed(frames: RecordArray, compressor: zstandard.ZstdCompressor) -> bytes:
    """Frames of a ``Columns`` dtype, shape (n,), as few bytes."""
    words = np.ascontiguousarray(frames).view(np.uint64).reshape(len(frames), -1)
    changes = words.copy()
    changes[1:] ^= words[:-1]
    planes = np.ascontiguousarray(changes.T).view(np.uint8).reshape(-1, 8).T
    return compressor.compress(planes.tobytes())


def unpacked(data: bytes, count: int, columns: Columns) -> RecordArray:
    """What ``packed`` made, shape (count,) of ``columns.dtype``."""
    planes = np.frombuffer(zstandard.ZstdDecompressor().decompress(data), np.uint8).reshape(8, -1)
    changes = np.ascontiguousarray(planes.T).view(np.uint64).reshape(-1, count).T
    words = np.bitwise_xor.accumulate(changes, axis=0)
    return np.ascontiguousarray(words).view(columns.dtype).reshape(-1)


class BlackBox:
    """Keeps the last seconds.

    Args:
        columns: layout of the frames.
        budget_bytes: memory that the chunks may take.
        seconds: time to keep.
    """

    def __init__(self, columns: Columns, budget_bytes: int, seconds: float = BEFORE_S) -> None:
        self.columns, self.budget_bytes, self.seconds = columns, budget_bytes, seconds
        self.chunks: deque[Chunk] = deque()
        self.bytes = 0
        self.crowded = False
        """The budget is too small for the time to keep."""
        self._pending = np.zeros(CHUNK, dtype=columns.dtype)
        self._count = 0
        self._keyframes: deque[tuple[int, Attachment]] = deque()
        self._compressor: Any = zstandard.ZstdCompressor(level=1)

    def add(self, frames: RecordArray) -> list[Chunk]:
        """Keep frames of ``columns.dtype``, shape (n,); returns the chunks that they filled."""
        filled = []
        while len(frames):
            took = min(CHUNK - self._count, len(frames))
            self._pending[self._count : self._count + took] = frames[:took]
            self._count += took
            frames = frames[took:]
            if self._count == CHUNK:
                filled += self.close_chunk()
        return filled

    def close_chunk(self) -> list[Chunk]:
        """Compress what waits, full or not; returns it, or nothing."""
        if not self._count:
            return []
        frames, self._count = self._pending[: self._count], 0
        times, cycle = frames["state"]["time_ns"], int(frames["timing"]["cycle"][0])
        data = packed(frames, self._compressor)
        chunk = Chunk(int(times[0]), int(times[-1]), cycle, len(frames), data)
        self.chunks.append(chunk)
        self.bytes += len(data)
        self._forget(chunk.last_ns)
        return [chunk]

    def keyframe(self, cycle: int, item: Attachment) -> None:
        """Keep what the tick remembered after a cycle."""
        self._keyframes.append((cycle, item))
        self.bytes += len(item.data)

    def keyframes(self, chunks: Iterable[Chunk]) -> list[Attachment]:
        """Keyframes from which frames of these chunks can be ticked again."""
        spans = [(chunk.cycle - 1, chunk.cycle + chunk.count - 1) for chunk in chunks]
        return [
            item for cycle, item in self._keyframes if any(first <= cycle < last for first, last in spans)
        ]

    @property
    def kept_s(self) -> float:
        """Time that is in the box [s]."""
        return (self.chunks[-1].last_ns - self.chunks[0].first_ns) / 1e9 if self.chunks else 0.0

    def _forget(self, now_ns: int) -> None:
        while len(self.chunks) > 1:
            old = now_ns - self.chunks[0].last_ns > self.seconds * 1e9
            full = self.bytes > self.budget_bytes
            if not (old or full):
                break
            self.crowded = self.crowded or (full and not old)
            self.bytes -= len(self.chunks.popleft().data)
        oldest = self.chunks[0].cycle - 1
        while self._keyframes and self._keyframes[0][0] < oldest:
            self.bytes -= len(self._keyframes.popleft()[1].data)
