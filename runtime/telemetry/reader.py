"""Logs back into numpy: one structured array per file, also of a file that was cut off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from mcap.exceptions import EndOfFile, McapError
from mcap.records import Attachment, Chunk, Message, Metadata
from mcap.stream_reader import StreamReader, breakup_chunk

from runtime.telemetry import cdr
from runtime.telemetry.columns import Columns, join
from runtime.telemetry.recorder import EVENT_TOPIC, FRAME_TOPIC
from signals.records import RecordArray

_BLOCK: Final = 4096
"""Frames that are joined at a time while a file of unknown length is read."""


class LogError(ValueError):
    """A file that is no log of ours; says what is wrong with it."""


@dataclass(slots=True)
class Log:
    """What a log holds.

    Attributes:
        frames: all frames, shape (n,), fields ``frames["state"]["tension_n"]`` and so on.
        events: event maps in order.
        run: metadata of the run.
        attachments: name -> bytes.
        complete: False if the file was cut off.
    """

    frames: RecordArray
    events: list[dict[str, Any]]
    run: dict[str, str]
    attachments: dict[str, bytes]
    complete: bool
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Gathered:
    run: dict[str, str] = field(default_factory=dict)
    attachments: dict[str, bytes] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    blocks: list[RecordArray] = field(default_factory=list)
    rows: list[bytes] = field(default_factory=list)
    topics: dict[int, str] = field(default_factory=dict)
    columns: Columns | None = None
    complete: bool = True

    def close_block(self) -> None:
        if self.rows and self.columns is not None:
            data = np.frombuffer(b"".join(self.rows), dtype=self.columns.dtype)
            self.blocks.append(data)
        self.rows = []


def _records(path: Path, gathered: _Gathered) -> Iterator[Any]:
    with path.open("rb") as stream:
        try:
            for record in StreamReader(stream, emit_chunks=True, record_size_limit=None).records:
                if isinstance(record, Chunk):
                    yield from breakup_chunk(record)
                else:
                    yield record
        except (EndOfFile, McapError, ValueError) as error:
            if not gathered.topics:
                why = f" ({error})" if str(error) else ""
                raise LogError(f"{path}: not a log, or cut off at its start{why}") from None
            gathered.complete = False


def read_log(path: Path | str) -> Log:
    """Read a whole log.

    Raises:
        LogError: no log of this program, or nothing of it can be read.
        OSError: the file cannot be opened.
    """
    path, gathered = Path(path), _Gathered()
    pad = b""
    for record in _records(path, gathered):
        kind = type(record).__name__
        if kind == "Channel":
            gathered.topics[record.id] = record.topic
        elif isinstance(record, Metadata):
            if record.name == "flexor.run":
                gathered.run = dict(record.metadata)
            elif record.name == "flexor.layout":
                layout = {k: json.loads(v) for k, v in record.metadata.items()}
                gathered.columns = Columns(layout["counts"], tuple(layout["records"]))
                pad = bytes(gathered.columns.dtype.itemsize - gathered.columns.payload)
        elif isinstance(record, Attachment):
            gathered.attachments[record.name] = bytes(record.data)
        elif isinstance(record, Message):
            topic = gathered.topics.get(record.channel_id)
            if topic == FRAME_TOPIC:
                gathered.rows.append(record.data[cdr.HEAD_SIZE :] + pad)
                if len(gathered.rows) == _BLOCK:
                    gathered.close_block()
            elif topic == EVENT_TOPIC:
                gathered.events.append(json.loads(record.data))
    return _finish(path, gathered)


def _finish(path: Path, gathered: _Gathered) -> Log:
    if gathered.columns is None:
        raise LogError(f"{path}: an MCAP file, but not a log of this program (no flexor.layout)")
    gathered.close_block()
    frames = join(gathered.blocks, gathered.columns.dtype)
    return Log(
        frames,
        gathered.events,
        gathered.run,
        gathered.attachments,
        gathered.complete,
        dict(gathered.columns.counts),
    )
