"""Paths of the simulated tendons: lengths and Jacobians, of which a substep renews only what moves."""

from __future__ import annotations

import math

from mechanics.coupling import TENSEGRITY, tendon_jacobian
from mechanics.thumb import add_base_jacobian, add_base_lengths
from mechanics.wrist import wrist_jacobian, wrist_lengths
from signals.compiled import law
from signals.typed import Model
from sim.plant_record import PlantRecord


@law
def begin_paths(m: Model, p: PlantRecord) -> None:
    """Once per period: the rows of P that no pose changes, and a wrist that has to be looked at anew."""
    tendon_jacobian(m, p.q_rad, p.P_tj_m)
    for a in range(m.n_axes):
        p.wrist_at_rad[a] = math.nan


@law
def _thumb_paths(m: Model, p: PlantRecord, finger: int) -> None:
    q0, q1 = p.q_rad[m.finger_joint[finger, 0]], p.q_rad[m.finger_joint[finger, 1]]
    for k in range(m.finger_n_tendons[finger]):
        t = m.finger_tendon[finger, k]
        for j in range(m.n_joints):
            p.P_tj_m[t, j] = m.P_tj_m[t, j]
    add_base_lengths(m, finger, q0, q1, p.length_m)
    add_base_jacobian(m, finger, q0, q1, p.P_tj_m)


@law
def update_paths(m: Model, p: PlantRecord) -> None:
    """Lengths and Jacobians at the plant's present positions; after ``begin_paths``.

    A row of P has entries for the joints of its tendon's branch alone; the wrist is computed when an axis
    has moved.
    """
    length, q, rows = p.length_m, p.q_rad, m.P_tj_m
    for t in range(m.n_tendons):
        b = p.tendon_branch[t]
        h = 0.0
        for k in range(p.branch_joints[b]):
            j = p.branch_joint[b, k]
            h += rows[t, j] * q[j]
        length[t] = h
    for finger in range(m.n_fingers):
        if m.finger_kind[finger] == TENSEGRITY:
            _thumb_paths(m, p, finger)
    if m.n_axes:
        q71, q73 = p.axis_rad[0], p.axis_rad[1]
        if q71 != p.wrist_at_rad[0] or q73 != p.wrist_at_rad[1]:
            wrist_lengths(m, q71, q73, p.wrist_length_m)
            wrist_jacobian(m, q71, q73, p.P_tw_m)
            p.wrist_at_rad[0], p.wrist_at_rad[1] = q71, q73
