"""Articulated-body forward dynamics of trees (tree paper, corrected; docs/papers/trees.md).

    outward   w_i, C_i, b_i = [ m_i w_i x (w_i x r_c) ; w_i x I_i w_i ] - F_ext,i
    inward    n = I_A phi, M = phi^T n + arm, tau^A = tau - tau^dyn - phi^T b_A, N = I_A - n n^T / M
              I_A[p] += X^T N X,   b_A[p] += X^T (b_A + N C + n tau^A / M)
    outward   a' = X a_p + C, qdd = (tau^A - n^T a') / M, a = a' + phi qdd,   a_0 = (-g, 0)

Every branch has its own joint quantities; only I_A and b_A of the parent are sums ((36)-(44) read so).
A coupled body shares its parent's coordinate (angle = ratio q): the pair is one joint with the motion
phi_A in the parent and X phi_A + ratio phi_B in the child, so the child's share is added to n, M and
tau^A of the parent.
"""

from __future__ import annotations

from mechanics.dynamics.bias import start_bodies, subtract_loads
from mechanics.dynamics.custom import accelerate_custom, articulate_custom
from mechanics.dynamics.posture import place, spin
from mechanics.dynamics.records import JointKind, TreeRecord, TreeWork
from mechanics.dynamics.spatial import carry_force, carry_inertia, times_inertia
from mechanics.passive import passive_torques
from signals.compiled import law
from signals.layout import FloatArray, Records

REVOLUTE = int(JointKind.REVOLUTE)
CUSTOM = int(JointKind.CUSTOM)


@law
def spatial_axis(w: TreeWork, i: int, hinge: bool) -> None:
    """Add I_A phi to ``w.n`` and phi^T I_A phi to ``w.M``, phi along z."""
    IA, n = w.IA, w.n
    if hinge:
        n[i, 0] += IA[i, 8]
        n[i, 1] += IA[i, 11]
        n[i, 2] += IA[i, 14]
        n[i, 3] += IA[i, 17]
        n[i, 4] += IA[i, 19]
        n[i, 5] += IA[i, 20]
        w.M[i] += IA[i, 20]
    else:
        n[i, 0] += IA[i, 2]
        n[i, 1] += IA[i, 4]
        n[i, 2] += IA[i, 5]
        n[i, 3] += IA[i, 12]
        n[i, 4] += IA[i, 13]
        n[i, 5] += IA[i, 14]
        w.M[i] += IA[i, 5]


@law
def articulate(t: TreeRecord, w: TreeWork, i: int, tau: float) -> None:
    """Inward step of body ``i`` with one coordinate: I_A becomes N, b becomes b + N C + n tau^A / M."""
    IA, n, b, C = w.IA, w.n, w.b, w.C
    hinge = t.kind[i] == REVOLUTE
    spatial_axis(w, i, hinge)
    inverse = 1.0 / (w.M[i] + w.arm[t.dof[i]])
    torque = w.tau[i] + tau - (b[i, 5] if hinge else b[i, 2])
    w.M[i] = inverse
    w.tau[i] = torque
    if t.parent[i] < 0:
        return
    x, y, z = n[i, 0], n[i, 1], n[i, 2]
    u, v, m = n[i, 3], n[i, 4], n[i, 5]
    X, Y, Z = x * inverse, y * inverse, z * inverse
    U, V, M = u * inverse, v * inverse, m * inverse
    f = times_inertia(IA, i, C[i, 0], C[i, 1], C[i, 2], C[i, 3], C[i, 4], C[i, 5])
    # b + I_A C + n (tau^A - n^T C)/M
    rest = torque - (x * C[i, 0] + y * C[i, 1] + z * C[i, 2] + u * C[i, 3] + v * C[i, 4] + m * C[i, 5])
    f0 = b[i, 0] + f[0] + X * rest
    f1 = b[i, 1] + f[1] + Y * rest
    f2 = b[i, 2] + f[2] + Z * rest
    f3 = b[i, 3] + f[3] + U * rest
    f4 = b[i, 4] + f[4] + V * rest
    f5 = b[i, 5] + f[5] + M * rest
    IA[i, 0] -= x * X
    IA[i, 1] -= x * Y
    IA[i, 2] -= x * Z
    IA[i, 3] -= y * Y
    IA[i, 4] -= y * Z
    IA[i, 5] -= z * Z
    IA[i, 6] -= x * U
    IA[i, 7] -= x * V
    IA[i, 8] -= x * M
    IA[i, 9] -= y * U
    IA[i, 10] -= y * V
    IA[i, 11] -= y * M
    IA[i, 12] -= z * U
    IA[i, 13] -= z * V
    IA[i, 14] -= z * M
    IA[i, 15] -= u * U
    IA[i, 16] -= u * V
    IA[i, 17] -= u * M
    IA[i, 18] -= v * V
    IA[i, 19] -= v * M
    IA[i, 20] -= m * M
    carry_inertia(t, w, i, t.parent[i])
    carry_force(w, i, t.parent[i], f0, f1, f2, f3, f4, f5)


@law
def articulate_coupled(t: TreeRecord, w: TreeWork, i: int) -> None:
    """Inward step of a coupled hinge: carried rigidly, its share added to n, M and tau^A of the parent."""
    IA, b, C, E, n = w.IA, w.b, w.C, w.E, w.n
    p, k = t.parent[i], t.ratio[i]
    f = times_inertia(IA, i, C[i, 0], C[i, 1], C[i, 2], C[i, 3], C[i, 4], C[i, 5])
    f0, f1, f2 = b[i, 0] + f[0], b[i, 1] + f[1], b[i, 2] + f[2]
    f3, f4, f5 = b[i, 3] + f[3], b[i, 4] + f[4], b[i, 5] + f[5]
    w.tau[p] -= k * f5
    x, y, z = k * IA[i, 8], k * IA[i, 11], k * IA[i, 14]
    u, v, m = k * IA[i, 17], k * IA[i, 19], k * IA[i, 20]
    g0 = E[i, 0] * x + E[i, 3] * y + E[i, 6] * z
    g1 = E[i, 1] * x + E[i, 4] * y + E[i, 7] * z
    g2 = E[i, 2] * x + E[i, 5] * y + E[i, 8] * z
    turn = E[i, 2] * u + E[i, 5] * v + E[i, 8] * m + w.r[i, 0] * g1 - w.r[i, 1] * g0
    n[p, 0] += g0
    n[p, 1] += g1
    n[p, 2] += g2
    n[p, 3] += E[i, 0] * u + E[i, 3] * v + E[i, 6] * m + w.r[i, 1] * g2 - w.r[i, 2] * g1
    n[p, 4] += E[i, 1] * u + E[i, 4] * v + E[i, 7] * m + w.r[i, 2] * g0 - w.r[i, 0] * g2
    n[p, 5] += turn
    w.M[p] += (2.0 * turn if t.kind[p] == REVOLUTE else 2.0 * g2) + k * m
    carry_inertia(t, w, i, p)
    carry_force(w, i, p, f0, f1, f2, f3, f4, f5)


@law
def inward(t: TreeRecord, w: TreeWork, tau: FloatArray) -> None:
    """Backward dynamics loop from joint torques, shape (nv,): articulated inertias and biases."""
    parent, dof = t.parent, t.dof
    for i in range(t.n_bodies - 1, -1, -1):
        if t.coupled[i]:
            articulate_coupled(t, w, i)
        elif t.kind[i] == CUSTOM:
            articulate_custom(t, w, i, tau)
            p = parent[i]
            if p >= 0:
                b = w.b
                carry_inertia(t, w, i, p)
                carry_force(w, i, p, b[i, 0], b[i, 1], b[i, 2], b[i, 3], b[i, 4], b[i, 5])
        else:
            articulate(t, w, i, tau[dof[i]] - w.passive[dof[i]])


@law
def carry_acceleration(t: TreeRecord, w: TreeWork, i: int) -> None:
    """Write X a_p into ``w.a``; the world accelerates by -g."""
    E, r, a, p = w.E, w.r, w.a, t.parent[i]
    if p < 0:
        x, y, z = -t.gravity[0], -t.gravity[1], -t.gravity[2]
        u = v = m = 0.0
    else:
        u, v, m = a[p, 3], a[p, 4], a[p, 5]
        x = a[p, 0] + v * r[i, 2] - m * r[i, 1]
        y = a[p, 1] + m * r[i, 0] - u * r[i, 2]
        z = a[p, 2] + u * r[i, 1] - v * r[i, 0]
    a[i, 0] = E[i, 0] * x + E[i, 1] * y + E[i, 2] * z
    a[i, 1] = E[i, 3] * x + E[i, 4] * y + E[i, 5] * z
    a[i, 2] = E[i, 6] * x + E[i, 7] * y + E[i, 8] * z
    a[i, 3] = E[i, 0] * u + E[i, 1] * v + E[i, 2] * m
    a[i, 4] = E[i, 3] * u + E[i, 4] * v + E[i, 5] * m
    a[i, 5] = E[i, 6] * u + E[i, 7] * v + E[i, 8] * m


@law
def outward(t: TreeRecord, w: TreeWork, qdd: FloatArray) -> None:
    """Second kinematics loop: joint accelerations, shape (nv,), and ``w.a``."""
    kind, dof, a, C, n = t.kind, t.dof, w.a, w.C, w.n
    for i in range(t.n_bodies):
        carry_acceleration(t, w, i)
        if kind[i] == CUSTOM:
            accelerate_custom(t, w, i, qdd)
            continue
        for k in range(6):
            a[i, k] += C[i, k]
        d = dof[i]
        if t.coupled[i]:
            rate = t.ratio[i] * qdd[d]
        else:
            pull = n[i, 0] * a[i, 0] + n[i, 1] * a[i, 1] + n[i, 2] * a[i, 2]
            pull += n[i, 3] * a[i, 3] + n[i, 4] * a[i, 4] + n[i, 5] * a[i, 5]
            rate = (w.tau[i] - pull) * w.M[i]
            qdd[d] = rate
        if kind[i] == REVOLUTE:
            a[i, 5] += rate
        else:
            a[i, 2] += rate


@law
def aba(
    tree: Records[TreeRecord],
    q: FloatArray,
    qd: FloatArray,
    tau: FloatArray,
    loads: FloatArray,
    step_s: float,
    work: Records[TreeWork],
    qdd: FloatArray,
) -> None:
    """Joint accelerations of a tree.

    Args:
        tree: ``records.TREE``, shape (1,).
        q: joint positions [rad or m], shape (nv,).
        qd: joint velocities, shape (nv,).
        tau: joint torques [N m or N], shape (nv,).
        loads: forces [N] and moments [N m] on the user's frames, in the axes and about the origin of
            each, shape (nf, 6), or (0, 6) for none.
        step_s: 0 for explicit springs and dampers, the integrator's step for the implicit diagonal.
        work: ``records.WORK``, shape (1,).
        qdd: receives the accelerations, shape (nv,).
    """
    t, w = tree[0], work[0]
    place(t, w, q, qd)
    spin(t, w, qd)
    passive_torques(t, w, q, qd, step_s)
    start_bodies(t, w)
    if loads.shape[0] > 0:
        subtract_loads(t, w, loads)
    inward(t, w, tau)
    outward(t, w, qdd)
