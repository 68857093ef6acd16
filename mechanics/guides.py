"""Friction of tendon guides: two laws of the loss behind one interface, what bending takes, both in a cycle.

A guide bent by the angle alpha passes a share of the tension on; the loss opposes the tendon's motion.
Paper eq. (4.1) saturates with the angle, ``F = C0 (1 - exp(-C1 alpha))``, here with ``C0 = c0 f`` (a
constant C0 is right at one tension only); the rope law does not, ``F = f (1 - exp(-mu alpha))``.

A tendon is stiff against bending (paper 4.2): fibres that slide on one another resist with a moment M. Every
metre that runs over a guide of radius r is bent to 1/r and straightened again, so that the work 2 M/r is
lost: a force, whatever tension and speed are, and the greater the smaller the radius is. What is elastic in
the stiffness comes back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from signals.compiled import law


class GuideLaw(Protocol):
    """How much of a tension a guide takes."""

    def loss_frac(self, angle_rad: float) -> float:
        """Share of the tension, 0..1, that is lost while the tendon is wound in, at a total bending angle."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturatingGuide:
    """Paper eq. (4.1): loss ``c0 (1 - exp(-c1 alpha))`` of the tension; c0 [1], c1 [1/rad]."""

    c0: float
    c1_rad: float

    def __post_init__(self) -> None:
        if not (0.0 <= self.c0 < 1.0 and self.c1_rad >= 0.0):
            raise ValueError(f"guide c0 = {self.c0}, c1 = {self.c1_rad}: choose 0 <= c0 < 1 and c1 >= 0")

    def loss_frac(self, angle_rad: float) -> float:
        """Share of the tension that is lost at a total bending angle [rad]."""
        return -self.c0 * math.expm1(-self.c1_rad * _bending(angle_rad))


@dataclass(frozen=True, slots=True, kw_only=True)
class RopeGuide:
    """Euler's rope law: loss ``1 - exp(-mu alpha)`` of the tension; mu [1]."""

    mu: float

    def __post_init__(self) -> None:
        if not self.mu >= 0.0:
            raise ValueError(f"rope friction mu = {self.mu}: choose mu >= 0")

    def loss_frac(self, angle_rad: float) -> float:
        """Share of the tension that is lost at a total bending angle [rad]."""
        return -math.expm1(-self.mu * _bending(angle_rad))


def _bending(angle_rad: float) -> float:
    if not angle_rad >= 0.0:
        raise ValueError(f"total bending angle {angle_rad} rad: choose it >= 0")
    return angle_rad


def bending_loss_n(moment_nm: float, radii_m: Sequence[float]) -> float:
    """Force [N] that bending over guides of these radii takes of a tendon with a friction moment [N m].

    Raises:
        ValueError: a negative moment, a radius that is not above 0.
    """
    if not moment_nm >= 0.0:
        raise ValueError(f"bending moment {moment_nm} N m: choose it >= 0")
    if not all(r > 0.0 for r in radii_m):
        raise ValueError(f"radii {list(radii_m)} m: choose every one > 0")
    return math.fsum(2.0 * moment_nm / r for r in radii_m)


@law
def guided_tension_n(
    f: float, frac: float, bending_n: float, v_m_s: float, v0_m_s: float
) -> tuple[float, float]:
    """Tension behind the guides [N], towards the finger, and its slope by the speed [N s/m].

    ``f_finger = f + (f frac + F_bend) s`` with the smooth sign ``s = v / sqrt(v^2 + v0^2)`` of the path's
    speed ``v = dh/dt``: less than f while the tendon is wound in (v < 0), more while the finger pulls it out.
    The slope is never negative (a linearly implicit integrator adds it to its damping), and the loss
    ``(f_finger - f) v`` never is. Beyond the speed v0 > 0 it hardly depends on the speed (paper 4.2).
    Where bending alone takes more than f, ``f_finger`` is below 0: ``pulled_tension_n``.
    """
    root = math.sqrt(v_m_s * v_m_s + v0_m_s * v0_m_s)
    loss = f * frac + bending_n
    return f + loss * v_m_s / root, loss * v0_m_s * v0_m_s / (root * root * root)


@law
def pulled_tension_n(
    f: float, frac: float, bending_n: float, v_m_s: float, v0_m_s: float
) -> tuple[float, float]:
    """As ``guided_tension_n``, of a tendon that never pushes: what is nearly slack stays in its guides."""
    behind, slope = guided_tension_n(f, frac, bending_n, v_m_s, v0_m_s)
    return max(behind, 0.0), slope if behind >= 0.0 else 0.0
