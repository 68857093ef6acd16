"""A whole run in one process, in lockstep: for tests, for other commands and for ``flexor run --lockstep``.

``run_lockstep("finger_bench", motion="open_close", seconds=4.0)`` gives a report,
``result.report["estimate_error_deg"]["rms"]``, and frames, ``result.frames["state"]["tension_n"]``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, overload

import numpy as np

from hand.hand import Hand
from hand.options import RunOptions
from reports.bare import ended
from reports.report import Audience, default_buffer, make_report
from runtime.interrupts import Interrupts, stopped_by
from runtime.keyframes import BEFORE_FIRST, attachment, now
from runtime.loop import LOCKSTEP_START_NS, Loop
from runtime.processes.phases import STOP_SEQUENCE_S
from runtime.realtime import quiet
from runtime.result import RunResult as RunResult
from runtime.setup import build, prepare, read_hand, with_length
from runtime.starting import StartWatch
from runtime.stretch import Stretch
from signals.choices import WrongChoice
from signals.modes import Request
from signals.records import RecordArray
from telemetry.columns import FrameBuffer
from telemetry.shm.channel import Channel

DRAIN = 64
"""Cycles between two looks of the audience; the local ring holds twice as many frames."""


def _yes() -> bool:
    return True


def _kept(every: int, capacity: int | None = None) -> Callable[[Hand], FrameBuffer | None]:
    """What is kept of a hand's frames: every n-th, or none."""
    return lambda hand: default_buffer(hand, every, capacity) if every else None


class Session:
    """A lockstep run that can be driven step by step.

    Args:
        options: options with ``lockstep``.
        buffer: what is kept in memory.
        record: called with every batch of frames.
        hand: a hand that is read already; its model is copied.
        start: arm and activate by itself; else whoever drives the session asks for it.
    """

    def __init__(
        self,
        options: RunOptions,
        buffer: Callable[[Hand], FrameBuffer | None] = default_buffer,
        record: Callable[[RecordArray], None] | None = None,
        hand: Hand | None = None,
        start: bool = True,
    ) -> None:
        self.options = options
        self.hand = hand or read_hand(options)
        self.channel = Channel.local(2 * DRAIN, window=round(self.hand.rate_hz))
        self.rig = build(options, self.hand, self.channel, start=start)
        self.loop = Loop(self.rig.pipeline.tick, self.hand.rate_hz, ahead=Stretch(self.rig.pipeline))
        self.audience = Audience(self.hand, keep=buffer(self.hand), record=record)
        self.elapsed_s, self.cycles = 0.0, 0
        self.in_fault = False
        self.ended = ended("time", "the time was up")
        self._record = record
        self._reader = self.channel.reader(2 * DRAIN)
        prepare(self.rig, LOCKSTEP_START_NS)

    def run(
        self,
        seconds: float,
        watch: Callable[[float], None] | None = None,
        proceed: Callable[[], bool] | None = None,
    ) -> None:
        """Run on; ``watch`` is told the share done now and then, ``proceed`` asked whether to go on."""
        cycles, done = round(seconds * self.hand.rate_hz), 0
        with quiet(collect=False):
            begun = time.perf_counter()
            while done < cycles and (proceed is None or proceed()):
                step = min(DRAIN, cycles - done)
                self.loop.run_lockstep(step, _yes, step)
                self.audience.see(self._reader.read())
                done += step
                if watch is not None:
                    watch(done / cycles)
            self.elapsed_s += time.perf_counter() - begun
        self.cycles, self.in_fault = self.loop.progress.cycles, self.rig.in_fault()

    def let_go(self, proceed: Callable[[], bool] = _yes) -> None:
        """The stop sequence of a run with a bus: guard's reaction, off. Recorded, but not scored."""
        goals, steps = self.rig.goals, round(STOP_SEQUENCE_S * self.hand.rate_hz)
        goals.request(Request.STOP)
        while steps > 0 and proceed():
            self.loop.run_lockstep(min(DRAIN, steps), _yes)
            steps -= DRAIN
            self._only_record()
        goals.request(Request.OFF)
        self.loop.run_lockstep(2, _yes)
        self._only_record()

    def _only_record(self) -> None:
        frames = self._reader.read()
        if self._record is not None:
            self._record(frames)

    def close(self) -> bool:
        """Zero torque and release the bus; True if the devices confirmed zero torque."""
        confirmed = self.rig.bus.deactivate()
        self.rig.bus.close()
        return confirmed

    def result(self) -> RunResult:
        """Report and kept frames so far."""
        report = make_report(
            self.audience,
            self.options,
            self.channel.stats,
            backend=self.rig.backend,
            cycles=self.cycles,
            missed=0,
            late=0,
            elapsed_s=self.elapsed_s,
        )
        report["ended"] = self.ended
        keep = self.audience.keep
        frames = keep.frames() if keep is not None else np.zeros(0)
        return RunResult(report, frames, self.rig, self.in_fault)


@overload
def run_lockstep(hand: str = ..., *, hands: None = None, **choices: Any) -> RunResult: ...


@overload
def run_lockstep(hand: str = ..., *, hands: int, **choices: Any) -> list[RunResult]: ...


def run_lockstep(
    hand: str = "finger_bench",
    *,
    hands: int | None = None,
    motion: str | None = None,
    seconds: float = 2.0,
    overrides: Mapping[str, Any] | Iterable[str] = (),
    every: int = 10,
    record: str | Path | None = None,
    watch: Callable[[float], None] | None = None,
    **choices: Any,
) -> RunResult | list[RunResult]:
    """Run a simulated hand in this process and return its report and frames.

    Args:
        hand: name or path of a hand file.
        hands: run so many of them side by side on all cores, with seeds from ``seed`` upwards, and return a
            list; each is the same bit by bit as a run of its own.
        motion: motion by name or path; ``None``: hold the start pose.
        seconds: simulated time [s].
        overrides: hand-file keys -> values, e.g. ``{"gains.ripple_gain": 1.0}``.
        every: keep every n-th frame in memory (at any length of run); 0: none.
        record: file of a full-rate log, of one hand only.
        watch: told the share done now and then.
        choices: fields of ``RunOptions``: sensors, guides, mismatch, pretension_n, faults, without,
            seed, rate_hz, substeps.

    Raises:
        ValueError: a file or an option is refused.
    """
    if isinstance(overrides, Mapping):
        overrides = tuple(f"{key}={value}" for key, value in overrides.items())
    tuples: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in choices.items()}
    options = RunOptions(
        hand=hand, motion=motion, seconds=seconds, lockstep=True, settings=tuple(overrides), **tuples
    )
    if hands is None:
        return run_options(options, every=every, record=record, watch=watch)
    if hands < 1 or record is not None:
        raise WrongChoice(f"hands is {hands}, record {record}: legal are one or more, and no record")
    seeds = [replace(options, seed=options.seed + k) for k in range(hands)]
    return run_hands(seeds, every=every, watch=watch)


def run_hands(
    runs: Sequence[RunOptions],
    *,
    every: int = 10,
    threads: int | None = None,
    watch: Callable[[float], None] | None = None,
) -> list[RunResult]:
    """Run hands of one file side by side in threads: a stretch of cycles is made without the GIL.

    Args:
        runs: options with ``lockstep``; the hand is read by the first, so they may differ in what a run draws
            or does (seed, mismatch, motion, faults), not in the hand.
        every: as in ``run_lockstep``.
        threads: hands at a time; ``None``: one for each core.
        watch: told the share of the hands that are done.

    Raises:
        ValueError: an option is refused.
    """
    hand, building = read_hand(runs[0]), Lock()

    def one(options: RunOptions) -> RunResult:
        with building:  # files and first calls
            own = replace(hand, model=hand.model.copy())
            session = Session(with_length(options, own), _kept(every), hand=own)
        _go(session, None, None)
        return session.result()

    with quiet(collect=False), ThreadPoolExecutor(threads or len(os.sched_getaffinity(0)), "hand") as pool:
        futures = [pool.submit(one, options) for options in runs]
        for done, _ in enumerate(as_completed(futures), start=1):
            if watch is not None:
                watch(done / len(runs))
        return [future.result() for future in futures]


def run_options(
    options: RunOptions,
    *,
    every: int = 10,
    capacity: int | None = None,
    record: str | Path | None = None,
    watch: Callable[[float], None] | None = None,
    interrupts: Interrupts | None = None,
) -> RunResult:
    """``run_lockstep`` for options that exist already.

    Args:
        options: options with ``lockstep``.
        every: as in ``run_lockstep``.
        capacity: bound of the kept frames.
        record: as in ``run_lockstep``.
        watch: as in ``run_lockstep``.
        interrupts: signals that end the run in the stop sequence; a second one cuts that short.
    """
    from runtime.logs import open_log

    hand = read_hand(options)
    options = with_length(options, hand)
    recorder = open_log(Path(record), hand, options) if record is not None else None
    try:
        session = Session(options, _kept(every, capacity), recorder.add if recorder else None, hand)
        if recorder is not None:
            recorder.attach(attachment(BEFORE_FIRST, now(session.rig.remembered, BEFORE_FIRST)))
        _go(session, watch, interrupts)
    finally:
        if recorder is not None:
            recorder.close()
    result = session.result()
    if recorder is not None and recorder.stopped:
        result.report["notices"].append(recorder.stopped)
    return result


def _go(session: Session, watch: Callable[[float], None] | None, interrupts: Interrupts | None) -> None:
    start = StartWatch(session.rig)
    signals = interrupts or Interrupts()
    signals.moving = True
    try:
        session.run(session.options.seconds or 0.0, watch, lambda: not (signals.count or start.failed()))
        if signals.count:
            session.ended = ended("signal", stopped_by(signals.number))
            session.let_go(lambda: signals.count < 2)
        elif start.failed_at_end():
            session.ended = ended("not started", start.reason())
    finally:
        session.close()
