"""What pushes at the fingertips, seen in the torques of the joints; no sensor is there."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.layout import FloatArray
from tools.view.figure import Figure
from tools.view.routes import Places

LEAST_N: Final = 1.0
"""Smaller loads are not drawn: gravity, friction and acceleration of a bare finger look like them."""
SHORTEST: Final = 0.05
"""Directions in which a tip moves less than this share of the one it moves in most are left out: no torque
tells a load along them."""
_COLOUR: Final = (255, 205, 60)
_M_N: Final = 0.006
_SHAFT_M: Final = 0.0012


class Tip:
    """The chain of a finger: which bodies turn its tip, by which joints.

    Args:
        figure: the hand.
        finger: its index.
    """

    def __init__(self, figure: Figure, finger: int) -> None:
        m = figure.m
        self.finger, self._body, self._at = finger, int(m.finger_tip_body[finger]), m.finger_tip_m[finger]
        self._axes = m.body_axis
        self._turns: list[tuple[int, int, float]] = []
        body = self._body
        while body > 0:
            if m.body_joint[body] >= 0:
                self._turns.append((body, int(m.body_joint[body]), float(m.body_ratio[body])))
            body = int(m.body_parent[body])
        self.joints = sorted({joint for _, joint, _ in self._turns})

    def place(self, places: Places) -> FloatArray:
        """Where it is [m], shape (3,)."""
        return np.asarray(places.points(np.array([self._body]), self._at[None])[0])

    def jacobian(self, places: Places) -> FloatArray:
        """Its speed by the speeds of ``joints`` [m/rad], shape (3, len(joints))."""
        found, tip = np.zeros((3, len(self.joints))), self.place(places)
        for body, joint, ratio in self._turns:
            axis = places.R[body + 1] @ self._axes[body]
            found[:, self.joints.index(joint)] += ratio * np.cross(axis, tip - places.p[body + 1])
        return found

    def load_n(self, places: Places, torques_nm: FloatArray) -> FloatArray:
        """Force on the tip [N] that holds the joints' torques in balance, shape (3,); NaN without torques.

        ``J^T F = -tau``, by least squares: gravity, friction and acceleration count as loads.
        """
        tau = torques_nm[self.joints]
        if not np.isfinite(tau).all():
            return np.full(3, np.nan)
        return np.asarray(np.linalg.lstsq(self.jacobian(places).T, -tau, rcond=SHORTEST)[0])


class Loads:
    """Arrows onto the fingertips, 6 mm for each newton."""

    def __init__(self, scene: Any, figure: Figure) -> None:
        self._names = figure.names["joint"]
        tips = [f for f, body in enumerate(figure.m.finger_tip_body.tolist()) if body > 0]
        self._tips = [Tip(figure, f) for f in tips]
        self._arrows = scene.add_arrows(
            "/loads", np.zeros((len(tips), 2, 3)), _COLOUR, shaft_radius=_SHAFT_M,
            head_radius=2.5 * _SHAFT_M, head_length=5.0 * _SHAFT_M, visible=False,
        )  # fmt: skip

    def show(self, torque: dict[str, float], places: Places, wanted: bool) -> None:
        """Bring them up to joint torques [N m] by name and the hand's pose."""
        drawn = []
        if wanted:
            torques = np.array([torque[name] for name in self._names], dtype=float)
            for tip in self._tips:
                load = tip.load_n(places, torques)
                if np.linalg.norm(load) >= LEAST_N:  # not where it is no number
                    end = tip.place(places)
                    drawn.append((end - _M_N * load, end))
        if self._arrows.visible != bool(drawn):
            self._arrows.visible = bool(drawn)
        if drawn:
            self._arrows.points = np.array(drawn, dtype=np.float32)
