"""A tree of bodies, checked and flattened: names on the outside, one record for the laws.

The assembly merges fixed bodies into what carries them, turns every body frame so that its joint axis is z
(parallel to the parent's frame where it can), and keeps the user's frames for loads and poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.dynamics.bodies import Body, TreeError
from mechanics.dynamics.joint_laws import CustomLaw
from mechanics.dynamics.records import N_BODIES, N_CUSTOM, N_DOFS, N_FRAMES, TREE, WORK, JointKind
from mechanics.dynamics.regular import joint_without_inertia
from signals.layout import FloatArray
from signals.names import UnknownName

GRAVITY = (0.0, 0.0, -9.81)
NO_LOADS: FloatArray = np.zeros((0, 6))


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A checked tree: its existence means that every body and joint is possible."""

    record: NDArray[Any]
    """``records.TREE``, shape (1,)."""
    dofs: tuple[str, ...]
    """Names of the coordinates."""
    frames: tuple[str, ...]
    """Names of the user's bodies, in the order of loads and poses."""
    parents: tuple[int, ...]
    """Index of each frame's parent frame, -1: world."""
    sliders: tuple[bool, ...]
    """Per coordinate: measured in metres."""

    @property
    def n_dofs(self) -> int:
        """Number of coordinates."""
        return len(self.dofs)

    def frame(self, name: str) -> int:
        """Index of a body's frame; raises ``UnknownName``."""
        if name not in self.frames:
            raise UnknownName("body", name, self.frames)
        return self.frames.index(name)

    def dof(self, name: str) -> int:
        """Index of a coordinate; raises ``UnknownName``."""
        if name not in self.dofs:
            raise UnknownName("coordinate", name, self.dofs)
        return self.dofs.index(name)

    def work(self) -> NDArray[Any]:
        """New scratch, shape (1,)."""
        return np.zeros(1, dtype=WORK)

    def with_gravity(self, gravity_m_s2: Sequence[float]) -> Tree:
        """The same tree in another field."""
        record = self.record.copy()
        record["gravity"][0] = gravity_m_s2
        return Tree(record, self.dofs, self.frames, self.parents, self.sliders)


def aligned(axis: FloatArray, R: FloatArray) -> FloatArray:
    """Rotation Q with Q z = axis; Q = R^T where that makes the body parallel to its parent."""
    if np.abs(R @ axis - (0.0, 0.0, 1.0)).max() < 1e-12:
        return R.T.copy()
    if abs(axis[2] - 1.0) < 1e-12:
        return np.eye(3)
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def ordered(bodies: Sequence[Body]) -> list[Body]:
    """Bodies with parents first, else in the order given.

    Raises:
        TreeError: a name twice, an unknown parent, or a loop.
    """
    names = [b.name for b in bodies]
    for name in names:
        if names.count(name) > 1:
            raise TreeError(f"body {name!r}", "is there twice", "give every body its own name")
    known = set(names)
    for b in bodies:
        if b.parent is not None and b.parent not in known:
            raise TreeError(
                f"body {b.name!r}", f"parent {b.parent!r} is unknown", f"use one of {sorted(known)}"
            )
    done: list[Body] = []
    placed: set[str | None] = {None}
    todo = list(bodies)
    while todo:
        ready = next((b for b in todo if b.parent in placed), None)
        if ready is None:
            loop = ", ".join(b.name for b in todo)
            raise TreeError(
                "tree", f"bodies {loop} form a loop", "cut it; closed chains need their own mechanism"
            )
        done.append(ready)
        placed.add(ready.name)
        todo.remove(ready)
    return done


class _Assembly:
    """Fills one record, body by body."""

    def __init__(self, gravity_m_s2: Sequence[float]) -> None:
        self.record = np.zeros(1, dtype=TREE)
        self.t = self.record[0]
        self.t["gravity"] = gravity_m_s2
        self.dofs: list[str] = []
        self.sliders: list[bool] = []
        self.carrier: dict[str | None, tuple[int, FloatArray, FloatArray]] = {
            None: (-1, np.eye(3), np.zeros(3))
        }

    def add(self, body: Body) -> None:
        """Place one body; its parent is placed already."""
        carrier, A, a = self.carrier[body.parent]
        R, p = A @ body.R_PB, a + A @ body.p_PB_m
        if body.joint.kind != JointKind.FIXED:
            carrier, R, p = self._joint(body, carrier, R, p)
        self.carrier[body.name] = (carrier, R, p)
        self._frame(carrier, R, p)
        if carrier >= 0:
            self._inertia(carrier, body, R, p)

    def _joint(
        self, body: Body, parent: int, R: FloatArray, p: FloatArray
    ) -> tuple[int, FloatArray, FloatArray]:
        t, i, joint = self.t, int(self.t["n_bodies"]), body.joint
        Q = np.eye(3) if joint.kind == JointKind.CUSTOM else aligned(joint.axis, R)
        t["n_bodies"] = i + 1
        t["parent"][i], t["kind"][i], t["slot"][i], t["ratio"][i] = parent, joint.kind, -1, 1.0
        E0 = (R @ Q).T
        t["E0"][i], t["r0"][i] = E0.ravel(), p
        t["parallel"][i] = joint.kind != JointKind.CUSTOM and np.abs(E0 - np.eye(3)).max() < 1e-14
        if joint.parent_ratio is not None:
            self._coupled(body, i, parent, joint.parent_ratio)
        else:
            self._coordinates(body, i)
        return i, Q.T, np.zeros(3)

    def _coupled(self, body: Body, i: int, parent: int, ratio: float) -> None:
        t = self.t
        if (
            body.joint.kind != JointKind.REVOLUTE
            or parent < 0
            or t["coupled"][parent]
            or t["slot"][parent] >= 0
        ):
            raise TreeError(
                f"body {body.name!r}",
                "a coupled joint needs a parent with a coordinate of its own",
                "hang it on a hinge",
            )
        t["coupled"][i], t["ratio"][i], t["dof"][i] = 1, ratio, t["dof"][parent]

    def _coordinates(self, body: Body, i: int) -> None:
        t, joint = self.t, body.joint
        first = len(self.dofs)
        t["dof"][i] = first
        if joint.kind == JointKind.CUSTOM:
            slot = int(t["n_customs"])
            if slot >= N_CUSTOM:
                raise TreeError(f"body {body.name!r}", "too many custom joints", f"at most {N_CUSTOM}")
            t["n_customs"], t["slot"][i] = slot + 1, slot
            t["custom_law"][slot], t["custom_dofs"][slot] = joint.custom_law, joint.n_dofs
            t["custom_params"][slot][: len(joint.params)] = joint.params
            if joint.custom_law == CustomLaw.DOUBLE_PARALLELOGRAM:
                if t["wrist_size_m"].any():
                    raise TreeError(f"body {body.name!r}", "a second wrist of this kind", "one per tree")
                t["wrist_size_m"] = joint.params[:3]
            names: tuple[str, ...] = joint.coordinates
        else:
            names = (body.name,)
        for d, name in enumerate(names, start=first):
            if d >= N_DOFS or name in self.dofs:
                raise TreeError(
                    f"coordinate {name!r}", "too many coordinates, or a name twice", f"at most {N_DOFS}"
                )
            self.dofs.append(name)
            self.sliders.append(joint.kind == JointKind.PRISMATIC)
            for key in (
                "armature",
                "damping",
                "stiffness",
                "rest",
                "lower",
                "upper",
                "stop_stiffness",
                "stop_damping",
            ):
                t[key][d] = getattr(joint, key)

    def _frame(self, carrier: int, R: FloatArray, p: FloatArray) -> None:
        t, f = self.t, int(self.t["n_frames"])
        t["n_frames"] = f + 1
        t["frame_body"][f], t["frame_R"][f], t["frame_p"][f] = carrier, R.ravel(), p

    def _inertia(self, i: int, body: Body, R: FloatArray, p: FloatArray) -> None:
        t = self.t
        com = p + R @ body.com_m
        about = R @ body.inertia_kg_m2 @ R.T + body.mass_kg * (com @ com * np.eye(3) - np.outer(com, com))
        t["mass"][i] += body.mass_kg
        t["moment"][i] += body.mass_kg * com
        t["inertia"][i] += about[np.triu_indices(3)]


def tree_of(bodies: Sequence[Body], gravity_m_s2: Sequence[float] = GRAVITY) -> Tree:
    """Assemble and check a tree.

    Args:
        bodies: in any order.
        gravity_m_s2: gravity in the world frame.

    Raises:
        TreeError: names the body and what to change.
    """
    if len(bodies) > N_FRAMES or sum(b.joint.kind != JointKind.FIXED for b in bodies) > N_BODIES:
        raise TreeError("tree", f"{len(bodies)} bodies", f"at most {N_BODIES} moving and {N_FRAMES} in all")
    assembly = _Assembly(gravity_m_s2)
    sequence = ordered(bodies)
    for body in sequence:
        assembly.add(body)
    assembly.t["n_dofs"] = len(assembly.dofs)
    idle = joint_without_inertia(assembly.record)
    if idle is not None:
        part = f"coordinate {assembly.dofs[idle]!r}"
        raise TreeError(
            part, "there is no inertia behind it", "give its bodies mass, or the joint an armature"
        )
    names = [b.name for b in sequence]
    parents = tuple(-1 if b.parent is None else names.index(b.parent) for b in sequence)
    return Tree(assembly.record, tuple(assembly.dofs), tuple(names), parents, tuple(assembly.sliders))
