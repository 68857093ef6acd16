r"""Speeds by a filtered difference: ``v += a ((x - x_last)/dt - v)``, ``a = 1 - exp(-2 pi f_c dt)``.

The filter is the exact discretisation of a first-order low-pass, so that its bandwidth does not depend on
the rate and a late cycle (longer dt) is weighed by its true length.
"""

from __future__ import annotations

import math
from typing import Any

from signals.compiled import law


@law
def filter_share(cutoff_hz: float, dt_s: float) -> float:
    """Share of the new value that a low-pass of the given cut-off takes in a cycle, 0..1."""
    return 1.0 - math.exp(-2.0 * math.pi * max(cutoff_hz, 0.0) * dt_s)


@law
def filtered_speed(speed: float, value: float, last: float, dt_s: float, share: float) -> float:
    """Next filtered speed from two values one cycle apart."""
    return speed + share * ((value - last) / dt_s - speed)


@law
def cycle_s(m: Any, s: Any) -> float:
    """Time since the previous cycle [s]; the control period where the loop gave none."""
    return float(s.dt_s) if s.dt_s > 0.0 else float(m.dt_s)


@law
def motor_speeds(m: Any, mem: Any, s: Any) -> None:
    """Motor angles in use [rad] and filtered speeds [rad/s] into ``s``; a missing motor seems to rest."""
    dt_s = cycle_s(m, s)
    share = filter_share(m.velocity_filter_hz, dt_s)
    angle, last, speed = mem.motor_angle_rad, mem.last_motor_angle_rad, s.motor_speed_rad_s
    for i in range(m.n_motors):
        if mem.started == 0:
            speed[i] = 0.0
        else:
            speed[i] = filtered_speed(speed[i], angle[i], last[i], dt_s, share)
        last[i] = angle[i]
        s.motor_angle_rad[i] = angle[i]


@law
def joint_speeds(m: Any, mem: Any, s: Any) -> None:
    """Filtered joint speeds [rad/s] into ``s`` from the joint angles estimated now."""
    dt_s = cycle_s(m, s)
    share = filter_share(m.velocity_filter_hz, dt_s)
    angle, last, speed = s.joint_angle_rad, mem.last_joint_angle_rad, s.joint_speed_rad_s
    for j in range(m.n_joints):
        if mem.started == 0:
            speed[j] = 0.0
        else:
            speed[j] = filtered_speed(speed[j], angle[j], last[j], dt_s, share)
        last[j] = angle[j]
