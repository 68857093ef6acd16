"""Kinematics of the custom joints that are known here: the hand's wrist and the carpal wrist.

Each law gives the pose, S (body axes, linear part first) and s = (dS/dt) qd of its plate; ``mount`` then
hangs it where the joint stands on its parent. A joint of the law ``GIVEN`` is filled by the caller.
"""

from __future__ import annotations

from enum import IntEnum

from mechanics.carpal import carpal_motion
from mechanics.dynamics.records import JointKind, TreeRecord, TreeWork
from mechanics.wrist_loop import palm_pose
from mechanics.wrist_motion import palm_bias, palm_twists
from signals.compiled import law
from signals.layout import FloatArray

CUSTOM = int(JointKind.CUSTOM)


class CustomLaw(IntEnum):
    """Who fills a custom joint's kinematics."""

    GIVEN = 0
    """The caller, before each evaluation: E, r, S, s in the work record."""
    DOUBLE_PARALLELOGRAM = 1
    """Wrist of the reference hand: (q71, q73), palm in the forearm frame {0}; params (a, b, c) [m]."""
    CARPAL = 2
    """Carpal wrist: three leg angles, distal plate in the base frame; params (r, l)."""


DOUBLE_PARALLELOGRAM = int(CustomLaw.DOUBLE_PARALLELOGRAM)
CARPAL = int(CustomLaw.CARPAL)


@law
def fill_parallelogram(t: TreeRecord, w: TreeWork, i: int, q: FloatArray, qd: FloatArray) -> None:
    """Write E, r, S, s of the reference hand's wrist (chapter 6)."""
    k, d = t.slot[i], t.dof[i]
    E, r, S, s = w.E, w.r, w.S, w.s
    pose = palm_pose(t, q[d], q[d + 1])
    E[i, 0], E[i, 3], E[i, 6] = pose[0], pose[1], pose[2]
    E[i, 1], E[i, 4], E[i, 7] = pose[3], pose[4], pose[5]
    E[i, 2], E[i, 5], E[i, 8] = pose[6], pose[7], pose[8]
    r[i, 0], r[i, 1], r[i, 2] = pose[9], pose[10], pose[11]
    u = palm_twists(t, q[d], q[d + 1])
    S[k, 3, 0], S[k, 4, 0], S[k, 5, 0] = u[0], u[1], u[2]
    S[k, 0, 0], S[k, 1, 0], S[k, 2, 0] = u[3], u[4], u[5]
    S[k, 3, 1], S[k, 4, 1], S[k, 5, 1] = u[6], u[7], u[8]
    S[k, 0, 1], S[k, 1, 1], S[k, 2, 1] = u[9], u[10], u[11]
    a = palm_bias(t, q[d], q[d + 1], qd[d], qd[d + 1])
    s[k, 3], s[k, 4], s[k, 5] = a[0], a[1], a[2]
    s[k, 0], s[k, 1], s[k, 2] = a[3], a[4], a[5]


@law
def fill_carpal(t: TreeRecord, w: TreeWork, i: int, q: FloatArray, qd: FloatArray) -> None:
    """Write E, r, S, s of a carpal wrist."""
    k, d, c = t.slot[i], t.dof[i], w.carpal
    E, r, S, s, R = w.E, w.r, w.S, w.s, w.carpal.R
    c.r_m, c.l_m = t.custom_params[k, 0], t.custom_params[k, 1]
    carpal_motion(c, q[d : d + 3], qd[d : d + 3])
    vx = vy = vz = 0.0
    for j in range(3):
        rate = qd[d + j]
        vx += c.Jv[0, j] * rate
        vy += c.Jv[1, j] * rate
        vz += c.Jv[2, j] * rate
    # classical acceleration to the rate of body components: vd - w x v
    ax = c.vd[0] - (c.w[1] * vz - c.w[2] * vy)
    ay = c.vd[1] - (c.w[2] * vx - c.w[0] * vz)
    az = c.vd[2] - (c.w[0] * vy - c.w[1] * vx)
    for a in range(3):
        r[i, a] = c.D[a]
        x, y, z = R[0, a], R[1, a], R[2, a]
        E[i, 3 * a], E[i, 3 * a + 1], E[i, 3 * a + 2] = x, y, z
        s[k, a] = x * ax + y * ay + z * az
        s[k, 3 + a] = x * c.wd[0] + y * c.wd[1] + z * c.wd[2]
        for j in range(3):
            S[k, a, j] = x * c.Jv[0, j] + y * c.Jv[1, j] + z * c.Jv[2, j]
            S[k, 3 + a, j] = x * c.Jw[0, j] + y * c.Jw[1, j] + z * c.Jw[2, j]


@law
def mount(t: TreeRecord, w: TreeWork, i: int) -> None:
    """Hang a filled pose where the joint stands: r = r0 + E0^T r, E = E E0."""
    E, r, E0 = w.E, w.r, t.E0
    x, y, z = r[i, 0], r[i, 1], r[i, 2]
    for a in range(3):
        r[i, a] = t.r0[i, a] + E0[i, a] * x + E0[i, 3 + a] * y + E0[i, 6 + a] * z
        x0, x1, x2 = E[i, 3 * a], E[i, 3 * a + 1], E[i, 3 * a + 2]
        for b in range(3):
            E[i, 3 * a + b] = x0 * E0[i, b] + x1 * E0[i, 3 + b] + x2 * E0[i, 6 + b]


@law
def fill(t: TreeRecord, w: TreeWork, q: FloatArray, qd: FloatArray) -> None:
    """Write E, r, S and s of all custom joints whose law is known here."""
    for i in range(t.n_bodies):
        if t.kind[i] == CUSTOM:
            chosen = t.custom_law[t.slot[i]]
            if chosen == DOUBLE_PARALLELOGRAM:
                fill_parallelogram(t, w, i, q, qd)
                mount(t, w, i)
            elif chosen == CARPAL:
                fill_carpal(t, w, i, q, qd)
                mount(t, w, i)
