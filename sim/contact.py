"""The compliant object: a sphere that pushes fingertips out, with damping and regularised friction.

Only fingertips touch, as spheres of radius ``tip_radius_m``: enough to close a hand on something and to
tell contact from faults. Collision geometry, grasps with many contacts and free objects are MuJoCo's job.
"""

from __future__ import annotations

import math

from mechanics.handlayout import HandtreeWork
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model
from sim.plant_record import PlantRecord


@law
def _contact_force(m: Model, x: FloatArray, v: FloatArray, f: FloatArray) -> float:
    """Force on the tip at ``x`` [m] moving with ``v`` [m/s], palm frame, into ``f`` [N]; returns |normal|."""
    dx = x[0] - m.object_center_m[0]
    dy = x[1] - m.object_center_m[1]
    dz = x[2] - m.object_center_m[2]
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    depth = m.object_radius_m + m.tip_radius_m - distance
    f[0] = f[1] = f[2] = 0.0
    if depth <= 0.0 or distance < 1e-4 * m.tip_radius_m:
        return 0.0
    nx, ny, nz = dx / distance, dy / distance, dz / distance
    vn = v[0] * nx + v[1] * ny + v[2] * nz
    normal = max(m.object_stiffness_n_m * depth - m.object_damping_ns_m * vn, 0.0)
    tx, ty, tz = v[0] - vn * nx, v[1] - vn * ny, v[2] - vn * nz
    slip = math.sqrt(tx * tx + ty * ty + tz * tz + m.slip_speed_m_s * m.slip_speed_m_s)
    rub = m.object_friction * normal / slip
    f[0] = normal * nx - rub * tx
    f[1] = normal * ny - rub * ty
    f[2] = normal * nz - rub * tz
    return float(normal)


@law
def add_wrench(
    m: Model,
    k: HandtreeWork,
    body: int,
    nx: float,
    ny: float,
    nz: float,
    fx: float,
    fy: float,
    fz: float,
    tau: FloatArray,
) -> None:
    """Add the joint torques of a wrench on ``body`` about the palm origin, palm frame, to ``tau``."""
    coord, parent, screw = k.body_coord, m.body_parent, k.screw
    b = body
    while b > 0:
        c = coord[b]
        if c >= 0:
            s = screw[b]
            tau[c] += s[0] * nx + s[1] * ny + s[2] * nz + s[3] * fx + s[4] * fy + s[5] * fz
        b = parent[b]


@law
def add_contact_torques(m: Model, p: PlantRecord, k: HandtreeWork) -> None:
    """Add the object's forces on all fingertips to ``p.external_nm`` and keep ``p.contact_n``.

    The object is held in the palm, so its force is internal to the hand: the wrist does not feel it.
    """
    v, f, palm = p.tip_work[0], p.tip_work[1], k.twist[0]
    for g in range(m.n_fingers):
        body = m.finger_tip_body[g]
        if body < 0:
            continue
        x, twist = k.tips[g], k.twist[body]
        wx, wy, wz = twist[0] - palm[0], twist[1] - palm[1], twist[2] - palm[2]
        v[0] = twist[3] - palm[3] + wy * x[2] - wz * x[1]
        v[1] = twist[4] - palm[4] + wz * x[0] - wx * x[2]
        v[2] = twist[5] - palm[5] + wx * x[1] - wy * x[0]
        p.contact_n[g] = _contact_force(m, x, v, f)
        if p.contact_n[g] > 0.0:
            add_wrench(
                m,
                k,
                body,
                x[1] * f[2] - x[2] * f[1],
                x[2] * f[0] - x[0] * f[2],
                x[0] * f[1] - x[1] * f[0],
                f[0],
                f[1],
                f[2],
                p.external_nm,
            )
