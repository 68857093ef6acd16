"""A log through the tick again: the recorded measurements and goals, and what is commanded this time.

The log holds every measurement and every goal exactly, and what the tick remembered at a keyframe. Fed to the
same laws they give the same commands bit by bit; a difference is a change of a law, of the hand file, or of
the controller. After frames that the log lost, a replay goes on at the next keyframe.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from hand.hand import Hand
from runtime.keyframes import KeyframeError, cycle_of, unpacked
from runtime.pipeline import blame_hand
from runtime.setup import Rig, build, read_hand
from signals.choices import WrongChoice
from signals.faults import Cause
from signals.goal import default_goal
from signals.records import MEASUREMENT, RecordArray, new
from telemetry.columns import Columns, join
from telemetry.record.reader import Log, read_log
from telemetry.shm.channel import Channel
from trials.recorded import recorded_options

BLOCK: Final = 512
"""Frames that are laid out at a time."""
COMPARED: Final = ("command", "state")
RUNTIMES: Final = (int(Cause.SUSTAINED_OVERRUN), int(Cause.IO_LOST))
"""Causes that the runtime latches between two cycles; a replay does it from the log."""


class ReplayError(WrongChoice):
    """A log cannot be replayed; says why and what can be done."""


@dataclass(slots=True)
class Difference:
    """Where a replay first differs from its log.

    Attributes:
        cycle: number of the cycle.
        time_s: since the first frame of the log [s].
        signal: ``record.signal/part``.
        recorded: value in the log.
        replayed: value now.
    """

    cycle: int
    time_s: float
    signal: str
    recorded: float
    replayed: float


@dataclass(slots=True)
class Replayed:
    """What a replay found.

    Attributes:
        cycles: cycles that were ticked again.
        passed_over: frames of the log that have no keyframe before them.
        first: first difference, or ``None``.
        different: cycles in which a command or a state differs.
        recorded: frames of the log that were ticked again, shape (cycles,).
        frames: what came of them, the same layout.
        names: index space -> names.
        damage: what of the log could not be read, so was not ticked.
    """

    cycles: int
    passed_over: int
    first: Difference | None
    different: int
    recorded: RecordArray
    frames: RecordArray
    names: dict[str, list[str]] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)

    @property
    def identical(self) -> bool:
        """Every bit is the same."""
        return self.first is None


class _Recorded:
    """A bus that measures, and a source of goals that brings, what a log holds."""

    def __init__(self, rig: Rig) -> None:
        self.measurement, self.goal = (rig.views[name].view(np.uint8) for name in ("measurement", "goal"))
        self.row: tuple[Any, Any] = (None, None)

    def exchange(self, _command: RecordArray, _measurement: RecordArray, _now_ns: int) -> int:
        """The measurement of the row."""
        self.measurement[:] = self.row[0]
        return 0

    def bring(self, _time_ns: int) -> None:
        """The goal of the row."""
        self.goal[:] = self.row[1]


def replay(
    path: Path,
    *,
    hand: str | None = None,
    controller: str | None = None,
    settings: tuple[str, ...] = (),
    watch: Callable[[float], None] = lambda _: None,
) -> Replayed:
    """Tick a log again.

    Args:
        path: the log.
        hand: another hand file in the place of the log's own.
        controller: another controller, ``module:function``.
        settings: overrides of the hand file, ``key=value``.
        watch: told the share done.

    Raises:
        ReplayError: the log has no keyframe, or one of another version, or the other hand has other parts.
        telemetry.record.reader.LogError: it is no log.
    """
    log = read_log(path)
    keyframes = _keyframes(path, log)
    if controller is not None:
        settings = (*settings, f"controller={controller}")
    with tempfile.TemporaryDirectory() as folder:
        options = recorded_options(path, log, Path(folder))
        own = read_hand(options)
        other = hand is not None or bool(settings)
        used = read_hand(replace(options, hand=hand or options.hand, settings=(*options.settings, *settings)))
        if other:
            _must_fit(path, own, used)
        rig = build(options, used, Channel.local(2, window=round(used.rate_hz)))
    runner = _Runner(log, rig, own)
    stretches = list(_stretches(log, sorted(keyframes)))
    total = max(sum(end - begin for _, begin, end in stretches), 1)
    done, given = 0, []
    for cycle, begin, end in stretches:
        try:
            runner.begin(unpacked(keyframes[cycle]))
        except KeyframeError as error:
            raise ReplayError(f"{path}: {error}; flexor view, report and log read it all the same") from None
        for at in range(begin, end, BLOCK):
            given.append(runner.tick(at, min(at + BLOCK, end)))
            done += len(given[-1])
            watch(done / total)
    recorded = join([log.frames[begin:end] for _, begin, end in stretches], log.frames.dtype)
    return _compared(log, recorded, join(given, log.frames.dtype), used)


def _keyframes(path: Path, log: Log) -> dict[int, bytes]:
    found = {cycle_of(name): data for name, data in log.attachments.items()}
    keyframes = {cycle: data for cycle, data in found.items() if cycle is not None}
    if not keyframes:
        raise ReplayError(f"{path} has no keyframe: a version before replay recorded it, or another program")
    return keyframes


def _must_fit(path: Path, own: Hand, other: Hand) -> None:
    for space in ("motor", "tendon", "joint", "finger", "axis"):
        one, two = own.names.of(space), other.names.of(space)
        if one != two:
            odd = [n for n in (*one, *two) if n not in one or n not in two] or ["another order"]
            raise ReplayError(
                f"{path} was recorded with other {space}s ({', '.join(odd[:4])}); they must agree"
            )


def _stretches(log: Log, keyframes: list[int]) -> Iterator[tuple[int, int, int]]:
    """(keyframe, first row, row behind the last) of frames without a gap behind a keyframe."""
    cycles = log.frames["timing"]["cycle"].astype(np.int64)
    breaks = [0, *(np.flatnonzero(np.diff(cycles) != 1) + 1).tolist(), len(cycles)]
    for begin, end in pairwise(breaks):
        if begin == end:
            continue
        usable = [k for k in keyframes if cycles[begin] - 1 <= k < cycles[end - 1]]
        if usable:
            yield usable[0], begin + usable[0] + 1 - int(cycles[begin]), end


class _Runner:
    """Ticks rows of a log with the stages of a rig."""

    def __init__(self, log: Log, rig: Rig, own: Hand) -> None:
        self.log, self.rig, self.columns = log, rig, Columns(log.counts, log.frames.dtype.names or ())
        self.source = _Recorded(rig)
        rig.pipeline.bus = rig.pipeline.goals = self.source  # type: ignore[assignment]
        self._own, self._assembled = own.model, rig.hand.model.copy()
        self._base = {"measurement": new(MEASUREMENT), "goal": default_goal(rig.hand.model, None)}

    def begin(self, keyframe: RecordArray) -> None:
        """Remember what a keyframe says; of another hand's model all but what homing found out."""
        model = self._assembled.copy()
        for name in model.dtype.names or ():
            if not np.array_equal(keyframe["model"][name], self._own[name], equal_nan=True):
                model[name] = keyframe["model"][name]
        self.rig.remembered.put_back(keyframe)
        self.rig.hand.model[:] = model

    def tick(self, begin: int, end: int) -> RecordArray:
        """Rows ``begin`` to ``end`` again, in the layout of the log."""
        frames, pipeline = self.log.frames[begin:end], self.rig.pipeline
        inputs = [
            self.columns.give(frames, record, base).view(np.uint8).reshape(len(frames), -1)
            for record, base in self._base.items()
        ]
        timing, state = frames["timing"], frames["state"]
        rows = zip(
            timing["cycle"].tolist(), timing["deadline_ns"].tolist(), state["time_ns"].tolist(),
            state["dt_s"].tolist(), timing["missed"].tolist(), timing["late"].tolist(), strict=True,
        )  # fmt: skip
        kept = np.repeat(self.rig.frame, len(frames))
        for k, row in enumerate(rows):
            self._latch(begin + k)
            self.source.row = inputs[0][k], inputs[1][k]
            pipeline.tick(*row)
            kept[k] = self.rig.frame[0]
        out = self.columns.take(kept)
        out["timing"] = timing
        if "truth" in self.columns.records:
            out["truth"] = frames["truth"]
        return out

    def _latch(self, row: int) -> None:
        """What the runtime itself latched before this cycle."""
        state = self.log.frames["state"][row]
        cause = int(state["hand_cause"])
        if cause in RUNTIMES and row and int(self.log.frames["state"]["hand_cause"][row - 1]) != cause:
            value, limit = float(state["hand_cause_value"]), float(state["hand_cause_limit"])
            blame_hand(self.rig.hand.model, self.rig.views["state"], cause, value, limit)


def _compared(log: Log, recorded: RecordArray, given: RecordArray, hand: Hand) -> Replayed:
    different = np.zeros(len(given), dtype=bool)
    first: tuple[int, str, Any, Any] | None = None
    for record in COMPARED:
        for name in recorded.dtype[record].names or ():
            one, two = recorded[record][name], given[record][name]
            same = one.view(f"u{one.dtype.itemsize}") == two.view(f"u{two.dtype.itemsize}")
            odd = ~same.reshape(len(same), -1)
            rows = np.flatnonzero(odd.any(axis=1))
            different[rows] = True
            if len(rows) and (first is None or rows[0] < first[0]):
                part = int(np.flatnonzero(odd[rows[0]])[0])
                signal = f"{record}.{name}" + (f"/{_part(record, name, part, hand)}" if one.ndim > 1 else "")
                values = one[rows[0]].reshape(-1)[part], two[rows[0]].reshape(-1)[part]
                first = int(rows[0]), signal, *values
    found = None
    if first is not None:
        row, signal, old, new_value = first
        since = recorded["state"]["time_ns"][row] - log.frames["state"]["time_ns"][0]
        cycle = int(recorded["timing"]["cycle"][row])
        found = Difference(cycle, float(since) / 1e9, signal, float(old), float(new_value))
    names = {space: list(hand.names.of(space)) for space in ("motor", "tendon", "joint", "finger", "axis")}
    passed = len(log.frames) - len(recorded)
    count, damage = int(different.sum()), [str(part) for part in log.damage]
    return Replayed(len(given), passed, found, count, recorded, given, names, damage)


def _part(record: str, name: str, part: int, hand: Hand) -> str:
    from signals.table import TABLE

    space = next(s.dims[0] for s in TABLE[record] if s.name == name)
    if space not in ("motor", "tendon", "joint", "finger", "axis"):
        return str(part)
    names = hand.names.of(space)
    return names[part] if part < len(names) else str(part)


__all__ = ["Difference", "KeyframeError", "Replayed", "ReplayError", "replay"]
