"""What a control loop leaves behind: ring of frames, statistics, overrun window - in own or shared memory."""

from __future__ import annotations

import numpy as np

from signals.layout import IntArray, UintArray
from telemetry.shm.ring import RingReader, leave, new_overruns, new_slots
from telemetry.shm.stats import new_stats

Int64s = IntArray
Uint64s = UintArray


class Channel:
    """Writer's end.

    Args:
        slots: ring slots, shape (n, words + 1).
        head: number of complete frames, shape (1,).
        stats: table of ``telemetry.stats``.
        window: cycles over which overruns are counted.
    """

    def __init__(self, slots: Uint64s, head: Uint64s, stats: Int64s, window: int) -> None:
        self.slots, self.head, self.stats = slots, head, stats
        self.window = window
        self.overruns = new_overruns(window)

    @classmethod
    def local(cls, slots: int = 512, window: int = 3000) -> Channel:
        """A channel in this process's own memory."""
        return cls(new_slots(slots), np.zeros(1, dtype=np.uint64), new_stats(), window)

    def leave(self, words: Int64s) -> int:
        """Count and publish one frame (as words); returns the overruns in the window."""
        return leave(words, self.slots, self.head, self.stats, self.overruns)

    def reader(self, capacity: int = 512, start: int | None = None) -> RingReader:
        """A reader of the frames."""
        return RingReader(self.slots, self.head, capacity, start)
