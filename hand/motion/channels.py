"""Channels of a motion: sampled tables, and the shapes that fill them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from hand.motion.schema import Line, Ramp, Sine
from signals.layout import FloatArray
from signals.minimum_jerk import rise, slope

STEP_S: Final = 0.005
"""Widest step of the tables: a 2 Hz sine is met to 1e-8 of its amplitude."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One channel over time: nodes at an even step, from time zero."""

    values: FloatArray
    slopes: FloatArray
    step_s: float = 1.0
    periodic: bool = False
    hold: bool = False
    relative: bool = False
    advance: float = 0.0

    @property
    def duration_s(self) -> float:
        """Time of the last node: the period of a periodic channel."""
        return (len(self.values) - 1) * self.step_s

    def scaled(self, factor: float) -> Table:
        """The same channel in another unit."""
        return replace(
            self,
            values=self.values * factor,
            slopes=self.slopes * factor,
            advance=self.advance * factor,
        )

    def at(self, times_s: FloatArray) -> FloatArray:
        """Values at times, between nodes on straight lines, without start value."""
        end = self.duration_s
        if end == 0.0:
            return np.full(len(times_s), self.values[0])
        turns = np.floor(times_s / end) if self.periodic else np.zeros(len(times_s))
        inside = np.interp(times_s - turns * end, self.times_s, self.values)
        values: FloatArray = inside + turns * self.advance
        return values

    @property
    def times_s(self) -> FloatArray:
        """Times of the nodes."""
        return _grid(len(self.values) - 1, self.duration_s)


def _grid(count: int, end_s: float) -> FloatArray:
    return np.linspace(0.0, end_s, count + 1)


def rest(value: float, *, relative: bool = False) -> Table:
    """A channel that stands still."""
    return Table(values=np.array([value]), slopes=np.zeros(1), relative=relative)


def sine_table(sine: Sine, finger_rank: int) -> Table:
    """One period of a sine; ``finger_rank`` counts fingers from 0."""
    period = 1.0 / sine.frequency_hz
    count = max(math.ceil(period / STEP_S), 16)
    turn = 2.0 * math.pi * np.arange(count + 1) / count
    angle = turn + math.radians(sine.phase_deg + finger_rank * sine.phase_per_finger_deg)
    return Table(
        values=sine.mean + sine.amplitude * np.sin(angle),
        slopes=sine.amplitude * 2.0 * math.pi * sine.frequency_hz * np.cos(angle),
        step_s=period / count,
        periodic=True,
    )


def ramp_table(ramp: Ramp) -> Table:
    """A constant rate from the start value, without end."""
    rate = ramp.rate
    return Table(
        values=np.array([0.0, rate]),
        slopes=np.array([rate, rate]),
        periodic=True,
        relative=True,
        advance=rate,
    )


def steps_table(line: Line) -> Table:
    """Jumps; each time is met to half a table step."""
    end = line.period_s if line.period_s is not None else max(line.times_s[-1], STEP_S)
    count = max(math.ceil(end / STEP_S - 1e-9), 1)
    step = end / count
    first = np.round(np.array(line.times_s) / step).astype(np.int64)
    which = np.searchsorted(first, np.arange(count + 1), side="right") - 1
    values = np.array(line.values)[np.maximum(which, 0)]
    return Table(
        values=values, slopes=np.zeros(count + 1), step_s=step, hold=True, periodic=line.period_s is not None
    )


def points_table(line: Line) -> Table:
    """Minimum-jerk moves from point to point, at rest in each; back to the first within the period."""
    times, values = list(line.times_s), list(line.values)
    if line.period_s is not None and line.period_s > times[-1]:
        times.append(line.period_s)
        values.append(values[0])
    if times[0] > 0.0:
        times.insert(0, 0.0)
        values.insert(0, values[-1] if line.period_s is not None else values[0])
    end = times[-1]
    if end == 0.0:
        return rest(values[0])
    count = math.ceil(end / STEP_S)
    grid = _grid(count, end)
    k = np.clip(np.searchsorted(times, grid, side="right") - 1, 0, len(times) - 2)
    t, v = np.array(times), np.array(values)
    span, way = np.diff(t)[k], np.diff(v)[k]
    x = np.clip((grid - t[k]) / span, 0.0, 1.0)
    return Table(
        values=v[k] + way * rise(x),
        slopes=way / span * slope(x),
        step_s=end / count,
        periodic=line.period_s is not None,
    )


def through(times_s: FloatArray, values: FloatArray) -> Table:
    """Smooth curve through samples that never leaves the range of its neighbours (Fritsch and Carlson)."""
    if len(times_s) == 1:
        return rest(float(values[0]))
    h, rise = np.diff(times_s), np.diff(values) / np.diff(times_s)
    slope = np.zeros(len(values))
    same = rise[:-1] * rise[1:] > 0.0
    w1, w2 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        harmonic = (w1 + w2) / (w1 / rise[:-1] + w2 / rise[1:])
    slope[1:-1][same] = harmonic[same]
    end = float(times_s[-1])
    count = max(math.ceil(end / STEP_S), 1)
    grid = _grid(count, end)
    return _hermite_samples(times_s, values, slope, grid, end / count)


def _hermite_samples(t: FloatArray, y: FloatArray, d: FloatArray, grid: FloatArray, step_s: float) -> Table:
    k = np.clip(np.searchsorted(t, grid, side="right") - 1, 0, len(t) - 2)
    h = t[k + 1] - t[k]
    u = np.clip((grid - t[k]) / h, 0.0, 1.0)
    rise = y[k + 1] - y[k]
    c2 = 3.0 * rise - h * (2.0 * d[k] + d[k + 1])
    c3 = h * (d[k] + d[k + 1]) - 2.0 * rise
    before = grid < t[0]
    values = y[k] + u * (h * d[k] + u * (c2 + u * c3))
    slopes = d[k] + u * (2.0 * c2 + 3.0 * u * c3) / h
    return Table(values=values, slopes=np.where(before, 0.0, slopes), step_s=step_s)
