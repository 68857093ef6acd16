"""The participant that is measured: the real control process, alone or with everything that listens to it.

Alone, this process stands in for io: it keeps the heartbeat and reads the ring, nothing else. In company
the real io process publishes all topics to five subscribers, one stopped and one slow, and to the page of
``flexor view``, which is looked at; and it records every frame.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.audience import Audience
from benchmarks.slices import Slice
from hand.options import RunOptions
from runtime.processes.child import last_object, lent_texts
from runtime.processes.phases import Phase, Stop
from signals.clock import now_ns
from signals.modes import MachineState
from signals.records import RecordArray
from telemetry.shm.segment import Segment

LEAD_S: Final = 0.5
"""Time after the hand has become active that is not measured."""
SPARE_S: Final = 5.0
"""Time beyond that at which a run ends by itself, active or not."""
GATHER_S: Final = 60.0
"""The same in company, which comes while the run runs."""
PATIENCE_S: Final = 180.0
"""Longest time until the loop runs; a cold compile takes a minute."""
TURN_S: Final = 0.01


class RunFailed(RuntimeError):
    """The runtime did not run; carries what its processes said."""


class Process:
    """A child with its output in files."""

    def __init__(self, words: list[str], folder: Path, name: str, *lent: int) -> None:
        self.name = name
        self._out, self._err = folder / f"{name}.out", folder / f"{name}.err"
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(p) for p in sys.path if p)
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                cwd=folder,
                start_new_session=True,
                pass_fds=lent,
            )

    def running(self) -> bool:
        """It has not ended yet."""
        return self.process.poll() is None

    def end(self, number: int = signal.SIGTERM, budget_s: float = 5.0) -> None:
        """Ask it to end, then end it."""
        if self.running():
            self.process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(budget_s)
        if self.running():
            self.process.kill()
            self.process.wait()

    def warnings(self) -> list[str]:
        """Lines it wrote to stderr."""
        return [x for x in self._err.read_text(errors="replace").splitlines() if x.strip()]

    def said(self) -> str:
        """Its stdout so far."""
        return self._out.read_text(errors="replace")

    def told(self) -> dict[str, Any]:
        """The JSON object on its stdout; empty if there is none."""
        return last_object(self.said())


class Timings:
    """The timing records of the frames in which the hand was active, taken out of the ring."""

    def __init__(self) -> None:
        self._chunks: list[Any] = []

    def add(self, frames: RecordArray) -> None:
        """Keep what counts of new frames."""
        active = frames["state"]["machine"] == int(MachineState.ACTIVE)
        if active.any():
            self._chunks.append(frames["timing"][active].copy())

    def span_ns(self) -> int:
        """Time from the first to the last of them."""
        if not self._chunks:
            return 0
        return int(self._chunks[-1]["deadline_ns"][-1] - self._chunks[0]["deadline_ns"][0])

    def table(self) -> Any:
        """All of them, shape (cycles,)."""
        if not self._chunks:
            raise RunFailed("the hand was never active; look at its faults with flexor run")
        return np.concatenate(self._chunks)


def slice_of(timing: Any, period_ns: float, seconds: float) -> Slice:
    """Timing records as a slice: response is deadline to command, without the exchange (the C loop has none).

    Args:
        timing: timing records in order, shape (n,).
        period_ns: period of the grid.
        seconds: how much counts, counted from the end.
    """
    timing = timing[timing["deadline_ns"] > timing["deadline_ns"][-1] - round(seconds * 1e9)]
    wake, tick = timing["wake_ns"], timing["tick_ns"]
    stages = ("exchange", "estimate", "control", "guard", "tick")
    extra = {f"{s}_p50_us": round(float(np.median(timing[f"{s}_ns"])) / 1e3, 3) for s in stages}
    missed = int(timing["missed"][-1]) - int(timing["missed"][0])
    return Slice(wake, wake + tick, period_ns, missed=missed, extra=extra)


def free_port_base() -> int:
    """Two free ports in a row on this machine."""
    for base in range(20_000 + os.getpid() % 20_000, 64_000, 2):
        with socket.socket() as first, socket.socket() as second:
            try:
                first.bind(("127.0.0.1", base))
                second.bind(("127.0.0.1", base + 1))
            except OSError:
                continue
            return base
    raise RunFailed("no two free ports in a row on 127.0.0.1")


@contextmanager
def _processes(segment: Segment, options: RunOptions, company: bool, folder: Path) -> Iterator[list[Process]]:
    started: list[Process] = []
    try:
        with lent_texts() as texts:
            words = [segment.name, options.to_json(), str(os.getpid()), str(texts)]
            for name in ("control", "io") if company else ("control",):
                started.append(Process([f"runtime.processes.{name}", *words], folder, name, texts))
        yield started
    finally:
        for process in started:
            process.end(signal.SIGKILL)


def _watch(segment: Segment, control: Process, audience: Audience | None, wanted_s: float) -> Timings:
    """Keep a run alive until the hand was active before its whole audience for ``wanted_s``, then end it."""
    reader, timings = segment.reader(1024, start=0), Timings()
    beat, phase = segment.field("io_beat_ns"), segment.field("control_phase")
    until, wanted_ns = time.monotonic() + PATIENCE_S, round(wanted_s * 1e9)
    segment.field("watched")[0] = 1
    if audience is None:
        beat[0] = now_ns()
        segment.field("io_phase")[0] = int(Phase.READY)
    while control.running():
        if audience is None:
            beat[0] = now_ns()
        if audience is not None and not audience.complete():
            reader.read()
        else:
            timings.add(reader.read())
        if timings.span_ns() >= wanted_ns:
            segment.field("stop")[0] = int(Stop.NOW)
        if int(phase[0]) < Phase.RUNNING and time.monotonic() > until:
            raise RunFailed(f"the loop did not start within {PATIENCE_S:.0f} s: {control.warnings()[-3:]}")
        time.sleep(TURN_S)
    timings.add(reader.read())
    if reader.lost:
        control_lost = f"{reader.lost} frames were overwritten before they were read"
        raise RunFailed(control_lost)
    return timings


def run_slice(options: RunOptions, rate_hz: float, seconds: float, *, company: bool = False) -> Slice:
    """Run the control process for ``seconds`` after its start and return its figures.

    Args:
        options: hand, motion, plain or hybrid wait.
        rate_hz: rate of the hand.
        seconds: time that is measured [s].
        company: with io, an audience and the recorder.

    Raises:
        RunFailed: it did not run, or was never active.
    """
    spare_s = GATHER_S if company else SPARE_S
    options = replace(options, seconds=LEAD_S + seconds + spare_s, record=company)
    if company:
        options = replace(options, port_base=free_port_base())
    segment = Segment.create(rate_hz)
    try:
        with tempfile.TemporaryDirectory() as name, _processes(segment, options, company, Path(name)) as all_:
            control = all_[0]
            audience = Audience(options.port_base, Path(name), Process) if company else None
            try:
                timings = _watch(segment, control, audience, LEAD_S + seconds)
            finally:
                if audience is not None and not audience.complete():
                    audience.kill()
            account = control.told()
            if "cycles" not in account:
                raise RunFailed(f"control: {account.get('error', '')} {' / '.join(control.warnings()[-3:])}")
            measured = slice_of(timings.table(), 1e9 / rate_hz, seconds)
            measured.notes = [w for w in control.warnings() if w.startswith("warning")]
            if audience is not None:
                measured.extra |= _heard(all_[1], audience)
            return measured
    finally:
        segment.unlink()


def _heard(io: Process, audience: Audience) -> dict[str, Any]:
    """What the company received and wrote."""
    with suppress(subprocess.TimeoutExpired):
        io.process.wait(20.0)
    try:
        found = audience.end()
    except ValueError as error:
        raise RunFailed(f"{error}; io: {io.warnings()[-3:]}") from None
    finally:
        audience.kill()
    return found | {"recorded": bool(io.told().get("log"))}
