"""A stretch of a real run, canned: measurements, goals and the state before, to be ticked again and again.

Recorded in lockstep in the middle of a motion, with every finger active. Feeding it to the same laws from
the same state gives the same commands bit by bit, so a benchmark ticks through real work, and a replay that
differs is a bug. At its end the state before it is put back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.ticks import run_ticks
from controllers.memory import CONTROLLER_MEMORY
from controllers.tick import control
from estimators.memory import ESTIMATOR_MEMORY
from estimators.tick import estimate
from guard.guard import guard
from guard.memory import GUARD_MEMORY
from hand.options import RunOptions
from signals.choices import WrongChoice
from signals.clock import new_timespec, now_ns, wait_until
from signals.layout import IntArray, UintArray
from signals.modes import MachineState
from signals.records import COMMAND, FRAME, GOAL, MEASUREMENT, MODEL, STATE, RecordArray
from telemetry.shm import ring
from telemetry.shm.ring import leave, new_overruns, new_slots
from telemetry.shm.stats import new_stats

TICKS: Final = 256
"""Length of the stretch in cycles: 85 ms at 3 kHz."""
LEAD_S: Final = 1.0
"""Time into the motion at which it begins."""
RING_SLOTS: Final = 2048
"""As many frames as the ring of a run at 3 kHz holds, so that the write meets memory as cold as there."""


class NotActive(RuntimeError):
    """The run that was to be canned is in fault or was not active."""


_MEMORIES: Final[dict[str, np.dtype[Any]]] = {
    "frame": FRAME,
    "estimator": ESTIMATOR_MEMORY,
    "controller": CONTROLLER_MEMORY,
    "guard": GUARD_MEMORY,
}
_BLOCK_BYTES: Final = sum(dtype.itemsize for dtype in _MEMORIES.values())


@dataclass(slots=True)
class Canned:
    """A stretch of a run.

    Attributes:
        model: MODEL, shape (1,).
        measurements: MEASUREMENT, shape (TICKS,).
        goals: GOAL, shape (TICKS,).
        commands: COMMAND, shape (TICKS,): what the run answered.
        ticks: number of each cycle, shape (TICKS,).
        times_ns: its time, shape (TICKS,).
        dt_s: period.
        before: frame and memories before the first cycle, one block of words.
    """

    model: RecordArray
    measurements: RecordArray
    goals: RecordArray
    commands: RecordArray
    ticks: UintArray
    times_ns: IntArray
    dt_s: float
    before: UintArray

    def save(self, path: Path) -> None:
        """Write it as bytes; ``load`` gives it the records' own dtypes again."""
        records = {"model": self.model, "measurements": self.measurements, "goals": self.goals}
        raw: dict[str, Any] = {k: v.view(np.uint8) for k, v in {**records, "commands": self.commands}.items()}
        np.savez(path, **raw, ticks=self.ticks, times_ns=self.times_ns, dt_s=self.dt_s, before=self.before)

    @classmethod
    def load(cls, path: Path) -> Canned:
        """Read what ``save`` wrote.

        Raises:
            ValueError: a version with other records wrote it.
        """
        with np.load(path) as raw:
            if raw["before"].nbytes != _BLOCK_BYTES or raw["model"].nbytes != MODEL.itemsize:
                raise WrongChoice(f"{path} was canned by another version; can it again")
            return cls(
                model=raw["model"].view(MODEL),
                measurements=raw["measurements"].view(MEASUREMENT),
                goals=raw["goals"].view(GOAL),
                commands=raw["commands"].view(COMMAND),
                ticks=raw["ticks"],
                times_ns=raw["times_ns"],
                dt_s=float(raw["dt_s"]),
                before=raw["before"],
            )


def block_of(words: UintArray) -> dict[str, RecordArray]:
    """Views of the records in one block of words."""
    raw, views, at = words.view(np.uint8), {}, 0
    for name, dtype in _MEMORIES.items():
        views[name] = raw[at : at + dtype.itemsize].view(dtype)
        at += dtype.itemsize
    return views


def new_block() -> tuple[UintArray, dict[str, RecordArray]]:
    """Words for a frame and the memories, all zero, and the views of the records in them."""
    words = np.zeros(_BLOCK_BYTES // 8, dtype=np.uint64)
    return words, block_of(words)


def can(options: RunOptions, ticks: int = TICKS, lead_s: float = LEAD_S) -> Canned:
    """Run the hand of ``options`` in lockstep and keep ``ticks`` cycles of its motion.

    Raises:
        NotActive: the hand was not active all the time.
    """
    from runtime.session import Session

    session = Session(replace(options, lockstep=True, seconds=lead_s + 1.0), buffer=lambda _: None)
    session.run(lead_s)
    rig, loop = session.rig, session.loop
    before, kept = new_block()
    kept["frame"][:] = rig.frame
    kept["estimator"][:] = rig.stages.estimator_memory
    kept["controller"][:] = rig.stages.controller_memory
    kept["guard"][:] = rig.stages.guard_memory
    views = rig.views
    taken = Canned(
        model=rig.hand.model.copy(),
        measurements=np.zeros(ticks, dtype=MEASUREMENT),
        goals=np.zeros(ticks, dtype=GOAL),
        commands=np.zeros(ticks, dtype=COMMAND),
        ticks=np.zeros(ticks, dtype=np.uint64),
        times_ns=np.zeros(ticks, dtype=np.int64),
        dt_s=float(1000 / round(rig.hand.rate_hz * 1000)),
        before=before,
    )
    for k in range(ticks):
        loop.run_lockstep(1, lambda: True)
        if int(views["state"]["machine"][0]) != MachineState.ACTIVE:
            raise NotActive("the hand is not active; look at its faults with flexor run --lockstep")
        taken.measurements[k], taken.goals[k] = views["measurement"][0], views["goal"][0]
        taken.commands[k], state = views["command"][0], views["state"]
        taken.ticks[k], taken.times_ns[k] = state["tick"][0], state["time_ns"][0]
    session.close()
    return taken


class Ticker:
    """Ticks through a canned stretch: in one compiled loop, or call by call from Python as the loop does."""

    def __init__(self, canned: Canned, slots: int = RING_SLOTS) -> None:
        self.canned = canned
        self.live = canned.before.copy()
        views = block_of(self.live)
        frame = views["frame"].view(np.uint8)
        self.frame_words = views["frame"].view(np.int64)
        self.state, self.command = (self._record(frame, name) for name in ("state", "command"))
        self.memories = views["estimator"], views["controller"], views["guard"]
        self.slots, self.head = new_slots(slots), np.zeros(1, dtype=np.uint64)
        self.slots[:] = 1  # touch every page
        self.stats, self.overruns = new_stats(), new_overruns(3000)

    @staticmethod
    def _record(frame: NDArray[np.uint8], name: str) -> RecordArray:
        dtype = {"state": STATE, "command": COMMAND}[name]
        offset = FRAME.fields[name][1]  # type: ignore[index]
        return frame[offset : offset + dtype.itemsize].view(dtype)

    def compiled(self, ticks: int, first: int = 0) -> None:
        """``ticks`` ticks in compiled code, from the ``first`` of the stretch on."""
        canned = self.canned
        inputs = canned.model, canned.measurements, canned.goals, canned.ticks, canned.times_ns, canned.before
        memory = self.live, self.memories[0], self.memories[1], self.memories[2], self.state, self.command
        left = self.frame_words, self.slots, self.head, self.stats, self.overruns
        run_ticks(inputs, memory, left, canned.dt_s, ticks, first)

    def called(self, out: IntArray, sleep_ns: int = 0) -> None:
        """Durations [ns] of ``len(out)`` ticks into ``out``: four calls from Python, as ``Pipeline`` makes.

        Args:
            out: int64, shape (n,).
            sleep_ns: sleep before each tick; 0: hot.
        """
        canned, state, command, words = self.canned, self.state, self.command, self.frame_words
        model, (estimator, controller, guarding) = canned.model, self.memories
        tick, time_ns, dt_s, length = state["tick"], state["time_ns"], state["dt_s"], len(canned.measurements)
        measurements = [canned.measurements[k : k + 1] for k in range(length)]
        goals = [canned.goals[k : k + 1] for k in range(length)]
        ticks, times_ns, period_s = canned.ticks.tolist(), canned.times_ns.tolist(), canned.dt_s
        timespec = new_timespec()
        for i in range(len(out)):
            k = i % length
            if k == 0:
                self.live[:] = canned.before
            if sleep_ns:
                wait_until(now_ns() + sleep_ns, 0, timespec)
            begun = now_ns()
            tick[0], time_ns[0], dt_s[0] = ticks[k], times_ns[k], period_s
            estimate(model, measurements[k], estimator, state)
            control(model, goals[k], controller, state, command)
            guard(model, goals[k], measurements[k], guarding, state, command)
            words[ring.CYCLE] = i
            leave(words, self.slots, self.head, self.stats, self.overruns)
            out[i] = now_ns() - begun
