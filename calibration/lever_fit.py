r"""A lever's friction loop, its spring and its sensor's zero from sweeps: arrays in, parameters out.

.. math:: \tau = R\,\sigma f(\vartheta)\,(1 + \epsilon\,s) + g_2 \arctan(\gamma_1 w) + g_3 w + B \dot w
          + \tau_r(\theta), \qquad \vartheta = (n - n_0) / S

with the motor's torque on the left, the mechanism's force f over the lever angle, and the loop's state s of
Dahl's law over the lever's travel (``mechanics.hysteresis``). The loop grows with the tension, the motor's
friction does not; so each is told from the other without any figure of a drive's run (but g_3 stays where
one has told it). The spring's scale sigma is in the unit of the motor's torque: a torque constant or a spool
that is wrong by a factor scales it. The loop's half width epsilon is a ratio, and stays.

A Hall count stands still for the magnet's play after each reversal. The first samples behind one are left
out, and half of the play is put back to the others. The ripple over the motor's angle is fitted. That over
the output's looks like a part of the tension: only what the hand file leaves open of it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.gauss_newton import Solution, solve
from signals.layout import BoolArray, FloatArray, IntArray

SLOW_RAD_S: Final = 0.08
"""Motor speed below which the friction of rest is not known well enough."""
BLOCK_S: Final = 0.25
"""Residuals of one block count as dependent."""
SOUND: Final = 6.0
"""Residuals beyond so many standard deviations are left out."""
SIGMA_OF_MEDIAN: Final = 1.4826
"""Standard deviation over the median of the sizes, of a normal distribution."""
FAR: Final = 4.0
"""Presliding lengths after which nothing is left of the loop's state at the start."""


@dataclass(frozen=True, slots=True)
class Swept:
    """A tendon's course, ready for the fit, shape (n,) each but the last two.

    Attributes:
        angle_rad: of its motor, growing as it is wound in.
        speed_rad_s: of it.
        torque_nm: of it, without its inertia.
        count: of the lever's Hall sensor, with the magnet's play put back.
        start_count: at the reversal before.
        used: samples of the fit.
        time_s: of the samples.
        first: of each stretch between two reversals, its first sample, shape (stretches,).
        side: which way each stretch goes, 1 or -1, shape (stretches,).
    """

    time_s: FloatArray
    angle_rad: FloatArray
    speed_rad_s: FloatArray
    torque_nm: FloatArray
    count: FloatArray
    start_count: FloatArray
    used: BoolArray
    first: IntArray
    side: FloatArray


@dataclass(frozen=True, slots=True)
class Sensor:
    """What the hand file says of a lever and its sensor: counts per radian, magnet's play [count], n_0."""

    counts_rad: float
    play_count: float
    zero_count: float


def swept(
    time_s: FloatArray, angle_rad: FloatArray, speed_rad_s: FloatArray, torque_nm: FloatArray,
    count: FloatArray, sensor: Sensor,
) -> Swept:  # fmt: skip
    """Cut a course at its reversals and put the magnet's play back.

    Raises:
        ValueError: the tendon was not moved both ways.
    """
    tight = -np.sign(sensor.counts_rad)  # the lever falls as the tension rises
    way = np.sign(speed_rad_s) * (np.abs(speed_rad_s) > 0.25 * SLOW_RAD_S)
    way = _filled(way)
    turns = np.flatnonzero(np.diff(way) != 0.0) + 1
    edges = [0, *turns.tolist(), len(way)]
    if len(edges) < 4:
        raise ValueError("the tendon was not moved both ways")
    put_back, start = count.copy(), np.empty_like(count)
    begun, sides = float(count[0]), []
    for a, b in zip(edges, edges[1:], strict=False):
        side = tight * way[a]
        put_back[a:b] += side * 0.5 * sensor.play_count
        start[a:b] = begun
        sides.append(float(np.sign(np.median(speed_rad_s[a:b]))) or 1.0)
        # at rest before it turns, the count is the extreme of both stretches
        near = count[max(a, b - 4) : b + 4]
        begun = float((near.max() if side > 0.0 else near.min()) + side * 0.5 * sensor.play_count)
    used = (np.abs(speed_rad_s) > SLOW_RAD_S) & (np.abs(put_back - start) > 1.2 * sensor.play_count)
    first = np.array(edges[:-1])
    return Swept(time_s, angle_rad, speed_rad_s, torque_nm, put_back, start, used, first, np.array(sides))


def _filled(way: FloatArray) -> FloatArray:
    """Directions in which samples at rest have that of the motion before."""
    at = np.maximum.accumulate(np.where(way != 0.0, np.arange(len(way)), 0))
    found = way[at]
    found[found == 0.0] = found[np.flatnonzero(found)[0]] if found.any() else 1.0
    return np.asarray(found)


def loop_states(data: Swept, counts_rad: float, presliding_rad: float) -> tuple[FloatArray, BoolArray]:
    """(state of the loop, whether it is known), shape (n,) both: Dahl's law from stretch to stretch."""
    travel = np.abs(data.count - data.start_count) / abs(counts_rad)
    ends, long = np.maximum.reduceat(travel, data.first), np.diff(data.first, append=len(travel))
    before, sure = np.zeros(len(ends)), np.zeros(len(ends), dtype=np.bool_)
    for k, end in enumerate(ends[:-1]):
        # the next stretch begins where this one turned, a little beyond its last sample
        side = data.side[k]
        before[k + 1] = side - (side - before[k]) * math.exp(-end / presliding_rad)
        sure[k + 1] = sure[k] or end > FAR * presliding_rad
    gone = np.exp(-travel / presliding_rad)
    states = np.repeat(data.side, long) - np.repeat(data.side - before, long) * gone
    known = np.repeat(sure, long) | (travel > FAR * presliding_rad)
    return states, known


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before.

    Attributes:
        ripple_nm: standard deviation of the ripple over the output's angle that the hand file leaves open.
            Half a turn of it and less looks like a part of the tension.
        viscous: the motor's g_3 was measured, and stays. Speeds of these sweeps differ too little to tell it
            from g_2: here it would come out up to a sixth too large.
    """

    ripple_nm: float
    viscous: bool = False


@dataclass(frozen=True, slots=True)
class LeverFit:
    """What was found of a tendon.

    Attributes:
        scale: force over that of the hand file, in the motor's unit.
        loop_frac: half width of the friction loop.
        presliding_rad: its length.
        zero_count: count at lever angle zero.
        friction_nm: g_2.
        viscous_nms_rad: g_3.
        half: half 95 % intervals, in the order of these.
        bound: half widths of independent noise alone (Cramer-Rao), in the same order.
        residual_nm: rms of what is not explained.
        explained: share of the torque's variance that is.
    """

    scale: float
    loop_frac: float
    presliding_rad: float
    zero_count: float
    friction_nm: float
    viscous_nms_rad: float
    half: FloatArray
    bound: FloatArray
    residual_nm: float
    explained: float


def _columns(data: Swept, gamma_1_s_rad: float, input_turns: float) -> FloatArray:
    """What the torque is linear in beside the spring: friction, inertia, ripple of both shafts."""
    speed, found = data.speed_rad_s, [np.arctan(gamma_1_s_rad * data.speed_rad_s)]
    found += [speed, np.gradient(speed, data.time_s)]
    for turns in (input_turns, 2.0 * input_turns, 1.0):
        found += [np.sin(turns * data.angle_rad), np.cos(turns * data.angle_rad)]
    return np.column_stack(found)


@dataclass(frozen=True, slots=True)
class _Law:
    """Torque of the rows that are fitted, by scale, loop, log of its length, zero, and the fixed columns."""

    data: Swept
    sensor: Sensor
    force_n: Callable[[FloatArray], FloatArray]
    radius_m: float
    rows: BoolArray
    fixed: FloatArray

    def pull(self, log_length: float, zero: float) -> tuple[FloatArray, FloatArray]:
        """(torque of the spring per scale, without its loop; state of the loop)."""
        states, _ = loop_states(self.data, self.sensor.counts_rad, float(np.exp(log_length)))
        lever = (self.data.count[self.rows] - zero) / self.sensor.counts_rad
        return self.radius_m * self.force_n(lever), states[self.rows]

    def torque(self, p: FloatArray) -> FloatArray:
        """Shape (rows,)."""
        spring, states = self.pull(p[2], p[3])
        return np.asarray(p[0] * spring * (1.0 + p[1] * states) + self.fixed @ p[4:])

    def slopes(self, p: FloatArray) -> FloatArray:
        """Its derivatives, shape (rows, parameters)."""
        spring, states = self.pull(p[2], p[3])
        further, up = self.pull(p[2] + 1e-3, p[3] + 0.1)
        gain = 1.0 + p[1] * states
        length, zero = p[0] * spring * p[1] * (up - states) / 1e-3, p[0] * gain * (further - spring) / 0.1
        return np.column_stack([spring * gain, p[0] * spring * states, length, zero, self.fixed])


def fit_lever(
    data: Swept,
    sensor: Sensor,
    force_n: Callable[[FloatArray], FloatArray],
    radius_m: float,
    gamma_1_s_rad: float,
    input_turns: float,
    guess: tuple[float, float, float, float],
    known: Known,
) -> LeverFit:
    """Fit a tendon.

    Args:
        data: its course.
        sensor: of its lever.
        force_n: force of the mechanism over lever angles.
        radius_m: of the spool, positive.
        gamma_1_s_rad: of the motor's friction.
        input_turns: turns of the motor's shaft per turn of the spool.
        guess: half width of the loop, its length [rad], g_2 [N m], g_3 [N m s/rad].
        known: what is known before.
    """
    rows = data.used & loop_states(data, sensor.counts_rad, guess[1])[1]
    columns, block = _columns(data, gamma_1_s_rad, input_turns), (data.time_s / BLOCK_S).astype(np.int64)
    start = np.array([1.0, guess[0], np.log(guess[1]), sensor.zero_count, guess[2], guess[3], *np.zeros(7)])
    spread = np.array([*np.full(11, np.inf), known.ripple_nm, known.ripple_nm])
    spread[5] = 0.0 if known.viscous else np.inf

    def solved() -> Solution:
        law = _Law(data, sensor, force_n, radius_m, rows, columns[rows])
        return solve(law.torque, data.torque_nm[rows], start, law.slopes, spread, block[rows])

    found = solved()
    size = np.abs(found.residual)
    sound = size <= SOUND * SIGMA_OF_MEDIAN * float(np.median(size))
    if not sound.all():  # a computer that paused has jerked the motor
        rows[rows] = sound
        found = solved()
    x, half, bound = found.values, found.half.copy(), found.bound.copy()
    length = float(np.exp(x[2]))
    half[2], bound[2] = half[2] * length, bound[2] * length
    residual = found.residual
    explained = 1.0 - float(np.var(residual) / np.var(data.torque_nm[rows]))
    return LeverFit(
        float(x[0]), float(x[1]), length, float(x[3]), float(x[4]), float(x[5]), half[:6], bound[:6],
        float(np.sqrt(np.mean(residual**2))), explained,
    )  # fmt: skip


def joined(one: LeverFit, other: LeverFit) -> LeverFit:
    """Two fits of the same tendon as one: each parameter weighted by its variances."""
    names = ("scale", "loop_frac", "presliding_rad", "zero_count", "friction_nm", "viscous_nms_rad")
    pair = (one, other)
    values = np.array([[getattr(fit, name) for name in names] for fit in pair])
    wide = np.array([np.maximum(np.maximum(fit.half, fit.bound), 1e-12) for fit in pair])
    weight = wide**-2 / np.sum(wide**-2, axis=0)
    mean = [float(x) for x in np.sum(weight * values, axis=0)]
    half = np.sum(wide**-2, axis=0) ** -0.5
    bound = np.sqrt(np.sum((weight * np.array([fit.bound for fit in pair])) ** 2, axis=0))
    residual_nm = math.hypot(one.residual_nm, other.residual_nm) / math.sqrt(2.0)
    a, b, c, d, e, f = mean
    return LeverFit(a, b, c, d, e, f, half, bound, residual_nm, min(one.explained, other.explained))


@dataclass(frozen=True, slots=True)
class Fitted:
    """A tendon's course, cut, and what was found of it."""

    data: Swept
    fit: LeverFit
