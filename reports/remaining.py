"""What a finger can still do after a break: the torque of each joint that its other tendons can give.

The torques ``-P^T f`` of tensions within bounds form a zonotope; a facet's normal is orthogonal to n - 1 of
the rows of P. A joint's remaining torque is where its axis runs within all facets, the other joints without
torque. After a break most fingers cannot rest any more: their interval leaves zero out, or is empty.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np

from mechanics.coupling import tendon_jacobian
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import RecordArray

FLAT: Final = 1e-9
"""Share of the greatest singular value, or of a normal's size, that counts as zero."""


def facet_normals(A: FloatArray) -> FloatArray:
    """Unit normals of the facets of ``{A^T f}``, both signs, shape (k, n); none if it is flat.

    Args:
        A: one row per tendon, shape (m, n).
    """
    n = A.shape[1]
    if np.linalg.matrix_rank(A, tol=FLAT * float(np.linalg.norm(A))) < n:
        return np.zeros((0, n))
    found = []
    for rows in combinations(range(len(A)), n - 1):
        _, sizes, basis = np.linalg.svd(A[list(rows)])
        if n == 1 or sizes[-1] > FLAT * sizes[0]:
            found += [basis[-1], -basis[-1]]
    return np.array(found)


def torque_interval(A: FloatArray, low_n: FloatArray, high_n: FloatArray, j: int) -> list[float] | None:
    """Least and greatest torque of joint ``j`` alone [N m]; ``None``: the other joints cannot be without one.

    Args:
        A: torque of each tendon's newton on each joint, -P, shape (m, n), in m.
        low_n: least tensions, shape (m,).
        high_n: greatest tensions, shape (m,).
        j: joint, column of A.
    """
    normals = facet_normals(A)
    if not len(normals):
        return None
    pulls = normals @ A.T
    reach = np.maximum(pulls * low_n, pulls * high_n).sum(axis=1)
    along = normals[:, j]
    if (reach[abs(along) <= FLAT] < -FLAT * high_n.max() * float(np.linalg.norm(A))).any():
        return None
    up, down = along > FLAT, along < -FLAT
    most, least = float((reach[up] / along[up]).min()), float((reach[down] / along[down]).max())
    return [least, most] if least <= most else None


def remaining_torques(
    model: RecordArray, names: HandNames, broken: int, joint_angle_rad: FloatArray
) -> dict[str, list[float] | None]:
    """Joints of the finger of a broken tendon -> torque that each can still be given alone [N m].

    Args:
        model: the hand's model record.
        names: its names.
        broken: index of the broken tendon.
        joint_angle_rad: measured joint angles, shape (n_joints,) or longer.
    """
    m = model[0]
    q, rows = np.zeros_like(m["joint_min_rad"]), np.zeros_like(m["P_tj_m"])
    n = min(len(q), len(joint_angle_rad))
    q[:n] = joint_angle_rad[:n]
    tendon_jacobian(m, q, rows)
    f: Any = m["tendon_finger"][broken]
    tendons = [int(t) for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]] if t != broken]
    joints = [int(j) for j in m["finger_joint"][f, : m["finger_n_joints"][f]]]
    A = -rows[np.ix_(tendons, joints)]
    low, high = m["tension_min_n"][tendons], m["tension_max_n"][tendons]
    found = (torque_interval(A, low, high, k) for k in range(len(joints)))
    return {
        names.joints[j]: None if x is None else [round(v, 4) for v in x]
        for j, x in zip(joints, found, strict=True)
    }
