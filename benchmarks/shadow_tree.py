"""A 24-DoF tree with the layout of the Shadow hand (wrist 2, fingers 4, 4, 4, 5, 5) in both engines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from mechanics.dynamics.bodies import Body, Joint
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.tree import Tree, tree_of

FINGERS = (("ff", 4), ("mf", 4), ("rf", 4), ("lf", 5), ("th", 5))


def bodies() -> list[Body]:
    """Wrist, palm and fingers; masses and lengths of a human hand's order."""
    palm = {"mass_kg": 0.3, "com_m": (0.0, 0.0, 0.04), "inertia_kg_m2": np.diag([5e-4, 3e-4, 6e-4])}
    found = [
        _hinge("wr2", None, "y", (0.0, 0.0, 0.0), mass_kg=0.1, com_m=(0.0, 0.0, 0.02)),
        _hinge("wr1", "wr2", "x", (0.0, 0.0, 0.03), **palm),
    ]
    for k, (finger, count) in enumerate(FINGERS):
        parent = "wr1"
        for i in range(count):
            place = (0.02 * k - 0.04, 0.0, 0.09) if i == 0 else (0.0, 0.0, 0.03 if i > 1 else 0.0)
            found.append(_hinge(f"{finger}{i}", parent, "y" if i == count - 4 else "x", place))
            parent = f"{finger}{i}"
    return found


def _hinge(name: str, parent: str | None, axis: str, place: tuple[float, ...], **changes: Any) -> Body:
    values: dict[str, Any] = {
        "mass_kg": 0.02,
        "com_m": (0.0, 0.0, 0.015),
        "inertia_kg_m2": np.diag([2e-6, 3e-6, 4e-6]),
    }
    direction = np.eye(3)["xyz".index(axis)]
    joint = Joint(kind=JointKind.REVOLUTE, axis=direction)
    return Body(name=name, parent=parent, joint=joint, p_PB_m=np.array(place), **(values | changes))


def pinocchio_model(found: list[Body]) -> pin.Model:
    """The same tree, with axis-aligned joint types (as fast as Pinocchio has them)."""
    model = pin.Model()
    kinds = (pin.JointModelRX, pin.JointModelRY, pin.JointModelRZ)
    index: dict[str | None, int] = {None: 0}
    for b in found:
        kind = kinds[int(np.argmax(b.joint.axis))]()
        joint = model.addJoint(index[b.parent], kind, pin.SE3(np.eye(3), np.array(b.p_PB_m)), b.name)
        inertia = pin.Inertia(b.mass_kg, np.array(b.com_m), np.array(b.inertia_kg_m2))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        index[b.name] = joint
    return model


def both() -> tuple[Tree, pin.Model]:
    """The tree in both engines."""
    found = bodies()
    return tree_of(found), pinocchio_model(found)
