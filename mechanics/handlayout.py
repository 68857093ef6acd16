"""Workspace of the hand's dynamics: its generalised coordinates as a tree, and the checks of that tree.

Coordinates: wrist axes first, then joints (``n_axes + joint``). Every coordinate has one parent coordinate:
the next one on the way to the palm; the wrist axes are the root of all. Two coordinates interact in the mass
matrix only if one is on the other's way to the root, in the damping or stiffness of tendons only if both hang
on one body that stands on the palm.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

import numpy as np

from signals.compiled import law
from signals.layout import FloatArray, IntArray, dtype_of
from signals.records import RecordArray
from signals.sizes import AXES, BODIES, FINGERS, JOINTS
from signals.typed import Model

COORDINATES: Final = AXES + JOINTS


class HandtreeWork(Protocol):
    """Scratch and results of one hand's dynamics.

    H, bias: mass matrix (symmetric, full) and bias. sine, cosine: of the bodies' angles. axis_at: wrist axes
    that palm_R, palm_o, S and S_bias belong to. R, p: body poses in the palm frame. tips: fingertips in
    it. palm_R, palm_o: palm in the forearm frame. S, S_bias: the palm's motion. screw: each body's joint axis
    times its ratio. twist, rate: velocities and accelerations (gravity as an acceleration) of the bodies.
    force, inertia: of the body together with all bodies beyond it. n_coords and what follows: the layout.
    """

    H: Annotated[FloatArray, COORDINATES, COORDINATES]
    bias: Annotated[FloatArray, COORDINATES]
    sine: Annotated[FloatArray, BODIES]
    cosine: Annotated[FloatArray, BODIES]
    axis_at_rad: Annotated[FloatArray, AXES]
    axis_at_rad_s: Annotated[FloatArray, AXES]
    R: Annotated[FloatArray, BODIES, 3, 3]
    p: Annotated[FloatArray, BODIES, 3]
    tips: Annotated[FloatArray, FINGERS, 3]
    palm_R: Annotated[FloatArray, 3, 3]
    palm_o: Annotated[FloatArray, 3]
    S: Annotated[FloatArray, 6, AXES]
    S_bias: Annotated[FloatArray, 6]
    screw: Annotated[FloatArray, BODIES, 6]
    twist: Annotated[FloatArray, BODIES, 6]
    rate: Annotated[FloatArray, BODIES, 6]
    force: Annotated[FloatArray, BODIES, 6]
    inertia: Annotated[FloatArray, BODIES, 10]
    n_coords: int
    body_coord: Annotated[IntArray, BODIES]
    coord_order: Annotated[IntArray, COORDINATES]
    coord_parent: Annotated[IntArray, COORDINATES]


HANDTREE_WORK: Final = dtype_of(HandtreeWork)


@law
def lay_out(m: Model, w: HandtreeWork) -> None:
    """Write ``n_coords``, ``body_coord``, ``coord_parent`` (-1: root) and ``coord_order`` of a hand.

    ``coord_order`` lists parents before children. Called once per model.
    """
    axes = m.n_axes
    parents, joints = m.body_parent, m.body_joint
    coord, parent, order = w.body_coord, w.coord_parent, w.coord_order
    w.n_coords = axes + m.n_joints
    for c in range(w.n_coords):
        parent[c] = -2
    for k in range(axes):
        parent[k] = k - 1
        order[k] = k
    placed = axes
    coord[0] = -1
    for b in range(1, m.n_bodies):
        coord[b] = axes + joints[b] if joints[b] >= 0 else -1
        c = coord[b]
        if c >= 0 and parent[c] == -2:
            a = parents[b]
            while a > 0 and coord[a] < 0:
                a = parents[a]
            parent[c] = coord[a] if a > 0 else axes - 1
            order[placed] = c
            placed += 1


def _ancestors(m: Any, b: int) -> list[int]:
    chain = []
    while b > 0:
        chain.append(b)
        b = int(m["body_parent"][b])
    return chain


def check_tree(model: RecordArray) -> None:
    """Refuse a body tree that the hand's dynamics cannot handle.

    Raises:
        ValueError: names the body, joint or tendon: a joint that moves no body, a parent after its child, a
            coordinate on two branches, a hand without inertia, a tendon across two bodies on the palm, or a
            number of wrist axes other than 0 and 2.
    """
    m = model[0]
    bodies, joints = int(m["n_bodies"]), int(m["n_joints"])
    if int(m["n_axes"]) not in (0, 2):
        raise ValueError(f"{int(m['n_axes'])} wrist axes; a hand has a wrist of 2 axes or none (0)")
    if bodies < 1 or int(m["body_parent"][0]) != -1:
        raise ValueError("body 0 must be the palm, with parent -1")
    moved: dict[int, list[int]] = {}
    for b in range(1, bodies):
        if not 0 <= int(m["body_parent"][b]) < b:
            raise ValueError(f"body {b}: parent {int(m['body_parent'][b])} must be a body listed before it")
        if not -1 <= int(m["body_joint"][b]) < joints:
            raise ValueError(
                f"body {b}: joint {int(m['body_joint'][b])} is none of the {joints} joints (-1: fixed)"
            )
        if int(m["body_joint"][b]) >= 0:
            moved.setdefault(int(m["body_joint"][b]), []).append(b)
    for j in range(joints):
        if j not in moved:
            raise ValueError(f"joint {j} moves no body; give it one or take the joint out")
        chain = _ancestors(m, moved[j][-1])
        stray = [b for b in moved[j] if b not in chain]
        if stray:
            raise ValueError(f"joint {j} moves bodies {stray} off the branch of body {moved[j][-1]}")
        beyond = [b for b in range(bodies) if moved[j][0] in _ancestors(m, b)]
        if not any(m["body_mass_kg"][b] > 0.0 or np.any(m["body_inertia_kg_m2"][b]) for b in beyond):
            raise ValueError(
                f"joint {j} moves bodies without mass and inertia: no acceleration would be finite"
            )
    for t in range(int(m["n_tendons"])):
        crossed = [j for j in range(joints) if m["P_tj_m"][t, j] != 0.0]
        if len({_ancestors(m, moved[j][-1])[-1] for j in crossed}) > 1:
            where = "that hang on two bodies on the palm"
            raise ValueError(f"tendon {t} crosses joints {crossed} {where}")
