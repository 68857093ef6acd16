"""The two records of tree dynamics: the frozen tree and the scratch of one evaluation.

Inside the laws every hinge turns about, and every slider moves along, the z axis of its own body frame: the
assembly (``tree.py``) turns the frames, ``frame_*`` remembers the frames that the user wrote. Spatial
vectors have the linear part first, as in the tree paper and in Pinocchio. A spatial inertia is 21 numbers:
linear block (xx xy xz yy yz zz), coupling block (3 x 3, rows linear), angular block (xx xy xz yy yz zz).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np

from mechanics.carpal import CARPAL

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

TREE: Final = np.dtype(
    [
        ("n_bodies", "i8"),
        ("n_dofs", "i8"),
        ("n_frames", "i8"),
        ("n_customs", "i8"),
        ("parent", "i8", (_B,)),  # -1: the world
        ("kind", "i8", (_B,)),
        ("dof", "i8", (_B,)),  # first coordinate of the body's joint
        ("coupled", "i8", (_B,)),  # 1: shares the coordinate of its parent (two-body joint)
        ("parallel", "i8", (_B,)),  # 1: frame parallel to the parent's at q = 0
        ("slot", "i8", (_B,)),  # custom joint: its place in the custom_* fields, -1: none
        ("custom_law", "i8", (_C,)),  # mechanics.dynamics.joint_laws.CustomLaw
        ("custom_dofs", "i8", (_C,)),
        ("frame_body", "i8", (_F,)),  # -1: fixed to the world
        ("ratio", "f8", (_B,)),  # joint angle per coordinate
        ("E0", "f8", (_B, 9)),  # body from parent at q = 0, row by row
        ("r0", "f8", (_B, 3)),  # origin in the parent at q = 0 [m]
        ("mass", "f8", (_B,)),  # [kg]
        ("moment", "f8", (_B, 3)),  # mass times centre of mass [kg m]
        ("inertia", "f8", (_B, 6)),  # about the origin [kg m2]
        ("custom_params", "f8", (_C, N_PARAMS)),
        ("frame_R", "f8", (_F, 9)),  # body from user's frame
        ("frame_p", "f8", (_F, 3)),
        ("wrist_size_m", "f8", (3,)),  # of the double inverted parallelogram joint, named as in MODEL
        ("gravity", "f8", (3,)),  # [m/s2] in the world frame
        ("armature", "f8", (_D,)),  # inertia on the joint's own axis [kg m2 or kg]
        ("damping", "f8", (_D,)),  # [N m s/rad or N s/m]
        ("stiffness", "f8", (_D,)),  # [N m/rad or N/m]
        ("rest", "f8", (_D,)),  # [rad or m]
        ("lower", "f8", (_D,)),  # joint stops [rad or m]
        ("upper", "f8", (_D,)),
        ("stop_stiffness", "f8", (_D,)),
        ("stop_damping", "f8", (_D,)),
    ],
    align=True,
)
"""A tree; entries beyond the counts are 0."""

WORK: Final = np.dtype(
    [
        ("E", "f8", (_B, 9)),  # body from parent
        ("r", "f8", (_B, 3)),  # origin in the parent
        ("w", "f8", (_B, 3)),  # angular velocity, body frame
        ("C", "f8", (_B, 6)),  # velocity product acceleration (the paper's C)
        ("b", "f8", (_B, 6)),  # force bias, then articulated bias (the paper's beta)
        ("IA", "f8", (_B, 21)),  # articulated inertia
        ("n", "f8", (_B, 6)),  # the paper's n
        ("M", "f8", (_B,)),  # the paper's M, inverted in the inward sweep
        ("tau", "f8", (_B,)),  # the paper's tau^A
        ("a", "f8", (_B, 6)),  # classical acceleration of the origin
        ("v", "f8", (_B, 3)),  # velocity of the origin, body frame (energy only)
        ("R", "f8", (_B, 9)),  # world from body (poses only)
        ("p", "f8", (_B, 3)),  # origin in the world (poses only)
        ("S", "f8", (_C, 6, _K)),  # custom joints: motion subspace in the body frame
        ("s", "f8", (_C, 6)),  # custom joints: (dS/dt) qd
        ("U", "f8", (_C, 6, _K)),  # custom joints: I_A S
        ("L", "f8", (_C, _K, _K)),  # custom joints: Cholesky factor
        ("x", "f8", (_C, _K)),  # custom joints: a right-hand side, then its solution
        ("y", "f8", (_C, _K)),  # custom joints: tau^A - U^T C
        ("carpal", CARPAL),  # custom joints of that law
        ("passive", "f8", (_D,)),  # torque of springs, dampers and stops
        ("arm", "f8", (_D,)),  # armature and the implicit diagonal
    ],
    align=True,
)
"""Scratch of one evaluation; every law names what it reads and writes."""
