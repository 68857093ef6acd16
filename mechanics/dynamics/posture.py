"""Where the bodies are and how they turn: first kinematics loop of the articulated-body method.

    w_i = E_i w_p + z_i qd_i
    C_i = [ E_i (w_p x (w_p x r)) + 2 (E_i w_p) x v_rel ;  w_i x z_i qd_i ]

(tree paper (2), (9), (12) with E_i in front of the centripetal term). The acceleration is the classical one
of the body's origin, so a hinge needs no 2 w x v; a slider does. Bodies of custom joints are placed first,
by ``mechanics.dynamics.joint_laws.fill``.
"""

from __future__ import annotations

import math

from mechanics.dynamics.custom import spin_custom
from mechanics.dynamics.joint_laws import fill
from mechanics.dynamics.records import JointKind, TreeRecord, TreeWork
from signals.compiled import law
from signals.layout import FloatArray

REVOLUTE = int(JointKind.REVOLUTE)
PRISMATIC = int(JointKind.PRISMATIC)
CUSTOM = int(JointKind.CUSTOM)


@law
def place(t: TreeRecord, w: TreeWork, q: FloatArray, qd: FloatArray) -> None:
    """Write ``w.E``, ``w.r`` (and S, s of custom joints) from positions and velocities, shape (nv,)."""
    kind, dof, ratio, parallel = t.kind, t.dof, t.ratio, t.parallel
    E0, r0, E, r = t.E0, t.r0, w.E, w.r
    if t.n_customs > 0:
        fill(t, w, q, qd)
    for i in range(t.n_bodies):
        if kind[i] == REVOLUTE:
            angle = ratio[i] * q[dof[i]]
            c, s = math.cos(angle), math.sin(angle)
            if parallel[i]:
                E[i, 0], E[i, 1], E[i, 2] = c, s, 0.0
                E[i, 3], E[i, 4], E[i, 5] = -s, c, 0.0
                E[i, 6], E[i, 7], E[i, 8] = 0.0, 0.0, 1.0
            else:
                for k in range(3):
                    E[i, k] = c * E0[i, k] + s * E0[i, 3 + k]
                    E[i, 3 + k] = c * E0[i, 3 + k] - s * E0[i, k]
                    E[i, 6 + k] = E0[i, 6 + k]
            r[i, 0], r[i, 1], r[i, 2] = r0[i, 0], r0[i, 1], r0[i, 2]
        elif kind[i] == PRISMATIC:
            way = ratio[i] * q[dof[i]]
            for k in range(9):
                E[i, k] = E0[i, k]
            for k in range(3):
                r[i, k] = r0[i, k] + E0[i, 6 + k] * way


@law
def spin(t: TreeRecord, w: TreeWork, qd: FloatArray) -> None:
    """Write ``w.w`` and ``w.C`` from velocities, shape (nv,), after ``place``."""
    kind, dof, ratio, parent = t.kind, t.dof, t.ratio, t.parent
    E, r, W, C = w.E, w.r, w.w, w.C
    for i in range(t.n_bodies):
        p = parent[i]
        u0 = u1 = u2 = c0 = c1 = c2 = 0.0
        if p >= 0:
            a, b, c = W[p, 0], W[p, 1], W[p, 2]
            x, y, z = r[i, 0], r[i, 1], r[i, 2]
            along = a * x + b * y + c * z
            square = a * a + b * b + c * c
            g0, g1, g2 = a * along - x * square, b * along - y * square, c * along - z * square
            u0 = E[i, 0] * a + E[i, 1] * b + E[i, 2] * c
            u1 = E[i, 3] * a + E[i, 4] * b + E[i, 5] * c
            u2 = E[i, 6] * a + E[i, 7] * b + E[i, 8] * c
            c0 = E[i, 0] * g0 + E[i, 1] * g1 + E[i, 2] * g2
            c1 = E[i, 3] * g0 + E[i, 4] * g1 + E[i, 5] * g2
            c2 = E[i, 6] * g0 + E[i, 7] * g1 + E[i, 8] * g2
        W[i, 0], W[i, 1], W[i, 2] = u0, u1, u2
        C[i, 0], C[i, 1], C[i, 2] = c0, c1, c2
        C[i, 3] = C[i, 4] = C[i, 5] = 0.0
        if kind[i] == CUSTOM:
            spin_custom(t, w, i, qd)
        else:
            rate = ratio[i] * qd[dof[i]]
            if kind[i] == REVOLUTE:
                W[i, 2] += rate
                C[i, 3], C[i, 4] = u1 * rate, -u0 * rate
            else:
                C[i, 0] += 2.0 * u1 * rate
                C[i, 1] -= 2.0 * u0 * rate


@law
def world_poses(t: TreeRecord, w: TreeWork) -> None:
    """Write ``w.R`` (world from body) and ``w.p`` [m] of all bodies, after ``place``."""
    E, r, R, P, parent = w.E, w.r, w.R, w.p, t.parent
    for i in range(t.n_bodies):
        p = parent[i]
        for a in range(3):
            if p < 0:
                P[i, a] = r[i, a]
                for b in range(3):
                    R[i, 3 * a + b] = E[i, 3 * b + a]
            else:
                x, y, z = R[p, 3 * a], R[p, 3 * a + 1], R[p, 3 * a + 2]
                P[i, a] = P[p, a] + x * r[i, 0] + y * r[i, 1] + z * r[i, 2]
                for b in range(3):
                    R[i, 3 * a + b] = x * E[i, 3 * b] + y * E[i, 3 * b + 1] + z * E[i, 3 * b + 2]


@law
def frame_poses(t: TreeRecord, w: TreeWork, R_out: FloatArray, p_out: FloatArray) -> None:
    """World poses of the user's frames: ``R_out`` (nf, 3, 3), ``p_out`` (nf, 3) [m], after world_poses."""
    for f in range(t.n_frames):
        i = t.frame_body[f]
        for a in range(3):
            if i < 0:
                p_out[f, a] = t.frame_p[f, a]
                for b in range(3):
                    R_out[f, a, b] = t.frame_R[f, 3 * a + b]
            else:
                x, y, z = w.R[i, 3 * a], w.R[i, 3 * a + 1], w.R[i, 3 * a + 2]
                p_out[f, a] = w.p[i, a] + x * t.frame_p[f, 0] + y * t.frame_p[f, 1] + z * t.frame_p[f, 2]
                for b in range(3):
                    R_out[f, a, b] = x * t.frame_R[f, b] + y * t.frame_R[f, 3 + b] + z * t.frame_R[f, 6 + b]
