"""Joints with several coordinates and their own kinematics: placement, velocity, inward and outward step.

A custom joint gives its pose (E, r), its motion subspace S (6 x k, body frame, linear part first) and
s = (dS/dt) qd by components in the body frame. Then

    C = [ E (w_p x (w_p x r)) + 2 (E w_p) x S_l qd + s_l + (S_a qd) x (S_l qd) ;  (E w_p) x S_a qd + s_a ]
    U = I_A S,  D = S^T U + arm,  N = I_A - U D^-1 U^T,  qdd = D^-1 (tau^A - U^T a')

which is (20)-(29) with a matrix for the spatial axis, as the paper allows below (10).
"""

from __future__ import annotations

from mechanics.cholesky import factorise, forward, solve_factored
from mechanics.dynamics.records import TreeRecord, TreeWork
from mechanics.dynamics.spatial import times_inertia
from signals.compiled import law
from signals.layout import FloatArray


@law
def spin_custom(t: TreeRecord, w: TreeWork, i: int, qd: FloatArray) -> None:
    """Complete ``w.w`` and ``w.C`` of body ``i`` (row holds E w_p and the centripetal part)."""
    k, d = t.slot[i], t.dof[i]
    S, s, W, C = w.S, w.s, w.w, w.C
    x = y = z = a = b = c = 0.0
    for j in range(t.custom_dofs[k]):
        rate = qd[d + j]
        x += S[k, 0, j] * rate
        y += S[k, 1, j] * rate
        z += S[k, 2, j] * rate
        a += S[k, 3, j] * rate
        b += S[k, 4, j] * rate
        c += S[k, 5, j] * rate
    u0, u1, u2 = W[i, 0], W[i, 1], W[i, 2]
    f0, f1, f2 = 2.0 * u0 + a, 2.0 * u1 + b, 2.0 * u2 + c
    C[i, 0] += s[k, 0] + f1 * z - f2 * y
    C[i, 1] += s[k, 1] + f2 * x - f0 * z
    C[i, 2] += s[k, 2] + f0 * y - f1 * x
    C[i, 3] = s[k, 3] + u1 * c - u2 * b
    C[i, 4] = s[k, 4] + u2 * a - u0 * c
    C[i, 5] = s[k, 5] + u0 * b - u1 * a
    W[i, 0], W[i, 1], W[i, 2] = u0 + a, u1 + b, u2 + c


@law
def factor_custom(t: TreeRecord, w: TreeWork, i: int) -> None:
    """Write U = I_A S and the Cholesky factor of D = S^T U + arm of body ``i``'s joint."""
    k, d, n = t.slot[i], t.dof[i], t.custom_dofs[t.slot[i]]
    S, U, L = w.S, w.U, w.L
    for j in range(n):
        column = times_inertia(
            w.IA, i, S[k, 0, j], S[k, 1, j], S[k, 2, j], S[k, 3, j], S[k, 4, j], S[k, 5, j]
        )
        U[k, 0, j], U[k, 1, j], U[k, 2, j] = column[0], column[1], column[2]
        U[k, 3, j], U[k, 4, j], U[k, 5, j] = column[3], column[4], column[5]
    for a in range(n):
        for b in range(a + 1):
            v = w.arm[d + a] if a == b else 0.0
            for row in range(6):
                v += S[k, row, a] * U[k, row, b]
            L[k, a, b] = v
    factorise(L[k], n, 1e-300)


@law
def articulate_custom(t: TreeRecord, w: TreeWork, i: int, tau: FloatArray) -> None:
    """Inward step of body ``i``: I_A becomes N, b becomes b + N C + U D^-1 tau^A, y is tau^A - U^T C."""
    k, d, n = t.slot[i], t.dof[i], t.custom_dofs[t.slot[i]]
    S, U, L, IA, b, C, x, y = w.S, w.U, w.L, w.IA, w.b, w.C, w.x, w.y
    factor_custom(t, w, i)
    f = times_inertia(IA, i, C[i, 0], C[i, 1], C[i, 2], C[i, 3], C[i, 4], C[i, 5])
    for j in range(n):
        v = tau[d + j] - w.passive[d + j]
        for row in range(6):
            # tau^A and -U^T C together: the right-hand side of qdd without the parent's part
            v -= S[k, row, j] * b[i, row] + U[k, row, j] * C[i, row]
        x[k, j] = v
        y[k, j] = v
    solve_factored(L[k], x[k], n)
    b[i, 0] += f[0]
    b[i, 1] += f[1]
    b[i, 2] += f[2]
    b[i, 3] += f[3]
    b[i, 4] += f[4]
    b[i, 5] += f[5]
    for row in range(6):
        for j in range(n):
            b[i, row] += U[k, row, j] * x[k, j]
    # rank-n downdate with columns of L^-1 U^T
    for a in range(n):
        for row in range(6):
            v = U[k, row, a]
            for c in range(a):
                v -= L[k, a, c] * U[k, row, c]
            U[k, row, a] = v / L[k, a, a]
        downdate(IA, i, U, k, a)


@law
def downdate(IA: FloatArray, i: int, U: FloatArray, k: int, a: int) -> None:
    """``I_A -= u u^T`` in row ``i`` with u the column ``a`` of ``U[k]``."""
    x, y, z = U[k, 0, a], U[k, 1, a], U[k, 2, a]
    u, v, m = U[k, 3, a], U[k, 4, a], U[k, 5, a]
    IA[i, 0] -= x * x
    IA[i, 1] -= x * y
    IA[i, 2] -= x * z
    IA[i, 3] -= y * y
    IA[i, 4] -= y * z
    IA[i, 5] -= z * z
    IA[i, 6] -= x * u
    IA[i, 7] -= x * v
    IA[i, 8] -= x * m
    IA[i, 9] -= y * u
    IA[i, 10] -= y * v
    IA[i, 11] -= y * m
    IA[i, 12] -= z * u
    IA[i, 13] -= z * v
    IA[i, 14] -= z * m
    IA[i, 15] -= u * u
    IA[i, 16] -= u * v
    IA[i, 17] -= u * m
    IA[i, 18] -= v * v
    IA[i, 19] -= v * m
    IA[i, 20] -= m * m


@law
def accelerate_custom(t: TreeRecord, w: TreeWork, i: int, qdd: FloatArray) -> None:
    """Outward step of body ``i``: ``qdd`` of its joint, then ``w.a``; row holds X a_p without C."""
    k, d, n = t.slot[i], t.dof[i], t.custom_dofs[t.slot[i]]
    U, L, S, x, a = w.U, w.L, w.S, w.x, w.a
    # U holds L^-1 U^T after the inward step: D^-1 (tau - U^T a) = L^-T (L^-1 tau - (L^-1 U^T) a)
    for j in range(n):
        x[k, j] = w.y[k, j]
    forward(L[k], x[k], n)
    for j in range(n):
        for row in range(6):
            x[k, j] -= U[k, row, j] * a[i, row]
    for j in range(n - 1, -1, -1):
        v = x[k, j]
        for c in range(j + 1, n):
            v -= L[k, c, j] * x[k, c]
        x[k, j] = v / L[k, j, j]
        qdd[d + j] = x[k, j]
    for row in range(6):
        a[i, row] += w.C[i, row]
        for j in range(n):
            a[i, row] += S[k, row, j] * x[k, j]
