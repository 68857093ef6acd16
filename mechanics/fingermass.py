"""Mass matrix of one finger about a palm at rest: what a short look ahead needs, without the whole tree.

    H = sum over bodies of  S_b^T I_b S_b

with the finger's joints alone in the columns of S_b: joints of other fingers, a carpal joint below this one
too, stand still. Everything is in the palm frame, spatial vectors about its origin, angular part first, as in
``mechanics.handtree``, whose block of H this is.
"""

from __future__ import annotations

from mechanics.handbody import body_inertia, momentum
from mechanics.kinematics import body_poses
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model


@law
def place_of_joint(m: Model, f: int, j: int) -> int:
    """Place of joint ``j`` in finger ``f``; -1: not one of its joints."""
    for x in range(m.finger_n_joints[f]):
        if m.finger_joint[f, x] == j:
            return x
    return -1


@law
def joint_screw(m: Model, R: FloatArray, p: FloatArray, b: int, screw: FloatArray) -> None:
    """Motion of body ``b`` by its joint, about the palm's origin, into ``screw``, shape (6,)."""
    k = m.body_ratio[b]
    ax, ay, az = k * m.body_axis[b, 0], k * m.body_axis[b, 1], k * m.body_axis[b, 2]
    ux = R[b, 0, 0] * ax + R[b, 0, 1] * ay + R[b, 0, 2] * az
    uy = R[b, 1, 0] * ax + R[b, 1, 1] * ay + R[b, 1, 2] * az
    uz = R[b, 2, 0] * ax + R[b, 2, 1] * ay + R[b, 2, 2] * az
    screw[0], screw[1], screw[2] = ux, uy, uz
    screw[3] = p[b, 1] * uz - p[b, 2] * uy
    screw[4] = p[b, 2] * ux - p[b, 0] * uz
    screw[5] = p[b, 0] * uy - p[b, 1] * ux


@law
def finger_mass(
    m: Model,
    f: int,
    q_rad: FloatArray,
    R: FloatArray,
    p: FloatArray,
    screw: FloatArray,
    inertia: FloatArray,
    H_out: FloatArray,
) -> None:
    """Mass matrix [kg m2] of finger ``f``.

    Args:
        m: model record.
        f: finger.
        q_rad: joint angles of the hand, shape (J,).
        R: scratch, shape (B, 3, 3).
        p: scratch, shape (B, 3).
        screw: scratch, shape (B, 6).
        inertia: scratch, shape (10,).
        H_out: receives the matrix in the order of ``finger_joint``, shape (>= n, >= n).
    """
    n = m.finger_n_joints[f]
    for x in range(n):
        for y in range(n):
            H_out[x, y] = 0.0
    body_poses(m, q_rad, R, p)
    for b in range(1, m.n_bodies):
        joint_screw(m, R, p, b, screw[b])
    for b in range(1, m.n_bodies):
        k = m.body_mass_kg[b]
        c = m.body_com_m[b]
        x = p[b, 0] + R[b, 0, 0] * c[0] + R[b, 0, 1] * c[1] + R[b, 0, 2] * c[2]
        y = p[b, 1] + R[b, 1, 0] * c[0] + R[b, 1, 1] * c[1] + R[b, 1, 2] * c[2]
        z = p[b, 2] + R[b, 2, 0] * c[0] + R[b, 2, 1] * c[1] + R[b, 2, 2] * c[2]
        inertia[0], inertia[1], inertia[2], inertia[3] = k, k * x, k * y, k * z
        xx, yy, zz, xy, xz, yz = body_inertia(m.body_inertia_kg_m2[b], R[b], k, x, y, z)
        inertia[4], inertia[5], inertia[6] = xx, yy, zz
        inertia[7], inertia[8], inertia[9] = xy, xz, yz
        _add_body(m, f, b, screw, inertia, H_out)


@law
def _add_body(m: Model, f: int, b: int, screw: FloatArray, inertia: FloatArray, H_out: FloatArray) -> None:
    """S^T I S of one body: every pair of joints on its way to the palm, in both orders."""
    e = b
    while e > 0:
        row = place_of_joint(m, f, m.body_joint[e])
        if row >= 0:
            s = screw[e]
            nx, ny, nz, fx, fy, fz = momentum(inertia, s[0], s[1], s[2], s[3], s[4], s[5])
            d = b
            while d > 0:
                column = place_of_joint(m, f, m.body_joint[d])
                if column >= 0:
                    s = screw[d]
                    H_out[row, column] += (
                        s[0] * nx + s[1] * ny + s[2] * nz + s[3] * fx + s[4] * fy + s[5] * fz
                    )
                d = m.body_parent[d]
        e = m.body_parent[e]
