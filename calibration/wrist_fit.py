r"""Zeros of the wrist's sensors from the lengths of tendons that run through it: arrays in, zeros out.

.. math:: e_t - R_t \theta_t = h_{wrist,t}(x_0 + (r - x_0 - z) / g) + P_t q + c_t

with readings r of the two sensors, their zeros z and gains g, and the neutral wrist :math:`x_0`. Joint angles
q are anything: a projection takes them out. Start lengths c are anything too, so a straight line through the
wrist's angle tells nothing; what tells z is that the lengths are curved. Spools and forces are known to a
tolerance, which a Bayesian least squares counts in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from signals.layout import BoolArray, FloatArray, IntArray

Ways = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Axis angles, shape (n, 2) -> lengths through the wrist, (n, nt), and their derivatives, (n, nt, 2)."""
TWO_SIDED_95: Final = 1.96
STAGES: Final = 3
"""Fits, each with the length's noise that the one before has left."""
ROUNDS: Final = 20
FURTHEST_RAD: Final = 0.03
"""Of a zero in one round: far away the wrist's law has other solutions."""
LEAST_SHARE: Final = 1e-3
CLOSE_RAD: Final = 1e-7
LENGTH_SD_M: Final = 2e-5
"""Of a length, as in ``calibration.geometry_poses``, or more if more is left."""
ANYWHERE_RAD: Final = 0.1
ANYWHERE_M: Final = 0.01
"""Standard deviations of zeros and start lengths before."""


@dataclass(frozen=True, slots=True)
class Swept:
    """Samples of a sweep of the wrist.

    Attributes:
        shown_rad: readings of both axes, shape (n, 2).
        elongation_m: shape (n, nt).
        wound_m: spool radius times motor angle, shape (n, nt).
        stretch_m: share of the tendon itself in the elongation, shape (n, nt).
    """

    shown_rad: FloatArray
    elongation_m: FloatArray
    wound_m: FloatArray
    stretch_m: FloatArray

    def at(self, used: BoolArray | IntArray) -> Swept:
        """Some of the samples, by a mask or by their indices."""
        return Swept(*(getattr(self, name)[used] for name in Swept.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class Known:
    """What is known before.

    Attributes:
        ways: law of the wrist.
        neutral_rad: angles of the neutral wrist, shape (2,).
        P_tj_m: lever arms of the tendons at their joints, shape (nt, nj).
        spool_sd: relative standard deviation of each spool, shape (nt,).
        force_sd: of a tension.
        independent: how many samples of a sweep say something of their own.
        gain_sd: of a sensor's gain.
    """

    ways: Ways
    neutral_rad: FloatArray
    P_tj_m: FloatArray
    spool_sd: FloatArray
    force_sd: float
    independent: int
    gain_sd: float = 0.05

    @property
    def blind(self) -> FloatArray:
        """Rows that no joint angle changes, shape (rows, nt)."""
        u, sizes, _ = np.linalg.svd(self.P_tj_m)
        return np.asarray(u[:, int((sizes > 1e-9 * sizes.max()).sum()) :].T)


@dataclass(frozen=True, slots=True)
class ZeroFit:
    """What was found.

    Attributes:
        zero_rad: shape (2,).
        zero_half_rad: half 95 % intervals.
        gain: shape (2,).
        gain_half: half 95 % intervals.
        residual_m: rms of what is not explained.
        x: all parameters, as ``left_m`` takes them.
    """

    zero_rad: FloatArray
    zero_half_rad: FloatArray
    gain: FloatArray
    gain_half: FloatArray
    residual_m: float
    x: FloatArray


def left_m(swept: Swept, known: Known, x: FloatArray) -> FloatArray:
    """What parameters leave of the samples' lengths, shape (n, rows)."""
    return _equations(swept, known, x, known.blind)[1]


def fit_zeros(swept: Swept, known: Known, free: bool = True) -> ZeroFit:
    """Fit zeros and gains, and all that is known with a tolerance.

    Args:
        swept: samples.
        known: what is known before.
        free: False: zeros are 0 and gains 1, only the rest is fitted.
    """
    blind, n = known.blind, len(swept.shown_rad)
    nt, rows = swept.elongation_m.shape[1], len(blind)
    small = 1e-12
    spread = np.concatenate(
        [
            np.full(2, ANYWHERE_RAD if free else small),
            np.full(2, known.gain_sd if free else small),
            np.maximum(known.spool_sd, 1e-9),
            np.full(nt, max(known.force_sd, 1e-9)),
            np.full(rows, ANYWHERE_M),
        ]
    )
    x, sd = np.zeros(len(spread)), LENGTH_SD_M
    for _ in range(STAGES):
        weight = np.sqrt(known.independent / n) / sd
        x, A, size = _descended(swept, known, blind, x, weight, spread)
        residual = float(np.sqrt(np.mean(_equations(swept, known, x, blind)[1] ** 2)))
        sd = max(LENGTH_SD_M, residual)
    half = TWO_SIDED_95 * np.sqrt(np.diag(np.linalg.inv((A / size).T @ (A / size)))) / size
    return ZeroFit(x[:2], half[:2], 1.0 + x[2:4], half[2:4], residual, x)


def _descended(
    swept: Swept, known: Known, blind: FloatArray, x: FloatArray, weight: float, spread: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(Parameters of the least squares, derivatives, size of their columns); no step makes it worse."""

    def terms(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        J, left = _equations(swept, known, x, blind)
        A = np.vstack([weight * J.reshape(left.size, -1), np.diag(1.0 / spread)])
        return A, np.append(weight * left.ravel(), -x / spread)

    A, left = terms(x)
    for _ in range(ROUNDS):
        size = np.linalg.norm(A, axis=0)
        step = np.linalg.lstsq(A / size, left, rcond=None)[0] / size
        share = min(1.0, FURTHEST_RAD / max(float(np.abs(step[:2]).max()), 1e-12))
        while share > LEAST_SHARE:
            tried_A, tried = terms(x + share * step)
            if tried @ tried <= left @ left:
                x, A, left = x + share * step, tried_A, tried
                break
            share *= 0.5
        if share <= LEAST_SHARE or np.abs(step[:2]).max() < CLOSE_RAD:
            break
    return x, A, np.linalg.norm(A, axis=0)


def _equations(swept: Swept, known: Known, x: FloatArray, blind: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Derivatives, shape (n, rows, parameters), and residuals, (n, rows), without the joints' angles."""
    n, nt = swept.elongation_m.shape
    zero, gain, spool, force, start = np.split(x, np.cumsum([2, 2, nt, nt]))
    away = (swept.shown_rad - known.neutral_rad - zero) / (1.0 + gain)
    lengths, slopes = known.ways(known.neutral_rad + away)
    seen = swept.elongation_m + force * swept.stretch_m - (1.0 + spool) * swept.wound_m
    J = np.empty((n, len(blind), len(x)))
    by_angle = blind @ slopes / (1.0 + gain)
    J[:, :, :2] = -by_angle
    J[:, :, 2:4] = -by_angle * away[:, None, :]
    J[:, :, 4 : 4 + nt] = blind * swept.wound_m[:, None, :]
    J[:, :, 4 + nt : 4 + 2 * nt] = -blind * swept.stretch_m[:, None, :]
    J[:, :, 4 + 2 * nt :] = np.eye(len(blind))
    return J, (seen - lengths) @ blind.T - start
