"""Divergence: found within the substep in which it begins, and named before it has spread.

One substep carries what is not a number from any channel into every joint. So the quantities of the substep
are looked at in the order in which they were computed: the first one that is no number is the cause.
"""

from __future__ import annotations

import math
from typing import Final

from signals.compiled import law
from signals.typed import Model
from sim.plant_record import PlantRecord

FASTEST_RAD_S: Final = 1e4
JOINT: Final = 1
MOTOR: Final = 2
AXIS: Final = 3
TENDON: Final = 4


@law
def is_sound(m: Model, p: PlantRecord) -> bool:
    """True if every speed is a number below ``FASTEST_RAD_S``; loops without a branch: vector code."""
    bad = 0
    for j in range(m.n_joints):
        bad |= 0 if abs(p.qd_rad_s[j]) < FASTEST_RAD_S else 1
    for i in range(m.n_motors):
        bad |= 0 if abs(p.w_rad_s[i]) < FASTEST_RAD_S else 1
    for a in range(m.n_axes):
        bad |= 0 if abs(p.axis_rad_s[a]) < FASTEST_RAD_S else 1
    return bad == 0


@law
def blame(p: PlantRecord, what: int, index: int) -> None:
    """The plant diverged, and where; the first word counts."""
    if p.diverged == 0:
        p.diverged = what
        p.diverged_index = index


@law
def blame_positions(m: Model, p: PlantRecord) -> None:
    """A position or speed that was no number before a substep began."""
    for a in range(m.n_axes):
        if not math.isfinite(p.axis_rad[a] + p.axis_rad_s[a]):
            blame(p, AXIS, a)
    for j in range(m.n_joints):
        if not math.isfinite(p.q_rad[j] + p.qd_rad_s[j]):
            blame(p, JOINT, j)
    for i in range(m.n_motors):
        if not math.isfinite(p.theta_rad[i] + p.w_rad_s[i]):
            blame(p, MOTOR, i)


@law
def blame_forces(m: Model, p: PlantRecord) -> None:
    """A force or torque of the substep that is no number, from the tendons to the joints, then the drives."""
    for t in range(m.n_tendons):
        if not math.isfinite(p.tension_n[t] + p.finger_tension_n[t] + p.guide_slope_ns_m[t]):
            blame(p, TENDON, t)
    for a in range(m.n_axes):
        if not math.isfinite(p.external_nm[a]):
            blame(p, AXIS, a)
    for j in range(m.n_joints):
        if not math.isfinite(p.external_nm[m.n_axes + j] + p.tau_nm[m.n_axes + j]):
            blame(p, JOINT, j)
    for i in range(m.n_motors):
        if not math.isfinite(p.motor_torque_nm[i] + p.motor_friction_nm[i] + p.ripple_nm[i]):
            blame(p, MOTOR, i)


@law
def blame_inertias(m: Model, p: PlantRecord) -> None:
    """A joint whose own mass or damping makes its acceleration no number, or an axis; not by coupling."""
    for b in range(p.n_branches):
        for x in range(p.branch_joints[b]):
            if not math.isfinite(p.right_rxb[0, x, b]):
                blame(p, JOINT, p.branch_joint[b, x])
    for a in range(m.n_axes):
        if not math.isfinite(p.axis_rad_s[a]):
            blame(p, AXIS, a)


@law
def blame_fastest(m: Model, p: PlantRecord) -> None:
    """The fastest joint, axis or motor; one that is no number is faster than all."""
    what, index, most = JOINT, 0, -1.0
    for j in range(m.n_joints):
        speed = abs(p.qd_rad_s[j])
        if not speed <= most and most == most:
            what, index, most = JOINT, j, speed
    for a in range(m.n_axes):
        speed = abs(p.axis_rad_s[a])
        if not speed <= most and most == most:
            what, index, most = AXIS, a, speed
    for i in range(m.n_motors):
        speed = abs(p.w_rad_s[i])
        if not speed <= most and most == most:
            what, index, most = MOTOR, i, speed
    blame(p, what, index)


@law
def blame_substep(m: Model, p: PlantRecord) -> None:
    """Name what made the substep that was just done unsound."""
    blame_forces(m, p)
    blame_inertias(m, p)
    blame_fastest(m, p)
