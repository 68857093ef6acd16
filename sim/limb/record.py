"""The limb's own state: joints of what carries the hand, and the equations of the tree that both are.

Coordinates of the limb: the hand's wrist axes first, its joints, then the joints of the carrier. In the
elimination the axes are the root, the carrier's joints follow, and the fingers hang on the last of them: so
a drive that prescribes the axes' accelerations finds all others eliminated.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

import numpy as np

from mechanics.carried import CarriedPalm
from mechanics.dynamics.records import N_DOFS
from mechanics.dynamics.tree import Tree
from mechanics.handlayout import COORDINATES, HandtreeWork
from signals.layout import FloatArray, IntArray, dtype_of
from signals.names import HandNames
from signals.records import RecordArray
from signals.sizes import FINGER_JOINTS, JOINTS, MOTORS
from sim.mechanisms.cycle import MechanismPlant


class LimbRecord(MechanismPlant, Protocol):
    """State and scratch of one limb, shape (1,); ``n`` and what follows it are the carrier's.

    ``braked``: the drive gives no current, and its brake, a damper of ``brake_nms_rad``, is on.
    """

    q: Annotated[FloatArray, FINGER_JOINTS]
    qd: Annotated[FloatArray, FINGER_JOINTS]
    torque_nm: Annotated[FloatArray, MOTORS]
    braked: Annotated[IntArray, FINGER_JOINTS]
    brake_nms_rad: Annotated[FloatArray, FINGER_JOINTS]
    damping_nms_rad: Annotated[FloatArray, FINGER_JOINTS]  # of the brakes that are on
    palm: CarriedPalm
    # layout
    layout: HandtreeWork  # tree of the coordinates: of its fields only those that ``factor`` reads
    dof: Annotated[IntArray, COORDINATES]  # coordinate of the tree
    branch: Annotated[IntArray, JOINTS]  # of a joint in the plant's branches
    place: Annotated[IntArray, JOINTS]
    # scratch, in the order of the tree
    tree_q: Annotated[FloatArray, N_DOFS]
    tree_qd: Annotated[FloatArray, N_DOFS]
    rest: Annotated[FloatArray, N_DOFS]  # zeros
    bias: Annotated[FloatArray, N_DOFS]
    explicit: Annotated[FloatArray, N_DOFS]
    M: Annotated[FloatArray, N_DOFS, N_DOFS]
    # scratch, in the order of the coordinates
    A: Annotated[FloatArray, COORDINATES, COORDINATES]
    x: Annotated[FloatArray, COORDINATES]


LIMB: Final = dtype_of(LimbRecord)


class LimbError(ValueError):
    """A hand and a mechanism that make no limb."""


def new_limb(tree: Tree, names: HandNames, carrier: tuple[str, ...], plant: RecordArray) -> Any:
    """A limb record, shape (1,), laid out for a tree.

    Args:
        tree: carrier and hand as one tree.
        names: of the hand.
        carrier: coordinates of what carries it, base first.
        plant: the hand's plant in its start pose, with its branches.

    Raises:
        LimbError: the carrier has more joints than the records have room for.
    """
    if not 1 <= len(carrier) <= FINGER_JOINTS or len(names.joints) + len(carrier) > JOINTS:
        raise LimbError(
            f"{len(carrier)} joints carry a hand of {len(names.joints)}; legal: 1 to {FINGER_JOINTS}, and "
            f"{JOINTS} with the hand's"
        )
    limb = np.zeros(1, dtype=LIMB)
    g = limb[0]
    order = (*names.axes, *names.joints, *carrier)
    na, nj, n = len(names.axes), len(names.joints), len(carrier)
    g["n"] = g["n_motors"] = n
    g["braked"] = 1
    g["palm"]["frame"] = -1
    g["layout"]["n_coords"] = len(order)
    g["dof"][: len(order)] = [tree.dof(name) for name in order]
    first = na + nj
    chain = [-1, *range(na), *range(first, first + n)]
    for k in range(na + n):
        g["layout"]["coord_parent"][chain[k + 1]] = chain[k]
    fingers = _hang_fingers(g, plant[0], na, first + n - 1)
    g["layout"]["coord_order"][: len(order)] = [*chain[1:], *fingers]
    return limb


def _hang_fingers(g: Any, p: Any, na: int, last: int) -> list[int]:
    """Joints of each branch of the plant one after the other, the first one on coordinate ``last``."""
    hung: list[int] = []
    for b in range(int(p["n_branches"])):
        parent = last
        for x in range(int(p["branch_joints"][b])):
            j = int(p["branch_joint"][b, x])
            g["branch"][j], g["place"][j] = b, x
            g["layout"]["coord_parent"][na + j] = parent
            parent = na + j
            hung.append(parent)
    return hung
