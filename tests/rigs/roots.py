"""Roots of small systems by Newton's method with differences: an oracle that knows no derivative."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Vector = np.ndarray


def slope_of(gap: Callable[[Vector], Vector], x: Vector, step: float = 1e-6) -> Vector:
    """Its derivatives by central differences, a column for each number of ``x``."""
    return np.column_stack([(gap(x + d) - gap(x - d)) / (2.0 * step) for d in step * np.eye(len(x))])


def root(
    gap: Callable[[Vector], Vector],
    start: Vector,
    step: float = 1e-6,
    rounds: int = 30,
    slope: Vector | None = None,
) -> Vector:
    """Where ``gap`` is zero, from a start nearby; a known ``slope`` there is that of every round."""
    x = np.array(start, dtype=float)
    for _ in range(rounds):
        here = np.asarray(gap(x))
        change = np.linalg.solve(slope_of(gap, x, step) if slope is None else slope, -here)
        x = x + change
        if np.abs(change).max() < 1e-13:
            break
    return x
