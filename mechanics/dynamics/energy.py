"""Energy of a tree: kinetic, gravitational, and stored in joint springs and stops."""

from __future__ import annotations

from mechanics.dynamics.posture import place, spin, world_poses
from mechanics.dynamics.records import JointKind, TreeRecord, TreeWork
from mechanics.passive import stop_energy_j
from signals.compiled import law
from signals.layout import FloatArray, Records

REVOLUTE = int(JointKind.REVOLUTE)
CUSTOM = int(JointKind.CUSTOM)


@law
def origin_velocities(t: TreeRecord, w: TreeWork, qd: FloatArray) -> None:
    """Write ``w.v``, velocities of the bodies' origins in body axes, after ``spin``."""
    E, r, v, W = w.E, w.r, w.v, w.w
    for i in range(t.n_bodies):
        p = t.parent[i]
        x = y = z = 0.0
        if p >= 0:
            x = v[p, 0] + W[p, 1] * r[i, 2] - W[p, 2] * r[i, 1]
            y = v[p, 1] + W[p, 2] * r[i, 0] - W[p, 0] * r[i, 2]
            z = v[p, 2] + W[p, 0] * r[i, 1] - W[p, 1] * r[i, 0]
        for a in range(3):
            v[i, a] = E[i, 3 * a] * x + E[i, 3 * a + 1] * y + E[i, 3 * a + 2] * z
        if t.kind[i] == CUSTOM:
            k = t.slot[i]
            for j in range(t.custom_dofs[k]):
                for a in range(3):
                    v[i, a] += w.S[k, a, j] * qd[t.dof[i] + j]
        elif t.kind[i] != REVOLUTE:
            v[i, 2] += t.ratio[i] * qd[t.dof[i]]


@law
def kinetic_j(t: TreeRecord, w: TreeWork, qd: FloatArray) -> float:
    """Kinetic energy [J], armatures included, after ``spin``."""
    origin_velocities(t, w, qd)
    v, W, h, inertia = w.v, w.w, t.moment, t.inertia
    total = 0.0
    for i in range(t.n_bodies):
        x, y, z = v[i, 0], v[i, 1], v[i, 2]
        a, b, c = W[i, 0], W[i, 1], W[i, 2]
        total += 0.5 * t.mass[i] * (x * x + y * y + z * z)
        # v . (w x m r_c)
        total += (
            x * (b * h[i, 2] - c * h[i, 1])
            + y * (c * h[i, 0] - a * h[i, 2])
            + z * (a * h[i, 1] - b * h[i, 0])
        )
        total += 0.5 * (inertia[i, 0] * a * a + inertia[i, 3] * b * b + inertia[i, 5] * c * c)
        total += inertia[i, 1] * a * b + inertia[i, 2] * a * c + inertia[i, 4] * b * c
    for d in range(t.n_dofs):
        total += 0.5 * t.armature[d] * qd[d] * qd[d]
    return total


@law
def potential_j(t: TreeRecord, w: TreeWork, q: FloatArray) -> float:
    """Energy of gravity (0 at the world's origin), joint springs and stops [J], after ``place``."""
    world_poses(t, w)
    R, P, h, g = w.R, w.p, t.moment, t.gravity
    total = 0.0
    for i in range(t.n_bodies):
        for a in range(3):
            first = R[i, 3 * a] * h[i, 0] + R[i, 3 * a + 1] * h[i, 1] + R[i, 3 * a + 2] * h[i, 2]
            total -= g[a] * (t.mass[i] * P[i, a] + first)
    for d in range(t.n_dofs):
        stretch = q[d] - t.rest[d]
        total += 0.5 * t.stiffness[d] * stretch * stretch + stop_energy_j(t, d, q[d])
    return total


@law
def energies(
    tree: Records[TreeRecord], q: FloatArray, qd: FloatArray, work: Records[TreeWork]
) -> tuple[float, float]:
    """Kinetic and potential energy [J]; arguments as ``aba.aba``."""
    t, w = tree[0], work[0]
    place(t, w, q, qd)
    spin(t, w, qd)
    return kinetic_j(t, w, qd), potential_j(t, w, q)
