r"""Friction, inertia and ripple of a drive from its angle and current alone: arrays in, parameters out.

.. math:: k_t I = B \dot w + \gamma_2 \arctan(\gamma_1 w) + \gamma_3 w
          + \sum_n a_n \sin(n \vartheta_n + \varphi_n)

Paper eq. (3.2) with its sign corrected, (3.8), and the torque ripple of section 3.2 over the angle of motor
(input) and output shaft. Without a load the tendon is off its spool. Torques are those of the drive's own
current and torque constant: what a feedforward commands in the same unit.

The equation holds for every time, so it holds for both sides behind the same filter: angles become speed and
acceleration by the derivatives of a Gaussian, torque and all other terms go through the Gaussian itself. What
is too fast for it, as order 84 of a motor that turns fast, vanishes from both sides and biases nothing.

Friction alone is no linear term: behind the filter the arctangent of a mean speed stands for the mean of the
arctangent. Where a drive reverses so sharply that both differ, as one that is driven at a bound of its torque
does, samples are left out.

In slow stretches accelerations are mostly the encoder's rounding, and least squares would make the inertia
smaller by it. So they are weighed with instruments: the same columns, with accelerations less that share.

The current is sampled a little earlier or later than the angle. That time is fitted too: at order 84 a third
of a millisecond is 15 degrees of phase, with opposite signs in both directions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.gaussian import SHORT_S, GaussianFilter
from signals.layout import FloatArray, IntArray

ROUNDS: Final = 12
"""Gauss-Newton rounds at most; three or four are enough."""
BLOCK_S: Final = 1.0
"""Residuals of one block count as dependent: the covariance sums their scores."""
THIN: Final = 4
"""Every so many samples are fitted: behind the filter neighbours say the same."""
FLOOR: Final = 0.005
"""Share of friction and inertia that the narrowest filter leaves open, and a wider one as much more: found on
simulated drives without noise."""
WAVE_FLOOR: Final = 0.001
"""The same for a harmonic's sine and cosine, as a share of the friction's plateau."""
LEAST_SPEED_RAD_S: Final = 0.2
BEND: Final = 1
"""Column of the acceleration."""
SHARP: Final = 2.0
"""Change of gamma_1 w within the narrow Gaussian from which on a reversal is too sharp for it. Sines of this
procedure stay below 1.1."""
TWO_SIDED_95: Final = 1.96


@dataclass(frozen=True, slots=True)
class Harmonic:
    """One harmonic of the ripple.

    Attributes:
        of_input: it follows the motor's shaft, else the output.
        order: periods per turn of that shaft.
    """

    of_input: bool
    order: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A parameter with its 95 % interval."""

    name: str
    value: float
    low: float
    high: float
    unit: str


@dataclass(frozen=True, slots=True)
class DriveFit:
    """What was found about one drive.

    Attributes:
        estimates: parameters with intervals; of a ripple's harmonic amplitude and phase.
        residual_nm: rms of what is not explained.
        explained: share of the torque's variance that is.
        delay_s: current behind angle.
    """

    estimates: tuple[Estimate, ...]
    residual_nm: float
    explained: float
    delay_s: float

    def of(self, name: str) -> Estimate:
        """The parameter of a name."""
        return next(e for e in self.estimates if e.name == name)


@dataclass(frozen=True, slots=True)
class Turning:
    """One stretch of a drive that turns without load.

    Attributes:
        time_s: times of the samples, evenly spaced, shape (n,).
        angle_rad: angle at the gear output.
        torque_nm: current times torque constant.
    """

    time_s: FloatArray
    angle_rad: FloatArray
    torque_nm: FloatArray


class _Stretch:
    """One stretch behind the filter; what does not change from round to round is made once."""

    def __init__(
        self, turning: Turning, turn: FloatArray, number: int, encoder_step_rad: float, gamma_1_s_rad: float
    ) -> None:
        self.filter = GaussianFilter.of(float(np.median(np.diff(turning.time_s))), encoder_step_rad)
        edge = self.filter.edge
        if len(turning.time_s) < 4 * edge:
            raise ValueError(f"{len(turning.time_s)} samples in a stretch; legal are {4 * edge} and more")
        angle, self.torque = turning.angle_rad, turning.torque_nm
        bend = self.filter.bend(angle)
        self.inner = self.smooth(gamma_1_s_rad * self.filter.short_s * np.abs(bend))
        self.fast = self.filter.rate(angle, self.filter.short_s)
        self.speed = self.filter.rate(angle, self.filter.sigma_s)[self.inner]
        self.fixed = [bend[self.inner], self.speed]
        self.believed = self.fixed[0] * self.share_moved(encoder_step_rad)
        for order in turn:
            seen = np.abs(order * self.fast) < 2.0 * np.pi * self.filter.gone_hz
            self.fixed += [
                self.filter.mean(wave(order * angle) * seen)[self.inner] for wave in (np.sin, np.cos)
            ]
        block = ((turning.time_s - turning.time_s[0]) / BLOCK_S).astype(np.int64)
        self.block = block[self.inner] + 1_000_000 * number

    def share_moved(self, encoder_step_rad: float) -> float:
        """Share of the accelerations' variance that is no rounding of the encoder; in slow stretches 0."""
        made = self.filter.bend_variance(encoder_step_rad) / max(float(np.mean(self.fixed[0] ** 2)), 1e-30)
        return max(1.0 - made, 0.0)

    def smooth(self, sharpness: FloatArray) -> IntArray:
        """Samples that are fitted: none near a sharp reversal, unless that would leave less than half."""
        edge, n = self.filter.edge, len(sharpness)
        whole = np.arange(edge, n - edge, THIN)
        near = np.convolve(sharpness > SHARP, np.ones(edge + 1), mode="same") > 0.5
        left = whole[~near[whole]]
        return left if 2 * len(left) >= len(whole) else whole

    def friction(self, g1: float) -> tuple[FloatArray, FloatArray]:
        """The arctangent and its derivative by log gamma_1."""
        wave = np.arctan(g1 * self.fast)
        slope = g1 * self.fast / (1.0 + (g1 * self.fast) ** 2)
        return self.filter.mean(wave)[self.inner], self.filter.mean(slope)[self.inner]

    def given(self, delay_s: float) -> tuple[FloatArray, FloatArray]:
        """The torque at its own time, and its derivative by the delay."""
        later = self.filter.mean(self.torque, delay_s)
        return later[self.inner], np.gradient(later, self.filter.step_s)[self.inner]


def fit_drive(
    stretches: list[Turning],
    harmonics: tuple[Harmonic, ...],
    ratio: float,
    gamma_1_s_rad: float = 10.0,
    encoder_step_rad: float = 0.0,
) -> DriveFit:
    """Fit everything at once.

    Args:
        stretches: turning both ways, slow enough for the highest order to be sampled, and fast.
        harmonics: orders to look for.
        ratio: input turns per output turn.
        gamma_1_s_rad: where the search begins.
        encoder_step_rad: step of the angles.

    Raises:
        ValueError: too little data, or the drive hardly turned.
    """
    turn = np.array([h.order * (ratio if h.of_input else 1.0) for h in harmonics])
    data = [
        _Stretch(stretch, turn, k, encoder_step_rad, gamma_1_s_rad) for k, stretch in enumerate(stretches)
    ]
    fastest = max(float(np.max(np.abs(d.speed))) for d in data)
    if fastest < LEAST_SPEED_RAD_S:
        raise ValueError(
            f"the drive turned at {fastest:.3f} rad/s at most; legal are {LEAST_SPEED_RAD_S} and more"
        )
    believed = np.concatenate([d.believed for d in data])
    fixed = np.column_stack([np.concatenate(parts) for parts in zip(*(d.fixed for d in data), strict=True)])
    block = np.concatenate([d.block for d in data])
    log_g1, delay_s = float(np.log(gamma_1_s_rad)), 0.0
    for _ in range(ROUNDS):
        full, torque, linear = _linearised(data, fixed, believed, log_g1, delay_s)
        step = _solved(full, believed, torque - full[:, :-2] @ linear)[-2:]
        log_g1 += float(np.clip(step[0], -1.0, 1.0))
        delay_s += float(np.clip(step[1], -1e-3, 1e-3))
        if abs(step[0]) < 1e-6 and abs(step[1]) < 1e-9:
            break
    full, torque, linear = _linearised(data, fixed, believed, log_g1, delay_s)
    residual = torque - full[:, :-2] @ linear
    floor = FLOOR * max(d.filter.short_s for d in data) / SHORT_S
    estimates = _estimates(linear, _covariance(full, believed, residual, block), log_g1, harmonics, floor)
    explained = 1.0 - float(np.var(residual)) / max(float(np.var(torque)), 1e-30)
    return DriveFit(estimates, float(np.sqrt(np.mean(residual**2))), explained, delay_s)


def _linearised(
    data: list[_Stretch], fixed: FloatArray, believed: FloatArray, log_g1: float, delay_s: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(columns with the tangents last, torque, linear parameters) around gamma_1 and the delay."""
    g1 = float(np.exp(log_g1))
    waves, slopes = (np.concatenate(p) for p in zip(*(d.friction(g1) for d in data), strict=True))
    torque, rate = (np.concatenate(p) for p in zip(*(d.given(delay_s) for d in data), strict=True))
    columns = np.column_stack((waves, fixed))
    linear = _solved(columns, believed, torque)
    return np.column_stack((columns, linear[0] * slopes, -rate)), torque, linear


def _instruments(columns: FloatArray, believed: FloatArray) -> FloatArray:
    found = columns.copy()
    found[:, BEND] = believed
    return found


def _solved(columns: FloatArray, believed: FloatArray, torque: FloatArray) -> FloatArray:
    """Parameters by instruments; least squares where all accelerations are believed."""
    size = np.maximum(np.sqrt(np.sum(columns**2, axis=0)), 1e-30)
    normal = (_instruments(columns, believed) / size).T
    return np.asarray(np.linalg.lstsq(normal @ (columns / size), normal @ torque, rcond=None)[0] / size)


def _covariance(
    columns: FloatArray, believed: FloatArray, residual: FloatArray, block: IntArray
) -> FloatArray:
    """Of the parameters, with residuals that depend on each other within a block (a sandwich)."""
    instruments = _instruments(columns, believed)
    inverse = np.linalg.pinv(instruments.T @ columns)
    scores = instruments * residual[:, None]
    starts = np.flatnonzero(np.diff(block, prepend=block[0] - 1))
    sums = np.add.reduceat(scores, starts, axis=0)
    meat = sums.T @ sums * len(starts) / max(len(starts) - columns.shape[1], 1)
    return np.asarray(inverse @ meat @ inverse.T)


def _estimates(
    linear: FloatArray, covariance: FloatArray, log_g1: float, harmonics: tuple[Harmonic, ...], floor: float
) -> tuple[Estimate, ...]:
    spread = TWO_SIDED_95 * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    g1, plateau = float(np.exp(log_g1)), 0.5 * np.pi * abs(float(linear[0]))
    found = [
        _plain("gamma_1_s_rad", g1, _with_floor(float(spread[-2]) * g1, floor * g1), "s/rad"),
        *(
            _plain(name, float(linear[k]), _with_floor(float(spread[k]), floor * abs(float(linear[k]))), unit)
            for name, k, unit in (
                ("gamma_2_nm", 0, "N m"),
                ("gamma_3_nms_rad", 2, "N m s/rad"),
                ("motor_inertia_kg_m2", 1, "kg m2"),
            )
        ),
    ]
    for k, harmonic in enumerate(harmonics):
        pair = [3 + 2 * k, 4 + 2 * k]
        wave = linear[pair]
        size = max(float(np.hypot(wave[0], wave[1])), 1e-12)
        across, along = wave / size, np.array([-wave[1], wave[0]]) / size
        both = covariance[np.ix_(pair, pair)]
        noise = [TWO_SIDED_95 * float(np.sqrt(max(float(w @ both @ w), 0.0))) for w in (across, along)]
        half, beside = (_with_floor(each, WAVE_FLOOR * plateau) for each in noise)
        angle = float(np.degrees(beside / size))
        where = f"ripple.{'input' if harmonic.of_input else 'output'}_{harmonic.order}"
        found.append(_plain(f"{where}.amplitude_nm", size, half, "N m"))
        phase = float(np.degrees(np.arctan2(wave[1], wave[0])))
        found.append(_plain(f"{where}.phase_deg", phase, min(angle, 180.0), "deg"))
    return tuple(found)


def _with_floor(half: float, floor: float) -> float:
    return float(np.hypot(half, floor))


def _plain(name: str, value: float, half: float, unit: str) -> Estimate:
    return Estimate(name, value, value - half, value + half, unit)
