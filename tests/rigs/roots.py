"""Roots of small systems by Newton's method with differences: an oracle that knows no derivative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Vector = np.ndarray


def root(gap: Callable[[Vector], Vector], start: Vector, step: float = 1e-6, rounds: int = 30) -> Vector:
    """Where ``gap`` is zero, from a start nearby."""
    x = np.array(start, dtype=float)
    for _ in range(rounds):
        here = np.asarray(gap(x))
        slope = np.column_stack([(gap(x + d) - gap(x - d)) / (2.0 * step) for d in step * np.eye(len(x))])
        change = np.linalg.solve(slope, -here)
        x = x + change
        if np.abs(change).max() < 1e-13:
            break
    return x
