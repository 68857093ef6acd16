"""Tables of fingers, palm, forearm and object of a hand file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hand.file.values import (
    Count,
    Fraction,
    InertiaDiagonal,
    InertiaTensor,
    Interval,
    Name,
    NonNegative,
    Point,
    Positive,
    Ratio,
    UnitVec3,
    Vec3,
    left_out,
)
from signals.tables import Table

CHAIN_BONES = ("cross", "proximal", "middle", "distal")


class JointSpring(Table):
    """A spring across a joint (a flexure, a skin): torque = -stiffness (angle - rest)."""

    stiffness_nm_rad: Positive
    """Torque per angle."""
    rest_deg: float
    """Joint angle at which it gives no torque; may lie beyond the range."""


class Mesh(Table):
    """What a body looks like, for pictures: a mesh in the place of a capsule."""

    file: Annotated[str, Field(min_length=1)]
    """STL, OBJ, PLY or GLB; a path from the folder of the hand file."""
    scale: Positive = 1.0
    """Metres of one unit of the mesh: 0.001 where it counts millimetres."""
    position_m: Vec3 = (0.0, 0.0, 0.0)
    """Origin of the mesh in the body's frame."""
    rpy_deg: Vec3 = (0.0, 0.0, 0.0)
    """Orientation of the mesh in the body's frame: R = Rz(yaw) Ry(pitch) Rx(roll)."""


class Body(Table):
    """A body of the hand."""

    mesh: Annotated[Mesh | None, Field(exclude_if=left_out)] = None
    """Left out: it is drawn as a capsule, and the file keeps its hash."""


class Joint(Table):
    """One joint coordinate; 0 is the straight finger, positive is flexion (abduction: ulnar)."""

    name: Name
    """Name, unique in the hand."""
    role: Name
    """What it is for, in a word; motions select joints by it. Ours: abduction, flexion, pip, dip."""
    range_deg: Interval
    """Range [lower, upper]."""
    viscous_nms_rad: NonNegative
    """Viscous friction of the coordinate."""
    coulomb_nm: NonNegative
    """Coulomb friction of the coordinate."""
    impedance_nm_rad: NonNegative
    """Default impedance gain."""
    damping_nms_rad: NonNegative
    """Default damping gain."""
    spring: Annotated[JointSpring | None, Field(exclude_if=left_out)] = None
    """Left out: none, and the file keeps its hash."""

    @model_validator(mode="after")
    def _straight_inside(self) -> Joint:
        if not self.range_deg[0] <= 0.0 <= self.range_deg[1]:
            raise PydanticCustomError("straight", "a range_deg that contains 0, the straight finger")
        return self


class Bone(Body):
    """One body of a chain: the joint coordinate that turns it, its size and its mass."""

    name: Literal["cross", "proximal", "middle", "distal"]
    """Place in the chain of Table 5.1."""
    joint: Name
    """Joint coordinate that turns it."""
    ratio: Positive
    """Its angle per coordinate; 1 but for the second body of a coupled joint."""
    length_m: NonNegative
    """To the next joint, or to the fingertip, along x."""
    offset_z_m: float
    """The same along the flexion axis."""
    mass_kg: Positive
    """Mass."""
    com_fraction: Fraction
    """Centre of mass as a share of the length."""
    inertia_diag_kg_m2: InertiaDiagonal
    """Inertia about the centre of mass, x along the bone."""


class InsertionSet(Table):
    """Insertion points of the base tendons (Table 5.2)."""

    palm_m: dict[Point, Vec3]
    """Points in frame {10}, by letter."""
    bone_m: dict[Point, Vec3]
    """Points in frame {12}, by letter."""


class FourBar(Table):
    """Planar four-bar linkage of a metacarpal, which is its crank."""

    ground_m: Positive
    """Fixed bar."""
    crank_m: Positive
    """Driven bar."""
    coupler_m: Positive
    """Bar between crank and rocker."""
    rocker_m: Positive
    """Third bar."""
    neutral_crank_deg: float
    """Crank angle of the neutral hand."""
    tendons_on: Annotated[Literal["rocker"] | None, Field(exclude_if=left_out)] = None
    """``rocker``: the joint's tendons wind on the rocker, their lever arms at joint angle 0 are those of
    ``dh_dq_m_rad``; left out: on the metacarpal itself, and the linkage is a function beside the model."""


class _FingerBase(Table):
    number: Annotated[Count | None, Field(exclude_if=left_out)] = None
    """Number in the paper's joint names (q2x is the index)."""
    parent: Name
    """``palm``, or the finger of kind hinge or tree that carries this one, with its last bone."""
    reaction: Literal["release", "hold", "freeze"]
    """What the finger does after one of its faults."""
    residual_limit_m: Positive
    """Contradiction of its tendon lengths, rms, that latches a fault."""
    joints: Annotated[tuple[Joint, ...], Field(min_length=1)]
    """Joint coordinates, proximal first."""


class ChainFinger(_FingerBase):
    """Finger with the chain of Table 5.1: base cross, proximal, middle and distal bone."""

    kind: Literal["chain", "tensegrity_base"]
    """``chain``: pulleys everywhere; ``tensegrity_base``: base tendons run straight between points."""
    base_position_m: Vec3
    """Origin in the parent's frame."""
    base_rpy_deg: Vec3
    """Orientation in the parent's frame: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    bones: tuple[Bone, Bone, Bone, Bone]
    """Cross, proximal, middle, distal."""
    insertion_set: Name | None = None
    """Which of the insertion sets is built in (tensegrity_base)."""
    insertions: dict[Name, InsertionSet] | None = None
    """Insertion sets by name (tensegrity_base)."""

    @property
    def coupled_ratio(self) -> float | None:
        """Distal angle per middle angle where one coordinate turns both, else None."""
        return self.bones[3].ratio if self.bones[3].joint == self.bones[2].joint else None


class HingeFinger(_FingerBase, Body):
    """One body on one hinge (the fifth finger's metacarpal)."""

    kind: Literal["hinge"]
    """One hinge."""
    joints: tuple[Joint]
    """Its one joint coordinate."""
    position_m: Vec3
    """Origin of the hinge in the parent's frame."""
    axis: UnitVec3
    """Axis of the hinge in the parent's frame."""
    mass_kg: Positive
    """Mass."""
    com_m: Vec3
    """Centre of mass."""
    inertia_diag_kg_m2: InertiaDiagonal
    """Inertia about the centre of mass."""
    four_bar: FourBar | None = None
    """The linkage behind the hinge."""


class TreeBone(Body):
    """One body of a tree: what carries it, where, the joint that turns it about which axis, its mass."""

    name: Name
    """Name, unique in the finger."""
    parent: Name | None = None
    """Bone that carries it, listed before it; left out: the bone before, or what carries the finger."""
    joint: Name | None = None
    """Joint of the finger that turns it; left out: fixed to its parent."""
    ratio: Ratio = 1.0
    """Its angle per angle of the joint: 1 but where one joint turns several bones."""
    position_m: Vec3
    """Origin in the parent's frame, on the axis."""
    rpy_deg: Vec3 = (0.0, 0.0, 0.0)
    """Orientation in the parent's frame at joint angle 0: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    axis: UnitVec3 = (0.0, 0.0, 1.0)
    """Axis in the bone's frame."""
    mass_kg: Positive
    """Mass."""
    com_m: Vec3
    """Centre of mass in the bone's frame."""
    inertia_kg_m2: InertiaTensor
    """Inertia about the centre of mass, bone's frame: xx, yy, zz, xy, xz, yz."""


class TreeFinger(_FingerBase):
    """Any tree of bones on hinges with free axes; a wrist of ordinary joints too."""

    kind: Literal["tree"]
    """A tree of bones."""
    bones: Annotated[tuple[TreeBone, ...], Field(min_length=1)]
    """Bones, each after its parent."""
    tip_m: Vec3 | None = None
    """Fingertip in the last bone's frame; left out: it has none."""


Finger = Annotated[ChainFinger | HingeFinger | TreeFinger, Field(discriminator="kind")]


class Palm(Body):
    """The palm: body 0."""

    mass_kg: Positive
    """Mass."""
    com_m: Vec3
    """Centre of mass in the palm frame (x distal, y ulnar, z palmar)."""
    inertia_diag_kg_m2: InertiaDiagonal
    """Inertia about the centre of mass."""


class Forearm(Table):
    """The forearm; fixed in space."""

    mass_kg: Positive
    """Mass; for people, not in the model."""


class Object(Table):
    """Compliant object that the plant can put in front of the fingers."""

    shape: Literal["sphere"]
    """Shape."""
    radius_m: Positive
    """Radius."""
    center_palm_m: Vec3
    """Centre in the palm frame."""
    stiffness_n_m: Positive
    """Contact stiffness."""
    damping_ns_m: NonNegative
    """Contact damping."""
    friction: NonNegative
    """Friction coefficient."""
    mass_kg: Positive
    """Mass."""
