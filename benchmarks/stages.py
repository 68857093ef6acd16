"""Where the time of a lockstep cycle goes, stage by stage, and how much faster than real time that is.

Estimate, control and guard are timed by the pipeline itself. The plant's exchange is split by running it
with the usual and with twice the substeps: the difference is the substeps' own time, the rest is sensors,
truth and the take-over of the command. Ring and Python are what remains.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from benchmarks.ratios import median_interval
from benchmarks.side_by_side import FACTOR_BOUND
from hand.options import RunOptions
from runtime.realtime import quiet
from runtime.session import DRAIN, Session
from sim.options import MIN_SUBSTEPS

LEAD_S: Final = 0.3
TIMED: Final = ("exchange", "estimate", "control", "guard")
_LEAVE_CALLS: Final = 200


@dataclass(slots=True)
class Table:
    """Time of one cycle by stage [us], medians over the rounds; factors with their interval."""

    stages_us: dict[str, float]
    cycle_us: float
    factor: float
    factor_low: float
    factor_high: float
    factor_of_cpu: float
    """The factor by processor time: what is left when nobody else wants the core."""
    rate_hz: float
    substeps: int

    @property
    def missed(self) -> bool:
        """The bound is missed: the whole interval lies below it."""
        return self.factor_high < FACTOR_BOUND

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "stages_us": {k: round(v, 3) for k, v in self.stages_us.items()},
            "cycle_us": round(self.cycle_us, 3),
            "real_time_factor": {
                "median": round(self.factor, 3),
                "low": round(self.factor_low, 3),
                "high": round(self.factor_high, 3),
                "by_cpu_time": round(self.factor_of_cpu, 3),
                "bound": FACTOR_BOUND,
                "missed": self.missed,
            },
            "rate_hz": self.rate_hz,
            "substeps": self.substeps,
        }


class Bench:
    """One lockstep session that is run on in blocks."""

    def __init__(self, options: RunOptions, substeps: int) -> None:
        lockstep = replace(options, lockstep=True, seconds=1e6, substeps=substeps)
        self.session = Session(lockstep, buffer=lambda _: None)
        self.session.run(LEAD_S)
        self._reader = self.session.channel.reader(2 * DRAIN)

    def block(self, cycles: int) -> dict[str, float]:
        """Run ``cycles`` more: median of each stage, mean of the whole cycle [us].

        A stage is a median over cycles, which a neighbour that takes the core now and then does not move;
        the cycle is the processor time of this thread, and ``wall`` the time on the clock.
        """
        loop, seen = self.session.loop, []
        cpu = wall = done = 0
        with quiet():
            while done < cycles:
                step = min(DRAIN, cycles - done)
                wall_begun, cpu_begun = time.perf_counter_ns(), time.thread_time_ns()
                loop.run_lockstep(step, lambda: True)
                cpu += time.thread_time_ns() - cpu_begun
                wall += time.perf_counter_ns() - wall_begun
                seen.append(self._reader.read()["timing"].copy())
                done += step
        timing = np.concatenate(seen)
        row = {name: float(np.median(timing[f"{name}_ns"])) / 1e3 for name in TIMED}
        return {**row, "cycle": cpu / cycles / 1e3, "wall": wall / cycles / 1e3}

    def ring_us(self) -> float:
        """Time of leaving one frame behind [us]."""
        pipeline = self.session.rig.pipeline
        out = np.zeros(_LEAVE_CALLS, dtype=np.int64)
        for k in range(_LEAVE_CALLS):
            begun = time.perf_counter_ns()
            pipeline.channel.leave(pipeline.words)
            out[k] = time.perf_counter_ns() - begun
        return float(np.median(out)) / 1e3


def measure(
    options: RunOptions, rounds: int, cycles: int, tell: Callable[[str], None] = lambda _: None
) -> Table:
    """Time the stages of the hand of ``options`` in lockstep, in interleaved blocks.

    Args:
        options: hand, motion, sensors.
        rounds: blocks of each kind.
        cycles: cycles of a block.
        tell: told the factor of every round.
    """
    substeps = options.substeps or MIN_SUBSTEPS
    usual, doubled = Bench(options, substeps), Bench(options, 2 * substeps)
    rate_hz = usual.session.hand.rate_hz
    rows: list[dict[str, float]] = []
    for k in range(rounds):
        first, second = (usual, doubled) if k % 2 == 0 else (doubled, usual)
        seen = {id(first): first.block(cycles), id(second): second.block(cycles)}
        row = seen[id(usual)]
        row["substeps"] = seen[id(doubled)]["exchange"] - row["exchange"]
        row["ring"] = usual.ring_us()
        rows.append(row)
        tell(f"round {k + 1}/{rounds}: {1e6 / rate_hz / row['wall']:.2f} times real time")
    for bench in (usual, doubled):
        bench.session.close()
    return _table(rows, rate_hz, substeps)


def _table(rows: list[dict[str, float]], rate_hz: float, substeps: int) -> Table:
    middle = {name: float(np.median([row[name] for row in rows])) for name in rows[0]}
    plant = min(max(middle["substeps"], 0.0), middle["exchange"])
    known = sum(middle[name] for name in (*TIMED, "ring"))
    stages = {
        f"plant, {substeps} substeps": plant,
        "sensors and truth": middle["exchange"] - plant,
        "estimate": middle["estimate"],
        "control": middle["control"],
        "guard": middle["guard"],
        "ring": middle["ring"],
        "loop and clock (Python)": max(middle["cycle"] - known, 0.0),
    }
    period_us = 1e6 / rate_hz
    factor, low, high = median_interval([period_us / row["wall"] for row in rows])
    alone = period_us / middle["cycle"]
    return Table(stages, middle["cycle"], factor, low, high, alone, rate_hz, substeps)
