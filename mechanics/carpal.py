"""The carpal (Canfield) wrist in closed form: pose, velocity and acceleration of the tool plate.

Base joints at A_i = r e_i (0, 120, 240 deg), axes tangent; middle joints at
M_i = (r + l cos th_i) e_i + l sin th_i z. The distal plate is the base plate mirrored in the plane of the
middle joints (unit normal N, through (0, 0, p)):

    N ~ (M2 - M1) x (M3 - M1),  p = N.M1 / N_z,  z' = R z,  D = p (z + z')
    R = (I - 2 N N^T) diag(1, 1, -1) = Rz(a) Ry(b) Rz(-a)
    w = 2 N x Nd,  v_D = pd (z + z') + p w x z'
    A (Nxd, Nyd, pd) = -diag(N.M_i') thd
    row i of A = (d_ix - Nx/Nz d_iz, d_iy - Ny/Nz d_iz, -Nz),  d_i = M_i - p z

regular at b = 0 (no angle is ever divided by). The paper's (6.2), (6.27), (6.32), (6.42) are corrected in
docs/papers/carpal_wrist.md. Leg angles th_i count from the outward base direction.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Protocol

import numpy as np

from signals.compiled import law
from signals.layout import FloatArray, dtype_of

LEGS: Final = ((1.0, 0.0), (-0.5, math.sqrt(0.75)), (-0.5, -math.sqrt(0.75)))
"""Directions e_i of the legs in the base plane."""
LEG_X: Final = np.array([leg[0] for leg in LEGS])
LEG_Y: Final = np.array([leg[1] for leg in LEGS])


class CarpalRecord(Protocol):
    """One wrist with its scratch."""

    r_m: float  # radius of the base and distal joints
    l_m: float  # length of a leg link
    mass_kg: float
    com_m: Annotated[FloatArray, 3]  # tool and plate, from the distal centre, distal frame
    inertia_kg_m2: Annotated[FloatArray, 3, 3]  # about the centre of mass, distal frame
    gravity_m_s2: Annotated[FloatArray, 3]
    stiffness_nm_rad: Annotated[FloatArray, 3]  # springs and dampers at the motors
    rest_rad: Annotated[FloatArray, 3]
    damping_nms_rad: Annotated[FloatArray, 3]
    lower: Annotated[FloatArray, 3]  # joint stops, as in a tree
    upper: Annotated[FloatArray, 3]
    stop_stiffness: Annotated[FloatArray, 3]
    stop_damping: Annotated[FloatArray, 3]
    M: Annotated[FloatArray, 3, 3]  # middle joints; from here on scratch
    M1: Annotated[FloatArray, 3, 3]  # dM_i/dth_i
    N: Annotated[FloatArray, 3]
    p: float
    J: Annotated[FloatArray, 3, 3]  # d(Nx, Ny, p)/dth
    inverse: Annotated[FloatArray, 3, 3]  # A^-1
    R: Annotated[FloatArray, 3, 3]
    D: Annotated[FloatArray, 3]
    Jw: Annotated[FloatArray, 3, 3]  # angular velocity of the distal plate, base axes
    Jv: Annotated[FloatArray, 3, 3]  # velocity of its centre, base axes
    w: Annotated[FloatArray, 3]
    wd: Annotated[FloatArray, 3]  # angular acceleration at thdd = 0
    vd: Annotated[FloatArray, 3]  # acceleration of the centre at thdd = 0
    rg: Annotated[FloatArray, 3]  # R G
    Iw: Annotated[FloatArray, 3, 3]  # R I R^T
    Jg: Annotated[FloatArray, 3, 3]  # velocity of the centre of mass, base axes
    A: Annotated[FloatArray, 3, 3]  # mass matrix
    h: Annotated[FloatArray, 3]  # everything else: A thdd + h = M


CARPAL: Final = dtype_of(CarpalRecord)


@law
def middle_joints(c: CarpalRecord, th: FloatArray) -> None:
    """Write ``c.M``, ``c.M1`` from the leg angles [rad], shape (3,)."""
    for i in range(3):
        k, s = math.cos(th[i]), math.sin(th[i])
        out = c.r_m + c.l_m * k
        c.M[i, 0], c.M[i, 1], c.M[i, 2] = out * LEG_X[i], out * LEG_Y[i], c.l_m * s
        c.M1[i, 0], c.M1[i, 1], c.M1[i, 2] = -c.l_m * s * LEG_X[i], -c.l_m * s * LEG_Y[i], c.l_m * k


@law
def mirror(c: CarpalRecord) -> None:
    """Write ``c.N``, ``c.p``, ``c.R``, ``c.D`` from the middle joints."""
    M, N, R, D = c.M, c.N, c.R, c.D
    ax, ay, az = M[1, 0] - M[0, 0], M[1, 1] - M[0, 1], M[1, 2] - M[0, 2]
    bx, by, bz = M[2, 0] - M[0, 0], M[2, 1] - M[0, 1], M[2, 2] - M[0, 2]
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    k = 1.0 / math.sqrt(x * x + y * y + z * z)
    x, y, z = k * x, k * y, k * z
    N[0], N[1], N[2] = x, y, z
    c.p = (x * M[0, 0] + y * M[0, 1] + z * M[0, 2]) / z
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * x * x, -2.0 * x * y, 2.0 * x * z
    R[1, 0], R[1, 1], R[1, 2] = -2.0 * x * y, 1.0 - 2.0 * y * y, 2.0 * y * z
    R[2, 0], R[2, 1], R[2, 2] = -2.0 * x * z, -2.0 * y * z, 2.0 * z * z - 1.0
    D[0], D[1], D[2] = c.p * R[0, 2], c.p * R[1, 2], c.p * (1.0 + R[2, 2])


@law
def invert_loop(c: CarpalRecord) -> float:
    """Write ``c.inverse`` = A^-1 and return det A [m2]."""
    M, N, B = c.M, c.N, c.inverse
    nx, ny, nz = N[0] / N[2], N[1] / N[2], -N[2]
    a0, b0 = M[0, 0] - nx * (M[0, 2] - c.p), M[0, 1] - ny * (M[0, 2] - c.p)
    a1, b1 = M[1, 0] - nx * (M[1, 2] - c.p), M[1, 1] - ny * (M[1, 2] - c.p)
    a2, b2 = M[2, 0] - nx * (M[2, 2] - c.p), M[2, 1] - ny * (M[2, 2] - c.p)
    m0, m1, m2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    k = 1.0 / (m0 + m1 + m2)
    B[0, 0], B[0, 1], B[0, 2] = k * (b1 - b2), k * (b2 - b0), k * (b0 - b1)
    B[1, 0], B[1, 1], B[1, 2] = k * (a2 - a1), k * (a0 - a2), k * (a1 - a0)
    B[2, 0], B[2, 1], B[2, 2] = k / nz * m0, k / nz * m1, k / nz * m2
    determinant: float = nz * (m0 + m1 + m2)
    return determinant


@law
def carpal_jacobian(c: CarpalRecord) -> None:
    """Write ``c.J``, ``c.Jw``, ``c.Jv`` after ``mirror``: columns are the legs."""
    invert_loop(c)
    N, J, R, Jw, Jv, M1 = c.N, c.J, c.R, c.Jw, c.Jv, c.M1
    zx, zy, zz = R[0, 2], R[1, 2], R[2, 2]
    for k in range(3):
        pull = -(N[0] * M1[k, 0] + N[1] * M1[k, 1] + N[2] * M1[k, 2])
        x, y, p = c.inverse[0, k] * pull, c.inverse[1, k] * pull, c.inverse[2, k] * pull
        J[0, k], J[1, k], J[2, k] = x, y, p
        z = -(N[0] * x + N[1] * y) / N[2]
        a, b, d = 2.0 * (N[1] * z - N[2] * y), 2.0 * (N[2] * x - N[0] * z), 2.0 * (N[0] * y - N[1] * x)
        Jw[0, k], Jw[1, k], Jw[2, k] = a, b, d
        Jv[0, k] = p * zx + c.p * (b * zz - d * zy)
        Jv[1, k] = p * zy + c.p * (d * zx - a * zz)
        Jv[2, k] = p * (1.0 + zz) + c.p * (a * zy - b * zx)


@law
def carpal_bias(c: CarpalRecord, th: FloatArray, thd: FloatArray) -> None:
    """Write ``c.w``, ``c.wd``, ``c.vd`` from leg angles and rates, after ``carpal_jacobian``.

    A (Nxdd, Nydd, pdd) = -( N.M_i'' thd_i^2 + 2 Nd.(M_i' thd_i - pd z) - (Nd.Nd/Nz) d_iz ) at thdd = 0.
    """
    N, J, M, M1, B = c.N, c.J, c.M, c.M1, c.inverse
    x = J[0, 0] * thd[0] + J[0, 1] * thd[1] + J[0, 2] * thd[2]
    y = J[1, 0] * thd[0] + J[1, 1] * thd[1] + J[1, 2] * thd[2]
    pd = J[2, 0] * thd[0] + J[2, 1] * thd[1] + J[2, 2] * thd[2]
    z = -(N[0] * x + N[1] * y) / N[2]
    square = x * x + y * y + z * z
    xx = yy = pp = 0.0
    for i in range(3):
        rate = thd[i]
        # M'' = -l (cos th e + sin th z): towards the base joint
        inward = (c.r_m * LEG_X[i] - M[i, 0]) * N[0] + (c.r_m * LEG_Y[i] - M[i, 1]) * N[1] - M[i, 2] * N[2]
        cross = x * M1[i, 0] * rate + y * M1[i, 1] * rate + z * (M1[i, 2] * rate - pd)
        f = -(inward * rate * rate + 2.0 * cross - square / N[2] * (M[i, 2] - c.p))
        xx += B[0, i] * f
        yy += B[1, i] * f
        pp += B[2, i] * f
    zz = -(square + N[0] * xx + N[1] * yy) / N[2]
    wx, wy, wz = 2.0 * (N[1] * z - N[2] * y), 2.0 * (N[2] * x - N[0] * z), 2.0 * (N[0] * y - N[1] * x)
    ax, ay, az = 2.0 * (N[1] * zz - N[2] * yy), 2.0 * (N[2] * xx - N[0] * zz), 2.0 * (N[0] * yy - N[1] * xx)
    c.w[0], c.w[1], c.w[2] = wx, wy, wz
    c.wd[0], c.wd[1], c.wd[2] = ax, ay, az
    zx, zy, zk = c.R[0, 2], c.R[1, 2], c.R[2, 2]
    ux, uy, uz = wy * zk - wz * zy, wz * zx - wx * zk, wx * zy - wy * zx
    c.vd[0] = pp * zx + 2.0 * pd * ux + c.p * (ay * zk - az * zy + wy * uz - wz * uy)
    c.vd[1] = pp * zy + 2.0 * pd * uy + c.p * (az * zx - ax * zk + wz * ux - wx * uz)
    c.vd[2] = pp * (1.0 + zk) + 2.0 * pd * uz + c.p * (ax * zy - ay * zx + wx * uy - wy * ux)


@law
def carpal_motion(c: CarpalRecord, th: FloatArray, thd: FloatArray) -> None:
    """Pose, Jacobians and bias of the distal plate from leg angles and rates, shape (3,)."""
    middle_joints(c, th)
    mirror(c)
    carpal_jacobian(c)
    carpal_bias(c, th, thd)
