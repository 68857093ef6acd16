"""One block of shared memory per run: heartbeats, flags, goal mailbox, statistics, a keyframe and the ring.

The block is a file in /dev/shm whose name holds the owner's pid and start time. Whoever ends last unlinks
it; ``remove_orphans`` at the next start removes those whose owner is dead (kill -9, power).
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from flexor.runs import process_start
from signals.atomics import copy_bytes, fence, load_acquire, store_release
from signals.compiled import law
from signals.layout import UintArray
from signals.records import FRAME, GOAL, RecordArray
from telemetry.shm.ring import WORDS, RingReader, slot_array
from telemetry.shm.stats import ROW, STAGES

FOLDER: Final = Path("/dev/shm")
_NAME: Final = re.compile(r"flexor-(\d+)-(\d+)-(\d+)")
MAGIC: Final = 0x464C45584F523031
KEYFRAME_BYTES: Final = 512 * 1024
"""Room for a keyframe; whoever makes a segment need not know its layout."""
LINE: Final = 64
"""Bytes of a cache line."""

HEADER: Final = np.dtype(
    [
        ("magic", "u8"),
        ("layout", "u8"),
        ("slots", "u8"),
        ("rate_mhz", "u8"),
        ("extra", "u8"),
        ("pad_0", "u8", (3,)),
        ("head", "u8"),
        ("pad_1", "u8", (7,)),
        ("reader", "u8"),
        ("io_beat_ns", "i8"),
        ("io_phase", "i8"),
        ("key_asked", "u8"),
        ("pad_2", "u8", (4,)),
        ("control_beat_ns", "i8"),
        ("control_phase", "i8"),
        ("released", "i8"),
        ("goal_taken", "u8"),
        ("run_end", "u8"),
        ("run_missed", "i8"),
        ("run_late", "i8"),
        ("run_elapsed_ns", "i8"),
        ("stop", "i8"),
        ("io_lost_ns", "i8"),
        ("key_given", "u8"),
        ("watched", "i8"),
        ("pad_4", "u8", (4,)),
        ("goal_lock", "u8"),
        ("goal_words", "u8", (GOAL.itemsize // 8,)),
        ("pad_5", "u8", (3,)),
        ("stats", "i8", (len(STAGES), ROW)),
    ],
    align=True,
)
"""Fields that different processes write are on cache lines of their own."""


class SegmentError(RuntimeError):
    """Shared memory cannot be made or does not fit; says what to do."""


@law
def post(lock: UintArray, target: UintArray, source: UintArray) -> None:
    """Write a mailbox: ``source`` (words) into ``target`` under the sequence lock. One writer."""
    sequence = load_acquire(lock.ctypes.data)
    sequence += sequence & np.uint64(1)  # odd: the writer before us died in the middle of a message
    store_release(lock.ctypes.data, sequence + 1)
    fence()
    copy_bytes(target.ctypes.data, source.ctypes.data, source.shape[0] * 8)
    store_release(lock.ctypes.data, sequence + 2)


@law
def take(lock: UintArray, source: UintArray, target: UintArray, seen: int) -> int:
    """Read a mailbox if it has changed; never waits.

    Args:
        lock: sequence, shape (1,).
        source: the mailbox's words.
        target: words to fill; valid when the result is positive and not ``seen``.
        seen: sequence of the last message taken.

    Returns:
        Sequence of the message now in ``target``; ``seen`` when there is nothing new or a message is being
        written; -1 when one was written while it was copied: ``target`` is torn, ask again next cycle.
    """
    before = load_acquire(lock.ctypes.data)
    if before == np.uint64(seen) or before & np.uint64(1):
        return seen
    copy_bytes(target.ctypes.data, source.ctypes.data, target.shape[0] * 8)
    fence()
    if load_acquire(lock.ctypes.data) != before:
        return -1
    return np.int64(before)  # type: ignore[return-value]  # a plain int() stays unsigned, the union is a float


def layout_hash() -> int:
    """Number that changes with the layout of header or frame."""
    text = f"{HEADER.descr}{FRAME.descr}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "little") >> 1


def parent_gone(parent: int) -> bool:
    """The process that started this one has ended, or is about to: its main thread is dead already."""
    return os.getppid() != parent or process_start(parent) is None


def remove_orphans(folder: Path = FOLDER) -> list[str]:
    """Unlink the blocks of dead owners; returns their names. Blocks of other users are left alone."""
    removed = []
    for path in folder.glob("flexor-*"):
        match = _NAME.fullmatch(path.name)
        if match is None or int(match[1]) != os.getuid():
            continue
        if process_start(int(match[2])) != int(match[3]):
            path.unlink(missing_ok=True)
            removed.append(path.name)
    return removed


class Segment:
    """A mapped block; make it with ``create`` or ``attach``.

    Attributes:
        name: name in /dev/shm.
        header: HEADER record, shape (1,).
        extra: bytes for a keyframe (``runtime.keyframes``). The io process asks by counting ``key_asked`` up;
            control fills them at the end of a cycle and sets ``key_given`` to the same number.
        slots: ring slots.
    """

    def __init__(self, name: str, file: int, size: int, extra: int = 0) -> None:
        self.name = name
        self._map = mmap.mmap(file, size)
        self.header: RecordArray = np.frombuffer(self._map, dtype=HEADER, count=1)
        if extra:
            self.header["extra"] = extra
        begin = HEADER.itemsize + min(int(self.header["extra"][0]), size - HEADER.itemsize)
        n = (size - begin) // ((WORDS + 1) * 8)
        self.extra = np.frombuffer(self._map, np.uint8, begin - HEADER.itemsize, HEADER.itemsize)
        self.slots = slot_array(memoryview(self._map)[begin:], n)
        self._goal = np.zeros(1, dtype=GOAL)

    @classmethod
    def create(
        cls, rate_hz: float, seconds: float = 0.5, owner: int | None = None, extra: int = 0
    ) -> Segment:
        """A new zeroed block whose ring holds ``seconds`` of frames (rounded up to a power of two).

        Args:
            rate_hz: frames a second.
            seconds: of frames in the ring.
            owner: pid of the process whose death orphans it; default: this one.
            extra: bytes for a keyframe.

        Raises:
            SegmentError: /dev/shm is too small or not writable.
        """
        slots = 1 << max(6, int(np.ceil(np.log2(rate_hz * seconds))))
        extra = -(-extra // LINE) * LINE
        size = HEADER.itemsize + extra + slots * (WORDS + 1) * 8
        pid = os.getpid() if owner is None else owner
        name = f"flexor-{os.getuid()}-{pid}-{process_start(pid)}"
        try:
            file = os.open(FOLDER / name, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        except OSError as error:
            raise SegmentError(f"cannot create {FOLDER / name}: {error.strerror}") from None
        try:
            os.posix_fallocate(file, 0, size)
            segment = cls(name, file, size, extra)
        except OSError as error:
            (FOLDER / name).unlink()
            raise SegmentError(
                f"no {size / 2**20:.0f} MB of shared memory in {FOLDER} ({error.strerror}); "
                "enlarge it (mount -o remount,size=128M /dev/shm, or docker run --shm-size=128m)"
            ) from None
        finally:
            os.close(file)
        header = segment.header
        header["magic"], header["layout"], header["slots"] = MAGIC, layout_hash(), slots
        header["rate_mhz"], header["released"] = round(rate_hz * 1000), -1
        return segment

    @classmethod
    def local(cls, slots: int) -> Self:
        """A zeroed block in this process's own memory, without a name: control and io in one process."""
        segment = cls("", -1, HEADER.itemsize + slots * (WORDS + 1) * 8)
        segment.header["slots"], segment.header["released"] = slots, -1
        return segment

    @classmethod
    def attach(cls, name: str) -> Segment:
        """Map an existing block.

        Raises:
            SegmentError: it is gone, or another version of the program made it.
        """
        try:
            file = os.open(FOLDER / name, os.O_RDWR)
        except OSError as error:
            raise SegmentError(f"shared memory {name}: {error.strerror}; is the run over?") from None
        try:
            segment = cls(name, file, os.fstat(file).st_size)
        finally:
            os.close(file)
        if segment.header["magic"][0] != MAGIC or segment.header["layout"][0] != layout_hash():
            raise SegmentError(f"shared memory {name} is of another version; restart both sides")
        return segment

    def field(self, name: str) -> Any:
        """View of one header field: shape (1,), or the field's own shape for arrays."""
        view = self.header[name]
        return view[0] if view.ndim > 1 else view

    def post_goal(self, goal: RecordArray) -> None:
        """Publish a goal record to the control process (the io process alone does)."""
        post(self.field("goal_lock"), self.field("goal_words"), goal.view(np.uint64))

    def goal_arrived(self) -> bool:
        """The control process has taken the newest goal."""
        return bool(self.field("goal_taken")[0] == self.field("goal_lock")[0])

    def reader(self, capacity: int = 512, start: int | None = None) -> RingReader:
        """A reader of the ring's frames."""
        return RingReader(self.slots, self.field("head"), capacity, start)

    def unlink(self) -> None:
        """Remove the name; the memory goes with the last process that maps it. Safe to repeat."""
        (FOLDER / self.name).unlink(missing_ok=True)
