"""A chain of equal pendulums: point masses on massless rods that swing in a plane.

Link i turns against the one before it; all angles are 0 while the chain hangs. For small angles the squares
of the circular frequencies are ``(2 -+ sqrt(2)) g / l`` for two links and ``g / l`` for one.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import numpy as np
from pydantic import Field

from hand.file.values import NonNegative, Positive
from mechanics.dynamics.bodies import Body, Joint
from mechanics.dynamics.records import JointKind
from mechanics.dynamics.tree import tree_of
from sim.mechanisms.files import MechanismKind
from sim.mechanisms.mechanism import Mechanism, Segment
from sim.mechanisms.tables import MechanismTable
from sim.mechanisms.trees import poses, system_of

GRAVITY_M_S2: Final = (0.0, 0.0, -9.81)


class ChainFile(MechanismTable):
    """What a file of this kind holds beside name, description and scenarios."""

    kind: Literal["pendulum_chain"]
    """Kind of mechanism."""
    links: Annotated[int, Field(ge=1, le=20)]
    """Number of pendulums."""
    length_m: Positive
    """Length of each rod."""
    mass_kg: Positive
    """Mass at the end of each rod."""
    damping_nms_rad: NonNegative = 0.0
    """Damper of each joint."""


def chain_mechanism(file: ChainFile) -> Mechanism:
    """Assemble checked tables; what cannot exist would be a ``ValueError`` that names the part in quotes."""
    down_m = np.array([0.0, 0.0, -file.length_m])
    bodies: list[Body] = []
    for i in range(file.links):
        joint = Joint(kind=JointKind.REVOLUTE, axis=np.array([0.0, 1.0, 0.0]), damping=file.damping_nms_rad)
        parent = bodies[-1].name if bodies else None
        origin_m = down_m if bodies else np.zeros(3)
        mass = {"mass_kg": file.mass_kg, "com_m": down_m, "inertia_kg_m2": np.zeros((3, 3))}
        bodies.append(Body(name=f"link_{i + 1}", parent=parent, joint=joint, p_PB_m=origin_m, **mass))
    tree = tree_of(bodies, GRAVITY_M_S2)

    def segments(q: Any) -> list[Segment]:
        """Name and line of every rod for given angles."""
        turns, origins = poses(tree, q)
        rods = zip(tree.frames, turns, origins, strict=True)
        return [(name, np.array([p, p + R @ down_m])) for name, R, p in rods]

    return Mechanism.of(file, system_of(tree), segments)


KIND: Final = MechanismKind(tables=ChainFile, assemble=chain_mechanism)
