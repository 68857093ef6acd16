"""The first-order low-pass of every loop, estimator and check, in steps of a cycle."""

from __future__ import annotations

import math

from signals.compiled import law


@law
def filter_share(cutoff_hz: float, dt_s: float) -> float:
    """Share of the new value that a low-pass of the given cut-off takes in a cycle, 0..1."""
    return 1.0 - math.exp(-2.0 * math.pi * max(cutoff_hz, 0.0) * dt_s)
