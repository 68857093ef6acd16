"""Inverse dynamics of trees: recursive Newton-Euler, (11)-(14) of the tree paper, corrected.

a_i = X a_p + phi qdd + C,   F_i = I_i a_i + b_i,   tau = phi^T F + arm qdd + tau^dyn,   F_p += X^T F_i
"""

from __future__ import annotations

from mechanics.dynamics.aba import carry_acceleration
from mechanics.dynamics.bias import start_bodies, subtract_loads
from mechanics.dynamics.posture import place, spin
from mechanics.dynamics.records import JointKind, TreeRecord, TreeWork
from mechanics.dynamics.spatial import carry_force, times_inertia
from mechanics.passive import passive_torques
from signals.compiled import law
from signals.layout import FloatArray, Records

REVOLUTE = int(JointKind.REVOLUTE)
CUSTOM = int(JointKind.CUSTOM)


@law
def accelerate_bodies(t: TreeRecord, w: TreeWork, qdd: FloatArray) -> None:
    """Write ``w.a`` from joint accelerations, shape (nv,), after ``spin``."""
    a, C, S = w.a, w.C, w.S
    for i in range(t.n_bodies):
        carry_acceleration(t, w, i)
        for row in range(6):
            a[i, row] += C[i, row]
        d = t.dof[i]
        if t.kind[i] == CUSTOM:
            k = t.slot[i]
            for j in range(t.custom_dofs[k]):
                for row in range(6):
                    a[i, row] += S[k, row, j] * qdd[d + j]
        elif t.kind[i] == REVOLUTE:
            a[i, 5] += t.ratio[i] * qdd[d]
        else:
            a[i, 2] += t.ratio[i] * qdd[d]


@law
def gather_forces(t: TreeRecord, w: TreeWork, tau: FloatArray) -> None:
    """Turn ``w.b`` into joint forces I a + b, from the tips inwards, and project them on the joints."""
    b, a, S = w.b, w.a, w.S
    for i in range(t.n_bodies - 1, -1, -1):
        f = times_inertia(w.IA, i, a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5])
        b[i, 0] += f[0]
        b[i, 1] += f[1]
        b[i, 2] += f[2]
        b[i, 3] += f[3]
        b[i, 4] += f[4]
        b[i, 5] += f[5]
        d = t.dof[i]
        if t.kind[i] == CUSTOM:
            k = t.slot[i]
            for j in range(t.custom_dofs[k]):
                for row in range(6):
                    tau[d + j] += S[k, row, j] * b[i, row]
        elif t.kind[i] == REVOLUTE:
            tau[d] += t.ratio[i] * b[i, 5]
        else:
            tau[d] += t.ratio[i] * b[i, 2]
        p = t.parent[i]
        if p >= 0:
            carry_force(w, i, p, b[i, 0], b[i, 1], b[i, 2], b[i, 3], b[i, 4], b[i, 5])


@law
def rnea(
    tree: Records[TreeRecord],
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    loads: FloatArray,
    work: Records[TreeWork],
    tau: FloatArray,
) -> None:
    """Joint torques that give the accelerations ``qdd``; arguments as ``aba.aba``, explicit springs."""
    t, w = tree[0], work[0]
    place(t, w, q, qd)
    spin(t, w, qd)
    passive_torques(t, w, q, qd, 0.0)
    start_bodies(t, w)
    if loads.shape[0] > 0:
        subtract_loads(t, w, loads)
    accelerate_bodies(t, w, qdd)
    for d in range(t.n_dofs):
        tau[d] = w.passive[d] + w.arm[d] * qdd[d]
    gather_forces(t, w, tau)
