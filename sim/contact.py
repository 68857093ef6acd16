"""The compliant object: a sphere that pushes fingertips out, with damping and regularised friction.

Only fingertips touch, as spheres of radius ``TIP_RADIUS_M``: enough to close a hand on something and to
tell contact from faults. Collision geometry, grasps with many contacts and free objects are MuJoCo's job.
"""

from __future__ import annotations

import math
from typing import Any, Final

from signals.compiled import law

TIP_RADIUS_M: Final = 0.008
"""Radius of a fingertip, as the rods of the bones."""
SLIP_SPEED_M_S: Final = 0.005
"""Sliding speed that regularises the sign of the friction force."""


@law
def _contact_force(m: Any, p: Any, g: int, x: Any, v: Any, f: Any) -> float:
    """Force on the tip at ``x`` [m] moving with ``v`` [m/s], palm frame, into ``f`` [N]; returns |normal|."""
    dx = x[0] - m.object_center_m[0]
    dy = x[1] - m.object_center_m[1]
    dz = x[2] - m.object_center_m[2]
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    depth = m.object_radius_m + TIP_RADIUS_M - distance
    f[0] = f[1] = f[2] = 0.0
    if depth <= 0.0 or distance < 1e-6:
        return 0.0
    nx, ny, nz = dx / distance, dy / distance, dz / distance
    vn = v[0] * nx + v[1] * ny + v[2] * nz
    normal = max(m.object_stiffness_n_m * depth - m.object_damping_ns_m * vn, 0.0)
    tx, ty, tz = v[0] - vn * nx, v[1] - vn * ny, v[2] - vn * nz
    slip = math.sqrt(tx * tx + ty * ty + tz * tz + SLIP_SPEED_M_S * SLIP_SPEED_M_S)
    rub = m.object_friction * normal / slip
    f[0] = normal * nx - rub * tx
    f[1] = normal * ny - rub * ty
    f[2] = normal * nz - rub * tz
    return normal


@law
def add_contact_torques(m: Any, p: Any, k: Any) -> None:
    """Add the object's forces on all fingertips to ``p.external_nm`` and keep ``p.contact_n``."""
    na = m.n_axes
    for g in range(m.n_fingers):
        body = m.finger_tip_body[g]
        if body < 0:
            continue
        x, v, f = p.tip_work[0], p.tip_work[1], p.tip_work[2]
        for r in range(3):
            x[r] = k.p[body, r]
            for c in range(3):
                x[r] += k.R[body, r, c] * m.finger_tip_m[g, c]
            v[r] = 0.0
        for twice in range(2):
            b = body
            while b > 0:
                j = m.body_joint[b]
                if j >= 0:
                    ax = ay = az = 0.0
                    for c in range(3):
                        ax += k.R[b, 0, c] * m.body_axis[b, c]
                        ay += k.R[b, 1, c] * m.body_axis[b, c]
                        az += k.R[b, 2, c] * m.body_axis[b, c]
                    rx, ry, rz = x[0] - k.p[b, 0], x[1] - k.p[b, 1], x[2] - k.p[b, 2]
                    lx = m.body_ratio[b] * (ay * rz - az * ry)
                    ly = m.body_ratio[b] * (az * rx - ax * rz)
                    lz = m.body_ratio[b] * (ax * ry - ay * rx)
                    if twice == 0:
                        rate = p.qd_rad_s[j]
                        v[0] += lx * rate
                        v[1] += ly * rate
                        v[2] += lz * rate
                    else:
                        p.external_nm[na + j] += lx * f[0] + ly * f[1] + lz * f[2]
                b = m.body_parent[b]
            if twice == 0:
                p.contact_n[g] = _contact_force(m, p, g, x, v, f)
                if p.contact_n[g] == 0.0:
                    break
