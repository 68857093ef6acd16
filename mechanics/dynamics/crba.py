"""Mass matrix of a tree by composite bodies, and Jacobians of its bodies.

    Ic_p += X^T Ic_i X,    F = Ic_i phi_i,    M_ij = phi_j^T (X^T .. X^T F),    M += diag(armature)

Coupled bodies are projected: M = G^T M_bodies G with the ratios in G.
"""

from __future__ import annotations

from mechanics.dynamics.bias import start_bodies
from mechanics.dynamics.posture import place, world_poses
from mechanics.dynamics.records import JointKind, TreeRecord, TreeWork
from mechanics.dynamics.spatial import carry_inertia, times_inertia
from signals.compiled import law
from signals.layout import FloatArray, Records

REVOLUTE = int(JointKind.REVOLUTE)
CUSTOM = int(JointKind.CUSTOM)


@law
def n_columns(t: TreeRecord, i: int) -> int:
    """Columns of the motion subspace of body ``i``'s joint."""
    if t.kind[i] == CUSTOM:
        return int(t.custom_dofs[t.slot[i]])
    return 1


@law
def column(t: TreeRecord, w: TreeWork, i: int, j: int) -> tuple[float, float, float, float, float, float]:
    """Column ``j`` of the motion subspace of body ``i``, ratio included."""
    if t.kind[i] == CUSTOM:
        k, S = t.slot[i], w.S
        return S[k, 0, j], S[k, 1, j], S[k, 2, j], S[k, 3, j], S[k, 4, j], S[k, 5, j]
    if t.kind[i] == REVOLUTE:
        return 0.0, 0.0, 0.0, 0.0, 0.0, t.ratio[i]
    return 0.0, 0.0, t.ratio[i], 0.0, 0.0, 0.0


@law
def project_up(t: TreeRecord, w: TreeWork, i: int, j: int, M: FloatArray) -> None:
    """Add the share of column ``j`` of body ``i`` and of all its ancestors to ``M``."""
    s = column(t, w, i, j)
    f0, f1, f2, m0, m1, m2 = times_inertia(w.IA, i, s[0], s[1], s[2], s[3], s[4], s[5])
    row = t.dof[i] + j
    for a in range(n_columns(t, i)):
        s = column(t, w, i, a)
        M[row, t.dof[i] + a] += s[0] * f0 + s[1] * f1 + s[2] * f2 + s[3] * m0 + s[4] * m1 + s[5] * m2
    E, r = w.E, w.r
    while t.parent[i] >= 0:
        g0 = E[i, 0] * f0 + E[i, 3] * f1 + E[i, 6] * f2
        g1 = E[i, 1] * f0 + E[i, 4] * f1 + E[i, 7] * f2
        g2 = E[i, 2] * f0 + E[i, 5] * f1 + E[i, 8] * f2
        h0 = E[i, 0] * m0 + E[i, 3] * m1 + E[i, 6] * m2 + r[i, 1] * g2 - r[i, 2] * g1
        h1 = E[i, 1] * m0 + E[i, 4] * m1 + E[i, 7] * m2 + r[i, 2] * g0 - r[i, 0] * g2
        h2 = E[i, 2] * m0 + E[i, 5] * m1 + E[i, 8] * m2 + r[i, 0] * g1 - r[i, 1] * g0
        f0, f1, f2, m0, m1, m2 = g0, g1, g2, h0, h1, h2
        i = t.parent[i]
        for a in range(n_columns(t, i)):
            s = column(t, w, i, a)
            v = s[0] * f0 + s[1] * f1 + s[2] * f2 + s[3] * m0 + s[4] * m1 + s[5] * m2
            col = t.dof[i] + a
            M[row, col] += v
            M[col, row] += v


@law
def crba(tree: Records[TreeRecord], q: FloatArray, work: Records[TreeWork], M: FloatArray) -> None:
    """Mass matrix [kg m2, kg m, kg] into ``M``, shape (nv, nv); arguments as ``aba.aba``."""
    t, w = tree[0], work[0]
    n = t.n_dofs
    for i in range(n):
        for j in range(n):
            M[i, j] = 0.0
        M[i, i] = t.armature[i]
    place(t, w, q, q)
    start_bodies(t, w)
    for i in range(t.n_bodies - 1, -1, -1):
        for j in range(n_columns(t, i)):
            project_up(t, w, i, j, M)
        if t.parent[i] >= 0:
            carry_inertia(t, w, i, t.parent[i])


@law
def jacobian(
    tree: Records[TreeRecord],
    q: FloatArray,
    frame: int,
    point_m: FloatArray,
    work: Records[TreeWork],
    J: FloatArray,
) -> None:
    """Jacobian of a point of a body, world axes: velocity of the point, then angular velocity.

    Args:
        tree: ``records.TREE``, shape (1,).
        q: positions, shape (nv,).
        frame: index of the user's frame.
        point_m: point in that frame, shape (3,).
        work: ``records.WORK``, shape (1,).
        J: receives the Jacobian, shape (6, nv).
    """
    t, w = tree[0], work[0]
    for row in range(6):
        for d in range(t.n_dofs):
            J[row, d] = 0.0
    place(t, w, q, q)
    world_poses(t, w)
    i = t.frame_body[frame]
    if i < 0:
        return
    R, P, A, a = w.R, w.p, t.frame_R, t.frame_p
    u, v, x = point_m[0], point_m[1], point_m[2]
    b0 = a[frame, 0] + A[frame, 0] * u + A[frame, 1] * v + A[frame, 2] * x
    b1 = a[frame, 1] + A[frame, 3] * u + A[frame, 4] * v + A[frame, 5] * x
    b2 = a[frame, 2] + A[frame, 6] * u + A[frame, 7] * v + A[frame, 8] * x
    x0 = P[i, 0] + R[i, 0] * b0 + R[i, 1] * b1 + R[i, 2] * b2
    x1 = P[i, 1] + R[i, 3] * b0 + R[i, 4] * b1 + R[i, 5] * b2
    x2 = P[i, 2] + R[i, 6] * b0 + R[i, 7] * b1 + R[i, 8] * b2
    while i >= 0:
        for j in range(n_columns(t, i)):
            s = column(t, w, i, j)
            d = t.dof[i] + j
            w0 = R[i, 0] * s[3] + R[i, 1] * s[4] + R[i, 2] * s[5]
            w1 = R[i, 3] * s[3] + R[i, 4] * s[4] + R[i, 5] * s[5]
            w2 = R[i, 6] * s[3] + R[i, 7] * s[4] + R[i, 8] * s[5]
            y0, y1, y2 = x0 - P[i, 0], x1 - P[i, 1], x2 - P[i, 2]
            J[0, d] += R[i, 0] * s[0] + R[i, 1] * s[1] + R[i, 2] * s[2] + w1 * y2 - w2 * y1
            J[1, d] += R[i, 3] * s[0] + R[i, 4] * s[1] + R[i, 5] * s[2] + w2 * y0 - w0 * y2
            J[2, d] += R[i, 6] * s[0] + R[i, 7] * s[1] + R[i, 8] * s[2] + w0 * y1 - w1 * y0
            J[3, d] += w0
            J[4, d] += w1
            J[5, d] += w2
        i = t.parent[i]
