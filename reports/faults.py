"""Latched faults as sentences: which part, what happened, its figures, what to do next."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from reports.remaining import remaining_torques
from signals.faults import Cause, Row, cause_name, part_name, row_of
from signals.names import HandNames
from signals.records import RecordArray


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
    """Its name; of what stops the whole hand the buses', or the hand's."""
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


def sentence(row: Row, part: str, value: float, limit: float) -> tuple[str, str]:
    """(text, hint) of a cause with its figures."""
    return row.sentence.format(name=part, value=value, limit=limit), row.hint


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
    part = part_name(cause, names, part_index)
    text, hint = sentence(row_of(cause, names), part, value, limit)
    return Latched(
        time_s=round(time_s, 6),
        tick=tick,
        cause=cause_name(cause, names),
        code=code,
        finger="" if finger is None else names.fingers[finger],
        part=part,
        value=value,
        limit=limit,
        text=text,
        hint=hint,
    )


class SensorWatch:
    """Finds sensors of joints that were left out since the last look, while nothing stopped."""

    def __init__(self, names: HandNames) -> None:
        self._names = names
        self._codes = np.zeros(len(names.joints), dtype=np.int64)
        self.all: list[Latched] = []

    def look(self, frames: RecordArray, first_ns: int) -> None:
        """Frames, shape (n,) of FRAME, n > 0, of a run that began at ``first_ns``."""
        states = frames["state"]
        codes = states["joint_sensor_cause"][:, : len(self._names.joints)]
        before = np.vstack((self._codes, codes[:-1]))
        self._codes = codes[-1].astype(np.int64)
        for k, j in zip(*np.nonzero((codes != before) & (codes != Cause.NONE)), strict=True):
            state = states[k]
            found = describe(
                int(codes[k, j]),
                self._names,
                part_index=int(j),
                finger=None,
                value=float(np.degrees(state["joint_sensor_error_rad"][j])),
                limit=0.0,
                tick=int(state["tick"]),
                time_s=(int(state["time_ns"]) - first_ns) / 1e9,
            )
            self.all.append(found)


class FaultWatch:
    """Finds causes that were latched since the last look.

    Args:
        names: names of the hand.
        model: its model record; with it a break carries the torques that remain.
    """

    def __init__(self, names: HandNames, model: RecordArray | None = None) -> None:
        self._names, self._model = names, model
        self._codes = np.zeros(1 + len(names.fingers), dtype=np.int64)
        self._sensors = SensorWatch(names)
        self._first_ns: int | None = None
        self.all: list[Latched] = []
        self.left_out = self._sensors.all
        """Sensors that were left out while the hand went on."""

    def look(self, frames: RecordArray) -> list[Latched]:
        """New faults in frames, shape (n,) of FRAME, as they were latched; also appended to ``all``."""
        if not len(frames):
            return []
        states, n = frames["state"], len(self._names.fingers)
        if self._first_ns is None:
            self._first_ns = int(states["time_ns"][0])
        self._sensors.look(frames, self._first_ns)
        codes = np.column_stack(
            (states["hand_cause"], states["finger_cause"][:, :n])
        )  # (frames, 1 + fingers)
        before = np.vstack((self._codes, codes[:-1]))
        self._codes = codes[-1]
        if (codes == before).all():
            return []
        changed = zip(*np.nonzero((codes != before) & (codes != Cause.NONE)), strict=True)
        found = [self._latched(states[k], None if who == 0 else int(who) - 1) for k, who in changed]
        self.all += found
        return found

    def standing(self) -> list[Latched]:
        """Faults that are latched now: of the hand first, then finger by finger."""
        found = []
        for finger, code in zip(("", *self._names.fingers), self._codes.tolist(), strict=True):
            latest = [fault for fault in self.all if fault.finger == finger and fault.code == code]
            found += latest[-1:]
        return found

    def _latched(self, state: Any, finger: int | None) -> Latched:
        """What a frame's state says of a finger, or of the hand."""
        whose = "hand" if finger is None else "finger"
        code, part, value, limit = (
            state[f"{whose}_cause{figure}"] if finger is None else state[f"{whose}_cause{figure}"][finger]
            for figure in ("", "_part", "_value", "_limit")
        )
        found = describe(
            int(code),
            self._names,
            part_index=int(part),
            finger=finger,
            value=float(value),
            limit=float(limit),
            tick=int(state["tick"]),
            time_s=(int(state["time_ns"]) - (self._first_ns or 0)) / 1e9,
        )
        return self._with_remaining(found, int(part), state["joint_angle_rad"])

    def _with_remaining(self, fault: Latched, part: int, q_rad: Any) -> Latched:
        """A break carries what the finger can still do."""
        if fault.code != Cause.TENDON_BROKEN:
            return fault
        remaining = None
        if self._model is not None and 0 <= part < len(self._names.tendons):
            remaining = remaining_torques(self._model, self._names, part, q_rad)
        return replace(fault, degraded=True, remaining_torque_nm=remaining)
