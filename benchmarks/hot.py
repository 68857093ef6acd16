"""The tick beside the reference tick of the same instruction count, hot and after a sleep, in one process.

``python -m benchmarks.hot CANNED CHANNELS ROUNDS TICKS`` in a process of its own, with the rights of the
loop; one JSON object on stdout: medians [ns] of every round.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.canned import RING_SLOTS, Canned, Ticker
from benchmarks.native import Reference
from benchmarks.ratios import Ratio, paired
from runtime.realtime import quiet, request_rights
from signals.clock import now_ns
from telemetry.shm.ring import WORDS

SLEEP_NS: Final = 333_000
HOT_BOUND: Final = 1.5
_BLOCK: Final = 32
"""Ticks between two looks at the clock in the compiled loop."""


def _compiled_ns(ticker: Ticker, ticks: int) -> float:
    blocks = np.zeros(max(1, ticks // _BLOCK))
    for k in range(len(blocks)):
        begun = now_ns()
        ticker.compiled(_BLOCK)
        blocks[k] = (now_ns() - begun) / _BLOCK
    return float(np.median(blocks))


def measure(ticker: Ticker, reference: Reference, channels: int, rounds: int, ticks: int) -> dict[str, Any]:
    """Medians [ns] of every round: reference, compiled, called; hot and after a sleep."""
    out = np.zeros(ticks, dtype=np.int64)
    seen: dict[str, list[float]] = {
        name: [] for name in ("reference", "compiled", "called", "reference_cold", "called_cold")
    }

    def note(name: str) -> None:
        seen[name].append(float(np.median(out)))

    turns = ("reference", "compiled", "called", "reference_cold", "called_cold")
    for k in range(rounds):
        for name in turns[k % len(turns) :] + turns[: k % len(turns)]:
            sleep_ns = SLEEP_NS if name.endswith("_cold") else 0
            if name == "compiled":
                seen[name].append(_compiled_ns(ticker, ticks))
            elif name.startswith("reference"):
                reference.durations(channels, out, sleep_ns)
                note(name)
            else:
                ticker.called(out, sleep_ns)
                note(name)
            time.sleep(0.002)  # a real-time process that never sleeps is throttled
    return seen


def ratios(seen: dict[str, list[float]], *, equal_work: bool) -> list[Ratio]:
    """Ratios of the tick; the bound holds for the tick as the loop calls it, hot, and for equal work only."""
    bound = HOT_BOUND if equal_work else None
    wanted = (
        ("tick / reference, hot, called from Python", "called", "reference", bound),
        ("tick / reference, hot, compiled loop", "compiled", "reference", None),
        ("tick / reference, after a sleep", "called_cold", "reference_cold", None),
        ("tick after a sleep / hot", "called_cold", "called", None),
        ("reference after a sleep / hot", "reference_cold", "reference", None),
    )
    found = [paired(title, seen[ours], seen[theirs], limit) for title, ours, theirs, limit in wanted]
    return [r for r in found if r is not None]


def run(canned: Path, channels: int, rounds: int, ticks: int) -> dict[str, Any]:
    """Measure in a child process.

    Raises:
        RuntimeError: the child failed; carries the end of what it said.
    """
    words = [sys.executable, "-m", "benchmarks.hot", str(canned), str(channels), str(rounds), str(ticks)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the measuring process failed: {done.stderr.strip()[-500:]}")
    out: dict[str, Any] = json.loads(done.stdout)
    return out


def main() -> None:
    """Entry point of the child."""
    path, channels, rounds, ticks = Path(sys.argv[1]), *(int(word) for word in sys.argv[2:5])
    ticker, reference = Ticker(Canned.load(path)), Reference(RING_SLOTS, WORDS)
    warm = np.zeros(300, dtype=np.int64)
    ticker.compiled(300)
    ticker.called(warm)
    reference.durations(channels, warm)
    granted = request_rights()
    with quiet():
        measure(ticker, reference, channels, 1, 64)
        seen = measure(ticker, reference, channels, rounds, ticks)
    print(json.dumps({"medians_ns": seen, "realtime": granted.sentence()}))


if __name__ == "__main__":
    main()
