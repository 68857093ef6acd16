"""Least squares of a few parameters: values, 95 % intervals, and the Cramer-Rao bound of white noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from signals.layout import FloatArray, IntArray

Slopes = Callable[[FloatArray], FloatArray]
ROUNDS: Final = 20
CLOSE: Final = 1e-5
"""Last step of every parameter, as a share of it."""
TWO_SIDED_95: Final = 1.96


@dataclass(frozen=True, slots=True)
class Solution:
    """What was found; parameters that were not free keep their start and have no width.

    Attributes:
        values: of all parameters.
        half: half 95 % intervals, with residuals that depend on each other within a block.
        bound: the same if the residuals were independent: the Cramer-Rao bound at their size.
        residual: what is not explained.
    """

    values: FloatArray
    half: FloatArray
    bound: FloatArray
    residual: FloatArray


def solve(
    model: Callable[[FloatArray], FloatArray],
    wanted: FloatArray,
    start: FloatArray,
    slopes: Slopes,
    spread: FloatArray,
    block: IntArray,
) -> Solution:
    """Gauss-Newton steps, halved while they make it worse.

    What is known before counts against residuals of the size that a first round leaves.

    Args:
        model: parameters -> values, shape (n,).
        wanted: measured values.
        start: first parameters.
        slopes: parameters -> derivatives of the values, shape (n, parameters).
        spread: standard deviation of each parameter from its start, as far as one is known before; infinite:
            nothing is; 0: it stays.
        block: number of the block of each value, in order.
    """
    chosen = np.flatnonzero(spread)
    weight = np.zeros(len(chosen))
    x = _descended(model, wanted, start, slopes, chosen, weight)
    noise2 = float(np.mean((wanted - model(x)) ** 2))
    weight = np.sqrt(noise2) / spread[chosen]
    x = _descended(model, wanted, x, slopes, chosen, weight, start)
    residual, J = wanted - model(x), slopes(x)[:, chosen]
    inverse = np.linalg.pinv(J.T @ J + np.diag(weight**2))
    scores = J * residual[:, None]
    starts = np.flatnonzero(np.diff(block, prepend=block[0] - 1))
    sums = np.add.reduceat(scores, starts, axis=0)
    many = len(starts) / max(len(starts) - len(chosen), 1)
    variance = float(residual @ residual) / max(len(residual) - len(chosen), 1)
    half, bound = np.zeros_like(x), np.zeros_like(x)
    covariance = inverse @ (sums.T @ sums * many + np.diag(noise2 * weight**2)) @ inverse
    half[chosen] = TWO_SIDED_95 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    bound[chosen] = TWO_SIDED_95 * np.sqrt(np.maximum(variance * np.diag(inverse), 0.0))
    return Solution(x, half, bound, residual)


def _descended(
    model: Callable[[FloatArray], FloatArray],
    wanted: FloatArray,
    begin: FloatArray,
    slopes: Slopes,
    chosen: IntArray,
    weight: FloatArray,
    centre: FloatArray | None = None,
) -> FloatArray:
    """Parameters of the least squares; ``weight`` holds them at ``centre``."""
    x = begin.astype(np.float64).copy()
    middle = x.copy() if centre is None else centre

    def left(p: FloatArray) -> FloatArray:
        return np.concatenate([wanted - model(p), weight * (middle - p)[chosen]])

    residual = left(x)
    for _ in range(ROUNDS):
        J = np.vstack([slopes(x)[:, chosen], np.diag(weight)])
        if not np.isfinite(J).all():
            return x  # it ran away: what is told of it is its interval; LAPACK would print on stdout
        step = np.linalg.lstsq(J, residual, rcond=None)[0]
        share = 1.0
        while True:
            trial = x.copy()
            trial[chosen] += share * step
            tried = left(trial)
            if np.isfinite(tried).all() and tried @ tried <= residual @ residual:
                break
            share *= 0.5
            if share < 1e-3:
                return x
        x, residual = trial, tried
        if np.all(np.abs(share * step) < CLOSE * np.maximum(np.abs(x[chosen]), CLOSE)):
            break
    return x
