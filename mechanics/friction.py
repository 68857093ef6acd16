r"""Velocity friction of motor and gear at the gear output, paper eq. (3.8).

.. math:: \tau(\omega) = \gamma_2 \arctan(\gamma_1 \omega) + \gamma_3 \omega

It opposes the motion: ``B w' = tau_m - tau(w) - load`` (the paper's sign in (3.2) is a misprint).
"""

from __future__ import annotations

from mechanics.arctan import arctan
from signals.compiled import law


@law
def motor_friction_nm(w: float, g1: float, g2: float, g3: float) -> float:
    """Friction torque [N m] at the output speed w [rad/s]; g1 [s/rad], g2 [N m], g3 [N m s/rad]."""
    return g2 * arctan(g1 * w) + g3 * w


@law
def motor_friction_slope_nms_rad(w: float, g1: float, g2: float, g3: float) -> float:
    """D tau / d w [N m s/rad]: steepest at rest, g1 g2 + g3, which an integrator must treat implicitly."""
    return g2 * g1 / (1.0 + (g1 * w) ** 2) + g3
