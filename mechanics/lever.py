r"""The tangent-alpha lever mechanism: force, path and stiffness from its exact belt geometry.

The tendon runs from the motor pulley over a pulley on a spring-loaded lever to a fixed pulley (paper 4.1,
Table 4.1). Virtual work on the lever gives the tendon force

.. math:: f(\vartheta) = -\frac{dV/d\vartheta}{dL/d\vartheta}, \quad V = \tfrac12 K (s - s_0)^2,
          \qquad k(\vartheta) = -\frac{df/d\vartheta}{dL/d\vartheta}

with the tendon's path L and the spring's length s. The lever angle falls as the force rises.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from mechanics.belt import Belt, belt
from mechanics.levercurve import ImpossibleGeometry, LeverCurve, refuse
from signals.layout import FloatArray

Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class SpringGeometry(LeverCurve):
    """Geometry of one mechanism; names as in Table 4.1, lengths [m], angles [deg], K [N/m].

    Plane frame: x along the tendon, y its deflection. The lever pulley's centre is
    ``lever_pivot + lever_length * (-cos th, sin th)``.

    Raises:
        ImpossibleGeometry: when pulleys collide, the belt lifts off, or the force would not rise as the
            lever falls; with what to change.
    """

    motor_pulley_center: Point
    R_motor: float
    fixed_pulley_center: Point
    R_fixed: float
    lever_pivot: Point
    lever_length: float
    R_lever: float
    spring_attach_radius: float
    spring_fixed_point: Point
    K: float
    spring_free_length: float
    theta_slack_deg: float
    theta_max_deg: float
    theta_hard_stop_deg: float

    def __post_init__(self) -> None:
        self._check_numbers()
        self._check_belt()
        self._check_force()

    @classmethod
    def of(cls, table: dict[str, Any]) -> SpringGeometry:
        """From a parameter table that may hold further keys."""
        chosen: dict[str, Any] = {f.name: table[f.name] for f in fields(cls)}
        for name, value in chosen.items():
            chosen[name] = tuple(value) if isinstance(value, list) else value
        return cls(**chosen)

    @cached_property
    def slack_length_m(self) -> float:
        """Belt length at the slack stop, up to the constant of ``Belt.length_m``."""
        return float(self._belt(np.array([self.lever_max_rad])).length_m[0])

    def path_m(self, lever_rad: FloatArray) -> FloatArray:
        """Tendon path relative to the slack stop [m], shape (n,): falls as the force rises."""
        return self._belt(lever_rad).length_m - self.slack_length_m

    def path_slope_m_rad(self, lever_rad: FloatArray) -> FloatArray:
        """dL/d lever [m/rad], shape (n,)."""
        return self._path_slopes(lever_rad)[0]

    def force_n(self, lever_rad: FloatArray) -> FloatArray:
        """Tendon force [N], shape (n,)."""
        return -self._torques(lever_rad)[0] / self._path_slopes(lever_rad)[0]

    def force_slope_n_rad(self, lever_rad: FloatArray) -> FloatArray:
        """df/d lever [N/rad], shape (n,): negative."""
        torque, torque_slope = self._torques(lever_rad)
        path_slope, path_curvature = self._path_slopes(lever_rad)
        return (torque * path_curvature / path_slope - torque_slope) / path_slope

    def stored_energy_j(self, lever_rad: FloatArray) -> FloatArray:
        """Energy of the spring [J], shape (n,)."""
        reach = self.spring_attach_radius * _arm(lever_rad)
        span = np.asarray(self.lever_pivot) + reach - np.asarray(self.spring_fixed_point)
        stretch = np.hypot(span[:, 0], span[:, 1]) - self.spring_free_length
        energy: FloatArray = 0.5 * self.K * stretch**2
        return energy

    def _belt(self, lever_rad: FloatArray) -> Belt:
        return belt(
            np.asarray(self.motor_pulley_center),
            np.asarray(self.lever_pivot) + self.lever_length * _arm(lever_rad),
            np.asarray(self.fixed_pulley_center),
            (self.R_motor, self.R_lever, self.R_fixed),
            self.lever_length * _arm_rate(lever_rad),
        )

    def _path_slopes(self, lever_rad: FloatArray) -> tuple[FloatArray, FloatArray]:
        """First and second derivative of the path by the lever angle."""
        b = self._belt(lever_rad)
        rate = self.lever_length * _arm_rate(lever_rad)
        bend = -self.lever_length * _arm(lever_rad)
        first: FloatArray = np.sum(b.length_gradient * rate, axis=1)
        second: FloatArray = np.sum(b.gradient_slope * rate + b.length_gradient * bend, axis=1)
        return first, second

    def _torques(self, lever_rad: FloatArray) -> tuple[FloatArray, FloatArray]:
        """dV/d lever [N m] and its derivative [N m/rad]."""
        arm = self.spring_attach_radius * _arm(lever_rad)
        rate = self.spring_attach_radius * _arm_rate(lever_rad)
        span = np.asarray(self.lever_pivot) + arm - np.asarray(self.spring_fixed_point)
        length = np.hypot(span[:, 0], span[:, 1])
        stretch_rate = np.sum(span * rate, axis=1) / length
        bend = (np.sum(rate * rate, axis=1) - np.sum(span * arm, axis=1) - stretch_rate**2) / length
        stretch = length - self.spring_free_length
        return self.K * stretch * stretch_rate, self.K * (stretch_rate**2 + stretch * bend)

    def _check_numbers(self) -> None:
        sizes = ("R_motor", "R_fixed", "R_lever", "lever_length", "spring_attach_radius", "K")
        for name in (*sizes, "spring_free_length"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise ImpossibleGeometry(f"{name} = {getattr(self, name)}", f"make {name} positive")
        self._check_stops()

    def _check_belt(self) -> None:
        lever = self._checked_levers()
        middle = np.asarray(self.lever_pivot) + self.lever_length * _arm(lever)
        for center, radius, name in (
            (self.motor_pulley_center, self.R_motor, "motor"),
            (self.fixed_pulley_center, self.R_fixed, "fixed"),
        ):
            gap = np.hypot(*(middle - np.asarray(center)).T) - radius - self.R_lever
            refuse(
                lever,
                ~(gap > 0.0),
                f"the lever pulley runs into the {name} pulley",
                f"move the {name} pulley away, or reduce R_{name} or R_lever",
            )
        refuse(
            lever,
            ~(self._belt(lever).wrap_rad > 0.0),
            "the tendon lifts off the lever pulley",
            "raise the lever pulley above the line of the outer pulleys, or end its range earlier",
        )

    def _check_force(self) -> None:
        lever = self._checked_levers()
        slope = self.path_slope_m_rad(lever)
        refuse(
            lever,
            ~(slope > 0.0),
            "the tendon path does not shorten as the lever falls",
            "move lever_pivot, or end the lever's range before its dead centre",
        )
        refuse(
            lever,
            ~(self.force_n(lever) > 0.0),
            "the spring does not pull the lever against the tendon",
            "shorten spring_free_length or move spring_fixed_point",
        )
        refuse(
            lever,
            ~(self.force_slope_n_rad(lever) < 0.0),
            "the tendon force does not rise as the lever falls",
            "shorten the lever's range or move spring_fixed_point",
        )


def _arm(lever_rad: FloatArray) -> FloatArray:
    return np.stack([-np.cos(lever_rad), np.sin(lever_rad)], axis=1)


def _arm_rate(lever_rad: FloatArray) -> FloatArray:
    return np.stack([np.sin(lever_rad), np.cos(lever_rad)], axis=1)
