"""Motors wound along given paths: a motion in which every motor goes from point to point at its own pace.

The motors' own position loops hold it, so no gain, distribution or estimate of the hand takes part in what is
measured. The joints are where the springs let them be.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hand.assembly.straight import elongation_of_tension_m, straight_jacobian
from hand.hand import Hand
from mechanics.start_tension import start_tension_n
from signals.layout import FloatArray

TAIL_S = 0.3
"""A run's start."""


@dataclass(slots=True)
class Path:
    """Wanted elongations and joint angles from point to point.

    Attributes:
        times_s: of the points, since the motion began.
        stretch_m: change of each tendon's elongation from the start, shape (nt,) each.
        angle_rad: of all joints, shape (nj,) each.
        label: of the move that ends in the point.
    """

    times_s: list[float]
    stretch_m: list[FloatArray]
    angle_rad: list[FloatArray]
    label: list[str]

    @classmethod
    def at_rest(cls, hand: Hand, seconds: float) -> Path:
        """Begins with the hand straight, and stands for a while."""
        m = hand.model[0]
        none, straight = np.zeros(int(m["n_tendons"])), np.zeros(int(m["n_joints"]))
        return cls([0.0, seconds], [none, none], [straight, straight], ["", ""])

    def go(
        self,
        seconds: float,
        label: str = "",
        stretch_m: FloatArray | None = None,
        angle_rad: FloatArray | None = None,
    ) -> None:
        """On to a stretch and to angles; what is not given stays."""
        self.times_s.append(round(self.times_s[-1] + seconds, 6))
        self.stretch_m.append(self.stretch_m[-1] if stretch_m is None else stretch_m)
        self.angle_rad.append(self.angle_rad[-1] if angle_rad is None else angle_rad)
        self.label.append(label)

    @property
    def seconds(self) -> float:
        """Length."""
        return self.times_s[-1]

    def moves(self, label: str) -> list[tuple[float, float]]:
        """Begin and end of every move with a label."""
        return [
            (self.times_s[k - 1], self.times_s[k]) for k, each in enumerate(self.label) if each == label and k
        ]

    def text(self, hand: Hand, tendons: list[int]) -> str:
        """The motion file: the motors of these tendons along the path, other fingers off."""
        m = hand.model[0]
        P = straight_jacobian(hand.model)[: int(m["n_tendons"]), : int(m["n_joints"])]
        mine = {int(m["tendon_finger"][t]) for t in tendons}
        lines = ['description = "Motors along paths."', 'mode = "motor_position"', "blend_s = 0.2"]
        off = [f'{name} = "off"' for f, name in enumerate(hand.names.fingers) if f not in mine]
        lines += ["[modes]", *off] if off else []
        for t in tendons:
            radius = float(m["spool_radius_m"][t])
            turns = [
                round(float((s[t] - P[t] @ q) / radius), 7)
                for s, q in zip(self.stretch_m, self.angle_rad, strict=True)
            ]
            name = hand.names.motors[int(m["tendon_motor"][t])]
            lines += ["[[tracks]]", 'kind = "motor_rad"', f'names = ["{name}"]', "relative = true"]
            lines += [f"points = {{ times_s = {self.times_s}, values = {turns} }}"]
        return "\n".join(lines) + "\n"


def balanced_n(hand: Hand, force_n: float) -> FloatArray:
    """Tensions near a force that leave the straight joints without torque, shape (nt,)."""
    m = hand.model[0]
    n = int(m["n_tendons"])
    P = straight_jacobian(hand.model)[:n, : int(m["n_joints"])]
    even = np.full(n, force_n)
    free = even - P @ (np.linalg.pinv(P) @ even)
    return np.asarray(np.clip(free, 0.5 * force_n, 1.5 * force_n))


def stretch_to_m(hand: Hand, force_n: float) -> FloatArray:
    """Change of every elongation from the start to balanced tensions near a force, shape (nt,)."""
    m = hand.model[0]
    n = int(m["n_tendons"])
    start = start_tension_n(m, float(m["pretension_n"][0]))
    wanted = elongation_of_tension_m(hand.model, balanced_n(hand, force_n))[:n]
    return np.asarray(wanted - elongation_of_tension_m(hand.model, start)[:n])
