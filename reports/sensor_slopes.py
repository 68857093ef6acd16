"""Slope of a Hall sensor's curve over its travel, and the part of the travel where it is sound."""

from __future__ import annotations

from typing import Final

import numpy as np

from reports.sensor_curves import Curve
from signals.layout import FloatArray

KNOT_COUNTS: Final = 12.0
"""Width of the bins of a curve; its slope is taken over seven of them, nearly two degrees of lever."""
SPAN: Final = 7
LEAST_FRAMES: Final = 2
"""Frames of a bin in each direction: the lever's friction loop shifts a curve by its half width, so that only
the mean of both directions has the sensor's slope."""
TURN_FRAMES: Final = 4
TURN_COUNTS: Final = 2.0
"""Change of the expected count over twice ``TURN_FRAMES`` from which a frame is one of motion."""
SLOPE_LOW: Final = 0.4
SLOPE_HIGH: Final = 1.6
"""Slope, as a share of the calibrated one, beyond which a part of the travel is not usable."""
SURE: Final = 2.0
"""Standard errors of a slope in whose favour it is taken, but for no more than half of ``SLOPE_LOW``: what is
so noisy that it has no slope is not sound."""


def knots_of(curve: Curve) -> FloatArray:
    """(expected, read) count of the bins of a curve, shape (k, 2), in rising order of the expected count.

    Of motion only, each bin the mean of both its directions; a bin that was passed in one alone is left out,
    unless the run, cut short by a fault, has no others.
    """
    x, y = curve.expected_count, curve.count
    if len(x) <= 2 * TURN_FRAMES:
        return np.zeros((0, 2))
    bins = np.floor(x / KNOT_COUNTS).astype(np.int64)
    way = np.zeros(len(x))
    way[TURN_FRAMES:-TURN_FRAMES] = x[2 * TURN_FRAMES :] - x[: -2 * TURN_FRAMES]
    both, any_way = [], []
    for b in np.unique(bins):
        sides = [(bins == b) & (side * way > TURN_COUNTS) for side in (1.0, -1.0)]
        enough = [mask for mask in sides if int(mask.sum()) >= LEAST_FRAMES]
        if enough:
            knot = [sum(float(v[mask].mean()) for mask in enough) / len(enough) for v in (x, y)]
            any_way.append(knot)
            both += [knot] if len(enough) == 2 else []
    return np.array(both if len(both) >= SPAN else any_way).reshape(-1, 2)


def _around(knots: FloatArray, k: int) -> tuple[FloatArray, FloatArray]:
    """(expected, read) counts of the seven knots around one, each less its mean."""
    first = min(max(k - SPAN // 2, 0), max(len(knots) - SPAN, 0))
    x, y = knots[first : first + SPAN].T
    return x - x.mean(), y - y.mean()


def slopes_of(knots: FloatArray) -> FloatArray:
    """Slope of the line through the seven knots around each, shape (k,); 1: as calibrated."""
    slopes = np.zeros(len(knots))
    for k in range(len(knots)):
        x, y = _around(knots, k)
        slopes[k] = float(x @ y) / max(float(x @ x), 1e-12)
    return slopes


def slope_errors(knots: FloatArray, slopes: FloatArray) -> FloatArray:
    """Standard errors of the slopes, shape (k,): by what their knots are beside their line.

    What is expected of a sensor comes from its neighbours: bad ones make it noisy.
    """
    errors = np.zeros(len(knots))
    for k in range(len(knots)):
        x, y = _around(knots, k)
        beside = y - slopes[k] * x
        freedom = max(len(x) - 2, 1) * max(float(x @ x), 1e-12)
        errors[k] = np.sqrt(float(beside @ beside) / freedom)
    return errors


def usable_range(knots: FloatArray, slopes: FloatArray, full_scale: int) -> tuple[int, int] | None:
    """First and last knot of the longest stretch with a sound slope, off the rails; ``None``: none.

    A slope is not sound where its knots leave no doubt of it, by ``SURE`` standard errors.
    """
    doubt = np.minimum(SURE * slope_errors(knots, slopes), 0.5 * SLOPE_LOW)
    sound = (slopes + doubt >= SLOPE_LOW) & (slopes - doubt <= SLOPE_HIGH)
    sound &= (knots[:, 1] > 0.5) & (knots[:, 1] < full_scale - 0.5)
    best: tuple[int, int] | None = None
    first = None
    for k, good_here in enumerate([*sound.tolist(), False]):
        if good_here and first is None:
            first = k
        elif not good_here and first is not None:
            if best is None or k - 1 - first > best[1] - best[0]:
                best = (first, k - 1)
            first = None
    return best
