"""Logs back into numpy: one structured array per file; what of a damaged file is not sound is named."""

from __future__ import annotations

import json
import mmap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from mcap.records import Attachment, Channel, Message, Metadata

from signals.records import RecordArray
from telemetry.columns import Columns, join
from telemetry.record import cdr
from telemetry.record.recorder import CHANNELS, EVENT_TOPIC, FRAME_TOPIC, LAYOUT, RUN
from telemetry.record.salvage import CHECKSUM, Damage, Salvage

_BLOCK: Final = 4096
"""Frames that are joined at a time while a file of unknown length is read."""


class LogError(ValueError):
    """A file that is no log of ours; says what is wrong with it."""


@dataclass(slots=True)
class Log:
    """What a log holds.

    Attributes:
        frames: all sound frames, shape (n,), fields ``frames["state"]["tension_n"]`` and so on.
        events: event maps in order.
        run: metadata of the run.
        attachments: name -> bytes.
        damage: what could not be read, in the order of the file; of a file without its end the last says so.
        counts: index space -> how many of it the hand has.
    """

    frames: RecordArray
    events: list[dict[str, Any]]
    run: dict[str, str]
    attachments: dict[str, bytes]
    damage: list[Damage]
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Nothing is damaged or cut off."""
        return not self.damage


def _event(data: bytes) -> dict[str, Any]:
    """An event; logs of earlier versions have them as JSON."""
    found: dict[str, Any] = json.loads(data) if data[:1] == b"{" else cdr.event_of(data)
    return found


class _Gathered:
    """What the records of a file say, in the order in which they come."""

    def __init__(self) -> None:
        self.attachments: dict[str, bytes] = {}
        self.events: list[dict[str, Any]] = []
        self.blocks: list[bytes] = []
        self.topics = dict(CHANNELS)
        self.foreign = False
        self.size = 0
        self._texts: dict[str, dict[str, str]] = {}
        self._rows: list[bytes] = []

    def see(self, record: Any) -> None:
        """Sort one record in."""
        if isinstance(record, Message):
            self._message(record)
        elif isinstance(record, Metadata):
            self._metadata(record)
        elif isinstance(record, Attachment):
            self.attachments[record.name] = bytes(record.data)
        elif isinstance(record, Channel):
            self.topics[record.id] = record.topic
            self.foreign = self.foreign or CHANNELS.get(record.id) != record.topic

    def text(self, name: str) -> dict[str, str]:
        """Metadata of a name; empty if there is none."""
        return self._texts.get(name, {})

    def rows(self) -> list[bytes]:
        """Frames as they lie in the file, joined in blocks; all have ``size`` bytes."""
        self._close_block()
        return self.blocks

    def _metadata(self, record: Metadata) -> None:
        values = dict(record.metadata)
        proven = values.pop(CHECKSUM, None) is not None  # logs of earlier versions have none
        if proven or record.name not in self._texts:
            self._texts[record.name] = values

    def _message(self, record: Message) -> None:
        topic = self.topics.get(record.channel_id)
        if topic == EVENT_TOPIC:
            self.events.append(_event(record.data))
        elif topic == FRAME_TOPIC:
            row = record.data[cdr.HEAD_SIZE :]
            self.size = self.size or len(row)
            if len(row) == self.size:
                self._rows.append(row)
            if len(self._rows) == _BLOCK:
                self._close_block()

    def _close_block(self) -> None:
        if self._rows:
            self.blocks.append(b"".join(self._rows))
        self._rows = []


def read_log(path: Path | str) -> Log:
    """Read a whole log, or what is sound of it.

    Raises:
        LogError: no log of this program, or nothing of it can be read.
        OSError: the file cannot be opened.
    """
    path, gathered = Path(path), _Gathered()
    with path.open("rb") as stream:
        if not path.stat().st_size:
            raise LogError(f"{path}: not a log: the file is empty")
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            salvage, seen = Salvage(data), False
            for record in salvage.records():
                seen = True
                gathered.see(record)
    damage = salvage.damage
    if not seen:
        raise LogError(f"{path}: not a log, or nothing of it is sound; {damage[0]}")
    columns = _columns(path, gathered, damage)
    blocks = [_frames(block, columns) for block in gathered.rows()]
    frames = join(blocks, columns.dtype)
    run, counts = gathered.text(RUN), dict(columns.counts)
    return Log(frames, gathered.events, run, gathered.attachments, damage, counts)


def _columns(path: Path, gathered: _Gathered, damage: list[Damage]) -> Columns:
    """Layout of the frames.

    Raises:
        LogError: none in the file, or one that does not fit the frames.
    """
    layout = gathered.text(LAYOUT)
    lost = f"; {damage[0]}" if damage else ""
    if not layout:
        if damage and not gathered.foreign:
            raise LogError(f"{path}: the layout of the frames ({LAYOUT}) is lost{lost}")
        raise LogError(f"{path}: an MCAP file, but not a log of this program (no {LAYOUT})")
    try:
        columns = Columns(json.loads(layout["counts"]), tuple(json.loads(layout["records"])))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise LogError(f"{path}: the layout of the frames ({LAYOUT}) is damaged ({error}){lost}") from None
    if gathered.size and gathered.size != columns.payload:
        raise LogError(
            f"{path}: a frame has {gathered.size} bytes, by its layout ({LAYOUT}) {columns.payload}: "
            f"of another version, or damaged{lost}"
        )
    return columns


def _frames(block: bytes, columns: Columns) -> RecordArray:
    """Rows of CDR bytes as frames, shape (n,): CDR does not pad the end, numpy does."""
    rows = np.frombuffer(block, dtype=np.uint8).reshape(-1, columns.payload)
    whole = np.zeros((len(rows), columns.dtype.itemsize), dtype=np.uint8)
    whole[:, : columns.payload] = rows
    return whole.view(columns.dtype).reshape(-1)
