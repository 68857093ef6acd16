"""Frames with only the columns that a hand uses: what is logged, kept in memory and drawn.

The records have fixed capacities (64 motors); a finger uses eight. ``Columns`` makes the dtype with
the hand's counts and copies frames into it. Fields keep the order of falling element size, so that the
aligned numpy layout is the CDR layout of a ROS message too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from signals.records import FRAME_RECORDS, RecordArray
from signals.table import TABLE, Signal

EXACT: Final = ("timing", "measurement", "goal", "command")
"""Records that keep float64: a replay feeds them in again. State and truth are kept as float32."""
EXACT_SIGNALS: Final = frozenset({("state", "dt_s")})
"""Others that a replay feeds in."""
_STEP: Final = 64
"""Frames that move at a time."""
_COUNTERS: Final = {
    "motor": "n_motors",
    "tendon": "n_tendons",
    "joint": "n_joints",
    "finger": "n_fingers",
    "axis": "n_axes",
}


def counts_of(model: RecordArray) -> dict[str, int]:
    """Index space -> how many of it the hand has."""
    return {space: int(model[field][0]) for space, field in _COUNTERS.items()}


def used_shape(signal: Signal, counts: dict[str, int]) -> tuple[int, ...]:
    """Shape of a signal with the hand's counts."""
    return tuple(counts.get(d, s) for d, s in zip(signal.dims, signal.shape, strict=True))


@dataclass(frozen=True, slots=True)
class Column:
    """One kept signal: where it comes from and what of it is used."""

    record: str
    signal: Signal
    shape: tuple[int, ...]
    kind: str

    @property
    def slices(self) -> tuple[slice, ...]:
        """Index of the used part, after the frame index."""
        return (slice(None), *(slice(0, n) for n in self.shape))


class Columns:
    """Which signals of a hand are kept and how.

    Args:
        counts: index space -> count, as ``counts_of`` gives them.
        records: records to keep, e.g. without ``truth`` on hardware.
        exact: records whose floats stay float64; the others become float32.
    """

    def __init__(
        self,
        counts: dict[str, int],
        records: tuple[str, ...] = FRAME_RECORDS,
        exact: tuple[str, ...] = EXACT,
    ) -> None:
        self.counts, self.records = dict(counts), records
        self.columns = [c for record in records for c in self._of(record, record in exact)]
        self._moves = [(c.record, c.signal.name, c.slices) for c in self.columns]
        self.dtype, self.payload = self._frame_dtype()

    def _of(self, record: str, exact: bool) -> list[Column]:
        found = []
        for signal in TABLE[record]:
            shape = used_shape(signal, self.counts)
            whole = exact or (record, signal.name) in EXACT_SIGNALS
            kind = signal.kind if whole or signal.kind != "f8" else "f4"
            if 0 not in shape:
                found.append(Column(record, signal, shape, kind))
        return sorted(found, key=lambda c: -int(c.kind[1]))

    def of_record(self, record: str) -> list[Column]:
        """Columns of one record in the order of their bytes."""
        return [c for c in self.columns if c.record == record]

    def _record_dtype(self, record: str) -> np.dtype[Any]:
        """Packed: elements of falling size need no padding between them, and CDR has none behind the last."""
        return np.dtype([(c.signal.name, c.kind, c.shape) for c in self.of_record(record)])

    def _frame_dtype(self) -> tuple[np.dtype[Any], int]:
        """The frame's dtype and its bytes as CDR; a record starts at a multiple of its first element."""
        offsets, end = [], 0
        formats = [self._record_dtype(record) for record in self.records]
        for record, kind in zip(self.records, formats, strict=True):
            size = int(self.of_record(record)[0].kind[1])
            offsets.append(-(-end // size) * size)
            end = offsets[-1] + kind.itemsize
        names = list(self.records)
        layout: Any = {"names": names, "formats": formats, "offsets": offsets, "itemsize": -(-end // 8) * 8}
        return np.dtype(layout), end

    def take(self, frames: RecordArray) -> RecordArray:
        """Copy frames, shape (n,) of FRAME, into shape (n,) of ``self.dtype``."""
        return self.take_into(frames, np.zeros(len(frames), dtype=self.dtype))

    def take_into(self, frames: RecordArray, out: RecordArray) -> RecordArray:
        """The same into ``out``, shape (n,) of ``self.dtype``."""
        for record, name, used in self._moves:
            out[record][name] = frames[record][name][used]
        return out

    def give(self, frames: RecordArray, record: str, base: RecordArray) -> RecordArray:
        """One record of kept frames, shape (n,), in its full layout; what was not kept is as in ``base``."""
        out = np.repeat(base, len(frames))
        for column in self.of_record(record):
            out[column.signal.name][column.slices] = frames[record][column.signal.name]
        return out


def join(blocks: list[RecordArray], dtype: np.dtype[Any]) -> RecordArray:
    """Blocks of frames one after the other; unlike ``np.concatenate`` it keeps the layout."""
    out = np.zeros(sum(map(len, blocks)), dtype=dtype)
    at = 0
    for block in blocks:
        out[at : at + len(block)] = block
        at += len(block)
    return out


class FrameBuffer:
    """Keeps every n-th frame of a run of unknown length within a bounded memory.

    When it is full it forgets every second frame and takes half as many from then on. Frames move within one
    block then: nothing is allocated, and a heartbeat waits for a copy of half the block at most.

    Args:
        columns: what of each frame to keep.
        every: 1: all frames, n: every n-th.
        capacity: frames at most; ``None``: no bound.
    """

    def __init__(self, columns: Columns, every: int = 1, capacity: int | None = 4000) -> None:
        self.columns, self.every, self._capacity = columns, every, capacity
        self._block = np.zeros(capacity or 0, dtype=columns.dtype)
        self._chunks: list[RecordArray] = []
        self._count = 0
        self._seen = 0

    def add(self, frames: RecordArray) -> None:
        """Look at new frames, shape (n,) of FRAME."""
        while len(frames):
            first = -self._seen % self.every
            chosen, used = frames[first :: self.every], len(frames)
            if self._capacity is None:
                self._chunks.append(self.columns.take(chosen))
            else:
                room = self._capacity - self._count
                if len(chosen) > room:
                    chosen, used = chosen[:room], first + room * self.every
                self.columns.take_into(chosen, self._block[self._count : self._count + len(chosen)])
                self._count += len(chosen)
            self._seen += used
            frames = frames[used:]
            if len(frames):  # there is no room for the next one
                self._forget_every_second()

    def _forget_every_second(self) -> None:
        rows = self._block.view(np.uint8).reshape(len(self._block), -1)  # plain bytes: many times faster
        kept = (self._count + 1) // 2
        for at in range(0, kept, _STEP):
            end = min(at + _STEP, kept)
            rows[at:end] = rows[2 * at : 2 * end - 1 : 2]
        self._count, self.every = kept, 2 * self.every

    def frames(self) -> RecordArray:
        """What was kept, shape (n,) of ``columns.dtype``."""
        if self._capacity is not None:
            return self._block[: self._count]
        if len(self._chunks) != 1:
            self._chunks = [join(self._chunks, self.columns.dtype)]
        return self._chunks[0]
