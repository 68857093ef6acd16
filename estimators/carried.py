"""Path lengths of a carried hand's tendons over the joints of its carrier, from that one's joint sensors."""

from __future__ import annotations

from typing import Annotated, Final, Protocol

from mechanics.carried import CarriedPalm, carried_ways, place_palm
from mechanics.dynamics.posture import place
from mechanics.dynamics.records import N_DOFS, TreeRecord, TreeWork
from signals.compiled import law
from signals.layout import FloatArray, IntArray, Records, dtype_of
from signals.sizes import JOINTS
from signals.typed import Model, State


class CarriedMemory(Protocol):
    """Memory of the estimator.

    finger: that the carrier is in the records; joint_dof, home_rad: by joint, coordinate of the tree and its
    value where the joint's angle is 0.
    """

    finger: int
    joint_dof: Annotated[IntArray, JOINTS]
    home_rad: Annotated[FloatArray, JOINTS]
    tree_q: Annotated[FloatArray, N_DOFS]
    palm: CarriedPalm


MEMORY: Final = dtype_of(CarriedMemory)


@law
def carried_lengths(
    tree: Records[TreeRecord],
    work: Records[TreeWork],
    own: Records[Model],
    model: Records[Model],
    memory: Records[CarriedMemory],
    state: Records[State],
) -> None:
    """Lengths over the carrier's joints minus those at its home into ``state.wrist_length_m``.

    As those through a hand's own wrist, which it takes the place of: a hand without axes leaves them alone.

    Args:
        tree: carrier and hand as one tree.
        work: its scratch.
        own: the hand's own model, shape (1,).
        model: of the whole limb, shape (1,).
        memory: ``MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,), with the carrier's joint angles.
    """
    m, mem, s = model[0], memory[0], state[0]
    for k in range(m.finger_n_joints[mem.finger]):
        j = m.finger_joint[mem.finger, k]
        mem.tree_q[mem.joint_dof[j]] = mem.home_rad[j] + s.joint_angle_rad[j]
    place(tree[0], work[0], mem.tree_q, mem.tree_q)
    place_palm(tree[0], work[0], mem.palm)
    carried_ways(own[0], mem.palm, m.finger_n_joints[mem.finger])
    used = 1.0 if own[0].use_wrist != 0 else 0.0
    for t in range(own[0].n_tendons):
        s.wrist_length_m[t] = used * (mem.palm.length_m[t] - own[0].wrist_neutral_length_m[t])
