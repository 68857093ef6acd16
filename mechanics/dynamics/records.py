"""The two records of tree dynamics: the frozen tree and the scratch of one evaluation.

Inside the laws every hinge turns about, and every slider moves along, the z axis of its own body frame: the
assembly (``tree.py``) turns the frames, ``frame_*`` remembers the frames that the user wrote. Spatial
vectors have the linear part first, as in the tree paper and in Pinocchio. A spatial inertia is 21 numbers:
linear block (xx xy xz yy yz zz), coupling block (3 x 3, rows linear), angular block (xx xy xz yy yz zz).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, Final, Protocol

from mechanics.carpal import CarpalRecord
from signals.layout import FloatArray, IntArray, dtype_of

N_BODIES: Final = 64
N_DOFS: Final = 64
N_FRAMES: Final = 96
N_CUSTOM: Final = 4
N_CUSTOM_DOFS: Final = 6
N_PARAMS: Final = 16


class JointKind(IntEnum):
    """How a body hangs on its parent."""

    REVOLUTE = 0
    PRISMATIC = 1
    CUSTOM = 2
    FIXED = 3
    """Merged into the parent when the tree is assembled; never seen by the laws."""


_B, _D, _F, _C, _K = N_BODIES, N_DOFS, N_FRAMES, N_CUSTOM, N_CUSTOM_DOFS


class TreeRecord(Protocol):
    """A tree; entries beyond the counts are 0."""

    n_bodies: int
    n_dofs: int
    n_frames: int
    n_customs: int
    parent: Annotated[IntArray, _B]  # -1: the world
    kind: Annotated[IntArray, _B]
    dof: Annotated[IntArray, _B]  # first coordinate of the body's joint
    coupled: Annotated[IntArray, _B]  # 1: shares the coordinate of its parent (two-body joint)
    parallel: Annotated[IntArray, _B]  # 1: frame parallel to the parent's at q = 0
    slot: Annotated[IntArray, _B]  # custom joint: its place in the custom_* fields, -1: none
    custom_law: Annotated[IntArray, _C]  # mechanics.dynamics.joint_laws.CustomLaw
    custom_dofs: Annotated[IntArray, _C]
    frame_body: Annotated[IntArray, _F]  # -1: fixed to the world
    ratio: Annotated[FloatArray, _B]  # joint angle per coordinate
    E0: Annotated[FloatArray, _B, 9]  # body from parent at q = 0, row by row
    r0: Annotated[FloatArray, _B, 3]  # origin in the parent at q = 0 [m]
    mass: Annotated[FloatArray, _B]  # [kg]
    moment: Annotated[FloatArray, _B, 3]  # mass times centre of mass [kg m]
    inertia: Annotated[FloatArray, _B, 6]  # about the origin [kg m2]
    custom_params: Annotated[FloatArray, _C, N_PARAMS]
    frame_R: Annotated[FloatArray, _F, 9]  # body from user's frame
    frame_p: Annotated[FloatArray, _F, 3]
    wrist_size_m: Annotated[FloatArray, 3]  # of the double inverted parallelogram joint, named as in MODEL
    gravity: Annotated[FloatArray, 3]  # [m/s2] in the world frame
    armature: Annotated[FloatArray, _D]  # inertia on the joint's own axis [kg m2 or kg]
    damping: Annotated[FloatArray, _D]  # [N m s/rad or N s/m]
    stiffness: Annotated[FloatArray, _D]  # [N m/rad or N/m]
    rest: Annotated[FloatArray, _D]  # [rad or m]
    lower: Annotated[FloatArray, _D]  # joint stops [rad or m]
    upper: Annotated[FloatArray, _D]
    stop_stiffness: Annotated[FloatArray, _D]
    stop_damping: Annotated[FloatArray, _D]


TREE: Final = dtype_of(TreeRecord)


class TreeWork(Protocol):
    """Scratch of one evaluation; every law names what it reads and writes."""

    E: Annotated[FloatArray, _B, 9]  # body from parent
    r: Annotated[FloatArray, _B, 3]  # origin in the parent
    w: Annotated[FloatArray, _B, 3]  # angular velocity, body frame
    C: Annotated[FloatArray, _B, 6]  # velocity product acceleration (the paper's C)
    b: Annotated[FloatArray, _B, 6]  # force bias, then articulated bias (the paper's beta)
    IA: Annotated[FloatArray, _B, 21]  # articulated inertia
    n: Annotated[FloatArray, _B, 6]  # the paper's n
    M: Annotated[FloatArray, _B]  # the paper's M, inverted in the inward sweep
    tau: Annotated[FloatArray, _B]  # the paper's tau^A
    a: Annotated[FloatArray, _B, 6]  # classical acceleration of the origin
    v: Annotated[FloatArray, _B, 3]  # velocity of the origin, body frame (energy only)
    R: Annotated[FloatArray, _B, 9]  # world from body (poses only)
    p: Annotated[FloatArray, _B, 3]  # origin in the world (poses only)
    S: Annotated[FloatArray, _C, 6, _K]  # custom joints: motion subspace in the body frame
    s: Annotated[FloatArray, _C, 6]  # custom joints: (dS/dt) qd
    U: Annotated[FloatArray, _C, 6, _K]  # custom joints: I_A S
    L: Annotated[FloatArray, _C, _K, _K]  # custom joints: Cholesky factor
    x: Annotated[FloatArray, _C, _K]  # custom joints: a right-hand side, then its solution
    y: Annotated[FloatArray, _C, _K]  # custom joints: tau^A - U^T C
    carpal: CarpalRecord  # custom joints of that law
    passive: Annotated[FloatArray, _D]  # torque of springs, dampers and stops
    arm: Annotated[FloatArray, _D]  # armature and the implicit diagonal


WORK: Final = dtype_of(TreeWork)
