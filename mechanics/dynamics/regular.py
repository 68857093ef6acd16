"""Is there inertia behind every joint? The inward sweep in plain numpy, at a pose of no particular symmetry.

A joint whose articulated inertia phi^T I_A phi + armature vanishes has no acceleration: a massless tip, two
joints on one axis with nothing between them.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mechanics.dynamics.records import JointKind
from signals.layout import FloatArray

LEAST: Final = 1e-12
"""Least articulated inertia, relative to what stands there without articulation."""


def skew(v: FloatArray) -> FloatArray:
    """Matrix of the cross product, shape (3, 3)."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def rigid_inertia(t: Any, i: int) -> FloatArray:
    """Spatial inertia (15) of body ``i``, shape (6, 6)."""
    inertia = np.zeros((3, 3))
    inertia[np.triu_indices(3)] = t["inertia"][i]
    inertia += np.triu(inertia, 1).T
    first = skew(t["moment"][i])
    return np.block([[t["mass"][i] * np.eye(3), -first], [first, inertia]])


def transform(t: Any, i: int) -> tuple[FloatArray, FloatArray]:
    """(X, phi) of body ``i`` at a pose of no particular symmetry, shapes (6, 6) and (6,)."""
    E, r = t["E0"][i].reshape(3, 3), t["r0"][i].copy()
    phi, angle = np.zeros(6), 0.37 + 0.61 * math.sin(1.7 * i)
    if t["kind"][i] == JointKind.PRISMATIC:
        phi[2] = 1.0
    elif t["kind"][i] == JointKind.REVOLUTE:
        phi[5] = 1.0
        c, s = math.cos(angle), math.sin(angle)
        E = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ E
    return np.block([[E, -E @ skew(r)], [np.zeros((3, 3)), E]]), phi


def joint_without_inertia(record: NDArray[Any]) -> int | None:
    """Coordinate of a joint with nothing to accelerate, or None; custom joints are taken as locked."""
    t = record[0]
    n = int(t["n_bodies"])
    articulated = [rigid_inertia(t, i) for i in range(n)]
    for i in range(n - 1, -1, -1):
        X, phi = transform(t, i)
        own = articulated[i]
        if phi.any() and not t["coupled"][i]:
            d = int(t["dof"][i])
            reach = own @ phi
            behind = float(phi @ reach) + float(t["armature"][d])
            if behind <= LEAST * (float(np.trace(rigid_inertia(t, i))) + 1e-30):
                return d
            own = own - np.outer(reach, reach) / behind
        if t["parent"][i] >= 0:
            articulated[int(t["parent"][i])] += X.T @ own @ X
    return None
