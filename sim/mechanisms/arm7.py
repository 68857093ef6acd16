"""Serial arms by Denavit-Hartenberg tables, in Lagrange's form and as a tree for the articulated-body method.

Joint i turns about z of frame i-1; link data stand in frame i. The tree's body i has its origin on that axis,
the link frame hangs on it as a fixed body, so that loads and link data stay in the paper's frames.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hand.file.values import Interval, Name, NonNegative, Positive, Vec3
from mechanics.arm import ARM, N_LINKS, dh_transform, pseudo_inertia
from mechanics.dynamics.bodies import Body, Joint, TreeError
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.systems import Kind, System, parts_of
from mechanics.dynamics.tree import Tree, tree_of
from mechanics.frames import rotation
from signals.layout import FloatArray
from signals.tables import Table
from sim.mechanisms.mechanism import Mechanism, Segment
from sim.mechanisms.tables import MechanismTable
from sim.mechanisms.trees import Inertia, matrix_of, poses, system_of


class Link(Table):
    """One joint and the link behind it."""

    name: Name
    """Name of the coordinate."""
    a_m: float
    """Length of the common normal."""
    alpha_deg: float
    """Twist."""
    d_m: float
    """Offset along the joint axis."""
    offset_deg: float = 0.0
    """Joint angle of the table at q = 0."""
    mass_kg: Positive
    """Mass."""
    com_m: Vec3
    """Centre of mass in the link frame."""
    inertia_kg_m2: Inertia
    """About the centre of mass, link frame: xx yy zz, or xx xy xz yy yz zz."""
    damping_nms_rad: NonNegative = 0.0
    """Joint damper."""
    stiffness_nm_rad: NonNegative = 0.0
    """Joint spring."""
    rest_rad: float = 0.0
    """Where the spring is relaxed."""
    range_deg: Interval | None = None
    """Joint stops."""
    torque_limit_nm: Positive | None = None
    """What the motor gives."""


class ArmFile(MechanismTable):
    """A serial arm."""

    kind: Literal["arm"]
    """Kind of mechanism."""
    form: Literal["tree", "lagrange"] = "tree"
    """Equations that run: articulated bodies (joint stops included), or Lagrange's with pseudo-inertias."""
    gravity_m_s2: Vec3
    """Gravity in the base frame."""
    stop_stiffness_nm_rad: NonNegative = 0.0
    """Stiffness of the joint stops."""
    stop_damping_nms_rad: NonNegative = 0.0
    """Damping of the joint stops."""
    link: Annotated[tuple[Link, ...], Field(min_length=1, max_length=N_LINKS)]
    """Links from the base to the hand."""


def arm_record(file: ArmFile) -> NDArray[Any]:
    """The arm's record for Lagrange's form, shape (1,)."""
    arm = np.zeros(1, dtype=ARM)
    m = arm[0]
    m["n"], m["gravity_m_s2"] = len(file.link), file.gravity_m_s2
    for i, link in enumerate(file.link):
        m["a_m"][i], m["d_m"][i] = link.a_m, link.d_m
        m["alpha_rad"][i], m["offset_rad"][i] = math.radians(link.alpha_deg), math.radians(link.offset_deg)
        inertia = matrix_of(link.inertia_kg_m2, f"link {link.name!r}")
        m["pseudo"][i] = pseudo_inertia(link.mass_kg, np.array(link.com_m), inertia)
        m["damping_nms_rad"][i], m["stiffness_nm_rad"][i] = link.damping_nms_rad, link.stiffness_nm_rad
        m["rest_rad"][i] = link.rest_rad
    return arm


def arm_bodies(file: ArmFile, parent: str | None = None) -> list[Body]:
    """Bodies of the arm: per link the moving body, and its frame (``<name>_frame``) fixed to it."""
    bodies: list[Body] = []
    for link in file.link:
        low, high = link.range_deg if link.range_deg is not None else (-math.inf, math.inf)
        frame = dh_transform(link.a_m, math.radians(link.alpha_deg), link.d_m, 0.0)
        joint = Joint(
            kind=JointKind.REVOLUTE,
            stiffness=link.stiffness_nm_rad,
            damping=link.damping_nms_rad,
            rest=link.rest_rad,
            lower=math.radians(low),
            upper=math.radians(high),
            stop_stiffness=file.stop_stiffness_nm_rad,
            stop_damping=file.stop_damping_nms_rad,
        )
        turn = rotation((0.0, 0.0, 1.0), math.radians(link.offset_deg))
        bodies.append(Body(name=link.name, parent=parent, joint=joint, R_PB=turn))
        parent = f"{link.name}_frame"
        bodies.append(
            Body(
                name=parent,
                parent=link.name,
                R_PB=frame[:3, :3],
                p_PB_m=frame[:3, 3],
                mass_kg=link.mass_kg,
                com_m=np.array(link.com_m),
                inertia_kg_m2=matrix_of(link.inertia_kg_m2, f"link {link.name!r}"),
            )
        )
    return bodies


def check_links(file: ArmFile) -> None:
    """Refuse link data that no link has; raises ``TreeError``."""
    names = [link.name for link in file.link]
    for name in names:
        if names.count(name) > 1:
            raise TreeError(f"link {name!r}", "is there twice", "give every link its own name")


def chain_lines(tree: Tree, names: Sequence[str], q: FloatArray) -> list[Segment]:
    """Lines from frame to frame of an arm within a tree."""
    _, p = poses(tree, q)
    points = [p[tree.frame(n)] for n in names]
    frames = [p[tree.frame(f"{n}_frame")] for n in names]
    return [(n, np.array([a, b])) for n, a, b in zip(names, points, frames, strict=True)]


def arm_mechanism(file: ArmFile) -> Mechanism:
    """Assemble an arm file.

    Raises:
        TreeError: link data that no link has.
    """
    check_links(file)
    tree = tree_of(arm_bodies(file), file.gravity_m_s2)
    names = tuple(link.name for link in file.link)
    if file.form == "tree":
        system = system_of(tree)
    else:
        parts = parts_of(arm=arm_record(file))
        system = System(Kind.ARM, parts, names, (False,) * len(names), (f"{names[-1]}_frame",))
    return Mechanism.of(file, system, lambda q: chain_lines(tree, names, q))
