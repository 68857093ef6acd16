"""The first-order low-pass of every loop, estimator and check, in steps of a cycle."""

from __future__ import annotations

import math

from signals.compiled import law


@law
def filter_share(cutoff_hz: float, dt_s: float) -> float:
    """Share of the new value that a low-pass of the given cut-off takes in a cycle, 0..1."""
    return 1.0 - math.exp(-2.0 * math.pi * max(cutoff_hz, 0.0) * dt_s)


@law
def memory_share(dt_s: float, memory_s: float) -> float:
    """Share of the newest value in a running average of that time constant, one cycle on, 0..1.

    The exponential's share to second order of ``dt_s / memory_s``: at 0.1 it is 0.08 % too large.
    """
    return min(dt_s / (memory_s + 0.5 * dt_s), 1.0)
