"""The last word on a motor's torque: every limit in turn, every change marked by its bit.

Order: not a number, joint range, tension, speed, torque, temperature, current and voltage, rate of change.
"""

from __future__ import annotations

import math
from typing import Final

from guard.envelope import (
    NO_LIMIT,
    SOFT_STOP_RAD,
    joint_envelope,
    joints_free,
    tension_envelope,
    tension_free,
    wrist_envelope,
)
from guard.falling import HOLDS, part_in_fall, part_in_motion
from guard.latch import FAULT
from guard.memory import GuardMemory
from guard.winding import derating
from mechanics.motor import SQRT_3, command_bounds_nm
from signals.compiled import inlined, law
from signals.layout import FloatArray
from signals.modes import Clip
from signals.typed import Model, State

TORQUE: Final = int(Clip.TORQUE)
CURRENT: Final = int(Clip.CURRENT)
RATE: Final = int(Clip.RATE)
TENSION_MAX: Final = int(Clip.TENSION_MAX)
TENSION_MIN: Final = int(Clip.TENSION_MIN)
SPEED: Final = int(Clip.SPEED)
JOINT_RANGE: Final = int(Clip.JOINT_RANGE)
TEMPERATURE: Final = int(Clip.TEMPERATURE)
NOT_FINITE: Final = int(Clip.NOT_FINITE)

SOFT_STOP_WIDTH_RAD: Final = math.radians(4.0)
LETTING_GO: Final = 4.0
"""How much faster than the torque rate a torque may fall that makes a tension too high."""
SPEED_SOFT: Final = 0.9
SPEED_HARD: Final = 1.0
FREE_SHARE: Final = 1.0 - 1e-12
"""Of the voltage, within which no rounding makes a bound of it."""


@law
def bounded(x: float, low: float, high: float, bit: int, bits: int) -> tuple[float, int]:
    """A torque within two bounds, and the bits with the given one added if that changed it."""
    y = min(max(x, low), high)
    return y, bits | bit if y != x else bits


@inlined
def beyond_range_rad(m: Model, P: FloatArray, s: State, f: int, t: int) -> float:
    """How far [rad] a joint that tendon ``t`` pulls further out is out of its range, at most; < 0: within."""
    most = -math.inf
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        # pulling turns the joint towards -P
        if P[t, j] < 0.0:
            most = max(most, s.joint_angle_rad[j] - m.joint_max_rad[j])
        elif P[t, j] > 0.0:
            most = max(most, m.joint_min_rad[j] - s.joint_angle_rad[j])
    return most


@law
def room_in_range(m: Model, P: FloatArray, s: State, f: int, t: int) -> float:
    """Share 0..1 of its torque that tendon ``t`` may pull with: less as that drives a joint out of range."""
    beyond = beyond_range_rad(m, P, s, f, t)
    return min(max(1.0 - (beyond - SOFT_STOP_RAD) / SOFT_STOP_WIDTH_RAD, 0.0), 1.0)


@law
def range_bounds(
    m: Model, mem: GuardMemory, s: State, f: int, t: int, x: float, bits: int
) -> tuple[float, int]:
    """Torque that pulls a joint less the further it is out of its range."""
    if mem.inside[f] != 0:
        return x, bits
    room = room_in_range(m, mem.P_tj_m, s, f, t)
    if room >= 1.0:
        return x, bits
    limit = m.motor_torque_limit_nm[m.tendon_motor[t]]
    most = max(room * limit, abs(m.spool_radius_m[t]) * m.tension_min_n[t])
    return bounded(x, -limit, most, JOINT_RANGE, bits)


@law
def letting_go_bounds(
    m: Model, mem: GuardMemory, s: State, f: int, t: int, x: float, bits: int
) -> tuple[float, int]:
    """Torque that unwinds tendon ``t`` in a fault: none where a joint that it holds back runs off or falls.

    There its gear holds it, while those that pull the joint into its stop are let go. Beside a lost tendon,
    and for a moment in any fault: what a goal had set in motion. Not what is let go in a hurry, as a look
    ahead has chosen it, nor where the tendon pulls another joint into a stop. A joint that only seems to be
    at its stop does not move.
    """
    if mem.probe_phase[f] == 0:
        held = part_in_fall(m, mem, s, f, t) == HOLDS
    elif mem.probe_tendon[f] == t or mem.fault_age_s[f] < mem.urgent_s[f]:
        held = False
    else:
        held = part_in_motion(m, mem, s, f, t, NO_LIMIT) == HOLDS
    if not held:
        return x, bits
    least, most = joint_envelope(m, mem, s, f, t)
    return bounded(x, min(least, most, 0.0), NO_LIMIT, JOINT_RANGE, bits)


@law
def envelope_bounds(
    m: Model, mem: GuardMemory, s: State, f: int, t: int, x: float, bits: int
) -> tuple[float, int]:
    """Torque that keeps the tension and stops softly (``guard.envelope``), whatever the mode.

    A finger in fault lets go as its reaction has chosen: there nothing is asked for, as the tension that is
    seen may be the fault. Of two bounds that contradict each other the greatest tension has the last word.
    """
    limit, lets_go = m.motor_torque_limit_nm[m.tendon_motor[t]], s.finger_state[f] == FAULT
    floor = 0.0 if lets_go else -limit
    if not lets_go and not joints_free(m, mem, s, f, t, x):
        least, most = joint_envelope(m, mem, s, f, t)
        x, bits = bounded(x, min(least, limit), max(most, floor), JOINT_RANGE, bits)
    if lets_go and x < 0.0:
        x, bits = letting_go_bounds(m, mem, s, f, t, x, bits)
    if mem.wrist_loaded != 0:
        most = wrist_envelope(m, mem, s, t)
        x, bits = bounded(x, -NO_LIMIT, max(most, floor), TENSION_MAX, bits)
    if m.elongation_max_m[t] <= 0.0 or tension_free(m, mem, s, f, t):
        return x, bits
    least, most = tension_envelope(m, mem, s, f, t)
    if not lets_go:
        x, bits = bounded(x, min(least, limit), NO_LIMIT, TENSION_MIN, bits)
    return bounded(x, -NO_LIMIT, max(most, floor), TENSION_MAX, bits)


@law
def motor_free(m: Model, i: int, x: float, speed: float, degc: float) -> bool:
    """True if a few comparisons say that none of a motor's own limits bounds its torque."""
    asked, fast = abs(x), abs(speed)
    kt, volts = m.motor_torque_constant_nm_a[i], FREE_SHARE * m.bus_voltage_v[i] / SQRT_3
    return bool(
        asked <= m.motor_torque_limit_nm[i]
        and asked <= kt * m.motor_current_limit_a[i]
        and fast <= SPEED_SOFT * m.motor_speed_limit_rad_s[i]
        and degc <= m.winding_limit_degc[0]
        and asked * m.motor_resistance_ohm[i] <= kt * (volts - m.motor_back_emf_v_s_rad[i] * fast)
    )


@law
def motor_bounds(m: Model, mem: GuardMemory, s: State, i: int, x: float, bits: int) -> tuple[float, int]:
    """Torque within the motor's own limits: speed, torque, temperature, current and voltage."""
    limit, speed = m.motor_torque_limit_nm[i], s.motor_speed_rad_s[i]
    fastest = m.motor_speed_limit_rad_s[i]
    if motor_free(m, i, x, speed, s.winding_temperature_degc[i]):
        return x, bits
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
def rate_bounds(m: Model, mem: GuardMemory, i: int, x: float, bits: int) -> tuple[float, int]:
    """Torque that differs from the last one by at most the torque rate; down from a tension more quickly."""
    step = m.torque_rate_nm_s * m.dt_s
    if step <= 0.0:
        return x, bits
    if (bits & TENSION_MAX) != 0 and x < mem.last_torque_nm[i]:
        step *= LETTING_GO
    return bounded(x, mem.last_torque_nm[i] - step, mem.last_torque_nm[i] + step, RATE, bits)
