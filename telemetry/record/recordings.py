"""What is written down of a run: the log of ``--record``, one that a client starts, and the black box.

Every part of the work is small enough for a turn of the io process: a snapshot is written chunk by chunk.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from signals.records import RecordArray
from telemetry.columns import Columns
from telemetry.record.attachment import Attachment
from telemetry.record.black_box import AFTER_S, BEFORE_S, BlackBox, Chunk, unpacked
from telemetry.record.recorder import NoRoom, Recorder, check_room, free_path

SNAPSHOTS: Final = "snapshot"
"""How the names of the files begin that the black box writes."""
KEEP_BYTES: Final = 2 * 2**30
"""Snapshots in one folder: the oldest go when they take more."""
APART_S: Final = 10.0
"""Least time between two snapshots that are asked for."""
EVENTS: Final = 200
"""Newest events that a snapshot holds."""


class RecordingError(RuntimeError):
    """Nothing can be recorded now; says why and what to do."""


@dataclass(slots=True)
class _Snapshot:
    """One that is being written."""

    recorder: Recorder
    until_ns: int
    waiting: deque[Chunk] = field(default_factory=deque)


def state_folder(what: str) -> Path | None:
    """Folder of this user's state for ``snapshots`` or ``odometers``; ``None`` without a home."""
    base = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return Path(base) / "flexor" / what if os.path.isabs(base) else None


class Recordings:
    """Owner of the recorders.

    Args:
        columns: layout of the frames.
        make: opens a recorder at a path.
        folder: where logs go.
        stem: how their names begin.
        box: what keeps the last seconds, or ``None``.
        snapshots: folder of the snapshots.
        tell: told sentences that concern people.
    """

    def __init__(
        self,
        columns: Columns,
        make: Callable[[Path], Recorder],
        folder: Path,
        stem: str,
        *,
        box: BlackBox | None = None,
        snapshots: Path | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.columns, self.box = columns, box
        self.log: Recorder | None = None
        self.logs: list[Path] = []
        self.snapshots: list[Path] = []
        self._make, self._folder, self._stem, self._tell = make, folder, stem, tell
        self._place = snapshots
        self._snapshot: _Snapshot | None = None
        self._asked_s = -APART_S
        self._events: deque[dict[str, Any]] = deque(maxlen=EVENTS)
        self._newest_ns = 0

    @property
    def recording(self) -> bool:
        """A log is being written."""
        return self.log is not None and not self.log.stopped

    @property
    def keeps_a_moment(self) -> bool:
        """A snapshot is being written."""
        return self._snapshot is not None

    def health(self) -> dict[str, Any]:
        """What the health message says of them."""
        return {
            "recording": self.recording,
            "recorded": self.log.frames if self.log is not None else 0,
            "black_box_s": self.box.kept_s if self.box is not None else 0.0,
        }

    def start(self) -> Path:
        """Begin a log.

        Raises:
            RecordingError: one is being written, or the file cannot be made.
        """
        if self.recording:
            assert self.log is not None
            raise RecordingError(f"{self.log.path} is being recorded already; stop it first")
        self.log = self._open(self._folder, self._stem)
        self.logs.append(self.log.path)
        return self.log.path

    def stop(self) -> Path:
        """End the log.

        Raises:
            RecordingError: none is being written.
        """
        if self.log is None or not self.recording:
            raise RecordingError("nothing is being recorded")
        self.log.close()
        path, self.log = self.log.path, None
        return path

    def snapshot(self, asked: bool = True) -> Path:
        """Begin to write what the black box holds and what comes in the next seconds.

        Args:
            asked: somebody asks; a fault does not.

        Raises:
            RecordingError: there is no box, one is being written, or the last one was just now.
        """
        if self.box is None or self._place is None:
            raise RecordingError("this run has no black box (--black-box-mb 0, or in lockstep)")
        if self._snapshot is not None:
            raise RecordingError(f"{self._snapshot.recorder.path} is being written; ask again in a while")
        if asked and time.monotonic() - self._asked_s < APART_S:
            raise RecordingError(f"the last snapshot is less than {APART_S:g} s old")
        if asked:
            self._asked_s = time.monotonic()
        self.box.close_chunk()
        self._prune(self._place)
        recorder = self._open(self._place, f"{SNAPSHOTS}-{self._stem}")
        since_ns = self._newest_ns - round(BEFORE_S * 1e9)
        chunks = [chunk for chunk in self.box.chunks if chunk.last_ns >= since_ns]
        for item in self.box.keyframes(chunks):
            recorder.attach(item)
        for message in self._events:
            recorder.event(message)
        self.snapshots.append(recorder.path)
        until_ns = self._newest_ns + round(AFTER_S * 1e9)
        self._snapshot = _Snapshot(recorder, until_ns, deque(chunks))
        return recorder.path

    def add(self, frames: RecordArray) -> None:
        """New frames, shape (n,) of FRAME."""
        if not len(frames) or not (self.recording or self.box is not None):
            return
        taken = self.columns.take(frames)
        self._newest_ns = int(taken["state"]["time_ns"][-1])
        if self.log is not None:
            self.log.add_taken(taken)
        if self.box is not None:
            filled = self.box.add(taken)
            if self._snapshot is not None:
                self._snapshot.waiting.extend(filled)

    def keyframe(self, cycle: int, item: Attachment) -> None:
        """What the tick remembered after a cycle."""
        if self.log is not None:
            self.log.attach(item)
        if self.box is not None:
            self.box.keyframe(cycle, item)
        if self._snapshot is not None:
            self._snapshot.recorder.attach(item)

    def event(self, message: dict[str, Any]) -> None:
        """An event, as it is published."""
        self._events.append(message)
        for recorder in (self.log, None if self._snapshot is None else self._snapshot.recorder):
            if recorder is not None:
                recorder.event(message)

    def work(self) -> None:
        """Write a chunk of the snapshot; end it when its time is over."""
        snapshot = self._snapshot
        if snapshot is None or self.box is None:
            return
        if not snapshot.waiting and self._newest_ns >= snapshot.until_ns:
            snapshot.waiting.extend(self.box.close_chunk())
            if not snapshot.waiting:
                self._end(snapshot)
                return
        if snapshot.waiting:
            chunk = snapshot.waiting.popleft()
            snapshot.recorder.add_taken(unpacked(chunk.data, chunk.count, self.columns))
        if snapshot.recorder.stopped:
            self._end(snapshot)

    def close(self) -> None:
        """Finish what is being written."""
        if self._snapshot is not None and self.box is not None:
            self._snapshot.waiting.extend(self.box.close_chunk())
            self._snapshot.until_ns = self._newest_ns
            while self._snapshot is not None:
                self.work()
        if self.log is not None:
            self.log.close()

    def _end(self, snapshot: _Snapshot) -> None:
        snapshot.recorder.close()
        self._snapshot = None
        self._tell(f"the moment is kept in {snapshot.recorder.path} ({snapshot.recorder.frames} frames)")

    def _open(self, folder: Path, stem: str) -> Recorder:
        try:
            check_room(folder)
            return self._make(free_path(folder, stem))
        except (OSError, NoRoom) as error:
            raise RecordingError(f"not recorded into {folder}: {error}") from error

    def _prune(self, folder: Path) -> None:
        """Remove the oldest snapshots when they take more than their share of the disk."""
        try:
            files = sorted(folder.glob(f"{SNAPSHOTS}-*.mcap"), key=lambda path: path.stat().st_mtime)
            left = sum(path.stat().st_size for path in files)
            for path in files:
                if left <= KEEP_BYTES:
                    return
                left -= path.stat().st_size
                path.unlink()
                self._tell(f"removed the old snapshot {path}")
        except OSError:
            return  # somebody else tidies up, or it is not ours
