"""Samples and their derivatives behind a Gaussian, no wider than samples and encoder ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from signals.layout import FloatArray

SHORT_S: Final = 0.001
"""Least width of the Gaussian that makes the speed inside of the arctangent."""
SHORT_SAMPLES: Final = 1.5
"""The same in samples: a narrower one is no Gaussian any more."""
SPEED_RAD_S: Final = 0.01
"""Noise of that speed by the steps of the encoder; a tenth of where friction usually turns."""
REACH: Final = 5.0
"""The kernels end at so many widths."""


@dataclass(frozen=True, slots=True)
class GaussianFilter:
    """Kernels over one spacing of samples: a short one, and one of twice its width.

    Attributes:
        step_s: between two samples.
        short_s: width of the short one.
    """

    step_s: float
    short_s: float

    @classmethod
    def of(cls, step_s: float, encoder_step_rad: float) -> GaussianFilter:
        r"""As narrow as samples and encoder allow.

        White noise of variance :math:`v` has behind the derivative of a Gaussian of width :math:`s` the
        variance :math:`v h / (4 \sqrt{\pi} s^3)`.

        Args:
            step_s: between two samples.
            encoder_step_rad: of the angle.
        """
        rounding = encoder_step_rad**2 / 12.0
        smooth_s = np.cbrt(rounding * step_s / (4.0 * np.sqrt(np.pi) * SPEED_RAD_S**2))
        return cls(step_s, max(SHORT_S, SHORT_SAMPLES * step_s, float(smooth_s)))

    @property
    def sigma_s(self) -> float:
        """Width of the Gaussian of everything else: at the least one speeds up to about 80 Hz."""
        return 2.0 * self.short_s

    @property
    def gone_hz(self) -> float:
        """The Gaussian leaves 3e-9 of it; faster waves are left out, or samples make slow ones of them."""
        return 1.0 / self.sigma_s

    def _x(self, sigma_s: float) -> FloatArray:
        half = max(3, round(REACH * sigma_s / self.step_s))
        return np.asarray(np.arange(-half, half + 1) * self.step_s, dtype=np.float64)

    def mean(self, values: FloatArray, shift_s: float = 0.0) -> FloatArray:
        """Values behind the Gaussian, ``shift_s`` later."""
        x = self._x(self.sigma_s)
        kernel = np.exp(-0.5 * ((x + shift_s) / self.sigma_s) ** 2)
        return np.convolve(values, kernel / kernel.sum(), mode="same")

    def rate(self, values: FloatArray, sigma_s: float) -> FloatArray:
        """First derivative behind the Gaussian; exact for a straight line."""
        x = self._x(sigma_s)
        kernel = -x * np.exp(-0.5 * (x / sigma_s) ** 2)
        return np.convolve(values, kernel / -np.sum(kernel * x), mode="same")

    def _bend(self) -> FloatArray:
        x = self._x(self.sigma_s)
        kernel = ((x / self.sigma_s) ** 2 - 1.0) * np.exp(-0.5 * (x / self.sigma_s) ** 2)
        kernel -= kernel.mean()
        return np.asarray(kernel / (0.5 * np.sum(kernel * x**2)))

    def bend(self, values: FloatArray) -> FloatArray:
        """Second derivative behind the Gaussian; exact for a parabola."""
        return np.convolve(values, self._bend(), mode="same")

    def bend_variance(self, step: float) -> float:
        """Variance of the second derivative by values that are rounded to steps."""
        return step**2 / 12.0 * float(np.sum(self._bend() ** 2))

    @property
    def edge(self) -> int:
        """Samples at each end that the kernels do not reach."""
        return 2 * len(self._x(self.sigma_s))
