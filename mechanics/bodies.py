"""Bodies of one finger, built from the chain of Table 5.1, and their place in the model record.

    Rot z(q0) . Rot x(90 deg) . Trans(base_offset, 0, 0) . Rot z(q1) . Trans(prox, 0, z1) . Rot z(q2)
              . Trans(mid, 0, z2) . Rot z(q3) . Trans(tip, 0, z3)

Four bodies: base cross, proximal, middle, distal. Each body's frame sits in its joint after the rotation, x
along the bone; from the proximal bone on that frame is the one of Table 5.1 *after* Rot x(90), so that the
z offsets shift sideways along the flexion axes. Centre of mass: on the line to the next joint. Inertia: in
the body's frame, about the centre of mass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanics.frames import rotation, rotation_rpy
from signals.layout import FloatArray
from signals.records import RecordArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Body:
    """One rigid body on a revolute joint (``joint`` -1: fixed to its parent)."""

    parent: int
    joint: int
    ratio: float = 1.0
    rotation: FloatArray
    """Orientation in the parent at zero, shape (3, 3), parent from body."""
    origin_m: FloatArray
    axis: FloatArray
    mass_kg: float
    com_m: FloatArray
    inertia_kg_m2: FloatArray
    """About the centre of mass, body frame, shape (3, 3)."""

    def __post_init__(self) -> None:
        """Refuse a body that has no physical meaning.

        Raises:
            ValueError: negative mass, axis not a unit vector, moments of inertia that no body can have.
        """
        if not self.mass_kg >= 0.0:
            raise ValueError(f"body mass {self.mass_kg} kg is negative")
        if abs(float(np.linalg.norm(self.axis)) - 1.0) > 1e-9:
            raise ValueError(f"joint axis {self.axis.tolist()} is not a unit vector")
        moments = np.linalg.eigvalsh(self.inertia_kg_m2)
        if moments[0] < 0.0 or moments[2] > (moments[0] + moments[1]) * (1.0 + 1e-9):
            raise ValueError(
                f"principal moments {moments.tolist()} kg m2 belong to no body: each must be positive "
                "and at most the sum of the other two"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class FingerShape:
    """Geometry and masses of one finger, as a hand file gives them (proximal first)."""

    base_position_m: Sequence[float]
    base_rpy_deg: Sequence[float]
    base_offset_m: float
    bone_lengths_m: Sequence[float]
    bone_z_offsets_m: Sequence[float]
    masses_kg: Sequence[float]
    com_fraction: Sequence[float]
    inertia_diag_kg_m2: Sequence[Sequence[float]]
    coupled_ratio: float | None = None
    """Distal angle per middle angle of a coupled finger; None: four independent joints."""


def finger_bodies(
    shape: FingerShape, *, parent: int, first_body: int, joints: Sequence[int]
) -> tuple[list[Body], FloatArray]:
    """Bodies of one finger and the fingertip [m] in the last body's frame.

    Args:
        shape: geometry and masses.
        parent: body that carries the finger's base (0: palm).
        first_body: index that the first of the four bodies will have.
        joints: joint coordinates, proximal first: four, or three for a coupled finger.

    Raises:
        ValueError: wrong number of joints, bones or masses.
    """
    wanted = 4 if shape.coupled_ratio is None else 3
    if len(joints) != wanted:
        raise ValueError(
            f"a finger with coupled_ratio {shape.coupled_ratio} has {wanted} joints, not {len(joints)}"
        )
    for name, values, count in (
        ("bone_lengths", shape.bone_lengths_m, 3),
        ("bone_z_offsets", shape.bone_z_offsets_m, 3),
        ("masses", shape.masses_kg, 4),
        ("com_fraction", shape.com_fraction, 4),
        ("inertia_diag", shape.inertia_diag_kg_m2, 4),
    ):
        if len(values) != count:
            raise ValueError(f"{name} needs {count} entries (proximal first), has {len(values)}")
    bones = [np.array([shape.base_offset_m, 0.0, 0.0])] + [
        np.array([length, 0.0, z])
        for length, z in zip(shape.bone_lengths_m, shape.bone_z_offsets_m, strict=True)
    ]
    turns = [
        rotation_rpy(np.radians(shape.base_rpy_deg)),
        rotation((1.0, 0.0, 0.0), math.pi / 2),
        np.eye(3),
        np.eye(3),
    ]
    origins = [np.asarray(shape.base_position_m, dtype=np.float64), *bones[:3]]
    coordinates = [*joints] if shape.coupled_ratio is None else [*joints, joints[-1]]
    ratios = [1.0, 1.0, 1.0, 1.0 if shape.coupled_ratio is None else shape.coupled_ratio]
    bodies = [
        Body(
            parent=parent if k == 0 else first_body + k - 1,
            joint=coordinates[k],
            ratio=ratios[k],
            rotation=turns[k],
            origin_m=origins[k],
            axis=np.array([0.0, 0.0, 1.0]),
            mass_kg=shape.masses_kg[k],
            com_m=shape.com_fraction[k] * bones[k],
            inertia_kg_m2=np.diag(np.asarray(shape.inertia_diag_kg_m2[k], dtype=np.float64)),
        )
        for k in range(4)
    ]
    return bodies, bones[3]


def place_bodies(model: RecordArray, bodies: Sequence[Body]) -> None:
    """Write all bodies of a hand (body 0 first: the palm) into the model record and set ``n_bodies``.

    Raises:
        ValueError: too many bodies, or a body listed before its parent.
    """
    m = model[0]
    if len(bodies) > len(m["body_parent"]):
        raise ValueError(f"{len(bodies)} bodies; at most {len(m['body_parent'])} fit")
    m["n_bodies"] = len(bodies)
    for b, body in enumerate(bodies):
        if not -1 <= body.parent < b or (body.parent == -1) != (b == 0):
            raise ValueError(
                f"body {b} names parent {body.parent}; a parent comes before its children, the palm is 0"
            )
        m["body_parent"][b] = body.parent
        m["body_joint"][b] = body.joint
        m["body_ratio"][b] = body.ratio
        m["body_rotation"][b] = body.rotation
        m["body_origin_m"][b] = body.origin_m
        m["body_axis"][b] = body.axis
        m["body_mass_kg"][b] = body.mass_kg
        m["body_com_m"][b] = body.com_m
        m["body_inertia_kg_m2"][b] = body.inertia_kg_m2
