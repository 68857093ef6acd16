"""One substep of a limb: the hand's motors and tendons, and the tree of hand and carrier as one.

As ``sim.plant``, with the whole tree's mass matrix and bias in the place of the hand's own: what the carrier
does moves the palm, and what hand and load weigh and resist is felt at the carrier's joints. Springs, dampers
and stops of the carrier are linearly implicit too.
"""

from __future__ import annotations

from mechanics.carried import carried_ways, place_palm
from mechanics.dynamics.crba import crba
from mechanics.dynamics.energy import energies
from mechanics.dynamics.posture import place
from mechanics.dynamics.records import TreeRecord, TreeWork
from mechanics.dynamics.rnea import rnea
from mechanics.guides import pulled_tension_n
from mechanics.handsolve import eliminate, factor, substitute
from mechanics.passive import passive_torques
from signals.compiled import law
from signals.layout import FloatArray, Records
from signals.typed import Model
from sim.branches import sum_of
from sim.energy import held_energy
from sim.joint_kick import account_joints, drive_axes
from sim.limb.record import LimbRecord
from sim.motors import kick_motors
from sim.paths import update_paths
from sim.plant import drift, joint_torques, update_tensions
from sim.plant_record import PlantRecord


@law
def place_limb(m: Model, p: PlantRecord, g: LimbRecord) -> None:
    """Positions and speeds of the whole limb, in the order of its tree."""
    na, nj = m.n_axes, m.n_joints
    for a in range(na):
        g.tree_q[g.dof[a]], g.tree_qd[g.dof[a]] = p.axis_rad[a], p.axis_rad_s[a]
    for j in range(nj):
        g.tree_q[g.dof[na + j]], g.tree_qd[g.dof[na + j]] = p.q_rad[j], p.qd_rad_s[j]
    for k in range(g.n):
        d = g.dof[na + nj + k]
        g.tree_q[d], g.tree_qd[d] = g.q[k], g.qd[k]


@law
def limb_equations(
    tree: Records[TreeRecord], work: Records[TreeWork], g: LimbRecord, no_loads: FloatArray, h: float
) -> None:
    """Mass matrix and bias of the tree; springs and dampers at the end of a step ``h``, shares in ``arm``."""
    t, w = tree[0], work[0]
    crba(tree, g.tree_q, work, g.M)
    rnea(tree, g.tree_q, g.tree_qd, g.rest, no_loads, work, g.bias)
    for d in range(t.n_dofs):
        g.explicit[d] = w.passive[d]
    passive_torques(t, w, g.tree_q, g.tree_qd, h)
    for d in range(t.n_dofs):
        g.bias[d] += w.passive[d] - g.explicit[d]
        g.M[d, d] += w.arm[d] - t.armature[d]


@law
def carry_tendons(m: Model, p: PlantRecord, t: TreeRecord, w: TreeWork, g: LimbRecord) -> None:
    """Path lengths of the tendons over the carrier's joints, as those through a wrist; after ``place``."""
    place_palm(t, w, g.palm)
    carried_ways(m, g.palm, g.n)
    for i in range(m.n_tendons):
        p.wrist_length_m[i] = g.palm.length_m[i]


@law
def guide_carried(m: Model, p: PlantRecord, g: LimbRecord) -> None:
    """Tensions in the fingers once more, with the speeds of the paths over the carrier's joints."""
    for i in range(m.n_tendons):
        v = p.path_speed_m_s[i]
        for k in range(g.n):
            v += g.palm.P_m[i, k] * g.qd[k]
        p.path_speed_m_s[i] = v
        p.finger_tension_n[i], p.guide_slope_ns_m[i] = pulled_tension_n(
            p.tension_n[i], m.guide_loss_frac[i], m.guide_bending_n[i], v, m.guide_speed_m_s
        )


@law
def pull_carrier(m: Model, p: PlantRecord, g: LimbRecord, h: float) -> None:
    """Torques -P^T f of the tendons on the carrier's joints, and what their guides damp: C = P^T slope P."""
    na, A, x, P, first = m.n_axes, g.A, g.x, g.palm.P_m, m.n_axes + m.n_joints
    for i in range(m.n_tendons):
        b, slope = p.tendon_branch[i], p.guide_slope_ns_m[i]
        for k in range(g.n):
            x[first + k] -= h * P[i, k] * p.finger_tension_n[i]
            for e in range(k + 1):
                A[first + k, first + e] += h * P[i, k] * slope * P[i, e]
            for y in range(p.branch_joints[b]):
                j = p.branch_joint[b, y]
                A[na + j, first + k] += h * p.P_tj_m[i, j] * slope * P[i, k]


@law
def _fill(m: Model, p: PlantRecord, g: LimbRecord, h: float) -> None:
    """(H + h C) in the pattern of the limb's coordinates, and the right-hand side."""
    na, nj, A, parent = m.n_axes, m.n_joints, g.A, g.layout.coord_parent
    for c in range(g.layout.n_coords):
        e = c
        while e >= 0:
            A[c, e] = g.M[g.dof[c], g.dof[e]]
            e = parent[e]
        torque = g.torque_nm[c - na - nj] if c >= na + nj else p.tau_nm[c]
        g.x[c] = h * (torque - g.bias[g.dof[c]])
    for a in range(na):
        for c in range(a + 1):
            A[a, c] += h * sum_of(p.axis_damping_acb[a, c], p.n_branches)
    for j in range(nj):
        b, x = g.branch[j], g.place[j]
        for a in range(na):
            A[na + j, a] += h * p.axis_damping_axb[a, x, b]
        for y in range(x + 1):
            A[na + j, na + p.branch_joint[b, y]] += h * p.damping_xyb[x, y, b]
    for k in range(g.n):
        c = na + nj + k
        A[c, c] += h * g.damping_nms_rad[k]
        g.x[c] -= h * g.damping_nms_rad[k] * g.qd[k]
    if g.palm.frame >= 0:
        pull_carrier(m, p, g, h)


@law
def kick_limb(m: Model, p: PlantRecord, g: LimbRecord, h: float) -> None:
    """Velocity changes of axes, joints and carrier after ``limb_equations``."""
    na, nj, A, x = m.n_axes, m.n_joints, g.A, g.x
    _fill(m, p, g, h)
    factor(g.layout, A)
    eliminate(g.layout, A, x, na)
    if na != 0:
        # what is left of the matrix once all but the axes are eliminated, from its factor L^T D L
        s11 = 1.0 / A[1, 1]
        s01 = A[1, 0] * s11
        s00 = 1.0 / A[0, 0] + A[1, 0] * s01
        x[0], x[1] = drive_axes(m, p, h, s00, s01, s11, x[0], x[1])
        p.axis_rad_s[0] += x[0]
        p.axis_rad_s[1] += x[1]
    substitute(g.layout, A, x, na)
    for j in range(nj):
        p.qd_rad_s[j] += x[na + j]
    for k in range(g.n):
        g.qd[k] += x[na + nj + k]
    for c in range(na + nj):
        p.delta_rad_s[c] = x[c]


@law
def _account_carrier(m: Model, p: PlantRecord, t: TreeRecord, g: LimbRecord, h: float) -> None:
    """Work of the carrier's motors and heat of its dampers over a kick."""
    first = m.n_axes + m.n_joints
    for k in range(g.n):
        mean = g.qd[k] - 0.5 * g.x[first + k]
        p.energy_in_j += h * g.torque_nm[k] * mean
        damping = t.damping[g.dof[first + k]] + g.damping_nms_rad[k]
        p.energy_lost_j += h * damping * g.qd[k] * mean
    if g.palm.frame >= 0:
        _account_guides(m, p, g, h)


@law
def _account_guides(m: Model, p: PlantRecord, g: LimbRecord, h: float) -> None:
    """Heat of the guides beyond what ``account_joints`` makes of the ways through the fingers alone."""
    na, first = m.n_axes, m.n_axes + m.n_joints
    for i in range(m.n_tendons):
        b = p.tendon_branch[i]
        mean = change = more = further = 0.0
        for x in range(p.branch_joints[b]):
            j = p.branch_joint[b, x]
            mean += p.P_tj_m[i, j] * (p.qd_rad_s[j] - 0.5 * p.delta_rad_s[na + j])
            change += p.P_tj_m[i, j] * p.delta_rad_s[na + j]
        for k in range(g.n):
            more += g.palm.P_m[i, k] * (g.qd[k] - 0.5 * g.x[first + k])
            further += g.palm.P_m[i, k] * g.x[first + k]
        slope = p.guide_slope_ns_m[i]
        loss = p.finger_tension_n[i] - p.tension_n[i] + slope * change
        p.energy_lost_j += h * ((loss + slope * further) * (mean + more) - loss * mean)


@law
def limb_energy(
    m: Model, p: PlantRecord, tree: Records[TreeRecord], work: Records[TreeWork], g: LimbRecord
) -> float:
    """Kinetic and potential energy of the limb [J], with what the hand's motors and tendons hold."""
    place_limb(m, p, g)
    kinetic, potential = energies(tree, g.tree_q, g.tree_qd, work)
    return float(held_energy(m, p, kinetic + potential))


@law
def limb_substep(
    m: Model,
    p: PlantRecord,
    tree: Records[TreeRecord],
    work: Records[TreeWork],
    g: LimbRecord,
    no_loads: FloatArray,
    h: float,
) -> None:
    """Advance hand and carrier by ``h`` seconds."""
    drift(m, p, 0.5 * h)
    for k in range(g.n):
        g.q[k] += 0.5 * h * g.qd[k]
    update_paths(m, p)
    place_limb(m, p, g)
    if g.palm.frame >= 0:
        place(tree[0], work[0], g.tree_q, g.tree_qd)
        carry_tendons(m, p, tree[0], work[0], g)
    update_tensions(m, p)
    if g.palm.frame >= 0 and p.guides_on != 0:
        guide_carried(m, p, g)
    joint_torques(m, p)
    limb_equations(tree, work, g, no_loads, h)
    kick_limb(m, p, g, h)
    if p.energy_on:
        account_joints(m, p, h)
        _account_carrier(m, p, tree[0], g, h)
    kick_motors(m, p, h)
    drift(m, p, 0.5 * h)
    for k in range(g.n):
        g.q[k] += 0.5 * h * g.qd[k]
    p.time_s += h
