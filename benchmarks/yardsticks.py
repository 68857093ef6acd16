"""The participants without Python: cyclictest, our C waiter, the C loop with the reference tick."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import native
from benchmarks.slices import Slice
from runtime.realtime import PRIORITY
from telemetry.shm.ring import WORDS

HISTOGRAM_US: Final = 20_000
"""Range of cyclictest's histogram; later wake-ups are counted at its end."""
RING_SLOTS: Final = 2048
"""Frames of the ring of a run at 3 kHz (``telemetry.segment``): half a second."""
WARMUP_SLOTS: Final = 100
_REFUSED: Final = {1: "core", 2: "locked memory", 4: "cpu_dma_latency", 8: "SCHED_FIFO"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where and how fast everybody runs."""

    cpu: int
    rate_hz: float
    seconds: float
    channels: int

    @property
    def period_ns(self) -> float:
        """Period of the grid [ns]."""
        return 1e9 / self.rate_hz

    @property
    def slots(self) -> int:
        """Slots of one turn."""
        return max(1, round(self.rate_hz * self.seconds))


class YardstickFailed(RuntimeError):
    """A yardstick did not deliver; carries what it said."""


def cyclictest_path() -> str | None:
    """Path of cyclictest, ``None`` where it is not installed."""
    return shutil.which("cyclictest")


def cyclictest(place: Place) -> Slice:
    """The kernel's own limit, as everybody measures it.

    Its histogram has bins of 1 us that hold [n, n + 1) us; a bin counts by its middle.

    Raises:
        YardstickFailed: it is missing or was refused its rights.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "result.json"
        words = [cyclictest_path() or "cyclictest", "-m", "-q", "-t1", f"-a{place.cpu}", f"-p{PRIORITY}"]
        words += ["--policy=fifo", f"-i{round(place.period_ns / 1e3)}", f"-l{place.slots}"]
        words += [f"--histogram={HISTOGRAM_US}", f"--json={out}"]
        try:
            done = subprocess.run(
                words, capture_output=True, text=True, check=False, timeout=60 + 20 * place.seconds
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise YardstickFailed(f"cyclictest: {error}") from None
        if done.returncode or not out.exists():
            raise YardstickFailed(f"cyclictest: {(done.stderr or done.stdout).strip()[-300:]}")
        return read_cyclictest(json.loads(out.read_text()), place)


def read_cyclictest(result: dict[str, Any], place: Place) -> Slice:
    """JSON of cyclictest as a slice; wake-ups beyond the histogram are counted at the maximum."""
    thread = result["thread"]["0"]
    bins = {int(k): int(v) for k, v in thread["histogram"].items()}
    overflow = int(thread["cycles"]) - sum(bins.values())
    values = [1e3 * (us + 0.5) for us in bins]
    counts = list(bins.values())
    if overflow > 0:
        values.append(1e3 * float(thread["max"]))
        counts.append(overflow)
    return Slice(np.array(values), None, place.period_ns, weights=np.array(counts, dtype=np.int64))


def waiter(place: Place, with_tick: bool) -> Slice:
    """Our own C loop: the wait alone, or the wait and a reference tick.

    Raises:
        NoCompiler: it cannot be made.
        YardstickFailed: it did not run.
    """
    program = native.build()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "cycles.bin"
        words = [str(program), "loop" if with_tick else "wait", str(place.cpu), str(PRIORITY)]
        words += [str(round(1000 * place.rate_hz)), str(place.slots), str(WARMUP_SLOTS), str(place.channels)]
        words += [str(RING_SLOTS), str(WORDS), str(out)]
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=60 + 20 * place.seconds
        )
        if done.returncode:
            raise YardstickFailed(f"C waiter ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        told = json.loads(done.stdout)
        pairs = np.fromfile(out, dtype=np.int64).reshape(-1, 2)
    notes = [f"refused: {name}" for bit, name in _REFUSED.items() if told["refused"] & bit]
    return Slice(
        pairs[:, 0],
        pairs[:, 1] if with_tick else None,
        place.period_ns,
        missed=told["slots"] - told["cycles"],
        notes=notes,
        extra={"tick_p50_us": float(np.median(pairs[:, 1] - pairs[:, 0]) / 1e3)} if with_tick else {},
    )
