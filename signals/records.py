"""The records: one aligned structured dtype each, made once from the table.

Fields are laid out by falling size of their element, so that the aligned and the packed layout are the same
bytes: a record can be shared memory, a ring slot or a wire. Every function takes records as arrays
of shape ``(1,)`` of exactly these dtype objects (an equal but different dtype costs 7 us a call).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from signals.table import TABLE, Signal

RecordArray = NDArray[Any]
"""Structured array of shape ``(1,)``: one record."""


def _dtype(signals: list[Signal]) -> np.dtype[Any]:
    ordered = sorted(signals, key=lambda s: -int(s.kind[1]))
    fields = [(s.name, s.kind, s.shape) if s.dims else (s.name, s.kind) for s in ordered]
    if sum(int(s.kind[1]) * int(np.prod(s.shape)) for s in ordered) % 8:
        fields.append(("pad_", "u4"))
    return np.dtype(fields, align=True)


MEASUREMENT: Final = _dtype(TABLE["measurement"])
COMMAND: Final = _dtype(TABLE["command"])
GOAL: Final = _dtype(TABLE["goal"])
STATE: Final = _dtype(TABLE["state"])
TRUTH: Final = _dtype(TABLE["truth"])
TIMING: Final = _dtype(TABLE["timing"])
MODEL: Final = _dtype(TABLE["model"])

RECORDS: Final[dict[str, np.dtype[Any]]] = {
    "measurement": MEASUREMENT,
    "command": COMMAND,
    "goal": GOAL,
    "state": STATE,
    "truth": TRUTH,
    "timing": TIMING,
    "model": MODEL,
}

FRAME_RECORDS: Final = ("timing", "measurement", "goal", "state", "command", "truth")
"""Records that one cycle leaves behind, in the order of a ring slot."""


def _frame_dtype() -> np.dtype[Any]:
    return np.dtype([(name, RECORDS[name]) for name in FRAME_RECORDS], align=True)


FRAME: Final = _frame_dtype()
"""One cycle: what a ring slot holds."""


def new(dtype: np.dtype[Any]) -> RecordArray:
    """One zeroed record, shape ``(1,)``."""
    return np.zeros(1, dtype=dtype)


def new_frame() -> tuple[RecordArray, dict[str, RecordArray]]:
    """A frame, shape ``(1,)``, and views on its records (each ``(1,)`` of the record's own dtype).

    The loop works on the views; the frame's bytes are then the ring slot, one copy.
    """
    frame = np.zeros(1, dtype=FRAME)
    raw = frame.view(np.uint8)
    views = {}
    for name in FRAME_RECORDS:
        dtype, offset = FRAME.fields[name][:2]  # type: ignore[index]
        views[name] = raw[offset : offset + dtype.itemsize].view(RECORDS[name])
    return frame, views
