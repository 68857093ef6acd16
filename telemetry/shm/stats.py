"""Figures of the loop that are always on: one histogram per stage, its maximum and the maximum's cycle.

A row per stage: maximum [ns], its cycle, sum [ns], count, then ``BINS`` counters. Sixteen bins an octave
(as HdrHistogram does), so a percentile is off by less than 1/16 of its value whatever the run's length.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from signals.compiled import law
from signals.layout import IntArray

STAGES: Final = ("wake", "exchange", "estimate", "control", "guard", "tick", "period", "response")
"""Rows of the table. ``response`` is wake-up plus everything until the command is computed."""
BINS: Final = 640
HEAD: Final = 4
ROW: Final = HEAD + BINS


@law
def bin_of(value_ns: float) -> int:
    """Bin of a duration [ns]: sixteen per octave, 0 for anything below a nanosecond."""
    if value_ns < 1.0:
        return 0
    mantissa, exponent = math.frexp(value_ns)
    found = exponent * 16 + int((mantissa - 0.5) * 32.0)
    return min(found, 639)


@law
def note(stats: IntArray, row: int, value_ns: int, cycle: int) -> None:
    """Count one duration in one row."""
    if value_ns > stats[row, 0]:
        stats[row, 0] = value_ns
        stats[row, 1] = cycle
    stats[row, 2] += value_ns
    stats[row, 3] += 1
    stats[row, 4 + bin_of(float(value_ns))] += 1


def new_stats() -> IntArray:
    """Empty table, shape (stages, ROW)."""
    return np.zeros((len(STAGES), ROW), dtype=np.int64)


def edge_ns(index: int) -> float:
    """Lower edge of a bin [ns]."""
    if index < 16:
        return 0.0
    return math.ldexp(0.5 + (index % 16) / 32.0, index // 16)


def percentile_us(row: IntArray, fraction: float) -> float:
    """Percentile of one row [us], linear inside its bin; 0 when the row is empty."""
    counts = row[HEAD:]
    total = int(counts.sum())
    if total == 0:
        return 0.0
    cumulated = np.cumsum(counts)
    wanted = fraction * total
    index = int(np.searchsorted(cumulated, wanted))
    index = min(index, BINS - 1)
    below = int(cumulated[index] - counts[index])
    share = (wanted - below) / max(int(counts[index]), 1)
    low, high = edge_ns(index), edge_ns(index + 1)
    return min(low + share * (high - low), float(row[0])) / 1e3


def summary_us(row: IntArray) -> dict[str, float]:
    """``p50, p99, p999, max`` of one row [us]."""
    figures = {"p50": 0.5, "p99": 0.99, "p999": 0.999}
    out = {name: round(percentile_us(row, fraction), 3) for name, fraction in figures.items()}
    out["max"] = round(float(row[0]) / 1e3, 3)
    return out
