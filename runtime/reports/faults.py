"""Latched faults as sentences: which part, what happened, its figures, what to do next."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from signals.faults import CAUSES, Cause
from signals.names import HandNames
from signals.records import RecordArray

_SPACES: Final = (
    ("motor", ("MOTOR_", "ENCODER_", "FRICTION_GROWN", "NOT_FINITE_MEASUREMENT", "MEASUREMENT_TOO_OLD")),
    ("tendon", ("TENSION_", "TENDON_", "HALL_", "RESIDUAL_")),
    ("joint", ("JOINT_",)),
    ("axis", ("WRIST_",)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Latched:
    """One fault as reports and events carry it."""

    time_s: float
    """Time since the first cycle."""
    tick: int
    cause: str
    code: int
    finger: str
    """Finger that it stopped; empty: the whole hand."""
    part: str
    value: float
    limit: float
    text: str
    hint: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def space_of(cause: Cause) -> str:
    """Index space of a cause's part."""
    for space, beginnings in _SPACES:
        if cause.name.startswith(beginnings):
            return space
    return "finger"


def _part(cause: Cause, names: HandNames, index: int, finger: int | None) -> str:
    parts = names.of(space_of(cause))
    if 0 <= index < len(parts):
        return parts[index]
    return names.fingers[finger] if finger is not None else ""


def sentence(cause: Cause, part: str, value: float, limit: float) -> tuple[str, str]:
    """(text, hint) of a cause with its figures."""
    entry = CAUSES.get(cause)
    if entry is None:
        return f"{part}: cause {int(cause)}", ""
    return entry.sentence.format(name=part or "hand", value=value, limit=limit), entry.hint


def describe(
    code: int,
    names: HandNames,
    *,
    part_index: int,
    finger: int | None,
    value: float,
    limit: float,
    tick: int,
    time_s: float,
) -> Latched:
    """A latched cause in words."""
    cause = Cause(code)
    part = _part(cause, names, part_index, finger)
    text, hint = sentence(cause, part, value, limit)
    return Latched(
        time_s=round(time_s, 6),
        tick=tick,
        cause=cause.name,
        code=code,
        finger="" if finger is None else names.fingers[finger],
        part=part,
        value=value,
        limit=limit,
        text=text,
        hint=hint,
    )


class FaultWatch:
    """Finds causes that were latched since the last look.

    Args:
        names: names of the hand.
    """

    def __init__(self, names: HandNames) -> None:
        self._names = names
        self._hand = 0
        self._fingers = [0] * len(names.fingers)
        self._first_ns: int | None = None
        self.all: list[Latched] = []

    def look(self, frames: RecordArray) -> list[Latched]:
        """New faults in frames, shape (n,) of FRAME; they are also appended to ``all``."""
        if not len(frames):
            return []
        states = frames["state"]
        if self._first_ns is None:
            self._first_ns = int(states["time_ns"][0])
        n = len(self._fingers)
        last = states[-1]
        if int(last["hand_cause"]) == self._hand and last["finger_cause"][:n].tolist() == self._fingers:
            return []
        found = self._hand_cause(states)
        for finger in range(n):
            found += self._finger_cause(states, finger)
        found.sort(key=lambda fault: fault.tick)
        self.all += found
        return found

    def _since_start_s(self, time_ns: int) -> float:
        return (time_ns - (self._first_ns or 0)) / 1e9

    def _hand_cause(self, states: Any) -> list[Latched]:
        code = int(states["hand_cause"][-1])
        known, self._hand = self._hand, code
        if code in (0, known):
            return []
        row = states[int((states["hand_cause"] == code).argmax())]
        return [
            describe(
                code,
                self._names,
                part_index=int(row["hand_cause_part"]),
                finger=None,
                value=float(row["hand_cause_value"]),
                limit=float(row["hand_cause_limit"]),
                tick=int(row["tick"]),
                time_s=self._since_start_s(int(row["time_ns"])),
            )
        ]

    def _finger_cause(self, states: Any, finger: int) -> list[Latched]:
        codes = states["finger_cause"][:, finger]
        code = int(codes[-1])
        known, self._fingers[finger] = self._fingers[finger], code
        if code in (0, known):
            return []
        row = states[int((codes == code).argmax())]
        return [
            describe(
                code,
                self._names,
                part_index=int(row["finger_cause_part"][finger]),
                finger=finger,
                value=float(row["finger_cause_value"][finger]),
                limit=float(row["finger_cause_limit"][finger]),
                tick=int(row["tick"]),
                time_s=self._since_start_s(int(row["time_ns"])),
            )
        ]
