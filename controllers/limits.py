"""The last word on a motor's torque: every limit in turn, every change marked by its bit.

Order: not a number, joint range, tension, speed, torque, temperature, current and voltage, rate of change.
"""

from __future__ import annotations

import math
from typing import Any, Final

from controllers.tension_checks import greatest_tension_n
from controllers.winding import derating
from mechanics.motor import command_bounds_nm
from signals.compiled import law
from signals.modes import Clip

TORQUE: Final = int(Clip.TORQUE)
CURRENT: Final = int(Clip.CURRENT)
RATE: Final = int(Clip.RATE)
TENSION_MAX: Final = int(Clip.TENSION_MAX)
TENSION_MIN: Final = int(Clip.TENSION_MIN)
SPEED: Final = int(Clip.SPEED)
JOINT_RANGE: Final = int(Clip.JOINT_RANGE)
TEMPERATURE: Final = int(Clip.TEMPERATURE)
NOT_FINITE: Final = int(Clip.NOT_FINITE)

SOFT_STOP_RAD: Final = math.radians(1.5)
"""How far beyond its range a joint may be (errors of the estimate) before pulling further is limited."""
SOFT_STOP_WIDTH_RAD: Final = math.radians(4.0)
SPEED_SOFT: Final = 0.9
SPEED_HARD: Final = 1.0
SLACK_SHARE: Final = 0.75


@law
def bounded(x: float, low: float, high: float, bit: int, bits: int) -> tuple[float, int]:
    """A torque within two bounds, and the bits with the given one added if that changed it."""
    y = min(max(x, low), high)
    return y, bits | bit if y != x else bits


@law
def room_in_range(m: Any, P: Any, s: Any, f: int, t: int) -> float:
    """Share 0..1 of its torque that tendon ``t`` may pull with: less as that drives a joint out of range."""
    room = 1.0
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        # pulling turns the joint towards -P
        if P[t, j] < 0.0:
            beyond = s.joint_angle_rad[j] - m.joint_max_rad[j]
        elif P[t, j] > 0.0:
            beyond = m.joint_min_rad[j] - s.joint_angle_rad[j]
        else:
            beyond = -1.0
        room = min(room, 1.0 - (beyond - SOFT_STOP_RAD) / SOFT_STOP_WIDTH_RAD)
    return max(room, 0.0)


@law
def tension_bounds(m: Any, mem: Any, s: Any, f: int, t: int, x: float, bits: int) -> tuple[float, int]:
    """Torque that keeps joint range and tension: winding fades out above the working tension.

    Below the least tension unwinding stops, as far as a tension is wanted at all.
    """
    limit = m.motor_torque_limit_nm[m.tendon_motor[t]]
    room = room_in_range(m, mem.P_tj_m, s, f, t)
    if room < 1.0:
        x, bits = bounded(
            x, -limit, max(room * limit, m.spool_radius_m[t] * m.tension_min_n[t]), JOINT_RANGE, bits
        )
    soft, hard = m.tension_max_n[t], greatest_tension_n(m, t)
    if s.tension_n[t] > soft and hard > soft > 0.0:
        share = max((hard - s.tension_n[t]) / (hard - soft), 0.0)
        x, bits = bounded(x, -limit, share * limit, TENSION_MAX, bits)
    if s.ref_tension_n[t] > 0.0 and s.tension_n[t] < SLACK_SHARE * m.tension_min_n[t]:
        x, bits = bounded(x, 0.0, limit, TENSION_MIN, bits)
    return x, bits


@law
def motor_bounds(m: Any, mem: Any, s: Any, i: int, x: float, bits: int) -> tuple[float, int]:
    """Torque within the motor's own limits: speed, torque, temperature, current and voltage."""
    limit, speed = m.motor_torque_limit_nm[i], s.motor_speed_rad_s[i]
    fastest = m.motor_speed_limit_rad_s[i]
    if fastest > 0.0 and abs(speed) > SPEED_SOFT * fastest:
        room = (SPEED_HARD - abs(speed) / fastest) / (SPEED_HARD - SPEED_SOFT)
        most = limit * max(room, 0.0)
        if speed > 0.0:
            x, bits = bounded(x, -limit, most, SPEED, bits)
        else:
            x, bits = bounded(x, -most, limit, SPEED, bits)
    x, bits = bounded(x, -limit, limit, TORQUE, bits)
    hot = limit * derating(m, s.winding_temperature_degc[i])
    x, bits = bounded(x, -hot, hot, TEMPERATURE, bits)
    low, high = command_bounds_nm(m, i, speed)
    return bounded(x, low, high, CURRENT, bits)


@law
def rate_bounds(m: Any, mem: Any, i: int, x: float, bits: int) -> tuple[float, int]:
    """Torque that differs from the last one by at most the torque rate."""
    step = m.torque_rate_nm_s * m.dt_s
    if step <= 0.0:
        return x, bits
    return bounded(x, mem.last_torque_nm[i] - step, mem.last_torque_nm[i] + step, RATE, bits)
