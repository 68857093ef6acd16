"""A long run under load: memory flat, and every slot of the grid accounted for, frame by frame.

The whole program runs (supervisor, control, io) with stress-ng beside it. A thread looks on: at the memory of
the children, and at every frame in the ring, whose slot (cycle + missed) must be the one that its deadline
stands for: ``deadline = start + slot / rate`` to the nanosecond. Thus cycles + missed = elapsed x rate.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.runtime_loop import free_port_base
from flexor.runs import process_start
from hand.options import RunOptions
from runtime.processes.child import COMM
from runtime.processes.phases import Phase
from runtime.processes.supervisor import Supervisor
from signals.records import RecordArray
from telemetry.shm.segment import Segment, SegmentError

SETTLE_S: Final = 60.0
"""Memory counts after the first minute (or the first tenth of a shorter run)."""
GROWTH_BYTES: Final = 1 << 20
"""Growth of one process after that which still counts as flat: a few pages of the allocator."""
UNSEEN: Final = 0.01
"""Share of frames that the observer may miss, on a machine that is full of load."""
SAMPLE_S: Final = 1.0
TURN_S: Final = 0.02
_PERIOD_GRID: Final = 1_000_000_000_000


def resident_bytes(pid: int) -> int:
    """Resident memory of a process; 0 when it is gone."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def children_of(pid: int) -> dict[int, str]:
    """Child processes that are rooms of a run: pid -> control or io."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            name = (folder / "comm").read_text().strip().removeprefix(COMM)
        except OSError:
            continue
        if parent == str(pid) and name in ("control", "io"):
            found[int(folder.name)] = name
    return found


class Grid:
    """Checks every frame against the grid of its first one.

    Args:
        rate_hz: rate of the grid.
    """

    def __init__(self, rate_hz: float) -> None:
        self._pace = round(rate_hz * 1000)
        self._origin_ns: int | None = None
        self.frames = 0
        self.wrong = 0
        """Frames whose deadline is not the one of their slot."""
        self.first_slot = self.last_slot = 0
        self.first_ns = self.last_ns = 0
        self.gaps = 0
        """Cycle numbers that were not seen."""
        self._last_cycle = -1

    def _due_ns(self, slots: Any) -> Any:
        return slots // self._pace * _PERIOD_GRID + slots % self._pace * _PERIOD_GRID // self._pace

    def add(self, frames: RecordArray) -> None:
        """Look at new frames, shape (n,) of FRAME, in order."""
        if not len(frames):
            return
        timing = frames["timing"]
        cycles = timing["cycle"].astype(np.int64)
        slots = cycles + timing["missed"].astype(np.int64)
        deadlines = timing["deadline_ns"]
        if self._origin_ns is None:
            self._origin_ns = int(deadlines[0]) - int(self._due_ns(int(slots[0])))
            self.first_slot, self.first_ns = int(slots[0]), int(deadlines[0])
            self._last_cycle = int(cycles[0]) - 1
        self.wrong += int((deadlines != self._origin_ns + self._due_ns(slots)).sum())
        steps = np.diff(cycles, prepend=self._last_cycle)
        self.gaps += int((steps - 1).sum())
        self._last_cycle = int(cycles[-1])
        self.last_slot, self.last_ns = int(slots[-1]), int(deadlines[-1])
        self.frames += len(frames)

    @property
    def slots(self) -> int:
        """Slots between first and last frame, both counted."""
        return self.last_slot - self.first_slot + 1 if self.frames else 0

    @property
    def elapsed_s(self) -> float:
        """Time that these slots stand for."""
        return (self.last_ns - self.first_ns) / 1e9 if self.frames else 0.0


@dataclass(slots=True)
class Memory:
    """Resident memory of one process over the run: (time [s], bytes)."""

    name: str
    samples: list[tuple[float, int]] = field(default_factory=list)

    def growth(self, settle_s: float) -> int:
        """Greatest growth after ``settle_s`` [bytes]; 0 with fewer than two samples there."""
        late = [size for when, size in self.samples if when >= settle_s]
        return max(late) - late[0] if len(late) > 1 else 0


class Observer(threading.Thread):
    """Looks at memory and frames of the run that this process supervises."""

    def __init__(self, rate_hz: float) -> None:
        super().__init__(daemon=True)
        self.grid = Grid(rate_hz)
        self.memory: dict[int, Memory] = {}
        self.lost = 0
        self._ended = threading.Event()
        self._segment: Segment | None = None
        self._begun = 0.0

    def finish(self) -> None:
        """End the thread."""
        self._ended.set()
        self.join(10.0)

    def run(self) -> None:
        """Body of the thread."""
        _before_the_load()
        name = f"flexor-{os.getuid()}-{os.getpid()}-{process_start(os.getpid())}"
        reader, next_sample = None, 0.0
        while not self._ended.is_set():
            now = time.monotonic()
            if reader is None:
                try:
                    self._segment = Segment.attach(name)
                    reader = self._segment.reader(1024, start=0)
                except (SegmentError, ValueError):
                    pass  # not made yet
            else:
                self.grid.add(reader.read())
                self.lost = reader.lost
            if now >= next_sample and self._segment is not None and self._runs(self._segment):
                self._begun = self._begun or now
                next_sample = now + SAMPLE_S
                self._sample(now - self._begun)
            self._ended.wait(TURN_S)
        if reader is not None:
            self.grid.add(reader.read())

    @staticmethod
    def _runs(segment: Segment) -> bool:
        """The loop runs; what its processes needed to start does not count."""
        return int(segment.field("control_phase")[0]) == Phase.RUNNING

    def _sample(self, when: float) -> None:
        for pid, name in children_of(os.getpid()).items():
            size = resident_bytes(pid)
            if size:
                self.memory.setdefault(pid, Memory(name)).samples.append((when, size))


def _before_the_load() -> None:
    """This thread goes before the load, to see every frame; what it starts does not.

    Both threads of this process need it: who holds the interpreter must not be held up by the load either.
    """
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))


def stress_words(seconds: float, cores: int) -> list[str] | None:
    """Command of the load on all cores; ``None`` without stress-ng."""
    program = shutil.which("stress-ng")
    if program is None:
        return None
    load = ["--cpu", str(cores), "--vm", "1", "--vm-bytes", "128M", "--switch", "1", "--timer", "1"]
    return [program, *load, "--timeout", f"{int(seconds) + 30}s", "--quiet"]


def soak(options: RunOptions, rate_hz: float, seconds: float, tell: Callable[[str], None]) -> dict[str, Any]:
    """Run for ``seconds`` under load and judge memory and grid.

    Args:
        options: hand and motion.
        rate_hz: rate of the hand.
        seconds: length of the run.
        tell: where sentences go.
    """
    # The black box takes what the motion's frames take, some MB more or less: a leak would hide in that.
    options = replace(options, seconds=seconds, port_base=free_port_base(), black_box_mb=0)
    words = stress_words(seconds, len(os.sched_getaffinity(0)))
    if words is None:
        tell("no stress-ng: the run is without load; Debian and Ubuntu: sudo apt install stress-ng")
    load = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if words else None
    observer = Observer(rate_hz)
    observer.start()
    _before_the_load()
    try:
        outcome = Supervisor(options, rate_hz, tell).run()
    finally:
        observer.finish()
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        if load is not None:
            load.terminate()
            load.wait()
    faults = [
        f"{fault['text']} ({fault['time_s']:.3f} s)" for fault in (outcome.report or {}).get("faults", [])
    ]
    message = "; ".join([outcome.message, *faults]) if outcome.message else ""
    return verdict(observer, outcome.account, seconds, rate_hz, message, loaded=words is not None)


def verdict(
    observer: Observer, account: dict[str, Any], seconds: float, rate_hz: float, message: str, *, loaded: bool
) -> dict[str, Any]:
    """What the observer saw, as the report; ``missed`` names the promises that were not kept."""
    grid, settle_s = observer.grid, min(SETTLE_S, seconds / 10)
    memory = {
        m.name: {
            "first_bytes": m.samples[0][1],
            "last_bytes": m.samples[-1][1],
            "growth_bytes": m.growth(settle_s),
            "samples": len(m.samples),
        }
        for m in observer.memory.values()
    }
    served = int(account.get("cycles", 0)) + int(account.get("missed", 0))
    wanted = round(seconds * rate_hz)
    broken = []
    if message:
        broken.append(message)
    if not grid.frames or grid.wrong or grid.gaps > UNSEEN * grid.frames:
        broken.append(f"{grid.wrong} deadlines off the grid, {grid.gaps} of {grid.frames} cycles not seen")
    elapsed_slots = float(account.get("elapsed_s", 0.0)) * rate_hz
    if served < wanted or abs(served - elapsed_slots) > 1.0:
        broken.append(f"cycles + missed is {served}, elapsed x rate {elapsed_slots:.2f}, wanted {wanted}")
    broken += [
        f"{name} grew by {m['growth_bytes'] / 2**20:.1f} MB after {settle_s:.0f} s"
        for name, m in memory.items()
        if m["growth_bytes"] > GROWTH_BYTES
    ]
    return {
        "seconds": seconds,
        "under_load": loaded,
        "cycles": account.get("cycles", 0),
        "missed_cycles": account.get("missed", 0),
        "late": account.get("late", 0),
        "slots": served,
        "elapsed_times_rate": round(elapsed_slots, 3),
        "frames_checked": grid.frames,
        "frames_off_grid": grid.wrong,
        "frames_not_seen": grid.gaps,
        "memory": memory,
        "broken": broken,
    }
