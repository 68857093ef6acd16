"""Tendons that share a motor: which way each is wound, what all of them load it with.

A tendon with a negative ``spool_radius_m`` is wound as its motor's angle falls. An antagonist pair on one
spool is two tendons with radii of opposite sign: their motor sets the difference of their tensions, not their
mean. ``finger_shares`` says that a finger has such tendons; what asks it in a loop asks it before the loop.
"""

from __future__ import annotations

import math

from signals.compiled import inlined, law
from signals.typed import Model, State


@law
def sense_of(m: Model, t: int) -> float:
    """1: tendon ``t`` is wound as its motor's angle grows; -1: as it falls."""
    return math.copysign(1.0, m.spool_radius_m[t])


@inlined
def load_nm(m: Model, s: State, f: int, t: int) -> float:
    """Torque [N m] with which all tendons of tendon ``t``'s motor pull against its winding ``t``."""
    if m.finger_shares[f] == 0:
        return float(m.spool_radius_m[t] * s.tension_n[t])
    return sense_of(m, t) * shared_load_nm(m, s, f, t)


@inlined
def motor_load_nm(m: Model, s: State, f: int, t: int) -> float:
    """The same against the motor's own sense: positive pulls its angle down."""
    if m.finger_shares[f] == 0:
        return float(m.spool_radius_m[t] * s.tension_n[t])
    return shared_load_nm(m, s, f, t)


@law
def shared_load_nm(m: Model, s: State, f: int, t: int) -> float:
    """Torque [N m] against the angle of tendon ``t``'s motor by all tendons that it winds."""
    total = 0.0
    for k in range(m.finger_n_tendons[f]):
        o = m.finger_tendon[f, k]
        if m.tendon_motor[o] == m.tendon_motor[t]:
            total += m.spool_radius_m[o] * s.tension_n[o]
    return total


@law
def part_of_motor(m: Model, s: State, f: int, t: int) -> tuple[float, float, float]:
    """What tendon ``t`` is of all that its motor winds: (share, weight, stiffness).

    Returns:
        One over their number; the radius over the mean of the radii' sizes, signed; the mean of their
        stiffnesses [N/m]. With one gain for all and these weights, the error of a mean tension, which the
        motor cannot change, cancels.
    """
    count = radius = stiffness = 0.0
    for k in range(m.finger_n_tendons[f]):
        o = m.finger_tendon[f, k]
        if m.tendon_motor[o] == m.tendon_motor[t]:
            count += 1.0
            radius += abs(m.spool_radius_m[o])
            stiffness += s.tendon_stiffness_n_m[o]
    return 1.0 / count, m.spool_radius_m[t] * count / radius, stiffness / count
