"""One run of a motion through the real loop, simulated or on a bus, and what a procedure keeps of it."""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.listening import See, listening
from hand.hand import Hand
from hand.options import RunOptions
from runtime.processes.phases import Exit
from runtime.processes.supervisor import Supervisor
from runtime.session import Session
from signals.choices import WrongChoice
from signals.faults import Cause
from signals.layout import FloatArray
from signals.modes import MachineState
from signals.records import RecordArray
from telemetry.record.reader import read_log
from telemetry.record.recorder import check_room

Keep = Callable[[RecordArray], None]
Watch = Callable[[float], None]
_FAULT: Final = int(MachineState.FAULT)
PASSING: Final = frozenset(
    cause.name
    for cause in (
        Cause.BUS_LOST,
        Cause.MEASUREMENT_TOO_OLD,
        Cause.HALL_TOO_OLD,
        Cause.MOTOR_HELD,
        Cause.SUSTAINED_OVERRUN,
        Cause.IO_LOST,
    )
)
"""A wire or a computer that paused: nothing of the hand is wrong, so the same run is made again."""
TRIES: Final = 3
KEPT_SHARE: Final = 0.98
"""Of a run's cycles that its log has to hold: a few are lost where the computer pauses."""
BLOCK: Final = 32
"""Cycles of a mean."""


class Faulted(RuntimeError):
    """The hand went into fault, or did not start; says which."""


class NotKept(RuntimeError):
    """The disk became full: a run could not be kept."""


class Stopped(KeyboardInterrupt):
    """A signal ended a run; the hand was let go in order.

    Attributes:
        code: exit code by the signal.
    """

    def __init__(self, code: int, text: str) -> None:
        self.code = code
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Told:
    """A fault of a run: its cause, its part by name, sentence and hint."""

    cause: str
    part: str
    text: str
    hint: str


def run_motion(
    hand: Hand,
    options: RunOptions,
    motion: str,
    seconds: float,
    keep: Keep,
    watch: Watch = lambda _: None,
    see: See | None = None,
) -> list[Told]:
    """Run the text of a motion file; returns the faults that were latched.

    Args:
        hand: the hand, read; its own model stays as it is.
        options: hand, bus, seed, ... of the run; with a bus it runs in its own processes.
        motion: text of the motion file.
        seconds: length.
        keep: gets frames, batch after batch, while the run goes on or at its end.
        watch: told the share done.
        see: is shown the tensions while the run goes on.

    Raises:
        Faulted: the run ended early without a fault that has a name.
        WrongChoice: its ports are taken.
        NoRoom: the disk is full already; nothing was moved.
        NotKept: what it measured could not be kept.
        Stopped: Ctrl-C, SIGTERM or SIGHUP ended a run in processes.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.toml"
        path.write_text(motion, encoding="utf-8")
        chosen = replace(options, motion=str(path), seconds=seconds)
        if chosen.lockstep:
            return _simulated(hand, chosen, keep if see is None else _shown(keep, see, hand), watch)
        recorded = replace(chosen, record=True, out=str(Path(folder) / "run"))
        if see is None:
            return _in_processes(hand, recorded, keep, watch)
        with listening(hand, options.port_base, see):
            return _in_processes(hand, recorded, keep, watch)


def _shown(keep: Keep, see: See, hand: Hand) -> Keep:
    """Keeps frames, and shows the newest of each batch."""

    def both(frames: RecordArray) -> None:
        keep(frames)
        if len(frames):
            state = frames["state"][-1]
            see(1e-9 * float(state["time_ns"]), state["tension_n"][: len(hand.names.tendons)].astype(float))

    return both


def _simulated(hand: Hand, options: RunOptions, keep: Keep, watch: Watch) -> list[Told]:
    session = Session(options, lambda _: None, keep, replace(hand, model=hand.model.copy()))
    try:
        session.run(options.seconds or 0.0, watch, lambda: not _all_in_fault(session))
    finally:
        session.close()
    return [Told(f.cause, f.part, f.text, f.hint) for f in session.audience.faults.all]


def _all_in_fault(session: Session) -> bool:
    """Nothing will move any more: what is left of the run shows nothing."""
    fingers = session.rig.views["state"][0]["finger_state"][: len(session.hand.names.fingers)]
    return bool((fingers == MachineState.FAULT).all())


_told = False
"""What the loop's process was granted has been said."""


def _in_processes(hand: Hand, options: RunOptions, keep: Keep, watch: Watch) -> list[Told]:
    """Run until nothing but the hand itself is in the way; a wire that paused gets ``TRIES``."""
    global _told
    check_room(Path(options.out or "."), hint="free some, or let TMPDIR name another place")
    for left in range(TRIES - 1, -1, -1):
        folder = f"{options.out}-{left}"
        chosen = replace(options, out=folder, picture=False, black_box_mb=0, rights_told=_told)
        outcome, _told = Supervisor(chosen, hand.rate_hz, lambda _: None, watch).run(), True
        report = outcome.report or {}
        faults = [Told(f["cause"], f["part"], f["text"], f["hint"]) for f in report.get("faults", ())]
        if outcome.code >= 128:
            raise Stopped(outcome.code, outcome.message)
        if left and faults and faults[0].cause in PASSING:
            print(f"{faults[0].text}: this run is made again, {left} more tries", file=sys.stderr)
            continue
        if outcome.code == Exit.PORT_BUSY:
            raise WrongChoice(outcome.message)
        if outcome.code and not faults:
            raise Faulted(outcome.message)
        try:
            keep(_kept(report))
        except NotKept:
            must_be_sound(faults)  # a fault at the start leaves no log either, and says more
            raise
        return faults
    raise AssertionError("the last try returns or raises")


def _kept(report: dict[str, Any]) -> RecordArray:
    """Frames of a run.

    Raises:
        NotKept: its log does not hold them.
    """
    frames = read_log(report["log"]).frames if "log" in report else None
    if frames is None or len(frames) < KEPT_SHARE * report["cycles"]:
        why, kept = "".join(f"; {each}" for each in report["notices"]), 0 if frames is None else len(frames)
        raise NotKept(
            f"{kept} of {report['cycles']} cycles of the run were recorded{why}; "
            f"legal is room for all of it in {tempfile.gettempdir()} (or where TMPDIR says)"
        )
    return frames


def must_be_sound(faults: list[Told]) -> None:
    """Raise ``Faulted`` with the faults of a run, if it had any."""
    if faults:
        raise Faulted("; ".join(f"{fault.text} ({fault.hint})" for fault in faults))


class Means:
    """Means of some signals over blocks of cycles, so that long runs of whole hands stay small.

    Args:
        fields: signals, as ``("state", "elongation_m")``.
    """

    def __init__(self, *fields: tuple[str, str]) -> None:
        self._fields = fields
        self._columns: dict[str, list[FloatArray]] = {}
        self._active_ns: int | None = None
        self._fault_ns: int | None = None

    def __call__(self, frames: RecordArray) -> None:
        """Take a batch of frames."""
        for first in range(0, len(frames), BLOCK):
            block = frames[first : first + BLOCK]
            machine, times = block["state"]["machine"], block["state"]["time_ns"]
            if self._active_ns is None and (machine == MachineState.ACTIVE).any():
                self._active_ns = int(times[int(np.argmax(machine == MachineState.ACTIVE))])
            broken = (block["state"]["finger_state"] == MachineState.FAULT).any(axis=1) | (machine == _FAULT)
            if self._fault_ns is None and broken.any():
                self._fault_ns = int(times[int(np.argmax(broken))])
            self._add("time_ns", times)
            for record, name in self._fields:
                self._add(name, block[record][name])

    def _add(self, name: str, values: FloatArray) -> None:
        self._columns.setdefault(name, []).append(values.astype(np.float64).mean(axis=0))

    def of(self, name: str) -> FloatArray:
        """Block means, shape (blocks, parts)."""
        return np.array(self._columns[name])

    @property
    def time_s(self) -> FloatArray:
        """Middle of each block since the motion began; all negative if it never did."""
        times = self.of("time_ns")
        return (times - (times[-1] + 1.0 if self._active_ns is None else self._active_ns)) * 1e-9

    @property
    def fault_s(self) -> float:
        """When the first finger went into fault, since the motion began; infinite: none did."""
        if self._fault_ns is None or self._active_ns is None:
            return math.inf if self._fault_ns is None else 0.0
        return (self._fault_ns - self._active_ns) * 1e-9

    def between(self, name: str, begin_s: float, end_s: float) -> FloatArray:
        """Mean over a time of the motion, shape (parts,); not a number once a finger was in fault."""
        times, values = self.time_s, self.of(name)
        chosen = (times >= begin_s) & (times < end_s)
        stamps = self.of("time_ns")[chosen]
        if not chosen.any() or (self._fault_ns is not None and stamps.max() >= self._fault_ns):
            return np.full(values.shape[1:], np.nan)
        return np.asarray(values[chosen].mean(axis=0))
