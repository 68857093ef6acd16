"""Tables of a spring mechanism for the model record: nodes of cubic Hermite interpolation.

In the reference mechanism the nodes, 0.2 deg apart, reproduce the force to 1e-7 of itself and the path to
1e-13 m; the stiffness, linear over nodes 1.5 N apart, to 0.12 %.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.levercurve import LeverCurve
from signals.layout import FloatArray
from signals.sizes import FORCE_NODES, SPRING_NODES


@dataclass(frozen=True, kw_only=True)
class SpringTables:
    """One spring's part of the model record; names as there."""

    lever_min_rad: float
    lever_max_rad: float
    lever_calibrated_min_rad: float
    spring_force_n: FloatArray
    spring_force_slope_n_rad: FloatArray
    spring_path_m: FloatArray
    spring_path_slope_m_rad: FloatArray
    spring_energy_j: FloatArray
    force_max_n: float
    stiffness_n_m: FloatArray

    def store(self, model: NDArray[Any], spring: int) -> None:
        """Write into place ``spring`` of a model record of shape (1,)."""
        for f in fields(self):
            model[f.name][0, spring] = getattr(self, f.name)


def spring_tables(geometry: LeverCurve) -> SpringTables:
    """Node tables of a mechanism: Hermite nodes over the lever angle, stiffness over the force.

    Below the slack force, where the mechanism does not move, ``stiffness_n_m`` holds the tangent of the
    curve at the slack stop: only so is the interpolation exact in the cell that contains the stop.
    ``stiffness_of_force`` never reads further down.
    """
    lever = np.linspace(geometry.lever_min_rad, geometry.lever_max_rad, SPRING_NODES)
    force = geometry.force_n(lever)
    energy = geometry.stored_energy_j(lever)
    axis = np.linspace(0.0, float(force[0]), FORCE_NODES)
    return SpringTables(
        lever_min_rad=geometry.lever_min_rad,
        lever_max_rad=geometry.lever_max_rad,
        lever_calibrated_min_rad=float(np.radians(geometry.theta_max_deg)),
        spring_force_n=force,
        spring_force_slope_n_rad=geometry.force_slope_n_rad(lever),
        spring_path_m=geometry.path_m(lever),
        spring_path_slope_m_rad=geometry.path_slope_m_rad(lever),
        spring_energy_j=energy - energy[-1],
        force_max_n=float(force[0]),
        stiffness_n_m=_stiffness_over_force(geometry, axis),
    )


def _stiffness_over_force(geometry: LeverCurve, force_n: FloatArray) -> FloatArray:
    """Mechanism stiffness at tendon forces, by Newton on the exact curve."""
    dense = np.linspace(geometry.lever_min_rad, geometry.lever_max_rad, 4 * SPRING_NODES)
    known = geometry.force_n(dense)
    lever = np.interp(force_n, known[::-1], dense[::-1])
    for _ in range(4):
        lever = lever - (geometry.force_n(lever) - force_n) / geometry.force_slope_n_rad(lever)
        lever = np.clip(lever, geometry.lever_min_rad, geometry.lever_max_rad)
    stiffness = geometry.stiffness_n_m(lever)
    slack_n, step = float(known[-1]), 1e-5
    ends = np.array([geometry.lever_max_rad - step, geometry.lever_max_rad])
    rise = np.diff(geometry.stiffness_n_m(ends))[0] / np.diff(geometry.force_n(ends))[0]
    below = force_n < slack_n
    return np.where(below, geometry.stiffness_n_m(ends)[1] + rise * (force_n - slack_n), stiffness)
