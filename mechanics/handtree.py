"""Dynamics of the whole hand: mass matrix and bias by composite rigid bodies in one common frame.

Generalised coordinates: the wrist axes first (``n_axes``), then the joints; without joint friction, tendons
and motors,

    H(q) qdd + bias(q, qd) = tau,    bias = C qd + g

Everything is expressed in the frame that coincides with the palm now, spatial vectors about its origin,
angular part first. Each body's inertia is turned and shifted there once (ten numbers: m, m c, I); composite
inertias then add towards the palm without any transform, H_ij = s_i . (I_c s_j) for i an ancestor of j.
The bias is a Newton-Euler pass in the same frame. The palm moves with the wrist, v = S qd_w, or is fixed.
Coupled bodies share a coordinate: their columns add. Factorisation: ``mechanics.handsolve``.

Usage: ``work = new_work(model)`` once, then ``hand_dynamics(model[0], ..., work[0])`` in the loop.
"""

from __future__ import annotations

from mechanics.handbody import body_inertia, inertial_force, momentum
from mechanics.handlayout import COORDINATES, HANDTREE_WORK, HandtreeWork, check_tree, lay_out
from mechanics.handpalm import forget_palm, move_palm
from mechanics.handsolve import factor, solve
from mechanics.kinematics import body_poses_by, tips_of
from signals.compiled import law
from signals.layout import FloatArray
from signals.records import RecordArray, new
from signals.typed import Model

__all__ = [
    "COORDINATES",
    "HANDTREE_WORK",
    "add_force",
    "add_tip_force",
    "energies",
    "factor",
    "forget_palm",
    "hand_dynamics",
    "new_work",
    "solve",
]


def new_work(model: RecordArray) -> RecordArray:
    """Scratch for one hand, shape (1,), laid out for ``model``.

    Raises:
        ValueError: the tree is not one that these laws can handle (``check_tree``).
    """
    check_tree(model)
    work = new(HANDTREE_WORK)
    lay_out(model[0], work[0])
    forget_palm(work[0])
    return work


@law
def place_inertias(m: Model, w: HandtreeWork) -> None:
    """Each body's inertia in the palm frame, about its origin, into ``w.inertia``."""
    mass, com, I_c = m.body_mass_kg, m.body_com_m, m.body_inertia_kg_m2
    R, p, inertia = w.R, w.p, w.inertia
    for b in range(m.n_bodies):
        cx, cy, cz = com[b, 0], com[b, 1], com[b, 2]
        x = p[b, 0] + R[b, 0, 0] * cx + R[b, 0, 1] * cy + R[b, 0, 2] * cz
        y = p[b, 1] + R[b, 1, 0] * cx + R[b, 1, 1] * cy + R[b, 1, 2] * cz
        z = p[b, 2] + R[b, 2, 0] * cx + R[b, 2, 1] * cy + R[b, 2, 2] * cz
        k = mass[b]
        i = inertia[b]
        i[0], i[1], i[2], i[3] = k, k * x, k * y, k * z
        i[4], i[5], i[6], i[7], i[8], i[9] = body_inertia(I_c[b], R[b], k, x, y, z)


@law
def place_screws(m: Model, w: HandtreeWork) -> None:
    """Each body's joint axis, times its ratio, as a motion about the palm origin into ``w.screw``."""
    axis, ratio, coord = m.body_axis, m.body_ratio, w.body_coord
    R, p, screw = w.R, w.p, w.screw
    for b in range(1, m.n_bodies):
        k = ratio[b] if coord[b] >= 0 else 0.0
        ax, ay, az = k * axis[b, 0], k * axis[b, 1], k * axis[b, 2]
        ux = R[b, 0, 0] * ax + R[b, 0, 1] * ay + R[b, 0, 2] * az
        uy = R[b, 1, 0] * ax + R[b, 1, 1] * ay + R[b, 1, 2] * az
        uz = R[b, 2, 0] * ax + R[b, 2, 1] * ay + R[b, 2, 2] * az
        s = screw[b]
        s[0], s[1], s[2] = ux, uy, uz
        s[3] = p[b, 1] * uz - p[b, 2] * uy
        s[4] = p[b, 2] * ux - p[b, 0] * uz
        s[5] = p[b, 0] * uy - p[b, 1] * ux


@law
def spread_motion(m: Model, qd_rad_s: FloatArray, w: HandtreeWork) -> None:
    """Twists, accelerations at qdd = 0 and forces of all bodies, palm first."""
    parents, joints = m.body_parent, m.body_joint
    screw, twist, rate, force, inertia = w.screw, w.twist, w.rate, w.force, w.inertia
    inertial_force(inertia[0], twist[0], rate[0], force[0])
    for b in range(1, m.n_bodies):
        a = parents[b]
        qd = qd_rad_s[joints[b]] if joints[b] >= 0 else 0.0
        ux, uy, uz = qd * screw[b, 0], qd * screw[b, 1], qd * screw[b, 2]
        lx, ly, lz = qd * screw[b, 3], qd * screw[b, 4], qd * screw[b, 5]
        wx, wy, wz = twist[a, 0], twist[a, 1], twist[a, 2]
        vx, vy, vz = twist[a, 3], twist[a, 4], twist[a, 5]
        v, r, q = twist[b], rate[b], rate[a]
        v[0], v[1], v[2] = wx + ux, wy + uy, wz + uz
        v[3], v[4], v[5] = vx + lx, vy + ly, vz + lz
        r[0] = q[0] + wy * uz - wz * uy
        r[1] = q[1] + wz * ux - wx * uz
        r[2] = q[2] + wx * uy - wy * ux
        r[3] = q[3] + wy * lz - wz * ly + vy * uz - vz * uy
        r[4] = q[4] + wz * lx - wx * lz + vz * ux - vx * uz
        r[5] = q[5] + wx * ly - wy * lx + vx * uy - vy * ux
        inertial_force(inertia[b], v, r, force[b])


@law
def clear_pattern(w: HandtreeWork) -> None:
    """Zero the bias and those entries of H that the tree can fill."""
    H, bias, parent = w.H, w.bias, w.coord_parent
    for i in range(w.n_coords):
        bias[i] = 0.0
        j = i
        while j >= 0:
            H[i, j] = 0.0
            H[j, i] = 0.0
            j = parent[j]


@law
def gather(m: Model, w: HandtreeWork) -> None:
    """Composite inertias and forces from the tips to the palm; the joints' part of H and bias on the way."""
    parents, coord, axes = m.body_parent, w.body_coord, m.n_axes
    H, bias, S, screw, force, inertia = w.H, w.bias, w.S, w.screw, w.force, w.inertia
    for b in range(m.n_bodies - 1, 0, -1):
        a = parents[b]
        c = coord[b]
        if c >= 0:
            s = screw[b]
            nx, ny, nz, fx, fy, fz = momentum(inertia[b], s[0], s[1], s[2], s[3], s[4], s[5])
            H[c, c] += s[0] * nx + s[1] * ny + s[2] * nz + s[3] * fx + s[4] * fy + s[5] * fz
            f = force[b]
            bias[c] += s[0] * f[0] + s[1] * f[1] + s[2] * f[2] + s[3] * f[3] + s[4] * f[4] + s[5] * f[5]
            e = a
            while e > 0:
                d = coord[e]
                if d >= 0:
                    s = screw[e]
                    h = s[0] * nx + s[1] * ny + s[2] * nz + s[3] * fx + s[4] * fy + s[5] * fz
                    H[c, d] += h
                    # a coupled pair meets itself in both orders, on the diagonal
                    H[d, c] += h
                e = parents[e]
            for k in range(axes):
                h = S[0, k] * nx + S[1, k] * ny + S[2, k] * nz + S[3, k] * fx + S[4, k] * fy + S[5, k] * fz
                H[c, k] += h
                H[k, c] += h
        for i in range(10):
            inertia[a, i] += inertia[b, i]
        for i in range(6):
            force[a, i] += force[b, i]


@law
def gather_wrist(m: Model, w: HandtreeWork) -> None:
    """The wrist's own block of H and bias, from the whole hand's composite inertia and force."""
    H, bias, S, f = w.H, w.bias, w.S, w.force[0]
    for k in range(m.n_axes):
        nx, ny, nz, fx, fy, fz = momentum(w.inertia[0], S[0, k], S[1, k], S[2, k], S[3, k], S[4, k], S[5, k])
        for j in range(k + 1):
            h = S[0, j] * nx + S[1, j] * ny + S[2, j] * nz + S[3, j] * fx + S[4, j] * fy + S[5, j] * fz
            H[j, k] = h
            H[k, j] = h
        for i in range(6):
            bias[k] += S[i, k] * f[i]


@law
def hand_dynamics(
    m: Model,
    axis_q_rad: FloatArray,
    axis_qd_rad_s: FloatArray,
    q_rad: FloatArray,
    qd_rad_s: FloatArray,
    w: HandtreeWork,
) -> None:
    """Mass matrix, bias, body poses and fingertips of one state.

    The palm is computed only if the wrist has moved since the last call (``forget_palm``).

    Args:
        m: model record.
        axis_q_rad: wrist axes (q71, q73), shape (2,); ignored by a hand without a wrist.
        axis_qd_rad_s: their rates, shape (2,).
        q_rad: joint angles, shape (J,).
        qd_rad_s: their rates, shape (J,).
        w: ``HANDTREE_WORK`` record from ``new_work``; receives H, bias, R, p, tips, palm_R, palm_o, S.
    """
    move_palm(m, axis_q_rad, axis_qd_rad_s, w)
    body_poses_by(m, q_rad, w.sine, w.cosine, w.R, w.p)
    place_inertias(m, w)
    place_screws(m, w)
    spread_motion(m, qd_rad_s, w)
    clear_pattern(w)
    gather(m, w)
    gather_wrist(m, w)
    tips_of(m, w.R, w.p, w.tips)


@law
def add_force(
    m: Model, w: HandtreeWork, body: int, at: FloatArray, force_n: FloatArray, tau: FloatArray
) -> None:
    """Add J^T F of a force on ``body`` at a point [m], both in the palm frame, shape (3,), to ``tau``.

    ``tau``, shape (COORDINATES,), is in generalised coordinates: wrist axes, then joints.
    """
    fx, fy, fz = force_n[0], force_n[1], force_n[2]
    nx = at[1] * fz - at[2] * fy
    ny = at[2] * fx - at[0] * fz
    nz = at[0] * fy - at[1] * fx
    b = body
    while b > 0:
        c = w.body_coord[b]
        if c >= 0:
            s = w.screw[b]
            tau[c] += s[0] * nx + s[1] * ny + s[2] * nz + s[3] * fx + s[4] * fy + s[5] * fz
        b = m.body_parent[b]
    S = w.S
    for k in range(m.n_axes):
        tau[k] += S[0, k] * nx + S[1, k] * ny + S[2, k] * nz + S[3, k] * fx + S[4, k] * fy + S[5, k] * fz


@law
def add_tip_force(w: HandtreeWork, m: Model, finger: int, force_n: FloatArray, tau: FloatArray) -> None:
    """Add J^T F of a force on one fingertip, palm frame, shape (3,), to ``tau``, shape (COORDINATES,).

    ``w`` holds the state of the last ``hand_dynamics``. A finger without a tip takes no force.
    """
    body = m.finger_tip_body[finger]
    if body >= 0:
        add_force(m, w, body, w.tips[finger], force_n, tau)


@law
def energies(
    m: Model, axis_qd_rad_s: FloatArray, qd_rad_s: FloatArray, w: HandtreeWork
) -> tuple[float, float]:
    """Kinetic and potential energy of the tree [J] in the state of the last ``hand_dynamics``.

    The potential's zero is the origin of the forearm frame.
    """
    H, parent, axes = w.H, w.coord_parent, m.n_axes
    kinetic = 0.0
    for i in range(w.n_coords):
        u = axis_qd_rad_s[i] if i < axes else qd_rad_s[i - axes]
        kinetic += 0.5 * H[i, i] * u * u
        j = parent[i]
        while j >= 0:
            v = axis_qd_rad_s[j] if j < axes else qd_rad_s[j - axes]
            kinetic += H[i, j] * u * v
            j = parent[j]
    R, o, g = w.palm_R, w.palm_o, m.gravity_m_s2
    mass, cx, cy, cz = w.inertia[0, 0], w.inertia[0, 1], w.inertia[0, 2], w.inertia[0, 3]
    potential = 0.0
    for i in range(3):
        potential -= g[i] * (mass * o[i] + R[i, 0] * cx + R[i, 1] * cy + R[i, 2] * cz)
    return kinetic, potential
