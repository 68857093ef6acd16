"""Samples of a moving person, played out smoothly: a clock of its own, a small delay, bounded steps.

A glove or a script says at some 30 to 200 times a second where the joints should be, with the time of its own
clock. Nothing about that clock is known but that it runs as fast as ours, so the shortest way of a sample to
us counts as no way at all: ``offset = min(arrival - t)`` over the last seconds. Samples then have a time of
ours. They are played out late by what the slowest of the last seconds needed, so that between two samples a
third is known, and read with cubics whose slope at a sample is that of the stretch before it.

Whatever comes, the result moves within the speeds that it was given. It starts where the hand is and reaches
the samples within the ramp's time; where samples jump and stay, the ramp begins anew.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from signals.layout import FloatArray
from signals.minimum_jerk import rise, slope

CLOCK_S: Final = 5.0
"""Time over which the shortest way is looked for: clocks drift by less than a millisecond in it."""
SLOWEST_S: Final = 2.0
"""Time for which a slow sample makes the delay longer."""
STRETCH: Final = 0.25
"""How much faster or slower than the sender samples are played while the delay changes."""
TURN_S: Final = 0.004
"""Time between two readings: a sample may wait that long before it is seen."""


@dataclass(slots=True)
class Sample:
    """A wanted pose.

    Attributes:
        time_s: on our clock.
        pose_rad: angles, shape (n,).
        speed_rad_s: of the stretch before it, shape (n,).
    """

    time_s: float
    pose_rad: FloatArray
    speed_rad_s: FloatArray


class Least:
    """Least value of a sliding time, in constant time on average."""

    def __init__(self, span_s: float) -> None:
        self._span_s = span_s
        self._kept: deque[tuple[float, float]] = deque()

    def add(self, now_s: float, value: float) -> float:
        """Add a value; returns the least one of the span."""
        while self._kept and self._kept[-1][1] >= value:
            self._kept.pop()
        self._kept.append((now_s, value))
        while self._kept[0][0] < now_s - self._span_s:
            self._kept.popleft()
        return self._kept[0][1]


class Playout:
    """Interpolation of one stream.

    Args:
        start_rad: pose in which the hand is, shape (n,).
        low_rad: least angles, shape (n,).
        high_rad: greatest angles, shape (n,).
        fastest_rad_s: greatest speeds, shape (n,).
        now_s: monotonic time.
        period_s: time between two samples, as far as the sender says.
        ramp_s: time in which the samples' pose is reached from the start.
        jump_rad: step between two samples that is taken for a mistake first.
        oldest_s: a sample that was on its way for longer is worth nothing.

    Attributes:
        late: samples that came too late, or not in order.
        jumps: samples that jumped.
        fresh_s: when the newest good sample came.
    """

    def __init__(
        self,
        start_rad: FloatArray,
        low_rad: FloatArray,
        high_rad: FloatArray,
        fastest_rad_s: FloatArray,
        now_s: float,
        *,
        period_s: float,
        ramp_s: float,
        jump_rad: float,
        oldest_s: float,
    ) -> None:
        self._low, self._high, self._fastest = low_rad, high_rad, fastest_rad_s
        self._ramp_s, self._jump_rad, self._oldest_s = ramp_s, jump_rad, oldest_s
        self.late = self.jumps = 0
        self.fresh_s = self._read_s = now_s
        self.pose_rad = self.wanted_rad = np.clip(start_rad, low_rad, high_rad)
        self._shortest, self._longest = Least(CLOCK_S), Least(SLOWEST_S)
        self._newest_t = -np.inf
        self._suspect: FloatArray | None = None
        self.delay_s = self._delay_wanted_s = min(period_s + TURN_S, oldest_s)
        self._ramp_from(now_s)

    def _ramp_from(self, now_s: float) -> None:
        """Start from where the output stands."""
        self._start, self._begun_s = self.pose_rad.copy(), now_s
        self._samples: deque[Sample] = deque()

    def share(self, now_s: float) -> float:
        """How far the ramp has come, 0 to 1."""
        return min((now_s - self._begun_s) / self._ramp_s, 1.0)

    def put(self, t_s: float, pose_rad: FloatArray, now_s: float) -> bool:
        """Take a sample; False: it was late or jumped, and counts for nothing.

        Args:
            t_s: the sender's time.
            pose_rad: shape (n,).
            now_s: monotonic time at which it came.
        """
        time_s = t_s + self._shortest.add(now_s, now_s - t_s)
        if t_s <= self._newest_t or now_s - time_s > self._oldest_s:
            self.late += 1
            return False
        self._newest_t = t_s
        pose = np.clip(pose_rad, self._low, self._high)
        before = self._samples[-1] if self._samples else None
        if before is not None and np.abs(pose - self.wanted_rad).max(initial=0.0) > self._jump_rad:
            self.jumps += 1
            again = self._suspect is not None and np.abs(pose - self._suspect).max() <= self._jump_rad
            self._suspect = pose
            if not again:
                return False
            self._ramp_from(now_s)
            before = None
        self._suspect = None
        speed = np.zeros_like(pose)
        if before is not None:
            needed = -self._longest.add(now_s, before.time_s - now_s)
            self._delay_wanted_s = min(needed + TURN_S, self._oldest_s)
            time_s = max(time_s, before.time_s)
            passed = max(time_s - before.time_s, 1e-6)
            speed = np.clip((pose - before.pose_rad) / passed, -self._fastest, self._fastest)
        self._samples.append(Sample(time_s, pose, speed))
        self.wanted_rad, self.fresh_s = pose, now_s
        return True

    def read(self, now_s: float) -> tuple[FloatArray, FloatArray]:
        """Pose [rad] and speed [rad/s] now, each of shape (n,); time must not go back."""
        passed, self._read_s = max(now_s - self._read_s, 0.0), now_s
        change = self._delay_wanted_s - self.delay_s
        self.delay_s += min(max(change, -STRETCH * passed), STRETCH * passed)
        pose, speed = self._between(now_s - self.delay_s)
        x = self.share(now_s)
        share, pace = float(rise(x)), float(slope(x)) / self._ramp_s
        way = pose - self._start
        pose, speed = self._start + share * way, share * speed + pace * way
        step = self._fastest * passed
        self.pose_rad = self.pose_rad + np.clip(pose - self.pose_rad, -step, step)
        return self.pose_rad, np.clip(speed, -self._fastest, self._fastest)

    def _between(self, time_s: float) -> tuple[FloatArray, FloatArray]:
        """Pose and speed of the samples at a time of ours; at rest before the first and after the newest."""
        samples = self._samples
        while len(samples) > 1 and samples[1].time_s <= time_s:
            samples.popleft()
        if not samples:
            return self._start, np.zeros_like(self._start)
        a = samples[0]
        if time_s < a.time_s or len(samples) == 1:
            return a.pose_rad, np.zeros_like(a.pose_rad)
        b = samples[1]
        h = b.time_s - a.time_s
        x = (time_s - a.time_s) / h
        way = b.pose_rad - a.pose_rad
        first, last = h * a.speed_rad_s, h * b.speed_rad_s
        pose = a.pose_rad + x * (
            first + x * (3.0 * way - 2.0 * first - last + x * (first + last - 2.0 * way))
        )
        speed = (
            first + x * (2.0 * (3.0 * way - 2.0 * first - last) + 3.0 * x * (first + last - 2.0 * way))
        ) / h
        return np.clip(pose, self._low, self._high), speed
