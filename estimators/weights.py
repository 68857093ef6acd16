"""How far each tendon's length may be believed: not at the slack stop, nor where no lever can be.

A slack or broken tendon would drag the joint angles along; without it the others still give them, as every
finger has more tendons than joints. The weight falls over the second half of the slack margin, so that a
tendon near its stop neither jumps nor chatters. A noisy sensor has the weight of its variance
(``model.hall_weight``), one that is not used at all none: then its tension follows from its motor and the
joint angles of the others (motor-only). In a finger whose sensors do not tell its joints, tendons without one
have a weight all the same (``model.length_weight``): their tension follows from their motor's current.
"""

from __future__ import annotations

import math
from typing import Final

from estimators.memory import EstimatorMemory
from estimators.speeds import cycle_s
from mechanics.arctan import arctan
from mechanics.lines import motor_load_nm
from mechanics.low_pass import filter_share
from mechanics.plausible import BEYOND_STOP_RAD
from mechanics.springs import count_of_lever, spring_state
from signals.compiled import law
from signals.modes import ChannelStatus
from signals.typed import Measurement, Model, State

OUT_OF_RANGE: Final = int(ChannelStatus.OUT_OF_RANGE)
HALF_PI: Final = 0.5 * math.pi
LOAD_HZ: Final = 5.0
"""Low-pass of the load that a motor's torque shows: below what accelerations of rotor and bones ask of it."""


@law
def weight_of_lever(m: Model, t: int, lever_rad: float) -> float:
    """Weight 0..1 of tendon ``t``'s length at a lever angle."""
    k = m.tendon_spring[t]
    if lever_rad < m.lever_min_rad[k] - BEYOND_STOP_RAD:
        return 0.0
    half = 0.5 * m.slack_margin_rad[k]
    if half <= 0.0:
        return 1.0
    return float(min(max((m.lever_max_rad[k] - half - lever_rad) / half, 0.0), 1.0))


@law
def weigh_tendons(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Weights of all tendons into ``mem``; a finger with a tendon below full weight is marked."""
    for f in range(m.n_fingers):
        mem.degraded[f] = 0
    for t in range(m.n_tendons):
        taut, believed = weight_of_lever(m, t, s.lever_angle_rad[t]), m.length_weight[t]
        mem.weight[t] = taut * believed
        if mem.weight[t] < 1.0:
            f = m.tendon_finger[t]
            mem.degraded[f] = 1
            if taut < 1.0 or believed == 0.0:
                s.finger_status[f] |= OUT_OF_RANGE


@law
def load_beyond_nm(m: Model, s: State, t: int, torque_nm: float) -> float:
    """Load [N m] on the motor of tendon ``t`` beyond what its tendons make, if its torque shows any.

    ``torque - friction(w)`` is the load. A motor that hardly turns may be held by any part of its dry
    friction: within that band its torque says nothing, and what was known stays.
    """
    i, f = m.tendon_motor[t], m.tendon_finger[t]
    w, g2 = s.motor_speed_rad_s[i], m.friction_gamma_2_nm[i]
    dry = g2 * arctan(m.friction_gamma_1_s_rad[i] * w)
    band = HALF_PI * g2 - abs(dry)
    beyond = torque_nm - dry - m.friction_gamma_3_nms_rad[i] * w - motor_load_nm(m, s, f, t)
    return float(beyond - min(max(beyond, -band), band))


@law
def stretch_per_load_m_nm(m: Model, s: State, t: int) -> float:
    """By how much [m/(N m)] tendon ``t`` stretches as the load on its motor grows, its partners with it."""
    f, turn = m.tendon_finger[t], 0.0
    for k in range(m.finger_n_tendons[f]):
        o = m.finger_tendon[f, k]
        if m.tendon_motor[o] == m.tendon_motor[t]:
            turn += m.spool_radius_m[o] * m.spool_radius_m[o] * s.tendon_stiffness_n_m[o]
    return float(m.spool_radius_m[t] / turn)


@law
def unseen_counts(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> None:
    """Counts of tendons without a sensor into ``mem``, for the next cycle; the friction loop at its middle.

    ``e = h(q) + R theta + dh_wrist + e0`` with the angles that the finger's tendons give. Where no sensors
    tell those angles (``length_weight`` above 0), the motor's torque does: what it bears beyond that
    stretches its tendons, with a low-pass; not where a difference is measured.
    """
    share = -1.0
    for t in range(m.n_tendons):
        if m.hall_weight[t] == 0.0:
            i = m.tendon_motor[t]
            wound = m.spool_radius_m[t] * mem.motor_angle_rad[i]
            elongation = mem.length_m[t] + wound + s.wrist_length_m[t] + m.elongation_offset_m[t]
            torque = m.motor_torque_constant_nm_a[i] * z.motor_current_a[i]
            if (
                mem.differs[t] == 0
                and m.length_weight[t] > 0.0
                and mem.motor_ok[i] != 0
                and math.isfinite(torque)
            ):
                if share < 0.0:
                    share = filter_share(LOAD_HZ, cycle_s(m, s))
                beyond = load_beyond_nm(m, s, t, torque)
                elongation += share * beyond * stretch_per_load_m_nm(m, s, t)
            lever, _ = spring_state(m, t, elongation, s.lever_angle_rad[t], 0.0)
            mem.hall_count[t] = count_of_lever(m, t, lever)
