"""Paths of the simulated tendons: lengths and Jacobians, of which a substep renews only what moves."""

from __future__ import annotations

import math

from mechanics.coupling import TENSEGRITY, tendon_jacobian
from mechanics.curves import CURVED, curved_length, move_curved
from mechanics.thumb import move_base
from mechanics.wrist import wrist_jacobian, wrist_lengths
from signals.compiled import law
from signals.typed import Model
from sim.branches import move_rows, place_rows, place_wrist_rows, tendon_sums
from sim.plant_record import PlantRecord


@law
def begin_paths(m: Model, p: PlantRecord) -> None:
    """Once per period: the rows of P that no pose changes, and a wrist that has to be looked at anew."""
    tendon_jacobian(m, p.q_rad, p.P_tj_m)
    place_rows(m, p.P_tj_m, p)
    for a in range(m.n_axes):
        p.wrist_at_rad[a] = math.nan


@law
def _move_curved_paths(m: Model, p: PlantRecord, f: int) -> None:
    """Lengths and rows of a finger whose lever arms depend on its angles."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        p.length_m[t] += curved_length(m, f, t, p.q_rad)
    move_curved(m, f, p.q_rad, p.P_tj_m)
    move_rows(p.P_tj_m, p, p.tendon_branch[m.finger_tendon[f, 0]])


@law
def update_paths(m: Model, p: PlantRecord) -> None:
    """Lengths and Jacobians at the plant's present positions; after ``begin_paths``.

    The wrist is computed when an axis has moved.
    """
    tendon_sums(p, p.fixed_P_kxb_m, p.q_rad, p.length_m)
    for f in range(m.n_fingers):
        if m.finger_kind[f] == CURVED:
            _move_curved_paths(m, p, f)
        if m.finger_kind[f] == TENSEGRITY and m.finger_n_tendons[f] > 0:
            q0, q1 = p.q_rad[m.finger_joint[f, 0]], p.q_rad[m.finger_joint[f, 1]]
            move_base(m, f, q0, q1, p.length_m, p.P_tj_m)
            move_rows(p.P_tj_m, p, p.tendon_branch[m.finger_tendon[f, 0]])
    if m.n_axes:
        q71, q73 = p.axis_rad[0], p.axis_rad[1]
        if q71 != p.wrist_at_rad[0] or q73 != p.wrist_at_rad[1]:
            wrist_lengths(m, q71, q73, p.wrist_length_m)
            wrist_jacobian(m, q71, q73, p.P_tw_m)
            place_wrist_rows(m, p.P_tw_m, p)
            p.wrist_at_rad[0], p.wrist_at_rad[1] = q71, q73
