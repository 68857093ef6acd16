"""Tendons that run from the forearm to a palm over the joints of what carries it: lengths and Jacobian.

The palm is fixed on the first body of a tree, whose joint has n coordinates: pose and motion follow from the
tree's own kinematics, lengths as through the hand's own wrist (``mechanics.wrist``):

    h_i = | o + R p_palm,i - p_forearm,i |,    P_ik = n . v_k + (p_palm,i x n) . w_k,   n along the tendon
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Protocol

import numpy as np

from mechanics.dynamics.posture import place
from mechanics.dynamics.records import N_DOFS, TreeRecord, TreeWork
from mechanics.dynamics.tree import Tree
from mechanics.wrist import packed, tendon_vector
from signals.compiled import law
from signals.layout import FloatArray, Records, dtype_of
from signals.records import RecordArray, new
from signals.sizes import FINGER_JOINTS, TENDONS
from signals.typed import Model


class CarriedPalm(Protocol):
    """A palm on its carrier.

    frame: of the palm in the tree, -1: no tendon runs over the carrier's joints. R, o: pose in the forearm
    frame. S: its motion by coordinate, angular part first, palm axes.
    """

    frame: int
    R: Annotated[FloatArray, 3, 3]
    o: Annotated[FloatArray, 3]
    S: Annotated[FloatArray, 6, FINGER_JOINTS]
    length_m: Annotated[FloatArray, TENDONS]
    P_m: Annotated[FloatArray, TENDONS, FINGER_JOINTS]


PALM: Final = dtype_of(CarriedPalm)


@law
def place_palm(t: TreeRecord, w: TreeWork, c: CarriedPalm) -> None:
    """Pose and motion of the palm, after ``mechanics.dynamics.posture.place``."""
    E, r, f, S = w.E, w.r, c.frame, w.S
    A, p = t.frame_R, t.frame_p
    for a in range(3):
        c.o[a] = r[0, a] + E[0, a] * p[f, 0] + E[0, 3 + a] * p[f, 1] + E[0, 6 + a] * p[f, 2]
        for b in range(3):
            c.R[a, b] = E[0, a] * A[f, b] + E[0, 3 + a] * A[f, 3 + b] + E[0, 6 + a] * A[f, 6 + b]
    k = t.slot[0]
    for d in range(t.custom_dofs[k]):
        wx, wy, wz = S[k, 3, d], S[k, 4, d], S[k, 5, d]
        vx = S[k, 0, d] + wy * p[f, 2] - wz * p[f, 1]
        vy = S[k, 1, d] + wz * p[f, 0] - wx * p[f, 2]
        vz = S[k, 2, d] + wx * p[f, 1] - wy * p[f, 0]
        for b in range(3):
            c.S[b, d] = A[f, b] * wx + A[f, 3 + b] * wy + A[f, 6 + b] * wz
            c.S[3 + b, d] = A[f, b] * vx + A[f, 3 + b] * vy + A[f, 6 + b] * vz


@law
def carried_ways(m: Model, c: CarriedPalm, n: int) -> None:
    """Lengths [m] and Jacobian [m/rad] of all tendons by ``n`` coordinates, after ``place_palm``."""
    pose, S = packed(c.R, c.o), c.S
    for i in range(m.n_tendons):
        palm = m.palm_point_m[i]
        dx, dy, dz = tendon_vector(palm, m.forearm_point_m[i], pose)
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        nx, ny, nz = dx / length, dy / length, dz / length
        mx, my, mz = palm[1] * nz - palm[2] * ny, palm[2] * nx - palm[0] * nz, palm[0] * ny - palm[1] * nx
        c.length_m[i] = length
        for d in range(n):
            turn = mx * S[0, d] + my * S[1, d] + mz * S[2, d]
            c.P_m[i, d] = turn + nx * S[3, d] + ny * S[4, d] + nz * S[5, d]


@law
def _ways_at(
    tree: Records[TreeRecord],
    work: Records[TreeWork],
    model: Records[Model],
    palm: Records[CarriedPalm],
    q: FloatArray,
    n: int,
) -> None:
    place(tree[0], work[0], q, q)
    place_palm(tree[0], work[0], palm[0])
    carried_ways(model[0], palm[0], n)


def lengths_at(tree: Tree, frame: str, model: RecordArray, at: dict[str, float]) -> FloatArray:
    """Path lengths [m] over the carrier's joints in one pose of it, shape (T,).

    Args:
        tree: carrier and hand as one tree.
        frame: of the palm.
        model: the hand's, MODEL record, shape (1,).
        at: coordinates of the carrier.
    """
    palm, q = new(PALM), np.zeros(N_DOFS)
    palm["frame"] = tree.frame(frame)
    for name, value in at.items():
        q[tree.dof(name)] = value
    _ways_at(tree.record, tree.work(), model, palm, q, len(at))
    return np.array(palm["length_m"][0])
