"""Spatial algebra on scalars: rotations of blocks, inertia carried to a parent, loads carried to a body.

With E the rotation from parent to body, r the body's origin in the parent, X the motion transform of (10),

    X^T N X = [ A'          B' - A'[r]                        ]     A' = E^T A E,  B' = E^T B E,  D' = E^T D E
              [ .    D' + [r](B' - A'[r]) + ([r] B')^T        ]

Nothing here allocates; the tuples are registers.
"""

from __future__ import annotations

from mechanics.dynamics.records import TreeRecord, TreeWork
from signals.compiled import law
from signals.layout import FloatArray

Six = tuple[float, float, float, float, float, float]
Nine = tuple[float, float, float, float, float, float, float, float, float]


@law
def sandwich_symmetric(E: FloatArray, i: int, S: FloatArray, k: int) -> Six:
    """``E_i^T S E_i`` of the symmetric block at columns ``k``..``k+5`` of row ``i`` (xx xy xz yy yz zz)."""
    e00, e01, e02 = E[i, 0], E[i, 1], E[i, 2]
    e10, e11, e12 = E[i, 3], E[i, 4], E[i, 5]
    e20, e21, e22 = E[i, 6], E[i, 7], E[i, 8]
    xx, xy, xz = S[i, k], S[i, k + 1], S[i, k + 2]
    yy, yz, zz = S[i, k + 3], S[i, k + 4], S[i, k + 5]
    a00 = xx * e00 + xy * e10 + xz * e20
    a01 = xx * e01 + xy * e11 + xz * e21
    a02 = xx * e02 + xy * e12 + xz * e22
    a10 = xy * e00 + yy * e10 + yz * e20
    a11 = xy * e01 + yy * e11 + yz * e21
    a12 = xy * e02 + yy * e12 + yz * e22
    a20 = xz * e00 + yz * e10 + zz * e20
    a21 = xz * e01 + yz * e11 + zz * e21
    a22 = xz * e02 + yz * e12 + zz * e22
    return (
        e00 * a00 + e10 * a10 + e20 * a20,
        e00 * a01 + e10 * a11 + e20 * a21,
        e00 * a02 + e10 * a12 + e20 * a22,
        e01 * a01 + e11 * a11 + e21 * a21,
        e01 * a02 + e11 * a12 + e21 * a22,
        e02 * a02 + e12 * a12 + e22 * a22,
    )


@law
def sandwich(E: FloatArray, i: int, S: FloatArray, k: int) -> Nine:
    """``E_i^T S E_i`` of the 3 x 3 block at columns ``k``..``k+8`` of row ``i``, row by row."""
    e00, e01, e02 = E[i, 0], E[i, 1], E[i, 2]
    e10, e11, e12 = E[i, 3], E[i, 4], E[i, 5]
    e20, e21, e22 = E[i, 6], E[i, 7], E[i, 8]
    s0, s1, s2 = S[i, k], S[i, k + 1], S[i, k + 2]
    a00 = s0 * e00 + s1 * e10 + s2 * e20
    a01 = s0 * e01 + s1 * e11 + s2 * e21
    a02 = s0 * e02 + s1 * e12 + s2 * e22
    s0, s1, s2 = S[i, k + 3], S[i, k + 4], S[i, k + 5]
    a10 = s0 * e00 + s1 * e10 + s2 * e20
    a11 = s0 * e01 + s1 * e11 + s2 * e21
    a12 = s0 * e02 + s1 * e12 + s2 * e22
    s0, s1, s2 = S[i, k + 6], S[i, k + 7], S[i, k + 8]
    a20 = s0 * e00 + s1 * e10 + s2 * e20
    a21 = s0 * e01 + s1 * e11 + s2 * e21
    a22 = s0 * e02 + s1 * e12 + s2 * e22
    return (
        e00 * a00 + e10 * a10 + e20 * a20,
        e00 * a01 + e10 * a11 + e20 * a21,
        e00 * a02 + e10 * a12 + e20 * a22,
        e01 * a00 + e11 * a10 + e21 * a20,
        e01 * a01 + e11 * a11 + e21 * a21,
        e01 * a02 + e11 * a12 + e21 * a22,
        e02 * a00 + e12 * a10 + e22 * a20,
        e02 * a01 + e12 * a11 + e22 * a21,
        e02 * a02 + e12 * a12 + e22 * a22,
    )


@law
def turned_symmetric(c: float, s: float, S: FloatArray, i: int, k: int) -> Six:
    """``sandwich_symmetric`` for a turn about z: E = [[c, s, 0], [-s, c, 0], [0, 0, 1]]."""
    xx, xy, yy = S[i, k], S[i, k + 1], S[i, k + 3]
    xz, yz = S[i, k + 2], S[i, k + 4]
    u = c * xx - s * xy
    v = c * xy - s * yy
    x = s * xx + c * xy
    y = s * xy + c * yy
    return (c * u - s * v, s * u + c * v, c * xz - s * yz, s * x + c * y, s * xz + c * yz, S[i, k + 5])


@law
def turned(c: float, s: float, S: FloatArray, i: int, k: int) -> Nine:
    """``sandwich`` for a turn about z."""
    u0 = c * S[i, k] - s * S[i, k + 3]
    u1 = c * S[i, k + 1] - s * S[i, k + 4]
    v0 = s * S[i, k] + c * S[i, k + 3]
    v1 = s * S[i, k + 1] + c * S[i, k + 4]
    x2, y2 = S[i, k + 2], S[i, k + 5]
    z0, z1 = S[i, k + 6], S[i, k + 7]
    return (
        c * u0 - s * u1,
        s * u0 + c * u1,
        c * x2 - s * y2,
        c * v0 - s * v1,
        s * v0 + c * v1,
        s * x2 + c * y2,
        c * z0 - s * z1,
        s * z0 + c * z1,
        S[i, k + 8],
    )


@law
def add_to_parent(IA: FloatArray, p: int, r: FloatArray, i: int, A: Six, B: Nine, D: Six) -> None:
    """Add rotated blocks, shifted from the body's origin to the parent's, to row ``p`` of ``IA``."""
    x, y, z = r[i, 0], r[i, 1], r[i, 2]
    xx, xy, xz, yy, yz, zz = A
    # B - A [r] with [r] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    n00 = B[0] - xy * z + xz * y
    n01 = B[1] + xx * z - xz * x
    n02 = B[2] - xx * y + xy * x
    n10 = B[3] - yy * z + yz * y
    n11 = B[4] + xy * z - yz * x
    n12 = B[5] - xy * y + yy * x
    n20 = B[6] - yz * z + zz * y
    n21 = B[7] + xz * z - zz * x
    n22 = B[8] - xz * y + yz * x
    IA[p, 0] += xx
    IA[p, 1] += xy
    IA[p, 2] += xz
    IA[p, 3] += yy
    IA[p, 4] += yz
    IA[p, 5] += zz
    IA[p, 6] += n00
    IA[p, 7] += n01
    IA[p, 8] += n02
    IA[p, 9] += n10
    IA[p, 10] += n11
    IA[p, 11] += n12
    IA[p, 12] += n20
    IA[p, 13] += n21
    IA[p, 14] += n22
    # D + [r] N + ([r] B)^T; rows of [r] V are z-y, x-z, y-x combinations of the rows of V
    IA[p, 15] += D[0] + (y * n20 - z * n10) + (y * B[6] - z * B[3])
    IA[p, 16] += D[1] + (y * n21 - z * n11) + (z * B[0] - x * B[6])
    IA[p, 17] += D[2] + (y * n22 - z * n12) + (x * B[3] - y * B[0])
    IA[p, 18] += D[3] + (z * n01 - x * n21) + (z * B[1] - x * B[7])
    IA[p, 19] += D[4] + (z * n02 - x * n22) + (x * B[4] - y * B[1])
    IA[p, 20] += D[5] + (x * n12 - y * n02) + (x * B[5] - y * B[2])


@law
def carry_inertia(t: TreeRecord, w: TreeWork, i: int, p: int) -> None:
    """Add ``X_i^T N_i X_i`` (28), N_i in row ``i`` of ``w.IA``, to the parent's row ``p``."""
    E, IA = w.E, w.IA
    if t.parallel[i]:
        c, s = E[i, 0], E[i, 1]
        A, B = turned_symmetric(c, s, IA, i, 0), turned(c, s, IA, i, 6)
        add_to_parent(IA, p, w.r, i, A, B, turned_symmetric(c, s, IA, i, 15))
    else:
        A, B = sandwich_symmetric(E, i, IA, 0), sandwich(E, i, IA, 6)
        add_to_parent(IA, p, w.r, i, A, B, sandwich_symmetric(E, i, IA, 15))


@law
def carry_force(
    w: TreeWork, i: int, p: int, f0: float, f1: float, f2: float, m0: float, m1: float, m2: float
) -> None:
    """Add ``X_i^T`` times a force at the body's origin to the parent's row ``p`` of ``w.b``."""
    E, b = w.E, w.b
    x, y, z = w.r[i, 0], w.r[i, 1], w.r[i, 2]
    g0 = E[i, 0] * f0 + E[i, 3] * f1 + E[i, 6] * f2
    g1 = E[i, 1] * f0 + E[i, 4] * f1 + E[i, 7] * f2
    g2 = E[i, 2] * f0 + E[i, 5] * f1 + E[i, 8] * f2
    b[p, 0] += g0
    b[p, 1] += g1
    b[p, 2] += g2
    b[p, 3] += E[i, 0] * m0 + E[i, 3] * m1 + E[i, 6] * m2 + y * g2 - z * g1
    b[p, 4] += E[i, 1] * m0 + E[i, 4] * m1 + E[i, 7] * m2 + z * g0 - x * g2
    b[p, 5] += E[i, 2] * m0 + E[i, 5] * m1 + E[i, 8] * m2 + x * g1 - y * g0


@law
def times_inertia(J: FloatArray, i: int, x: float, y: float, z: float, u: float, v: float, w: float) -> Six:
    """Spatial inertia of row ``i`` times the motion (x, y, z; u, v, w)."""
    return (
        J[i, 0] * x + J[i, 1] * y + J[i, 2] * z + J[i, 6] * u + J[i, 7] * v + J[i, 8] * w,
        J[i, 1] * x + J[i, 3] * y + J[i, 4] * z + J[i, 9] * u + J[i, 10] * v + J[i, 11] * w,
        J[i, 2] * x + J[i, 4] * y + J[i, 5] * z + J[i, 12] * u + J[i, 13] * v + J[i, 14] * w,
        J[i, 6] * x + J[i, 9] * y + J[i, 12] * z + J[i, 15] * u + J[i, 16] * v + J[i, 17] * w,
        J[i, 7] * x + J[i, 10] * y + J[i, 13] * z + J[i, 16] * u + J[i, 18] * v + J[i, 19] * w,
        J[i, 8] * x + J[i, 11] * y + J[i, 14] * z + J[i, 17] * u + J[i, 19] * v + J[i, 20] * w,
    )
