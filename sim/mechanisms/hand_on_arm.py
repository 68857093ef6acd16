"""The hand on the arm as one tree: arm links, the hand's wrist as a two-coordinate joint, palm and fingers.

The hand's own wrist takes the place of the arm's last joints. Tendons do not appear: springs and dampers at
the finger joints stand for them (a pretensioned hand at rest), for the dynamics of the whole limb.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from hand.file.values import Name, NonNegative, Vec3
from mechanics.dynamics.bodies import Body, Joint, TreeError
from mechanics.dynamics.joint_laws import CustomLaw
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.tree import Tree, tree_of
from mechanics.frames import rotation_rpy
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import RecordArray
from signals.tables import Table
from sim.mechanisms.arm7 import ArmFile, arm_bodies, chain_lines
from sim.mechanisms.mechanism import Mechanism, Segment
from sim.mechanisms.tables import MechanismTable
from sim.mechanisms.trees import poses, system_of


class Place(Table):
    """Where something stands on something else."""

    position_m: Vec3
    """Origin."""
    rotation_rpy_deg: Vec3
    """Rz(yaw) Ry(pitch) Rx(roll)."""

    def rotation(self) -> FloatArray:
        """Axes of what stands there, shape (3, 3)."""
        return rotation_rpy(np.radians(self.rotation_rpy_deg))


class Mount(Place):
    """Where the hand's forearm frame {0} sits, in the frame of a link."""

    link: Name
    """Last link of the arm that stays; the hand's wrist replaces what follows."""


class FingerSprings(Table):
    """What stands for tendons."""

    joint_stiffness_nm_rad: NonNegative
    """At every finger joint."""
    joint_rest_rad: float
    """Where they are relaxed; abduction at 0."""


class Springs(FingerSprings):
    """What stands for tendons and wrist drive."""

    wrist_stiffness_nm_rad: NonNegative
    """At both wrist axes, relaxed in neutral."""
    wrist_damping_nms_rad: NonNegative
    """At both wrist axes."""


class HandOnArmFile(MechanismTable):
    """A hand file on an arm file."""

    kind: Literal["hand_on_arm"]
    """Kind of mechanism."""
    hand: Annotated[str, Field(min_length=1)]
    """Hand file: a shipped name or a path."""
    arm: Annotated[str, Field(min_length=1)]
    """Arm file: a shipped name or a path."""
    mount: Mount
    """Where the hand sits."""
    springs: Springs
    """Springs and dampers."""


def hand_bodies(model: RecordArray, names: HandNames, springs: Springs, parent: str | None) -> list[Body]:
    """Bodies of a hand's model record, the palm hung on ``parent`` by its wrist (fixed without a wrist)."""
    m = model[0]
    labels: list[str] = []
    bodies: list[Body] = []
    for b in range(int(m["n_bodies"])):
        up, j = int(m["body_parent"][b]), int(m["body_joint"][b])
        owner = up >= 0 and j >= 0 and int(m["body_joint"][up]) == j
        if b == 0:
            labels.append("palm")
            joint = wrist_joint(m, names, springs)
        else:
            labels.append(
                f"body_{b}" if j < 0 else f"{names.joints[j]}_coupled" if owner else names.joints[j]
            )
            joint = finger_joint(m, b, j, owner, names, springs)
        bodies.append(
            Body(
                name=labels[b],
                parent=parent if b == 0 else labels[up],
                joint=joint,
                R_PB=np.eye(3) if b == 0 else m["body_rotation"][b],
                p_PB_m=np.zeros(3) if b == 0 else m["body_origin_m"][b],
                mass_kg=float(m["body_mass_kg"][b]),
                com_m=m["body_com_m"][b],
                inertia_kg_m2=m["body_inertia_kg_m2"][b],
            )
        )
    return bodies


def wrist_joint(m: Any, names: HandNames, springs: Springs) -> Joint:
    """The hand's wrist as a joint with its two axes as coordinates."""
    if len(names.axes) != 2:
        return Joint()
    return Joint(
        kind=JointKind.CUSTOM,
        coordinates=names.axes,
        custom_law=int(CustomLaw.DOUBLE_PARALLELOGRAM),
        params=tuple(float(v) for v in m["wrist_size_m"]),
        stiffness=springs.wrist_stiffness_nm_rad,
        damping=springs.wrist_damping_nms_rad,
    )


def finger_joint(m: Any, b: int, j: int, coupled: bool, names: HandNames, springs: Springs) -> Joint:
    """Hinge of body ``b`` with the hand's ranges, stops and viscous friction; a ratio if it is coupled."""
    if j < 0:
        return Joint()
    if coupled:
        return Joint(kind=JointKind.REVOLUTE, axis=m["body_axis"][b], parent_ratio=float(m["body_ratio"][b]))
    return Joint(
        kind=JointKind.REVOLUTE,
        axis=m["body_axis"][b],
        stiffness=springs.joint_stiffness_nm_rad,
        rest=0.0 if names.joint_roles[j] == "abduction" else springs.joint_rest_rad,
        damping=float(m["joint_viscous_nms_rad"][j]),
        lower=float(m["joint_min_rad"][j]),
        upper=float(m["joint_max_rad"][j]),
        stop_stiffness=float(m["stop_stiffness_nm_rad"]),
        stop_damping=float(m["stop_damping_nms_rad"]),
    )


def limb_bodies(file: HandOnArmFile, arm: ArmFile, model: RecordArray, names: HandNames) -> list[Body]:
    """Arm links up to the mount, the forearm's frame, palm and fingers.

    Raises:
        TreeError: the mount names a link that the arm does not have.
    """
    links = [link.name for link in arm.link]
    if file.mount.link not in links:
        raise TreeError(f"mount {file.mount.link!r}", "the arm has no such link", f"use one of {links}")
    kept = arm_bodies(arm)[: 2 * (links.index(file.mount.link) + 1)]
    forearm = Body(
        name="forearm",
        parent=f"{file.mount.link}_frame",
        R_PB=file.mount.rotation(),
        p_PB_m=np.array(file.mount.position_m),
    )
    return [*kept, forearm, *hand_bodies(model, names, file.springs, "forearm")]


def limb_tree(file: HandOnArmFile, arm: ArmFile, model: RecordArray, names: HandNames) -> Tree:
    """The whole limb; raises ``TreeError`` as ``limb_bodies``."""
    tree = tree_of(limb_bodies(file, arm, model, names), arm.gravity_m_s2)
    for axis, neutral in zip(names.axes, model[0]["wrist_neutral_rad"], strict=True):
        tree.record["rest"][0][tree.dof(axis)] = neutral
    return tree


def carrier_joints(file: HandOnArmFile, arm: ArmFile) -> tuple[str, ...]:
    """Coordinates of the arm that stay where it carries the hand, base first."""
    links = [link.name for link in arm.link]
    return tuple(links[: links.index(file.mount.link) + 1])


def limb_lines(tree: Tree, links: Sequence[str], tips: dict[str, FloatArray], q: FloatArray) -> list[Segment]:
    """Arm links, wrist, palm and finger bones."""
    return chain_lines(tree, links, q) + body_lines(tree, "forearm", tips, q)


def body_lines(tree: Tree, first: str, tips: dict[str, FloatArray], q: FloatArray) -> list[Segment]:
    """Bodies from ``first`` on, each from its parent's frame to its own, and the fingertips."""
    R, p = poses(tree, q)
    bodies = range(tree.frame(first), len(tree.frames))
    out = [(tree.frames[f], np.array([p[tree.parents[f]], p[f]])) for f in bodies]
    for name, tip in tips.items():
        f = tree.frame(name)
        out.append((f"{name}_tip", np.array([p[f], p[f] + R[f] @ tip])))
    return out


def tips_by_body(tree: Tree, model: RecordArray) -> dict[str, FloatArray]:
    """Fingertips in the frames of the bodies that carry them."""
    m, first = model[0], tree.frame("palm")
    return {
        tree.frames[first + int(m["finger_tip_body"][f])]: m["finger_tip_m"][f].copy()
        for f in range(int(m["n_fingers"]))
        if m["finger_tip_body"][f] >= 0
    }


def hand_on_arm_mechanism(
    file: HandOnArmFile, arm: ArmFile, model: RecordArray, names: HandNames
) -> Mechanism:
    """Assemble the limb from its arm file and its hand's model record and names.

    Raises:
        TreeError: names the body and what to change.
    """
    tree = limb_tree(file, arm, model, names)
    tips = tips_by_body(tree, model)
    links = carrier_joints(file, arm)
    starts = neutral_starts(file, tree, names, model[0]["wrist_neutral_rad"])
    return Mechanism.of(file, system_of(tree), lambda q: limb_lines(tree, links, tips, q), scenarios=starts)


def neutral_starts(
    file: HandOnArmFile, tree: Tree, names: HandNames, neutral_rad: FloatArray
) -> dict[str, Any]:
    """Scenarios that start where springs of wrist and fingers are relaxed, unless they say otherwise."""
    start = {axis: float(q) for axis, q in zip(names.axes, neutral_rad, strict=True)}
    rest = tree.record["rest"][0]
    start.update({name: float(rest[tree.dof(name)]) for name in names.joints if name in tree.dofs})
    return {
        name: s.model_copy(update={"start_rad": {**start, **s.start_rad}})
        for name, s in file.scenario.items()
    }
