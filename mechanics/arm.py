"""Serial arm in Lagrange's form with pseudo-inertia matrices: H, v, g and J^T F (arm paper (4), (9), (10)).

    h_jk = sum_{i >= max(j,k)} tr(dT_i/dq_j J_i dT_i/dq_k^T)
    v_i  = sum_k sum_m sum_{j >= max(i,k,m)} tr(d2T_j/dq_k dq_m J_j dT_j/dq_i^T) qd_k qd_m
    g_i  = -sum_{j >= i} m_j g^T dT_j/dq_i r_j           (the paper prints dT_j/dq_j there)

With D_j the constant-in-T matrix of joint j's screw in the base frame, dT_i/dq_j = D_j T_i and
d2T_i/dq_k dq_m = D_min D_max T_i, so the sums over links collapse into composite pseudo-inertias
G_i = sum_{j >= i} T_j J_j T_j^T. Standard Denavit-Hartenberg: joint i turns about z of frame i-1.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Protocol

import numpy as np

from signals.compiled import law
from signals.layout import FloatArray, dtype_of

N_LINKS: Final = 12


class ArmRecord(Protocol):
    """One arm with its scratch."""

    n: int
    a_m: Annotated[FloatArray, N_LINKS]
    alpha_rad: Annotated[FloatArray, N_LINKS]
    d_m: Annotated[FloatArray, N_LINKS]
    offset_rad: Annotated[FloatArray, N_LINKS]
    pseudo: Annotated[FloatArray, N_LINKS, 4, 4]  # J_i of (1), link frame
    gravity_m_s2: Annotated[FloatArray, 3]
    damping_nms_rad: Annotated[FloatArray, N_LINKS]
    stiffness_nm_rad: Annotated[FloatArray, N_LINKS]
    rest_rad: Annotated[FloatArray, N_LINKS]
    T: Annotated[FloatArray, N_LINKS, 4, 4]  # scratch from here on: base from link
    D: Annotated[FloatArray, N_LINKS, 4, 4]
    G: Annotated[FloatArray, N_LINKS, 4, 4]
    X: Annotated[FloatArray, 4, 4]
    Y: Annotated[FloatArray, 4, 4]
    H: Annotated[FloatArray, N_LINKS, N_LINKS]
    L: Annotated[FloatArray, N_LINKS, N_LINKS]
    v: Annotated[FloatArray, N_LINKS]
    g: Annotated[FloatArray, N_LINKS]


ARM: Final = dtype_of(ArmRecord)


def pseudo_inertia(mass_kg: float, com_m: FloatArray, inertia_kg_m2: FloatArray) -> FloatArray:
    """J = integral of r r^T dm over a link (1), shape (4, 4), from the inertia about its centre of mass."""
    com = np.asarray(com_m, dtype=np.float64)
    second = 0.5 * np.trace(inertia_kg_m2) * np.eye(3) - inertia_kg_m2 + mass_kg * np.outer(com, com)
    J = np.empty((4, 4))
    J[:3, :3] = second
    J[:3, 3] = J[3, :3] = mass_kg * com
    J[3, 3] = mass_kg
    return J


def dh_transform(a_m: float, alpha_rad: float, d_m: float, angle_rad: float) -> FloatArray:
    """Rz(angle) Tz(d) Tx(a) Rx(alpha), shape (4, 4)."""
    c, s, k, t = math.cos(angle_rad), math.sin(angle_rad), math.cos(alpha_rad), math.sin(alpha_rad)
    return np.array(
        [[c, -s * k, s * t, a_m * c], [s, c * k, -c * t, a_m * s], [0.0, t, k, d_m], [0.0, 0.0, 0.0, 1.0]]
    )


@law
def multiply_4(A: FloatArray, B: FloatArray, C: FloatArray) -> None:
    """C = A B, shape (4, 4); C is neither of them."""
    for i in range(4):
        for j in range(4):
            C[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j] + A[i, 3] * B[3, j]


@law
def trace_product(A: FloatArray, B: FloatArray) -> float:
    """tr(A B^T), shape (4, 4)."""
    total = 0.0
    for i in range(4):
        total += A[i, 0] * B[i, 0] + A[i, 1] * B[i, 1] + A[i, 2] * B[i, 2] + A[i, 3] * B[i, 3]
    return total


@law
def link_transform(m: ArmRecord, i: int, q: float, A: FloatArray) -> None:
    """Denavit-Hartenberg matrix of joint ``i`` at angle ``q`` [rad] into ``A``."""
    c, s = math.cos(q + m.offset_rad[i]), math.sin(q + m.offset_rad[i])
    k, t = math.cos(m.alpha_rad[i]), math.sin(m.alpha_rad[i])
    A[0, 0], A[0, 1], A[0, 2], A[0, 3] = c, -s * k, s * t, m.a_m[i] * c
    A[1, 0], A[1, 1], A[1, 2], A[1, 3] = s, c * k, -c * t, m.a_m[i] * s
    A[2, 0], A[2, 1], A[2, 2], A[2, 3] = 0.0, t, k, m.d_m[i]
    A[3, 0], A[3, 1], A[3, 2], A[3, 3] = 0.0, 0.0, 0.0, 1.0


@law
def screw(D: FloatArray, i: int, z0: float, z1: float, z2: float, x: float, y: float, z: float) -> None:
    """Turn about direction (z0, z1, z2) through (x, y, z) as a 4 x 4 velocity matrix."""
    D[i, 0, 0], D[i, 0, 1], D[i, 0, 2], D[i, 0, 3] = 0.0, -z2, z1, z2 * y - z1 * z
    D[i, 1, 0], D[i, 1, 1], D[i, 1, 2], D[i, 1, 3] = z2, 0.0, -z0, z0 * z - z2 * x
    D[i, 2, 0], D[i, 2, 1], D[i, 2, 2], D[i, 2, 3] = -z1, z0, 0.0, z1 * x - z0 * y
    D[i, 3, 0] = D[i, 3, 1] = D[i, 3, 2] = D[i, 3, 3] = 0.0


@law
def arm_pose(m: ArmRecord, q: FloatArray) -> None:
    """Write ``m.T`` (base from link) and ``m.D`` (screws) from joint angles, shape (n,)."""
    T, D, A = m.T, m.D, m.X
    screw(D, 0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    for i in range(m.n):
        if i == 0:
            link_transform(m, 0, q[0], T[0])
        else:
            p = T[i - 1]
            screw(D, i, p[0, 2], p[1, 2], p[2, 2], p[0, 3], p[1, 3], p[2, 3])
            link_transform(m, i, q[i], A)
            multiply_4(p, A, T[i])


@law
def composite_pseudo(m: ArmRecord) -> None:
    """Write ``m.G``: pseudo-inertia of each link and all beyond it, base frame."""
    X, Y, G = m.X, m.Y, m.G
    for i in range(m.n - 1, -1, -1):
        multiply_4(m.T[i], m.pseudo[i], X)
        for r in range(4):
            for c in range(4):
                Y[r, c] = (
                    X[r, 0] * m.T[i, c, 0]
                    + X[r, 1] * m.T[i, c, 1]
                    + X[r, 2] * m.T[i, c, 2]
                    + X[r, 3] * m.T[i, c, 3]
                )
                G[i, r, c] = Y[r, c] + (G[i + 1, r, c] if i + 1 < m.n else 0.0)


@law
def lagrange_terms(m: ArmRecord, q: FloatArray, qd: FloatArray) -> None:
    """Write ``m.H`` (4), ``m.v`` and ``m.g`` (10) from joint angles and speeds, shape (n,)."""
    arm_pose(m, q)
    composite_pseudo(m)
    D, G, X, Y, n = m.D, m.G, m.X, m.Y, m.n
    for i in range(n):
        m.v[i] = 0.0
        gx = gy = gz = 0.0
        for c in range(4):
            gx += D[i, 0, c] * G[i, c, 3]
            gy += D[i, 1, c] * G[i, c, 3]
            gz += D[i, 2, c] * G[i, c, 3]
        m.g[i] = -(m.gravity_m_s2[0] * gx + m.gravity_m_s2[1] * gy + m.gravity_m_s2[2] * gz)
        for j in range(i + 1):
            multiply_4(D[j], G[i], X)
            m.H[i, j] = m.H[j, i] = trace_product(X, D[i])
    for k in range(n):
        for j in range(k + 1):
            # D_j D_k with j <= k; the pair stands twice in the sum unless j = k
            multiply_4(D[j], D[k], X)
            rate = qd[j] * qd[k] * (1.0 if j == k else 2.0)
            for i in range(n):
                multiply_4(X, G[max(i, k)], Y)
                m.v[i] += rate * trace_product(Y, D[i])


@law
def wrench_torque(m: ArmRecord, force: FloatArray, tau: FloatArray) -> None:
    """Add J^T F to ``tau``, shape (n,), for a wrench on the last link, in and about its own frame (6,).

    J and F are in the same frame (16); the wrench of the environment on the hand counts positive (9).
    """
    D, T, last = m.D, m.T, m.n - 1
    R = T[last]
    fx = R[0, 0] * force[0] + R[0, 1] * force[1] + R[0, 2] * force[2]
    fy = R[1, 0] * force[0] + R[1, 1] * force[1] + R[1, 2] * force[2]
    fz = R[2, 0] * force[0] + R[2, 1] * force[1] + R[2, 2] * force[2]
    nx = R[0, 0] * force[3] + R[0, 1] * force[4] + R[0, 2] * force[5]
    ny = R[1, 0] * force[3] + R[1, 1] * force[4] + R[1, 2] * force[5]
    nz = R[2, 0] * force[3] + R[2, 1] * force[4] + R[2, 2] * force[5]
    for i in range(m.n):
        vx = D[i, 0, 0] * R[0, 3] + D[i, 0, 1] * R[1, 3] + D[i, 0, 2] * R[2, 3] + D[i, 0, 3]
        vy = D[i, 1, 0] * R[0, 3] + D[i, 1, 1] * R[1, 3] + D[i, 1, 2] * R[2, 3] + D[i, 1, 3]
        vz = D[i, 2, 0] * R[0, 3] + D[i, 2, 1] * R[1, 3] + D[i, 2, 2] * R[2, 3] + D[i, 2, 3]
        tau[i] += vx * fx + vy * fy + vz * fz + D[i, 2, 1] * nx + D[i, 0, 2] * ny + D[i, 1, 0] * nz
