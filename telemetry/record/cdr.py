"""Frames as ROS 2 messages (CDR bytes, ros2msg schema) without anything of ROS installed.

``flexor_msgs/Frame`` = ``std_msgs/Header`` and one nested message per record with fixed arrays of the hand's
counts. CDR aligns every element to its size; so does the numpy dtype of ``Columns``, so a message is a
28-byte head and the frame's own bytes (``Columns.payload`` of them: CDR does not pad the end).
"""

from __future__ import annotations

import json
import struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from signals.records import RecordArray
from telemetry.columns import Column, Columns

TYPES: Final = {
    "f8": "float64",
    "f4": "float32",
    "i8": "int64",
    "u8": "uint64",
    "i4": "int32",
    "u4": "uint32",
}
FRAME_ID: Final = b"hand\0"
# encapsulation (little endian) | sec | nanosec | length and characters of frame_id | pad to a multiple of 8
_EVENT_HEAD: Final = 12
_HEAD: Final = struct.Struct("<4siI I5s7x")
HEAD_SIZE: Final = _HEAD.size
SCHEMA_NAME: Final = "flexor_msgs/msg/Frame"
_RULE: Final = "=" * 80
EVENT_NAME: Final = "flexor_msgs/msg/Event"
_EVENT_TEXTS: Final = ("kind", "level", "text", "hint")
_STAMP: Final = "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec"
EVENT_SCHEMA: Final = f"""builtin_interfaces/Time stamp
string kind  # what happened: fault, request, machine, lease, ...
string level  # info, warning or error
string text  # a sentence
string hint  # what to do next
string message  # the whole event as JSON
{_RULE}
{_STAMP}
"""


def _type_name(record: str) -> str:
    return record.capitalize()


def _field(column: Column) -> str:
    count = int(np.prod(column.shape)) if column.shape else 0
    array = f"[{count}]" if column.shape else ""
    signal = column.signal
    shape = f" ({' x '.join(signal.dims)})" if len(signal.dims) > 1 else ""
    return f"{TYPES[column.kind]}{array} {signal.name}  # [{signal.unit}]{shape} {signal.meaning}"


def schema_text(columns: Columns) -> str:
    """The ros2msg definition of a hand's frame, with unit and meaning of every signal as comment."""
    parts = ["std_msgs/Header header\n" + "\n".join(f"{_type_name(r)} {r}" for r in columns.records)]
    parts.append("MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id")
    parts.append(_STAMP)
    for record in columns.records:
        fields = "\n".join(_field(c) for c in columns.of_record(record))
        parts.append(f"MSG: flexor_msgs/{_type_name(record)}\n{fields}")
    return f"\n{_RULE}\n".join(parts) + "\n"


def head(unix_ns: int) -> bytes:
    """Encapsulation and header of one message."""
    seconds, nanoseconds = divmod(unix_ns, 1_000_000_000)
    return _HEAD.pack(b"\0\1\0\0", seconds, nanoseconds, len(FRAME_ID), FRAME_ID)


def decode(payload: bytes, columns: Columns) -> RecordArray:
    """One message back into a frame, shape (1,) of ``columns.dtype``."""
    body = payload[HEAD_SIZE:]
    whole = bytes(body) + bytes(columns.dtype.itemsize - len(body))
    return np.frombuffer(whole, dtype=columns.dtype, count=1)


def event_as_bytes(message: dict[str, Any], unix_ns: int) -> bytes:
    """An event as a ROS message: its texts for viewers, and all of it as JSON."""
    texts = [str(message.get(key, "")) for key in _EVENT_TEXTS]
    out = bytearray(b"\0\1\0\0" + struct.pack("<iI", *divmod(unix_ns, 1_000_000_000)))
    for text in (*texts, json.dumps(message)):
        raw = text.encode(errors="replace") + b"\0"
        out += bytes(-len(out) % 4) + struct.pack("<I", len(raw)) + raw
    return bytes(out)


def event_of(payload: bytes) -> dict[str, Any]:
    """The event in a ROS message.

    Raises:
        ValueError: it is none.
    """
    at, text = _EVENT_HEAD, b""
    for _ in range(len(_EVENT_TEXTS) + 1):
        at += -at % 4
        (length,) = struct.unpack_from("<I", payload, at)
        text = payload[at + 4 : at + 3 + length]
        at += 4 + length
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("an event is no map")
    return found


def as_bytes(frames: RecordArray) -> NDArray[np.uint8]:
    """Frames of a ``Columns`` dtype as rows of bytes."""
    return np.ascontiguousarray(frames).view(np.uint8).reshape(len(frames), frames.dtype.itemsize)
