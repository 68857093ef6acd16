"""What every spring lever has: a force and a path over its angle, and what follows from the two."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import numpy as np

from signals.layout import BoolArray, FloatArray

CHECKED_POSES: Final = 400
"""Lever angles at which a curve is checked: every 0.1 deg of the reference mechanism."""


class ImpossibleGeometry(ValueError):
    """A spring mechanism that cannot be built; says what is wrong, where, and what to change."""

    def __init__(self, what: str, change: str, lever_deg: float | None = None) -> None:
        self.what, self.change, self.lever_deg = what, change, lever_deg
        place = "" if lever_deg is None else f" at a lever angle of {lever_deg:.2f} deg"
        super().__init__(f"spring mechanism: {what}{place}; {change}")


class LeverCurve(ABC):
    """Force, path and energy over a lever's angle, which falls as the force rises.

    Attributes:
        theta_slack_deg: slack stop.
        theta_max_deg: tightest calibrated angle.
        theta_hard_stop_deg: hard stop of the tight end.
    """

    theta_slack_deg: float
    theta_max_deg: float
    theta_hard_stop_deg: float

    @property
    def lever_max_rad(self) -> float:
        """Slack stop."""
        return float(np.radians(self.theta_slack_deg))

    @property
    def lever_min_rad(self) -> float:
        """Hard stop at the tight end."""
        return float(np.radians(self.theta_hard_stop_deg))

    @abstractmethod
    def path_m(self, lever_rad: FloatArray) -> FloatArray:
        """Tendon path relative to the slack stop [m], shape (n,): falls as the force rises."""

    @abstractmethod
    def path_slope_m_rad(self, lever_rad: FloatArray) -> FloatArray:
        """dL/d lever [m/rad], shape (n,)."""

    @abstractmethod
    def force_n(self, lever_rad: FloatArray) -> FloatArray:
        """Tendon force [N], shape (n,)."""

    @abstractmethod
    def force_slope_n_rad(self, lever_rad: FloatArray) -> FloatArray:
        """df/d lever [N/rad], shape (n,): negative."""

    @abstractmethod
    def stored_energy_j(self, lever_rad: FloatArray) -> FloatArray:
        """Energy of the spring [J] up to a constant, shape (n,)."""

    def stiffness_n_m(self, lever_rad: FloatArray) -> FloatArray:
        """Stiffness of the mechanism without the tendon [N/m], shape (n,)."""
        return -self.force_slope_n_rad(lever_rad) / self.path_slope_m_rad(lever_rad)

    def _check_stops(self) -> None:
        if not self.theta_hard_stop_deg <= self.theta_max_deg < self.theta_slack_deg:
            raise ImpossibleGeometry(
                f"lever angles {self.theta_hard_stop_deg}, {self.theta_max_deg}, {self.theta_slack_deg} deg",
                "order them theta_hard_stop_deg <= theta_max_deg < theta_slack_deg",
            )

    def _checked_levers(self) -> FloatArray:
        return np.linspace(self.lever_min_rad, self.lever_max_rad, CHECKED_POSES)


def refuse(lever_rad: FloatArray, bad: BoolArray, what: str, change: str) -> None:
    """Raise ``ImpossibleGeometry`` with the first bad angle from the slack stop on: there it still works."""
    if bad.any():
        raise ImpossibleGeometry(what, change, float(np.degrees(lever_rad[bad][-1])))
