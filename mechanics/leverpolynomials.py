r"""A spring lever as its calibration knows it: polynomials of the lever angle (paper 4.1).

.. math:: \ln f = \sum_k a_k \vartheta^k, \quad L = \sum_k b_k \vartheta^k, \quad
          k = -\frac{df/d\vartheta}{dL/d\vartheta}, \quad V = \int f\, dL

The paper prints a third polynomial for the stiffness. Force and path leave no freedom for it: it follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.polynomial import polynomial

from mechanics.levercurve import ImpossibleGeometry, LeverCurve, refuse
from signals.layout import FloatArray

NODES: Final = 32
"""Of the Gauss rule for the energy: exact to rounding for any curve that a lever has."""
FORCES_N: Final = (1e-6, 1e6)
"""What a calibration may give between its stops: beyond, a unit is wrong and laws lose their figures."""
STIFFEST_N_M: Final = 1e9
"""Of a mechanism; beyond, its path is none."""


@dataclass(frozen=True, kw_only=True)
class LeverPolynomials(LeverCurve):
    """Measured force and path of a mechanism over its lever angle [rad], coefficients by rising powers.

    Args:
        ln_force: of ln(f / N).
        path_m: of the path [m]; its constant is of no importance.
        theta_slack_deg: slack stop.
        theta_max_deg: tightest calibrated angle.
        theta_hard_stop_deg: hard stop of the tight end.

    Raises:
        ImpossibleGeometry: where the path or the force does not change as a spring's does, or their
            size is none of a spring's.
    """

    ln_force: tuple[float, ...]
    path: tuple[float, ...]
    theta_slack_deg: float
    theta_max_deg: float
    theta_hard_stop_deg: float

    def __post_init__(self) -> None:
        for name, row in (("ln_force", self.ln_force), ("path_m", self.path)):
            if len(row) < 2 or not np.isfinite(row).all():
                raise ImpossibleGeometry(f"{name} has {len(row)} coefficients", "give two or more numbers")
        self._check_stops()
        lever = self._checked_levers()
        what, change = (
            "path_m does not shorten as the lever falls",
            "check its signs, or end the range earlier",
        )
        refuse(lever, ~(self.path_slope_m_rad(lever) > 0.0), what, change)
        what = "ln_force does not rise as the lever falls"
        refuse(lever, ~(_value(lever, self.ln_force, slope=True) < 0.0), what, change)
        self._check_sizes(lever)

    def _check_sizes(self, lever: FloatArray) -> None:
        least, most = FORCES_N
        ln_force = _value(lever, self.ln_force)
        outside = ~((ln_force >= np.log(least)) & (ln_force <= np.log(most)))
        change = "give the powers of an angle in rad, of a force in N"
        refuse(lever, outside, f"ln_force gives a force outside {least:g} to {most:g} N", change)
        most = STIFFEST_N_M
        too_stiff = ~(-self.force_slope_n_rad(lever) <= most * self.path_slope_m_rad(lever))
        change = "give the path in m over an angle in rad"
        refuse(
            lever, too_stiff, f"path_m changes so little that the spring has more than {most:g} N/m", change
        )

    def path_m(self, lever_rad: FloatArray) -> FloatArray:
        """As ``LeverCurve``."""
        return _value(lever_rad, self.path) - _value(self.lever_max_rad, self.path)

    def path_slope_m_rad(self, lever_rad: FloatArray) -> FloatArray:
        """As ``LeverCurve``."""
        return _value(lever_rad, self.path, slope=True)

    def force_n(self, lever_rad: FloatArray) -> FloatArray:
        """As ``LeverCurve``."""
        force: FloatArray = np.exp(_value(lever_rad, self.ln_force))
        return force

    def force_slope_n_rad(self, lever_rad: FloatArray) -> FloatArray:
        """As ``LeverCurve``."""
        return self.force_n(lever_rad) * _value(lever_rad, self.ln_force, slope=True)

    def stored_energy_j(self, lever_rad: FloatArray) -> FloatArray:
        """As ``LeverCurve``, from the slack stop on."""
        node, weight = np.polynomial.legendre.leggauss(NODES)
        lever = np.asarray(lever_rad, dtype=float)[:, None]
        half = 0.5 * (self.lever_max_rad - lever)
        at = lever + half * (node + 1.0)
        energy: FloatArray = half[:, 0] * np.sum(
            self.force_n(at) * self.path_slope_m_rad(at) * weight, axis=1
        )
        return energy


def _value(lever_rad: FloatArray | float, row: tuple[float, ...], *, slope: bool = False) -> FloatArray:
    coefficients = polynomial.polyder(row) if slope else np.asarray(row)
    found: FloatArray = polynomial.polyval(np.asarray(lever_rad, dtype=float), coefficients)
    return found
