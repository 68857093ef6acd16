"""The wrist axes on their springs: the drive's motors, the springs' torque, and the axes' velocity change.

Without springs the axes go by the drive alone (``sim.joint_kick``). Here the drive's motors do: their loop
reads the axis' own sensor and damps by their own speed, within speed and torque limits. Driven back beyond
its torque limit the drive yields.
"""

from __future__ import annotations

import math

from mechanics.wrist_springs import axis_spring, spring_ahead_rad
from signals.compiled import law
from signals.typed import Model
from sim.plant_record import PlantRecord


@law
def _kick_drive(m: Model, p: PlantRecord, a: int, h: float) -> None:
    """Velocity change of the motors of axis ``a``; they get no further ahead than their torque goes."""
    omega = 2.0 * math.pi * m.axis_bandwidth_hz[a]
    damping = 2.0 * m.axis_damping_ratio[a] * omega
    speed = 0.0
    if p.axis_enabled[a]:
        limit = m.axis_speed_limit_rad_s[a]
        speed = omega * omega / damping * (p.axis_wanted_rad[a] - p.axis_rad[a])
        speed = min(max(speed, -limit), limit)
    p.drive_kick_rad_s[a] = h * damping * (speed - p.drive_rad_s[a])
    p.drive_rad_s[a] += p.drive_kick_rad_s[a]
    reach = spring_ahead_rad(m, a, m.axis_torque_limit_nm[a])
    ahead = p.drive_rad[a] - p.axis_rad[a]
    if abs(ahead) > reach:
        yielded = math.copysign(reach, ahead)
        p.energy_in_j += math.copysign(m.axis_torque_limit_nm[a], ahead) * (yielded - ahead)
        p.drive_rad[a] = p.axis_rad[a] + yielded
        p.drive_rad_s[a], p.drive_kick_rad_s[a] = p.axis_rad_s[a], 0.0


@law
def kick_sprung_axes(
    m: Model, p: PlantRecord, s00: float, s01: float, s11: float, r0: float, r1: float, h: float
) -> tuple[float, float]:
    """Velocity changes of the axes from their reduced inertia, with guides, and their forces times ``h``.

    The springs' damping is linearly implicit; ``p.axis_torque_nm`` is the mean torque on the axis.
    """
    for a in range(2):
        _kick_drive(m, p, a, h)
    c0, c1 = m.axis_spring_damping_nms_rad[0], m.axis_spring_damping_nms_rad[1]
    t0, _, _ = axis_spring(m, 0, p.drive_rad[0] - p.axis_rad[0])
    t1, _, _ = axis_spring(m, 1, p.drive_rad[1] - p.axis_rad[1])
    t0 += c0 * (p.drive_rad_s[0] - p.axis_rad_s[0])
    t1 += c1 * (p.drive_rad_s[1] - p.axis_rad_s[1])
    r0, r1, s00, s11 = r0 + h * t0, r1 + h * t1, s00 + h * c0, s11 + h * c1
    det = s00 * s11 - s01 * s01
    d0, d1 = (s11 * r0 - s01 * r1) / det, (s00 * r1 - s01 * r0) / det
    p.axis_torque_nm[0], p.axis_torque_nm[1] = t0 - c0 * d0, t1 - c1 * d1
    return d0, d1


@law
def account_springs(m: Model, p: PlantRecord, h: float) -> None:
    """Work of the drive's motors, and the heat of the springs, over this kick; after the axes' own change."""
    for a in range(2):
        drive = p.drive_rad_s[a] - 0.5 * p.drive_kick_rad_s[a]
        axis = p.axis_rad_s[a] - 0.5 * p.delta_rad_s[a]
        damped = m.axis_spring_damping_nms_rad[a] * (p.drive_rad_s[a] - p.axis_rad_s[a])
        p.energy_in_j += h * p.axis_torque_nm[a] * drive
        p.energy_lost_j += h * damped * (drive - axis)
