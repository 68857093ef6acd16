"""Keyframes: everything that a tick remembers, so that a log can be ticked again from there.

A keyframe holds the model, the memories of estimator, controller and guard, the state and the last command at
the end of a cycle. With the measurements and goals of the log behind it the same laws give the same commands
bit by bit (``trials.replay``). The control process leaves one before its first cycle, and when io asks.
"""

from __future__ import annotations

import io
from typing import Any, Final

import numpy as np

from controllers.memory import CONTROLLER_MEMORY
from estimators.memory import ESTIMATOR_MEMORY
from guard.memory import GUARD_MEMORY
from signals.records import COMMAND, MODEL, STATE, RecordArray
from telemetry.record.attachment import Attachment
from telemetry.shm.segment import Segment

PARTS: Final[dict[str, np.dtype[Any]]] = {
    "model": MODEL,
    "estimator": ESTIMATOR_MEMORY,
    "controller": CONTROLLER_MEMORY,
    "guard": GUARD_MEMORY,
    "state": STATE,
    "command": COMMAND,
}
KEYFRAME: Final = "keyframe-"
"""How the names of the attachments of a log begin that hold one."""
LAYOUT: Final = np.dtype([("cycle", "i8"), *PARTS.items()], align=True)
"""A keyframe in memory; ``cycle`` is the one that it follows, or one of these two."""
BEFORE_FIRST: Final = -1
NONE: Final = -2
"""Foreign stages remember things that nobody but them knows: only before the first cycle that is nothing."""


class KeyframeError(ValueError):
    """A keyframe cannot be used; says why."""


class Remembered:
    """Where the parts of a keyframe live while a hand runs.

    Args:
        model: model of the hand.
        stages: ``hand.stages.Stages``.
        views: views of the frame.

    Attributes:
        parts: name -> record, shape (1,); a memory that is not ours is left out.
        whole: they are all that the stages remember.
    """

    def __init__(self, model: RecordArray, stages: Any, views: dict[str, RecordArray]) -> None:
        memories = {name: getattr(stages, f"{name}_memory") for name in ("estimator", "controller", "guard")}
        parts = {"model": model, **memories, "state": views["state"], "command": views["command"]}
        self.parts = {name: part for name, part in parts.items() if part.dtype == PARTS[name]}
        self.whole = not stages.foreign and len(self.parts) == len(PARTS)

    def copy_into(self, target: RecordArray, cycle: int) -> None:
        """Everything as it is after ``cycle`` into a LAYOUT record, shape (1,)."""
        target["cycle"] = cycle if self.whole or cycle == BEFORE_FIRST else NONE
        raw = target.view(np.uint8)
        for name, part in self.parts.items():  # as bytes: by fields it takes ten times as long
            offset = LAYOUT.fields[name][1]  # type: ignore[index]
            raw[offset : offset + part.nbytes] = part.view(np.uint8)

    def put_back(self, keyframe: RecordArray) -> None:
        """The opposite of ``copy_into``."""
        for name, part in self.parts.items():
            part[:] = keyframe[name]


class Keyframes:
    """Control's end: leaves a keyframe in shared memory when io asks.

    Args:
        segment: shared memory of the run with room for one.
        remembered: what to keep.
    """

    def __init__(self, segment: Segment, remembered: Remembered) -> None:
        self._asked, self._given = segment.field("key_asked"), segment.field("key_given")
        self._remembered, self._target = remembered, segment.extra[: LAYOUT.itemsize].view(LAYOUT)

    @property
    def wanted(self) -> bool:
        """Io has asked for one."""
        return bool(self._asked[0] != self._given[0])

    def leave(self, cycle: int) -> None:
        """Answer what was asked, at the end of a cycle: one copy of some 300 kB."""
        asked = self._asked[0]
        self._remembered.copy_into(self._target, cycle)
        self._given[0] = asked


class Asking:
    """The io process' end.

    Args:
        segment: shared memory of the run with room for a keyframe.
    """

    def __init__(self, segment: Segment) -> None:
        self._asked, self._given = segment.field("key_asked"), segment.field("key_given")
        self._source = segment.extra[: LAYOUT.itemsize].view(LAYOUT)
        self._seen = int(self._given[0])
        self._begun = False

    def ask(self) -> None:
        """Ask for one; a second time before it has come is no other."""
        if self._asked[0] == self._given[0]:
            self._asked[0] += 1

    def take(self) -> tuple[int, bytes] | None:
        """Cycle and packed keyframe that has come since the last call, if one has."""
        given = int(self._given[0])
        if given == self._seen or given != int(self._asked[0]):
            return None
        self._seen = given
        cycle = int(self._source["cycle"][0])
        return None if cycle == NONE else (cycle, packed(self._source))


def room(segment: Segment | None) -> bool:
    """A segment has room for a keyframe."""
    return segment is not None and segment.extra.nbytes >= LAYOUT.itemsize


def packed(keyframe: RecordArray) -> bytes:
    """A LAYOUT record, shape (1,), as a compressed file."""
    out = io.BytesIO()
    raw: dict[str, Any] = {name: keyframe[name] for name in PARTS}
    np.savez_compressed(out, cycle=keyframe["cycle"], **raw)
    return out.getvalue()


def unpacked(data: bytes) -> RecordArray:
    """What ``packed`` made, shape (1,) of LAYOUT.

    Raises:
        KeyframeError: another version wrote it, or it is damaged.
    """
    keyframe = np.zeros(1, dtype=LAYOUT)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as raw:
            keyframe["cycle"] = raw["cycle"]
            for name, kind in PARTS.items():
                if raw[name].dtype != kind:
                    raise KeyframeError(f"its keyframe's {name} is of another version of flexor")
                keyframe[name] = raw[name]
    except (OSError, KeyError, ValueError, EOFError) as error:
        if isinstance(error, KeyframeError):
            raise
        raise KeyframeError(f"a keyframe is damaged ({error})") from None
    return keyframe


def name_of(cycle: int) -> str:
    """Name of a keyframe's attachment in a log."""
    return f"{KEYFRAME}{cycle}.npz"


def attachment(cycle: int, data: bytes) -> Attachment:
    """A packed keyframe as an attachment of a log."""
    return Attachment(name_of(cycle), "application/octet-stream", data)


def cycle_of(name: str) -> int | None:
    """Cycle of a keyframe by the name of its attachment; ``None``: it is none."""
    text = name.removeprefix(KEYFRAME).removesuffix(".npz")
    return int(text) if name.startswith(KEYFRAME) and text.lstrip("-").isdigit() else None


def now(remembered: Remembered, cycle: int) -> bytes:
    """A keyframe of this moment, packed."""
    keyframe = np.zeros(1, dtype=LAYOUT)
    remembered.copy_into(keyframe, cycle)
    return packed(keyframe)
