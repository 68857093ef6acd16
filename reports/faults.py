"""Latched faults as sentences: which part, what happened, its figures, what to do next."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from reports.remaining import remaining_torques
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
    degraded: bool = False
    """The finger has lost a tendon for good."""
    remaining_torque_nm: dict[str, list[float] | None] | None = None
    """After a break, at its pose: joint -> least and greatest torque [N m] that it can still be given alone;
    ``None`` for a joint: not without torque on the others."""

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
        model: its model record; with it a break carries the torques that remain.
    """

    def __init__(self, names: HandNames, model: RecordArray | None = None) -> None:
        self._names, self._model = names, model
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
        part = int(row["finger_cause_part"][finger])
        found = describe(
            code,
            self._names,
            part_index=part,
            finger=finger,
            value=float(row["finger_cause_value"][finger]),
            limit=float(row["finger_cause_limit"][finger]),
            tick=int(row["tick"]),
            time_s=self._since_start_s(int(row["time_ns"])),
        )
        return [self._with_remaining(found, part, row["joint_angle_rad"])]

    def _with_remaining(self, fault: Latched, part: int, q_rad: Any) -> Latched:
        """A break carries what the finger can still do."""
        if fault.code != Cause.TENDON_BROKEN:
            return fault
        remaining = None
        if self._model is not None and 0 <= part < len(self._names.tendons):
            remaining = remaining_torques(self._model, self._names, part, q_rad)
        return replace(fault, degraded=True, remaining_torque_nm=remaining)
