"""The wrist towards the hand: palm pose, tendon lengths through the wrist and their Jacobian.

    h_wrist,i = | o + R p_palm,i - p_forearm,i |        (eq. 6.9, points of Table 6.2)

Geometry: ``mechanics.wrist_loop``; velocities: ``mechanics.wrist_motion``; palm pitch and yaw:
``mechanics.palm_angles``. Everything here is exact, allocates nothing and stays finite at the lock.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.palm_angles import WristOutOfRange, axes_of_palm, axis_range, palm_angles
from mechanics.wrist_loop import palm_pose, wrist_margin
from mechanics.wrist_motion import palm_twists, wrist_motion
from signals.compiled import law

FloatArray = NDArray[np.float64]

__all__ = [
    "WristOutOfRange",
    "axes_of_palm",
    "axis_range",
    "palm_angles",
    "wrist_jacobian",
    "wrist_lengths",
    "wrist_margin",
    "wrist_motion",
    "wrist_pose",
]


@law
def wrist_pose(m: Any, q71_rad: float, q73_rad: float, R_out: FloatArray, o_out: FloatArray) -> None:
    """Palm in the forearm frame {0}: R_0P into ``R_out`` (3, 3), origin [m] into ``o_out`` (3,)."""
    (
        R_out[0, 0],
        R_out[0, 1],
        R_out[0, 2],
        R_out[1, 0],
        R_out[1, 1],
        R_out[1, 2],
        R_out[2, 0],
        R_out[2, 1],
        R_out[2, 2],
        o_out[0],
        o_out[1],
        o_out[2],
    ) = palm_pose(m, q71_rad, q73_rad)


@law
def wrist_lengths(m: Any, q71_rad: float, q73_rad: float, h_out: FloatArray) -> None:
    """Absolute path lengths through the wrist [m] into ``h_out``, shape (T,)."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz, ox, oy, oz = palm_pose(m, q71_rad, q73_rad)
    palm, forearm = m.palm_point_m, m.forearm_point_m
    for t in range(m.n_tendons):
        px, py, pz = palm[t, 0], palm[t, 1], palm[t, 2]
        dx = ox + xx * px + xy * py + xz * pz - forearm[t, 0]
        dy = oy + yx * px + yy * py + yz * pz - forearm[t, 1]
        dz = oz + zx * px + zy * py + zz * pz - forearm[t, 2]
        h_out[t] = math.sqrt(dx * dx + dy * dy + dz * dz)


@law
def wrist_jacobian(m: Any, q71_rad: float, q73_rad: float, P_out: FloatArray) -> None:
    """P_w = dh_wrist/d(q71, q73) [m/rad] into ``P_out``, shape (T, 2).

    With n the tendon's direction in the palm frame: dh = n . v + (p_palm x n) . w.
    """
    xx, xy, xz, yx, yy, yz, zx, zy, zz, ox, oy, oz = palm_pose(m, q71_rad, q73_rad)
    ax, ay, az, bx, by, bz, cx, cy, cz, ex, ey, ez = palm_twists(m, q71_rad, q73_rad)
    palm, forearm = m.palm_point_m, m.forearm_point_m
    for t in range(m.n_tendons):
        px, py, pz = palm[t, 0], palm[t, 1], palm[t, 2]
        fx, fy, fz = ox - forearm[t, 0], oy - forearm[t, 1], oz - forearm[t, 2]
        dx = xx * fx + yx * fy + zx * fz + px
        dy = xy * fx + yy * fy + zy * fz + py
        dz = xz * fx + yz * fy + zz * fz + pz
        k = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
        mx, my, mz = py * dz - pz * dy, pz * dx - px * dz, px * dy - py * dx
        P_out[t, 0] = k * (mx * ax + my * ay + mz * az + dx * bx + dy * by + dz * bz)
        P_out[t, 1] = k * (mx * cx + my * cy + mz * cz + dx * ex + dy * ey + dz * ez)
