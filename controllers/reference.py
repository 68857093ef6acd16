r"""Joint reference that motors can follow: a wanted angle, its speed and acceleration bounded.

A goal may jump; the loop behind it must not saturate, or it overshoots by what its limits delay. So the
reference follows the goal within the speeds and accelerations of the motors that move the joint:

.. math:: \dot q_r \to \dot q_g + \mathrm{clip}(\lambda (q_g - q_r),\ \pm\sqrt{2 \beta a |q_g - q_r|},\ \pm v)

A goal that moves within these bounds is followed exactly, without lag, because its own speed leads.
"""

from __future__ import annotations

import math
from typing import Any, Final

from signals.compiled import law

APPROACH_1_S: Final = 100.0
"""Rate at which the reference closes the last of its way."""
SPEED_SHARE: Final = 0.35
"""Share of the motor's greatest speed that a joint's reference may ask for."""
TORQUE_SHARE: Final = 0.3
"""Share of the motor's greatest torque that accelerates it."""
BRAKE_SHARE: Final = 0.5
"""Share of the acceleration that the approach counts on: what brakes late overshoots."""


@law
def joint_bounds(m: Any, P: Any, f: int, j: int) -> tuple[float, float]:
    """Greatest speed [rad/s] and acceleration [rad/s^2] that the tendons of finger ``f`` give joint ``j``."""
    slowest, weakest = 0.0, 0.0  # inverse bounds [s/rad], [s^2/rad] of the worst tendon
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        arm = abs(P[t, j])
        if arm > 0.0:
            i = m.tendon_motor[t]
            radius = m.spool_radius_m[t]
            slowest = max(slowest, arm / (radius * m.motor_speed_limit_rad_s[i]))
            weakest = max(weakest, arm * m.motor_inertia_kg_m2[i] / (radius * m.motor_torque_limit_nm[i]))
    return SPEED_SHARE / max(slowest, 1e-9), TORQUE_SHARE / max(weakest, 1e-9)


@law
def shape_reference(m: Any, mem: Any, f: int, j: int, goal_rad: float, goal_rad_s: float) -> None:
    """Move ``mem.shaped_rad[j]`` and its speed one cycle towards the goal."""
    fastest, acceleration = joint_bounds(m, mem.P_tj_m, f, j)
    way = goal_rad - goal_rad_s * m.dt_s - mem.shaped_rad[j]  # both a cycle ago
    closing = min(APPROACH_1_S * abs(way), math.sqrt(2.0 * BRAKE_SHARE * acceleration * abs(way)))
    closing = min(closing, fastest)
    wanted = goal_rad_s + (closing if way > 0.0 else -closing)
    step = acceleration * m.dt_s
    before = mem.shaped_speed_rad_s[j]
    after = before + min(max(wanted - before, -step), step)
    mem.shaped_speed_rad_s[j] = after
    mem.shaped_rad[j] += 0.5 * (before + after) * m.dt_s
