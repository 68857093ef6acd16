"""Random trees, once for us and once for Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from mechanics.dynamics.bodies import Body, Joint
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.tree import Tree, tree_of


@dataclass
class Twin:
    """One tree in both engines."""

    tree: Tree
    model: pin.Model
    data: pin.Data
    joint_of: list[int]
    placement_of: list[pin.SE3]

    def forces(self, loads: np.ndarray) -> pin.StdVec_Force:
        """Loads on our frames, shape (nf, 6), as Pinocchio's forces on joints."""
        total = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for joint, placement, load in zip(self.joint_of, self.placement_of, loads, strict=True):
            total[joint] = total[joint] + placement.act(pin.Force(load[:3], load[3:]))
        out = pin.StdVec_Force()
        for joint, force in enumerate(total):
            out.append(pin.Force.Zero() if joint == 0 else force)
        return out


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    quaternion = rng.normal(size=4)
    return pin.Quaternion(quaternion / np.linalg.norm(quaternion)).matrix()


def random_inertia(rng: np.random.Generator, mass_kg: float) -> np.ndarray:
    """Of some cloud of points: always possible."""
    points = rng.normal(size=(6, 3)) * 0.1
    points -= points.mean(axis=0)
    return mass_kg / 6.0 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)


def random_joint(rng: np.random.Generator, fixed_share: float) -> Joint:
    if rng.random() < fixed_share:
        return Joint()
    kind = JointKind.PRISMATIC if rng.random() < 0.25 else JointKind.REVOLUTE
    axis = np.eye(3)[rng.integers(3)] if rng.random() < 0.5 else rng.normal(size=3)
    return Joint(kind=kind, axis=axis, armature=float(rng.random() * 0.05) if rng.random() < 0.3 else 0.0)


def random_bodies(rng: np.random.Generator, n: int, fixed_share: float = 0.15) -> list[Body]:
    bodies: list[Body] = []
    for i in range(n):
        parent = None if i == 0 or rng.random() < 0.1 else bodies[rng.integers(max(0, i - 5), i)].name
        mass = float(rng.uniform(0.1, 2.0))
        bodies.append(
            Body(
                name=f"b{i}",
                parent=parent,
                joint=random_joint(rng, fixed_share),
                R_PB=np.eye(3) if rng.random() < 0.4 else random_rotation(rng),
                p_PB_m=rng.normal(size=3) * 0.2,
                mass_kg=mass,
                com_m=rng.normal(size=3) * 0.1,
                inertia_kg_m2=random_inertia(rng, mass),
            )
        )
    return bodies


def depth_first(bodies: list[Body]) -> list[Body]:
    """Subtrees without gaps, which Pinocchio's CRBA takes for granted."""
    found: list[Body] = []

    def visit(parent: str | None) -> None:
        for b in bodies:
            if b.parent == parent:
                found.append(b)
                visit(b.name)

    visit(None)
    return found


def twin_of(bodies: list[Body], gravity: np.ndarray) -> Twin:
    """Build both; fixed bodies are welded to their parent's joint in Pinocchio."""
    model = pin.Model()
    model.gravity.linear = np.array(gravity)
    joint_of: dict[str | None, int] = {None: 0}
    placement: dict[str | None, pin.SE3] = {None: pin.SE3.Identity()}
    armature = []
    for b in bodies:
        here = placement[b.parent] * pin.SE3(b.R_PB, b.p_PB_m)
        joint = joint_of[b.parent]
        if b.joint.kind != JointKind.FIXED:
            kinds = {
                JointKind.REVOLUTE: pin.JointModelRevoluteUnaligned,
                JointKind.PRISMATIC: pin.JointModelPrismaticUnaligned,
            }
            joint = model.addJoint(joint, kinds[b.joint.kind](np.array(b.joint.axis)), here, b.name)
            here = pin.SE3.Identity()
            armature.append(b.joint.armature)
        joint_of[b.name], placement[b.name] = joint, here
        if joint > 0:
            model.appendBodyToJoint(
                joint, pin.Inertia(b.mass_kg, np.array(b.com_m), np.array(b.inertia_kg_m2)), here
            )
    model.armature = np.array(armature)
    names = [b.name for b in bodies]
    return Twin(
        tree_of(bodies, gravity),
        model,
        model.createData(),
        [joint_of[n] for n in names],
        [placement[n] for n in names],
    )
