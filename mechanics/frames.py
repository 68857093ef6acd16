"""Rotations and rigid motions: compiled helpers on caller's arrays, and numpy values for assembly.

Monogram notation: ``R_AB`` takes components in B to components in A, ``p_AB`` is B's origin in A.
Compiled helpers allocate nothing; the numpy ones are for construction and tests.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from signals.compiled import law
from signals.layout import FloatArray


@law
def set_identity(R: FloatArray) -> None:
    """Write the identity into ``R``, shape (3, 3)."""
    for i in range(3):
        for k in range(3):
            R[i, k] = 1.0 if i == k else 0.0


@law
def rotated(R: FloatArray, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Components of ``R (x, y, z)``."""
    return (
        R[0, 0] * x + R[0, 1] * y + R[0, 2] * z,
        R[1, 0] * x + R[1, 1] * y + R[1, 2] * z,
        R[2, 0] * x + R[2, 1] * y + R[2, 2] * z,
    )


@law
def cross(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> tuple[float, float, float]:
    """Cross product a x b by components."""
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@law
def rotate_about(axis: FloatArray, angle_rad: float, R: FloatArray) -> None:
    """Rotation about a unit axis, shape (3,), into ``R``, shape (3, 3) (Rodrigues)."""
    x, y, z = axis[0], axis[1], axis[2]
    s, c = math.sin(angle_rad), math.cos(angle_rad)
    v = 1.0 - c
    R[0, 0] = c + x * x * v
    R[0, 1] = x * y * v - z * s
    R[0, 2] = x * z * v + y * s
    R[1, 0] = x * y * v + z * s
    R[1, 1] = c + y * y * v
    R[1, 2] = y * z * v - x * s
    R[2, 0] = x * z * v - y * s
    R[2, 1] = y * z * v + x * s
    R[2, 2] = c + z * z * v


def rotation(axis: Sequence[float] | FloatArray, angle_rad: float) -> FloatArray:
    """Rotation matrix about an axis of any length, shape (3, 3).

    Raises:
        ValueError: the axis has no direction.
    """
    unit = np.asarray(axis, dtype=np.float64)
    length = float(np.linalg.norm(unit))
    if not length > 0.0:
        raise ValueError(f"rotation axis {unit.tolist()} has no direction; give a vector of length > 0")
    R = np.empty((3, 3))
    rotate_about(unit / length, float(angle_rad), R)
    return R


def rotation_rpy(rpy_rad: Sequence[float] | FloatArray) -> FloatArray:
    """``Rz(yaw) Ry(pitch) Rx(roll)`` of (roll, pitch, yaw) [rad], shape (3, 3)."""
    roll, pitch, yaw = (float(a) for a in rpy_rad)
    return rotation((0.0, 0.0, 1.0), yaw) @ rotation((0.0, 1.0, 0.0), pitch) @ rotation((1.0, 0.0, 0.0), roll)
