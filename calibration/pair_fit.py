r"""Friction of a motor with joint and guides behind it, and that joint's stops: arrays in, parameters out.

.. math:: k_t I = \gamma_2 \arctan(\gamma_1 w) + \gamma_3 w + B \dot w + C\,s(w) + b(\theta)

C is what guides and joint take, at the pretension; only the sum of both plateaus is seen. The hand file's C
is put in, so the sum is right whatever the share of each. s is the smooth sign of ``mechanics.guides``;
b, which is the same both ways, is a parabola. B holds the bones too.

At a stop the torque grows along a line over the motor's angle. Where that line leaves the free motion's
torque is the stop, without the stretch of what presses on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.gauss_newton import solve
from signals.layout import FloatArray, IntArray

STEEPEST: Final = math.log(1e6)
"""Greatest ln(gamma_1 / (s/rad)) that friction is tried with."""
GAMMA_1_SPREAD: Final = 0.3
"""Standard deviation of gamma_1's logarithm that the hand file is taken for: it shows near rest alone."""
LEAST_SPEED_RAD_S: Final = 0.08
"""Slower blocks are left out."""
LEAST_RISE_NM: Final = 0.02
"""Torque beyond the free motion's that is a stop."""
BENT: Final = 5
"""Blocks of a line from which on both its halves are looked at."""
LINE: Final = (0.25, 0.9)
"""Part of the rise that the line is laid through."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """Means over short times of one motor, shape (n,): angle, its rates, torque, number of the move."""

    angle_rad: FloatArray
    speed_rad_s: FloatArray
    bend_rad_s2: FloatArray
    torque_nm: FloatArray
    move: IntArray


@dataclass(frozen=True, slots=True)
class PairFit:
    """What was found.

    Attributes:
        gamma_1_s_rad: as in the equation.
        gamma_2_nm: as in the equation.
        gamma_3_nms_rad: as in the equation.
        half: half 95 % intervals of these.
        behind_nm: C.
        inertia_kg_m2: B.
        rest_rad_s: speed of s.
        shape: coefficients of b over ``(angle - middle) / size``.
        middle_rad: of the angles.
        size_rad: of the angles.
        residual_nm: rms of what is not explained.
        explained: share of the torque's variance that is.
    """

    gamma_1_s_rad: float
    gamma_2_nm: float
    gamma_3_nms_rad: float
    half: FloatArray
    behind_nm: float
    inertia_kg_m2: float
    rest_rad_s: float
    shape: FloatArray
    middle_rad: float
    size_rad: float
    residual_nm: float
    explained: float

    @property
    def whole_nm(self) -> float:
        """All that is lost at a middle speed: both plateaus."""
        return 0.5 * math.pi * self.gamma_2_nm + self.behind_nm

    def free_nm(self, data: Blocks) -> FloatArray:
        """Torque of the free motion; beyond the sweeps b stays as at their end."""
        x, w = np.clip((data.angle_rad - self.middle_rad) / self.size_rad, -1.0, 1.0), data.speed_rad_s
        own = self.gamma_2_nm * np.arctan(self.gamma_1_s_rad * w) + self.gamma_3_nms_rad * w
        own = own + self.behind_nm * smooth_sign(w, self.rest_rad_s) + self.inertia_kg_m2 * data.bend_rad_s2
        return np.asarray(own + self.shape @ np.array([np.ones_like(x), x, x**2]))


def smooth_sign(speed_rad_s: FloatArray, rest_rad_s: float) -> FloatArray:
    """Sign of speeds that are far from rest."""
    return np.asarray(speed_rad_s / np.hypot(speed_rad_s, rest_rad_s))


def blocks_of(
    time_s: FloatArray, angle_rad: FloatArray, torque_nm: FloatArray, moves: list[tuple[float, float]],
    block_s: float, skip_rad: float,
) -> Blocks:  # fmt: skip
    """Cut every move into blocks in which it goes on its way.

    Args:
        time_s: of the samples, shape (n,).
        angle_rad: of the motor.
        torque_nm: of it.
        moves: begin and end of each.
        block_s: length of a block.
        skip_rad: way at the begin of each move in which the tendons are stretched the other way.
    """
    rows: list[tuple[float, float, float, float, int]] = []
    for k, (begin, end) in enumerate(moves):
        inside = np.flatnonzero((time_s >= begin) & (time_s < end))
        if len(inside) < 8:
            continue
        t, x, y = time_s[inside], angle_rad[inside], torque_nm[inside]
        edges = np.linspace(begin, end, max(round((end - begin) / block_s), 2) + 1)
        for first, last in zip(edges, edges[1:], strict=False):
            here = (t >= first) & (t < last)
            if here.sum() < 4 or np.ptp(t[here]) <= 0.0 or abs(x[here][0] - x[0]) < skip_rad:
                continue
            near = (t >= first - 0.5 * block_s) & (t < last + 0.5 * block_s)
            middle = 0.5 * (first + last)
            bend, slope, angle = np.polyfit(t[near] - middle, x[near], 2)
            if abs(slope) > LEAST_SPEED_RAD_S:
                rows.append((float(angle), float(slope), 2.0 * float(bend), float(y[here].mean()), k))
    columns = np.array(rows, dtype=np.float64).reshape(-1, 5)
    angle, slope, bend, torque = columns.T[:4]
    return Blocks(angle, slope, bend, torque, columns[:, 4].astype(np.int64))


def fit_pair(data: Blocks, behind_nm: float, rest_rad_s: float, guess: tuple[float, float, float]) -> PairFit:
    """Fit the sweeps of a motor.

    Args:
        data: blocks of its sweeps.
        behind_nm: what guides and joint take, by the hand file, at the motor.
        rest_rad_s: speed of their smooth sign.
        guess: gamma_1 [s/rad], gamma_2 [N m], gamma_3 [N m s/rad].

    Raises:
        ValueError: it hardly moved, or one way only.
    """
    moving = np.abs(data.speed_rad_s)
    if len(moving) < 12 or not (np.sign(data.speed_rad_s).min() < 0.0 < np.sign(data.speed_rad_s).max()):
        raise ValueError("it did not move both ways")
    w, middle = data.speed_rad_s, 0.5 * float(data.angle_rad.max() + data.angle_rad.min())
    size = max(0.5 * float(np.ptp(data.angle_rad)), 1e-6)
    x = (data.angle_rad - middle) / size
    fixed = np.column_stack([w, data.bend_rad_s2, np.ones_like(x), x, x**2])
    wanted = data.torque_nm - behind_nm * smooth_sign(w, rest_rad_s)

    def turns(p: FloatArray) -> FloatArray:
        return np.asarray(np.exp(min(p[1], STEEPEST)) * w)  # beyond it a step at any speed that is measured

    def model(p: FloatArray) -> FloatArray:
        return np.asarray(p[0] * np.arctan(turns(p)) + fixed @ p[2:])

    def slopes(p: FloatArray) -> FloatArray:
        turn = turns(p)
        return np.column_stack([np.arctan(turn), p[0] * turn / (1.0 + turn**2), fixed])

    start = np.array([guess[1], math.log(guess[0]), guess[2], 0.0, 0.0, 0.0, 0.0])
    spread = np.array([np.inf, GAMMA_1_SPREAD, *np.full(5, np.inf)])
    found = solve(model, wanted, start, slopes, spread, data.move)
    p, half = found.values, np.maximum(found.half, found.bound)
    g1 = float(np.exp(min(p[1], STEEPEST)))
    explained = 1.0 - float(np.var(found.residual)) / max(float(np.var(wanted)), 1e-30)
    widths = np.array([half[1] * g1, half[0], half[2]])
    left_nm = float(np.sqrt(np.mean(found.residual**2)))
    inertia, shape = float(p[3]), p[4:]
    return PairFit(
        g1, float(p[0]), float(p[2]), widths, behind_nm, inertia, rest_rad_s, shape, middle, size, left_nm,
        explained,
    )  # fmt: skip


def stop_of(data: Blocks, fit: PairFit, most_nm: float) -> tuple[float, float]:
    """(motor angle of a stop, half of its 95 % interval) [rad]; not a number: none was met.

    Args:
        data: blocks of the move into it.
        fit: the free motion.
        most_nm: rise from which on the other tendon of the pair may be slack.
    """
    nan = (math.nan, math.nan)
    if len(data.angle_rad) < 4:
        return nan
    side = float(np.sign(np.median(data.speed_rad_s)))
    rise = side * (data.torque_nm - fit.free_nm(data))
    top = int(np.argmax(rise))
    most = min(float(rise[top]), most_nm)
    if rise[top] < max(LEAST_RISE_NM, 4.0 * fit.residual_nm):
        return nan
    last_free = np.flatnonzero(rise[: top + 1] < LINE[0] * most)
    first = int(last_free[-1]) + 1 if len(last_free) else 0
    line = np.arange(first, top + 1)
    line = line[rise[line] <= LINE[1] * most]
    if len(line) < 3:
        return nan
    slope, begin = np.polyfit(rise[line], data.angle_rad[line], 1)
    left = data.angle_rad[line] - (begin + slope * rise[line])
    noise = math.hypot(float(np.std(left)), abs(float(slope)) * fit.residual_nm)
    wide = 1.96 * 2.0 * noise / math.sqrt(len(line))
    if len(line) >= BENT:  # a bent line, as where the other tendon becomes slack, has no one place to begin
        lower = line[: len(line) // 2 + 1]
        wide = math.hypot(wide, float(np.polyfit(rise[lower], data.angle_rad[lower], 1)[1] - begin))
    return float(begin), wide
