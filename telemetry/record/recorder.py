"""The log: an MCAP file with every frame at full rate, events, and what is needed to repeat the run.

Message encoding ``cdr``, schema encoding ``ros2msg``: the one pair that every viewer opens. Chunks of 256 kB
are written as they fill, so a killed run loses the last tenth of a second only. A disk that fills ends the
recording cleanly, with an event, and nothing else.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal

from mcap.writer import CompressionType, Writer

from signals.records import RecordArray
from telemetry.columns import Columns
from telemetry.record import cdr
from telemetry.record.attachment import Attachment
from telemetry.record.salvage import CHECKSUM, checksum

CHUNK: Final = 256 * 1024
RESERVE: Final = 200 * 1024 * 1024
"""Bytes that a recording leaves free on the disk."""
FRAME_TOPIC: Final = "/hand/frame"
EVENT_TOPIC: Final = "/hand/event"
CHANNELS: Final = {1: FRAME_TOPIC, 2: EVENT_TOPIC}
"""Numbers of the channels: a reader knows them even if their records are damaged."""
_FRAME, _EVENT = CHANNELS
RUN: Final = "flexor.run"
LAYOUT: Final = "flexor.layout"
"""Names of the metadata; both are written at the start and again at the end."""
_LOOK_EVERY: Final = 64 * CHUNK
"""Bytes between two looks at the free space."""


class NoRoom(RuntimeError):
    """A recording would not fit, or its folder cannot be written; says where, and what to do."""


def say(text: str) -> None:
    """A sentence for people, on stderr: stdout is for results."""
    print(text, file=sys.stderr)


def free_bytes(folder: Path) -> int:
    """Free space of the disk that a folder is (or will be) on."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def check_room(
    folder: Path,
    reserve: int = RESERVE,
    hint: str = "free some, choose another folder with --out, or leave --record out",
) -> None:
    """Refuse a recording that would have to stop at once.

    Raises:
        NoRoom: there is less space than a recording leaves free, or no right to write.
    """
    free, wanted = free_bytes(folder), reserve + _LOOK_EVERY
    if free < wanted:
        raise NoRoom(
            f"cannot record into {folder}: {free / 2**20:.0f} MB free, a recording needs and leaves "
            f"{wanted / 2**20:.0f} MB; {hint}"
        )
    if folder.exists() and not os.access(folder, os.W_OK):
        raise NoRoom(f"cannot record into {folder}: no right to write there; {hint}")


class Recorder:
    """Writes one log.

    Args:
        path: file to make; must not exist.
        columns: which signals, in which layout.
        offset_ns: Unix time minus monotonic time [ns].
        metadata: name -> text of the run (hand, hash, versions, seed, ...).
        attachments: hand file and the like.
        compression: ``zstd`` or ``none``.
        reserve: bytes to leave free on the disk.
        notify: called once with a sentence when the recording ends before its time.

    Raises:
        OSError: the file cannot be made; none is left behind.
    """

    def __init__(
        self,
        path: Path,
        columns: Columns,
        *,
        offset_ns: int = 0,
        metadata: dict[str, str] | None = None,
        attachments: tuple[Attachment, ...] = (),
        compression: Literal["zstd", "none"] = "zstd",
        reserve: int = RESERVE,
        notify: Callable[[str], None] = say,
    ) -> None:
        self.path, self.columns = path, columns
        self.frames = 0
        self.stopped = ""
        self._offset_ns, self._reserve, self._notify = offset_ns, reserve, notify
        self._sequence, self._next_look, self._size = 0, 0, columns.payload
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream = path.open("xb")
        kind = CompressionType.ZSTD if compression == "zstd" else CompressionType.NONE
        layout = {"counts": json.dumps(columns.counts), "records": json.dumps(columns.records)}
        self._texts = {RUN: metadata or {}, LAYOUT: layout}
        self._writer = Writer(self._stream, chunk_size=CHUNK, compression=kind)
        try:
            self._begin(attachments)
            self._stream.flush()
        except OSError:
            self._abandon()
            raise

    def _abandon(self) -> None:
        """Leave no stub of a file whose head could not be written."""
        try:
            self._stream.close()
        except OSError:
            pass
        self.path.unlink(missing_ok=True)

    def _begin(self, attachments: tuple[Attachment, ...]) -> None:
        writer, columns = self._writer, self.columns
        writer.start(profile="ros2", library="flexor")
        schema = writer.register_schema(cdr.SCHEMA_NAME, "ros2msg", cdr.schema_text(columns).encode())
        writer.register_channel(FRAME_TOPIC, "cdr", schema)
        schema = writer.register_schema(cdr.EVENT_NAME, "ros2msg", cdr.EVENT_SCHEMA.encode())
        writer.register_channel(EVENT_TOPIC, "cdr", schema)
        self._write_texts()
        for item in attachments:
            self._attach(item)

    def _attach(self, item: Attachment) -> None:
        made_ns = self._offset_ns
        self._writer.add_attachment(made_ns, made_ns, item.name, item.media_type, item.data)

    def attach(self, item: Attachment) -> None:
        """Add a file to a log that has begun."""
        if not self.stopped:
            self._write(lambda: self._attach(item))

    def _write(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            self._stop(self._failed(error))

    def _write_texts(self) -> None:
        for name, values in self._texts.items():
            self._writer.add_metadata(name, values | {CHECKSUM: checksum(name, values)})

    def add(self, frames: RecordArray) -> None:
        """Write frames, shape (n,) of FRAME; does nothing after an early end."""
        if not self.stopped and len(frames):
            self.add_taken(self.columns.take(frames))

    def add_taken(self, frames: RecordArray) -> None:
        """The same for frames of ``columns.dtype``, as ``columns.take`` makes them."""
        if not self.stopped:
            self._write(lambda: self._add(frames))

    def _add(self, frames: RecordArray) -> None:
        rows = cdr.as_bytes(frames)[:, : self._size]
        times = frames["state"]["time_ns"] + self._offset_ns
        for row, unix_ns in zip(rows, times.tolist(), strict=True):
            self._sequence += 1
            self._writer.add_message(
                _FRAME, unix_ns, cdr.head(unix_ns) + row.tobytes(), unix_ns, self._sequence
            )
        self.frames += len(frames)
        self._look_at_disk()

    def event(self, message: dict[str, Any]) -> None:
        """Write one event (``timestamp`` in Unix seconds)."""
        if self.stopped:
            return
        unix_ns = int(message["timestamp"] * 1e9)
        data = cdr.event_as_bytes(message, unix_ns)
        self._write(lambda: self._writer.add_message(_EVENT, unix_ns, data, unix_ns, 0))

    def _failed(self, error: OSError) -> str:
        free = free_bytes(self.path.parent) / 2**20
        return f"recording stopped: {error.strerror or error} ({free:.0f} MB free on {self.path.parent})"

    def _look_at_disk(self) -> None:
        written = self._stream.tell()
        if written < self._next_look:
            return
        self._next_look = written + _LOOK_EVERY
        free = free_bytes(self.path.parent)
        if free < self._reserve + _LOOK_EVERY:
            self._stop(f"recording stopped: disk full ({free // 2**20} MB left on {self.path.parent})")

    def _stop(self, why: str) -> None:
        self.stopped = why
        self._finish()
        self._notify(f"{why}; {self.frames} frames are in {self.path}")

    def _finish(self) -> None:
        try:
            self._write_texts()
            finish: Any = self._writer.finish
            finish()
        except OSError:
            pass  # a full disk: the chunks so far are readable (telemetry.reader reads without an index)
        finally:
            try:
                self._stream.close()
            except OSError:
                pass

    def close(self) -> None:
        """Finish the file; safe to call twice."""
        if not self._stream.closed:
            self._finish()


def free_path(folder: Path, stem: str) -> Path:
    """``folder/stem.mcap``, or the first of ``stem-2.mcap``, ... that does not exist."""
    for k in range(1, 10_000):
        path = folder / (f"{stem}.mcap" if k == 1 else f"{stem}-{k}.mcap")
        if not path.exists():
            return path
    raise OSError(f"{folder} holds too many logs named {stem}")
