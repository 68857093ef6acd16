"""Trees of rigid bodies from a file: the tree paper's structures and any other."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hand.file.values import Interval, Name, NonNegative, Positive, Vec3
from mechanics.dynamics.bodies import Body, Joint, TreeError, rod_inertia
from mechanics.dynamics.posture import frame_poses, place, world_poses
from mechanics.dynamics.records import JointKind, TreeRecord, TreeWork
from mechanics.dynamics.systems import Kind, System, parts_of
from mechanics.dynamics.tree import Tree, tree_of
from mechanics.frames import rotation_rpy
from signals.compiled import law
from signals.layout import FloatArray, Records
from signals.tables import Table
from sim.mechanisms.mechanism import Mechanism, Segment
from sim.mechanisms.tables import Direction, MechanismTable

Inertia = Annotated[tuple[float, ...], Field(min_length=3, max_length=6)]


HINGE_KEYS = (
    "armature_kg_m2",
    "stiffness_nm_rad",
    "damping_nms_rad",
    "rest_rad",
    "range_rad",
    "stop_stiffness_nm_rad",
    "stop_damping_nms_rad",
)
SLIDER_KEYS = (
    "armature_kg",
    "stiffness_n_m",
    "damping_ns_m",
    "rest_m",
    "range_m",
    "stop_stiffness_n_m",
    "stop_damping_ns_m",
)


class Rod(Table):
    """A slender uniform rod: gives its body mass and inertia, and a line in the picture."""

    mass_kg: Positive
    """Mass."""
    from_m: Vec3 = (0.0, 0.0, 0.0)
    """One end, in the body's frame."""
    to_m: Vec3
    """The other end."""


class BodyTable(Table):
    """A rigid body and the joint that holds it."""

    name: Name
    """Name of the body, and of its coordinate."""
    parent: Name = "world"
    """Body that it hangs on."""
    joint: Literal["revolute", "prismatic", "fixed"] = "revolute"
    """Kind of joint."""
    axis: Direction = (0.0, 0.0, 1.0)
    """Axis of the joint, in the body's frame."""
    position_m: Vec3 = (0.0, 0.0, 0.0)
    """Origin of the body (its joint) in the parent's frame."""
    rotation_rpy_deg: Vec3 = (0.0, 0.0, 0.0)
    """Rz(yaw) Ry(pitch) Rx(roll) from the parent's frame at zero."""
    coupled_ratio: float | None = None
    """Turns by ratio times the coordinate of the parent, which must be a hinge."""
    mass_kg: NonNegative = 0.0
    """Mass beside the rods."""
    com_m: Vec3 = (0.0, 0.0, 0.0)
    """Centre of this mass."""
    inertia_kg_m2: Inertia = (0.0, 0.0, 0.0)
    """About this centre: xx yy zz, or xx xy xz yy yz zz."""
    rods: tuple[Rod, ...] = ()
    """Slender rods."""
    armature_kg_m2: NonNegative = 0.0
    """Inertia of a rotor on a hinge."""
    stiffness_nm_rad: NonNegative = 0.0
    """Spring of a hinge."""
    damping_nms_rad: NonNegative = 0.0
    """Damper of a hinge."""
    rest_rad: float = 0.0
    """Where a hinge's spring is relaxed."""
    range_rad: Interval | None = None
    """Stops of a hinge."""
    stop_stiffness_nm_rad: NonNegative = 0.0
    """Stiffness of a hinge's stops."""
    stop_damping_nms_rad: NonNegative = 0.0
    """Damping of a hinge's stops."""
    armature_kg: NonNegative = 0.0
    """Inertia of a drive on a slider."""
    stiffness_n_m: NonNegative = 0.0
    """Spring of a slider."""
    damping_ns_m: NonNegative = 0.0
    """Damper of a slider."""
    rest_m: float = 0.0
    """Where a slider's spring is relaxed."""
    range_m: Interval | None = None
    """Stops of a slider."""
    stop_stiffness_n_m: NonNegative = 0.0
    """Stiffness of a slider's stops."""
    stop_damping_ns_m: NonNegative = 0.0
    """Damping of a slider's stops."""

    @model_validator(mode="after")
    def _units_of_its_joint(self) -> BodyTable:
        wrong = {"revolute": SLIDER_KEYS, "prismatic": HINGE_KEYS, "fixed": SLIDER_KEYS + HINGE_KEYS}
        for key in wrong[self.joint]:
            if key in self.model_fields_set:
                text = "no {key} at a {joint} joint; use the key with its unit"
                raise PydanticCustomError("joint_unit", text, {"key": key, "joint": self.joint})
        return self


class TreeFile(MechanismTable):
    """A tree of rigid bodies."""

    kind: Literal["tree"]
    """Kind of mechanism."""
    gravity_m_s2: Vec3
    """Gravity in the world frame."""
    body: Annotated[tuple[BodyTable, ...], Field(min_length=1)]
    """Bodies in any order."""


KINDS = {"revolute": JointKind.REVOLUTE, "prismatic": JointKind.PRISMATIC, "fixed": JointKind.FIXED}


def joint_of(b: BodyTable) -> Joint:
    """The joint of a table."""
    keys = SLIDER_KEYS if b.joint == "prismatic" else HINGE_KEYS
    armature, stiffness, damping, rest, span, stop_stiffness, stop_damping = (getattr(b, key) for key in keys)
    low, high = span if span is not None else (-math.inf, math.inf)
    return Joint(
        kind=KINDS[b.joint],
        axis=np.array(b.axis),
        parent_ratio=b.coupled_ratio,
        armature=armature,
        stiffness=stiffness,
        damping=damping,
        rest=rest,
        lower=low,
        upper=high,
        stop_stiffness=stop_stiffness,
        stop_damping=stop_damping,
    )


def matrix_of(values: tuple[float, ...], part: str) -> FloatArray:
    """Inertia matrix of three principal or six entries."""
    if len(values) == 3:
        return np.diag(values)
    if len(values) == 6:
        xx, xy, xz, yy, yz, zz = values
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    raise TreeError(part, f"{len(values)} inertia entries", "give xx yy zz, or xx xy xz yy yz zz")


def merged(parts: list[tuple[float, FloatArray, FloatArray]]) -> tuple[float, FloatArray, FloatArray]:
    """Mass, centre and inertia about it of several (mass, centre, inertia about it)."""
    mass = sum(p[0] for p in parts)
    if mass == 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3)) + sum(p[2] for p in parts)
    com = np.zeros(3) + sum(m * c for m, c, _ in parts) / mass
    inertia = np.zeros((3, 3))
    for m, c, about in parts:
        d = c - com
        inertia += about + m * (d @ d * np.eye(3) - np.outer(d, d))
    return mass, com, inertia


def body_of(b: BodyTable) -> Body:
    """The body of a table."""
    part = f"body {b.name!r}"
    parts = [(b.mass_kg, np.array(b.com_m), matrix_of(b.inertia_kg_m2, part))]
    for rod in b.rods:
        start, end = np.array(rod.from_m), np.array(rod.to_m)
        length = float(np.linalg.norm(end - start))
        if length == 0.0:
            raise TreeError(part, "a rod has no length", "give two different ends")
        parts.append((rod.mass_kg, 0.5 * (start + end), rod_inertia(rod.mass_kg, length, end - start)))
    mass, com, inertia = merged(parts)
    return Body(
        name=b.name,
        parent=None if b.parent == "world" else b.parent,
        joint=joint_of(b),
        R_PB=rotation_rpy([math.radians(a) for a in b.rotation_rpy_deg]),
        p_PB_m=np.array(b.position_m),
        mass_kg=mass,
        com_m=com,
        inertia_kg_m2=inertia,
    )


@law
def _poses(
    tree: Records[TreeRecord], work: Records[TreeWork], q: FloatArray, R: FloatArray, p: FloatArray
) -> None:
    t, w = tree[0], work[0]
    place(t, w, q, q)
    world_poses(t, w)
    frame_poses(t, w, R, p)


def poses(tree: Tree, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """World poses of all bodies: R (nf, 3, 3), p (nf, 3) [m]."""
    R, p = np.zeros((len(tree.frames), 3, 3)), np.zeros((len(tree.frames), 3))
    _poses(tree.record, tree.work(), np.ascontiguousarray(q, dtype=np.float64), R, p)
    return R, p


def system_of(tree: Tree) -> System:
    """A tree as a system."""
    return System(Kind.TREE, parts_of(tree=tree.record), tree.dofs, tree.sliders, tree.frames)


def lines_of(file: TreeFile, tree: Tree, q: FloatArray) -> list[Segment]:
    """Rods, and a line from the parent's origin to each body that no rod reaches."""
    R, p = poses(tree, q)
    out: list[Segment] = []
    tables = {b.name: b for b in file.body}
    for f, name in enumerate(tree.frames):
        for rod in tables[name].rods:
            out.append((name, np.array([p[f] + R[f] @ np.array(e) for e in (rod.from_m, rod.to_m)])))
        parent = tree.parents[f]
        bare = parent >= 0 and not tables[tree.frames[parent]].rods
        if bare:
            out.append((tree.frames[parent], np.array([p[parent], p[f]])))
    return out


def tree_mechanism(file: TreeFile) -> Mechanism:
    """Assemble a tree file.

    Raises:
        TreeError: names the body and what to change.
    """
    tree = tree_of([body_of(b) for b in file.body], file.gravity_m_s2)
    return Mechanism.of(file, system_of(tree), lambda q: lines_of(file, tree, q))
