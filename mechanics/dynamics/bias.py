"""Rigid inertias, velocity biases and loads of all bodies: where ABA, RNEA and CRBA start.

    b_i = [ m_i w_i x (w_i x r_c) ;  w_i x I_i w_i ] - F_ext,i

(tree paper (14), (16) with the mass in front; (30) with a minus for a load on the body, in its frame).
"""

from __future__ import annotations

from mechanics.dynamics.records import TreeRecord, TreeWork
from signals.compiled import law
from signals.layout import FloatArray


@law
def start_bodies(t: TreeRecord, w: TreeWork) -> None:
    """Write rigid inertias into ``w.IA``, velocity biases (16) into ``w.b``, and clear n, M, tau."""
    mass, moment, inertia = t.mass, t.moment, t.inertia
    W, IA, b, n = w.w, w.IA, w.b, w.n
    for i in range(t.n_bodies):
        m = mass[i]
        x, y, z = moment[i, 0], moment[i, 1], moment[i, 2]
        xx, xy, xz = inertia[i, 0], inertia[i, 1], inertia[i, 2]
        yy, yz, zz = inertia[i, 3], inertia[i, 4], inertia[i, 5]
        IA[i, 0] = IA[i, 3] = IA[i, 5] = m
        IA[i, 1] = IA[i, 2] = IA[i, 4] = 0.0
        IA[i, 6] = IA[i, 10] = IA[i, 14] = 0.0
        IA[i, 7], IA[i, 8], IA[i, 9] = z, -y, -z
        IA[i, 11], IA[i, 12], IA[i, 13] = x, y, -x
        IA[i, 15], IA[i, 16], IA[i, 17] = xx, xy, xz
        IA[i, 18], IA[i, 19], IA[i, 20] = yy, yz, zz
        a0, a1, a2 = W[i, 0], W[i, 1], W[i, 2]
        along = a0 * x + a1 * y + a2 * z
        square = a0 * a0 + a1 * a1 + a2 * a2
        b[i, 0] = a0 * along - x * square
        b[i, 1] = a1 * along - y * square
        b[i, 2] = a2 * along - z * square
        h0 = xx * a0 + xy * a1 + xz * a2
        h1 = xy * a0 + yy * a1 + yz * a2
        h2 = xz * a0 + yz * a1 + zz * a2
        b[i, 3] = a1 * h2 - a2 * h1
        b[i, 4] = a2 * h0 - a0 * h2
        b[i, 5] = a0 * h1 - a1 * h0
        w.M[i] = w.tau[i] = 0.0
        for k in range(6):
            n[i, k] = 0.0


@law
def subtract_loads(t: TreeRecord, w: TreeWork, loads: FloatArray) -> None:
    """``b -= F_ext``: loads on the user's frames, shape (nf, 6) (force, moment about the frame's origin)."""
    R, P, b = t.frame_R, t.frame_p, w.b
    for f in range(loads.shape[0]):
        i = t.frame_body[f]
        if i >= 0:
            f0, f1, f2 = loads[f, 0], loads[f, 1], loads[f, 2]
            m0, m1, m2 = loads[f, 3], loads[f, 4], loads[f, 5]
            g0 = R[f, 0] * f0 + R[f, 1] * f1 + R[f, 2] * f2
            g1 = R[f, 3] * f0 + R[f, 4] * f1 + R[f, 5] * f2
            g2 = R[f, 6] * f0 + R[f, 7] * f1 + R[f, 8] * f2
            b[i, 0] -= g0
            b[i, 1] -= g1
            b[i, 2] -= g2
            b[i, 3] -= R[f, 0] * m0 + R[f, 1] * m1 + R[f, 2] * m2 + P[f, 1] * g2 - P[f, 2] * g1
            b[i, 4] -= R[f, 3] * m0 + R[f, 4] * m1 + R[f, 5] * m2 + P[f, 2] * g0 - P[f, 0] * g2
            b[i, 5] -= R[f, 6] * m0 + R[f, 7] * m1 + R[f, 8] * m2 + P[f, 0] * g1 - P[f, 1] * g0
