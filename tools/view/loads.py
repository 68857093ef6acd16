"""What pushes at the fingertips, seen in the torques of the joints; no sensor is there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mechanics.kinematics import tip_jacobian
from signals.layout import FloatArray
from tools.monitor.plain import plain
from tools.view.figure import Figure
from tools.view.routes import Places

LEAST_N: Final = 1.0
"""Smaller loads are not drawn: gravity, friction and acceleration of a bare finger look like them."""
SHORTEST: Final = 0.05
"""Directions in which a tip moves less than this share of the one it moves in most are left out: no torque
tells a load along them."""
_COLOUR: Final = (255, 150, 0)
_M_N: Final = 0.006
_SHAFT_M: Final = 0.002


def tip_jacobian_m(figure: Figure, finger: int, places: Places) -> FloatArray:
    """Speed of a fingertip by joint speeds [m/rad] in the forearm frame, shape (3, J)."""
    found = np.zeros((3, figure.m.n_joints))
    plain(tip_jacobian)(figure.m, finger, places.R[1:], places.p[1:], found)
    return found


def tip_place_m(figure: Figure, finger: int, places: Places) -> FloatArray:
    """Where a fingertip is [m] in the forearm frame, shape (3,)."""
    body, at = figure.m.finger_tip_body[finger], figure.m.finger_tip_m[finger]
    return np.asarray(places.points(np.array([body]), at[None])[0])


def tip_load_n(figure: Figure, finger: int, places: Places, torques_nm: FloatArray) -> FloatArray:
    """Force on a fingertip [N] that holds the joints' torques in balance, shape (3,); NaN without torques.

    ``J^T F = -tau``, by least squares: gravity, friction and acceleration count as loads.

    Args:
        figure: the hand.
        finger: its index.
        places: of its bodies.
        torques_nm: of all joints, shape (J,).
    """
    J = tip_jacobian_m(figure, finger, places)
    own = J.any(axis=0)
    if not np.isfinite(torques_nm[own]).all():
        return np.full(3, np.nan)
    return np.asarray(np.linalg.lstsq(J[:, own].T, -torques_nm[own], rcond=SHORTEST)[0])


class Loads:
    """Arrows onto the fingertips, 6 mm for each newton."""

    def __init__(self, scene: Any, figure: Figure) -> None:
        self._figure, self._names = figure, figure.names["joint"]
        self._tips = np.flatnonzero(figure.m.finger_tip_body > 0).tolist()
        self._arrows = scene.add_arrows(
            "/loads", np.zeros((len(self._tips), 2, 3)), _COLOUR, shaft_radius=_SHAFT_M,
            head_radius=2.5 * _SHAFT_M, head_length=5.0 * _SHAFT_M, visible=False,
        )  # fmt: skip

    def show(self, torque: dict[str, float], places: Places, wanted: bool) -> None:
        """Bring them up to joint torques [N m] by name and the hand's pose."""
        drawn = []
        if wanted:
            torques = np.array([torque[name] for name in self._names], dtype=float)
            for finger in self._tips:
                load = tip_load_n(self._figure, finger, places, torques)
                if np.linalg.norm(load) >= LEAST_N:  # not where it is no number
                    end = tip_place_m(self._figure, finger, places)
                    drawn.append((end - _M_N * load, end))
        if self._arrows.visible != bool(drawn):
            self._arrows.visible = bool(drawn)
        if drawn:
            self._arrows.points = np.array(drawn, dtype=np.float32)
