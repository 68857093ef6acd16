"""One rigid body in the common frame of the hand: its inertia there, its momentum, the force it needs.

Spatial vectors are about the frame's origin, angular part first. An inertia is ten numbers: mass, mass times
centre, and (xx, yy, zz, xy, xz, yz) about the origin.
"""

from __future__ import annotations

from signals.compiled import law
from signals.layout import FloatArray


@law
def body_inertia(
    I_c: FloatArray, R: FloatArray, mass: float, x: float, y: float, z: float
) -> tuple[float, float, float, float, float, float]:
    """Inertia (xx, yy, zz, xy, xz, yz) [kg m^2] about the palm origin of a body with centre (x, y, z).

    ``I_c``, shape (3, 3), is about the centre of mass in the body frame; bones are rods, symmetric about x:
    R diag(a, b, b) R^T = b 1 + (a - b) x x^T saves most of the products.
    """
    ixx, iyy, izz = I_c[0, 0], I_c[1, 1], I_c[2, 2]
    ixy, ixz, iyz = I_c[0, 1], I_c[0, 2], I_c[1, 2]
    if iyy == izz and ixy == 0.0 and ixz == 0.0 and iyz == 0.0:
        d = ixx - iyy
        rx, ry, rz = R[0, 0], R[1, 0], R[2, 0]
        xx, yy, zz = iyy + d * rx * rx, iyy + d * ry * ry, iyy + d * rz * rz
        xy, xz, yz = d * rx * ry, d * rx * rz, d * ry * rz
    else:
        a0 = R[0, 0] * ixx + R[0, 1] * ixy + R[0, 2] * ixz
        a1 = R[0, 0] * ixy + R[0, 1] * iyy + R[0, 2] * iyz
        a2 = R[0, 0] * ixz + R[0, 1] * iyz + R[0, 2] * izz
        b0 = R[1, 0] * ixx + R[1, 1] * ixy + R[1, 2] * ixz
        b1 = R[1, 0] * ixy + R[1, 1] * iyy + R[1, 2] * iyz
        b2 = R[1, 0] * ixz + R[1, 1] * iyz + R[1, 2] * izz
        c0 = R[2, 0] * ixx + R[2, 1] * ixy + R[2, 2] * ixz
        c1 = R[2, 0] * ixy + R[2, 1] * iyy + R[2, 2] * iyz
        c2 = R[2, 0] * ixz + R[2, 1] * iyz + R[2, 2] * izz
        xx = a0 * R[0, 0] + a1 * R[0, 1] + a2 * R[0, 2]
        xy = a0 * R[1, 0] + a1 * R[1, 1] + a2 * R[1, 2]
        xz = a0 * R[2, 0] + a1 * R[2, 1] + a2 * R[2, 2]
        yy = b0 * R[1, 0] + b1 * R[1, 1] + b2 * R[1, 2]
        yz = b0 * R[2, 0] + b1 * R[2, 1] + b2 * R[2, 2]
        zz = c0 * R[2, 0] + c1 * R[2, 1] + c2 * R[2, 2]
    mx, my, mz = mass * x, mass * y, mass * z
    return (
        xx + my * y + mz * z,
        yy + mx * x + mz * z,
        zz + mx * x + my * y,
        xy - mx * y,
        xz - mx * z,
        yz - my * z,
    )


@law
def momentum(
    ten: FloatArray, wx: float, wy: float, wz: float, vx: float, vy: float, vz: float
) -> tuple[float, float, float, float, float, float]:
    """Spatial inertia times motion: (I w + mc x v, m v - mc x w), ``ten`` the numbers of one body."""
    m, cx, cy, cz = ten[0], ten[1], ten[2], ten[3]
    return (
        ten[4] * wx + ten[7] * wy + ten[8] * wz + cy * vz - cz * vy,
        ten[7] * wx + ten[5] * wy + ten[9] * wz + cz * vx - cx * vz,
        ten[8] * wx + ten[9] * wy + ten[6] * wz + cx * vy - cy * vx,
        m * vx - cy * wz + cz * wy,
        m * vy - cz * wx + cx * wz,
        m * vz - cx * wy + cy * wx,
    )


@law
def inertial_force(ten: FloatArray, v: FloatArray, a: FloatArray, f: FloatArray) -> None:
    """Force that gives one body its acceleration: f = I a + v x* (I v), all shape (6,)."""
    wx, wy, wz, vx, vy, vz = v[0], v[1], v[2], v[3], v[4], v[5]
    nx, ny, nz, fx, fy, fz = momentum(ten, wx, wy, wz, vx, vy, vz)
    ax, ay, az, bx, by, bz = momentum(ten, a[0], a[1], a[2], a[3], a[4], a[5])
    f[0] = ax + wy * nz - wz * ny + vy * fz - vz * fy
    f[1] = ay + wz * nx - wx * nz + vz * fx - vx * fz
    f[2] = az + wx * ny - wy * nx + vx * fy - vy * fx
    f[3] = bx + wy * fz - wz * fy
    f[4] = by + wz * fx - wx * fz
    f[5] = bz + wx * fy - wy * fx
