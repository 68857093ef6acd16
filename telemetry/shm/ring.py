"""The ring of frames: one writer that never waits, readers that notice when they were overtaken.

Slot = sequence (u8) + bytes of one ``signals.records.FRAME``. While frame n is written its slot's
sequence is 2n + 1, afterwards 2n + 2; ``head`` counts complete frames. A reader copies a slot and looks at
the sequence before and after: equal and even means whole, anything else means overtaken.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.atomics import copy_bytes, fence, load_acquire, store_release
from signals.compiled import law
from signals.layout import IntArray, UintArray
from signals.records import FRAME, RecordArray
from telemetry.shm.stats import note

WORDS: Final = FRAME.itemsize // 8
"""8-byte words of a frame; a slot has one more."""
_TIMING: Final = FRAME.fields["timing"][0]  # type: ignore[index]


def _word(name: str) -> int:
    return int(FRAME.fields["timing"][1] + _TIMING.fields[name][1]) // 8  # type: ignore[index]


CYCLE: Final = _word("cycle")
DEADLINE: Final = _word("deadline_ns")
WAKE: Final = _word("wake_ns")
EXCHANGE: Final = _word("exchange_ns")
ESTIMATE: Final = _word("estimate_ns")
CONTROL: Final = _word("control_ns")
GUARD: Final = _word("guard_ns")
TICK: Final = _word("tick_ns")
MISSED: Final = _word("missed")
LATE: Final = _word("late")
BUS_STATUS: Final = _word("bus_status")
GOAL_SEQ: Final = _word("goal_seq")


@law
def push(frame: IntArray, slots: UintArray, head: UintArray) -> None:
    """Copy one frame (as words, shape (WORDS,)) into the next slot and publish it."""
    n = load_acquire(head.ctypes.data)
    row = n % np.uint64(slots.shape[0])
    address = slots.ctypes.data + row * np.uint64(slots.shape[1] * 8)
    store_release(address, 2 * n + 1)
    fence()
    copy_bytes(address + 8, frame.ctypes.data, frame.shape[0] * 8)
    store_release(address, 2 * n + 2)
    store_release(head.ctypes.data, n + 1)


@law
def leave(
    frame: IntArray,
    slots: UintArray,
    head: UintArray,
    stats: IntArray,
    overruns: IntArray,
) -> int:
    """End of a cycle: count its durations, then push its frame.

    Args:
        frame: the frame as words; its timing record is read from it.
        slots: ring slots, shape (n, WORDS + 1).
        head: number of complete frames, shape (1,).
        stats: ``telemetry.stats`` table.
        overruns: shape (4 + window,): previous deadline, previous wake-up, previous missed + late,
            overruns in the window, then one flag per cycle of the window.

    Returns:
        How many of the last ``window`` cycles overran (skipped a slot or woke late).
    """
    cycle, deadline, wake = frame[CYCLE], frame[DEADLINE], frame[WAKE]
    note(stats, 0, wake, cycle)
    note(stats, 1, frame[EXCHANGE], cycle)
    note(stats, 2, frame[ESTIMATE], cycle)
    note(stats, 3, frame[CONTROL], cycle)
    note(stats, 4, frame[GUARD], cycle)
    note(stats, 5, frame[TICK], cycle)
    if overruns[1] != 0:
        note(stats, 6, deadline + wake - overruns[1], cycle)
    note(stats, 7, wake + frame[EXCHANGE] + frame[TICK], cycle)
    troubles = frame[MISSED] + frame[LATE]
    window = overruns.shape[0] - 4
    place = 4 + cycle % window
    over = 1 if troubles > overruns[2] else 0
    overruns[3] += over - overruns[place]
    overruns[place] = over
    overruns[0], overruns[1], overruns[2] = deadline, deadline + wake, troubles
    push(frame, slots, head)
    return int(overruns[3])


@law
def read_slot(n: int, slots: UintArray, out: IntArray) -> bool:
    """Copy frame ``n`` into ``out`` (words); False if it is being written or was overwritten."""
    row = np.uint64(n) % np.uint64(slots.shape[0])
    address = slots.ctypes.data + row * np.uint64(slots.shape[1] * 8)
    wanted = np.uint64(2 * n + 2)
    if load_acquire(address) != wanted:
        return False
    copy_bytes(out.ctypes.data, address + 8, out.shape[0] * 8)
    fence()
    return bool(load_acquire(address) == wanted)


@law
def read_from(n: int, slots: UintArray, head: UintArray, out: IntArray) -> tuple[int, int, int]:
    """Copy as many frames as fit, oldest first, from frame ``n`` on.

    Args:
        n: number of the first frame wanted.
        slots: ring slots.
        head: number of complete frames.
        out: words, shape (capacity, WORDS).

    Returns:
        (frames copied, next frame to ask for, frames lost because the writer was faster).
    """
    written = int(load_acquire(head.ctypes.data))
    margin = slots.shape[0] - 1
    lost = 0
    if written - n > margin:
        lost = written - n - margin
        n += lost
    count = 0
    while n < written and count < out.shape[0]:
        if read_slot(n, slots, out[count]):
            count += 1
        else:
            lost += 1
        n += 1
    return count, n, lost


def slot_array(buffer: Any, slots: int) -> UintArray:
    """Slots on a buffer of ``slots * (WORDS + 1) * 8`` bytes."""
    return np.frombuffer(buffer, dtype=np.uint64, count=slots * (WORDS + 1)).reshape(slots, WORDS + 1)


def new_slots(slots: int) -> UintArray:
    """Slots in this process's own memory, for a session without other processes."""
    return np.zeros((slots, WORDS + 1), dtype=np.uint64)


def frames_of(slots: UintArray) -> RecordArray:
    """The frames of a ring in place, shape (slots,): for a session whose writer waits meanwhile."""
    slot = np.dtype([("sequence", np.uint64), ("frame", FRAME)])
    frames: RecordArray = slots.reshape(-1).view(slot)["frame"]
    return frames


def new_overruns(window: int) -> IntArray:
    """Memory of ``leave``."""
    return np.zeros(4 + window, dtype=np.int64)


class RingReader:
    """Frames in order, as structured arrays; counts what it lost.

    Args:
        slots: ring slots.
        head: number of complete frames, shape (1,).
        capacity: most frames per ``read``.
        start: first frame wanted; default: the next one to be written.
    """

    def __init__(
        self,
        slots: UintArray,
        head: UintArray,
        capacity: int = 512,
        start: int | None = None,
    ) -> None:
        self._slots, self._head = slots, head
        self._words = np.empty((capacity, WORDS), dtype=np.int64)
        self._words.fill(0)  # touched now, or memory grows whenever a backlog is longer than ever before
        self._frames = self._words.reshape(-1).view(FRAME)
        self.next = int(head[0]) if start is None else start
        self.lost = 0

    def read(self) -> RecordArray:
        """New frames, shape (n,), oldest first; the array is reused by the next call."""
        count, self.next, lost = read_from(self.next, self._slots, self._head, self._words)
        self.lost += lost
        return self._frames[:count]
