r"""Friction of a joint's own bearing, viscous and Coulomb.

.. math:: \tau(\dot q) = c\,\dot q + \tau_c\,\dot q / \sqrt{\dot q^2 + v_0^2}

It opposes the motion. The sign of the Coulomb part turns smoothly over the speed v0, as that of the guides.
"""

from __future__ import annotations

import math

from signals.compiled import law


@law
def joint_friction_nm(
    qd_rad_s: float, viscous_nms_rad: float, coulomb_nm: float, v0_rad_s: float
) -> tuple[float, float]:
    """Friction torque [N m] at a joint speed, and its slope by the speed [N m s/rad], never negative."""
    root = math.sqrt(qd_rad_s * qd_rad_s + v0_rad_s * v0_rad_s)
    torque = viscous_nms_rad * qd_rad_s + coulomb_nm * qd_rad_s / root
    return torque, viscous_nms_rad + coulomb_nm * v0_rad_s * v0_rad_s / (root * root * root)
