"""One run of a motion through the real loop, simulated or on a bus, and what a procedure keeps of it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hand.hand import Hand
from hand.options import RunOptions
from runtime.processes.supervisor import Supervisor
from runtime.session import Session
from signals.modes import MachineState
from signals.records import RecordArray
from telemetry.record.reader import read_log

Keep = Callable[[RecordArray], None]
Watch = Callable[[float], None]
_FAULT: Final = int(MachineState.FAULT)
BLOCK: Final = 32
"""Cycles of a mean."""


class Faulted(RuntimeError):
    """The hand went into fault, or did not start; says which."""


@dataclass(frozen=True, slots=True)
class Told:
    """A fault of a run: its cause, its part by name, sentence and hint."""

    cause: str
    part: str
    text: str
    hint: str


def run_motion(
    hand: Hand, options: RunOptions, motion: str, seconds: float, keep: Keep, watch: Watch = lambda _: None
) -> list[Told]:
    """Run the text of a motion file; returns the faults that were latched.

    Args:
        hand: the hand, read; its own model stays as it is.
        options: hand, bus, seed, ... of the run; with a bus it runs in its own processes.
        motion: text of the motion file.
        seconds: length.
        keep: gets frames, batch after batch, while the run goes on or at its end.
        watch: told the share done.

    Raises:
        Faulted: the run ended early without a fault that has a name.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "motion.toml"
        path.write_text(motion, encoding="utf-8")
        chosen = replace(options, motion=str(path), seconds=seconds)
        if chosen.lockstep:
            return _simulated(hand, chosen, keep, watch)
        return _in_processes(hand, replace(chosen, record=True, out=str(Path(folder) / "run")), keep, watch)


def _simulated(hand: Hand, options: RunOptions, keep: Keep, watch: Watch) -> list[Told]:
    session = Session(options, lambda _: None, keep, replace(hand, model=hand.model.copy()))
    try:
        session.run(options.seconds or 0.0, watch)
    finally:
        session.close()
    return [Told(f.cause, f.part, f.text, f.hint) for f in session.audience.faults.all]


def _in_processes(hand: Hand, options: RunOptions, keep: Keep, watch: Watch) -> list[Told]:
    outcome = Supervisor(options, hand.rate_hz, lambda _: None, watch).run()
    report = outcome.report or {}
    faults = [Told(f["cause"], f["part"], f["text"], f["hint"]) for f in report.get("faults", ())]
    if outcome.code and not faults:
        raise Faulted(f"the run ended with code {outcome.code}: {outcome.message}")
    if "log" in report:
        keep(read_log(report["log"]).frames)
    return faults


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
        self._columns: dict[str, list[NDArray[np.float64]]] = {}
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

    def _add(self, name: str, values: NDArray[np.float64]) -> None:
        self._columns.setdefault(name, []).append(values.astype(np.float64).mean(axis=0))

    def of(self, name: str) -> NDArray[np.float64]:
        """Block means, shape (blocks, parts)."""
        return np.array(self._columns[name])

    @property
    def time_s(self) -> NDArray[np.float64]:
        """Middle of each block since the motion began; all negative if it never did."""
        times = self.of("time_ns")
        return (times - (times[-1] + 1.0 if self._active_ns is None else self._active_ns)) * 1e-9

    def between(self, name: str, begin_s: float, end_s: float) -> NDArray[np.float64]:
        """Mean over a time of the motion, shape (parts,); not a number once a finger was in fault."""
        times, values = self.time_s, self.of(name)
        chosen = (times >= begin_s) & (times < end_s)
        stamps = self.of("time_ns")[chosen]
        if not chosen.any() or (self._fault_ns is not None and stamps.max() >= self._fault_ns):
            return np.full(values.shape[1:], np.nan)
        return np.asarray(values[chosen].mean(axis=0))
