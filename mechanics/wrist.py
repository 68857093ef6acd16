"""The wrist towards the hand: palm pose, tendon lengths through the wrist and their Jacobian.

    h_wrist,i = | o + R p_palm,i - p_forearm,i |        (eq. 6.9, points of Table 6.2)

Geometry: ``mechanics.wrist_loop``; velocities: ``mechanics.wrist_motion``; palm pitch and yaw:
``mechanics.palm_angles``. Everything here is exact, allocates nothing and stays finite at the lock. The
``palm_*`` laws take a pose that is already known, the ``wrist_*`` laws the two axis angles.
"""

from __future__ import annotations

import math

from mechanics.palm_angles import WristOutOfRange, axes_of_palm, axis_range, palm_angles
from mechanics.wrist_loop import palm_pose, wrist_margin
from mechanics.wrist_motion import palm_twists, wrist_motion
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model

__all__ = [
    "WristOutOfRange",
    "axes_of_palm",
    "axis_range",
    "palm_angles",
    "palm_jacobian",
    "palm_lengths",
    "palm_ways",
    "wrist_jacobian",
    "wrist_lengths",
    "wrist_margin",
    "wrist_motion",
    "wrist_pose",
]


@law
def wrist_pose(m: Model, q71_rad: float, q73_rad: float, R_out: FloatArray, o_out: FloatArray) -> None:
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
def tendon_vector(
    palm: FloatArray,
    forearm: FloatArray,
    pose: tuple[float, float, float, float, float, float, float, float, float, float, float, float],
) -> tuple[float, float, float]:
    """Vector from the forearm point to the palm point [m], in palm components, of one tendon."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz, ox, oy, oz = pose
    fx, fy, fz = ox - forearm[0], oy - forearm[1], oz - forearm[2]
    return (
        xx * fx + yx * fy + zx * fz + palm[0],
        xy * fx + yy * fy + zy * fz + palm[1],
        xz * fx + yz * fy + zz * fz + palm[2],
    )


@law
def packed(
    R: FloatArray, o: FloatArray
) -> tuple[float, float, float, float, float, float, float, float, float, float, float, float]:
    """A pose as twelve numbers, as ``palm_pose`` gives them."""
    return (
        R[0, 0],
        R[0, 1],
        R[0, 2],
        R[1, 0],
        R[1, 1],
        R[1, 2],
        R[2, 0],
        R[2, 1],
        R[2, 2],
        o[0],
        o[1],
        o[2],
    )


@law
def palm_lengths(m: Model, R: FloatArray, o: FloatArray, h_out: FloatArray) -> None:
    """Absolute path lengths [m] of a palm pose, R (3, 3) and o (3,), into ``h_out``, shape (T,)."""
    pose = packed(R, o)
    for t in range(m.n_tendons):
        dx, dy, dz = tendon_vector(m.palm_point_m[t], m.forearm_point_m[t], pose)
        h_out[t] = math.sqrt(dx * dx + dy * dy + dz * dz)


@law
def wrist_lengths(m: Model, q71_rad: float, q73_rad: float, h_out: FloatArray) -> None:
    """Absolute path lengths through the wrist [m] into ``h_out``, shape (T,)."""
    pose = palm_pose(m, q71_rad, q73_rad)
    for t in range(m.n_tendons):
        dx, dy, dz = tendon_vector(m.palm_point_m[t], m.forearm_point_m[t], pose)
        h_out[t] = math.sqrt(dx * dx + dy * dy + dz * dz)


@law
def length_rates(
    palm: FloatArray,
    d: tuple[float, float, float],
    u: tuple[float, float, float, float, float, float],
    v: tuple[float, float, float, float, float, float],
) -> tuple[float, float]:
    """Rates of |d| for two motions (w, v) of the palm: n . v + (p_palm x n) . w with n = d/|d|."""
    dx, dy, dz = d
    k = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
    nx, ny, nz = k * dx, k * dy, k * dz
    mx, my, mz = palm[1] * nz - palm[2] * ny, palm[2] * nx - palm[0] * nz, palm[0] * ny - palm[1] * nx
    return (
        mx * u[0] + my * u[1] + mz * u[2] + nx * u[3] + ny * u[4] + nz * u[5],
        mx * v[0] + my * v[1] + mz * v[2] + nx * v[3] + ny * v[4] + nz * v[5],
    )


@law
def palm_jacobian(m: Model, R: FloatArray, o: FloatArray, S: FloatArray, P_out: FloatArray) -> None:
    """P_w [m/rad] of a palm pose and its ``wrist_motion`` S, shape (6, 2), into ``P_out``, shape (T, 2)."""
    pose = packed(R, o)
    u = (S[0, 0], S[1, 0], S[2, 0], S[3, 0], S[4, 0], S[5, 0])
    v = (S[0, 1], S[1, 1], S[2, 1], S[3, 1], S[4, 1], S[5, 1])
    for t in range(m.n_tendons):
        d = tendon_vector(m.palm_point_m[t], m.forearm_point_m[t], pose)
        P_out[t, 0], P_out[t, 1] = length_rates(m.palm_point_m[t], d, u, v)


@law
def palm_ways(
    m: Model,
    q71_rad: float,
    q73_rad: float,
    R: FloatArray,
    o: FloatArray,
    h_out: FloatArray,
    P_out: FloatArray,
) -> None:
    """Lengths and Jacobian of a pose that is known, in one pass over the tendons.

    Args:
        m: model record.
        q71_rad: tilt of the BC plane [rad].
        q73_rad: in-plane axis angle [rad].
        R: rotation of ``wrist_pose`` at these angles, shape (3, 3).
        o: its origin [m], shape (3,).
        h_out: receives the absolute path lengths [m], shape (T,).
        P_out: receives their derivatives [m/rad], shape (T, 2).
    """
    pose, twists = packed(R, o), palm_twists(m, q71_rad, q73_rad)
    u, v = twists[:6], twists[6:]
    for t in range(m.n_tendons):
        d = tendon_vector(m.palm_point_m[t], m.forearm_point_m[t], pose)
        h_out[t] = math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
        P_out[t, 0], P_out[t, 1] = length_rates(m.palm_point_m[t], d, u, v)


@law
def wrist_jacobian(m: Model, q71_rad: float, q73_rad: float, P_out: FloatArray) -> None:
    """P_w = dh_wrist/d(q71, q73) [m/rad] into ``P_out``, shape (T, 2)."""
    pose = palm_pose(m, q71_rad, q73_rad)
    twists = palm_twists(m, q71_rad, q73_rad)
    u, v = twists[:6], twists[6:]
    for t in range(m.n_tendons):
        d = tendon_vector(m.palm_point_m[t], m.forearm_point_m[t], pose)
        P_out[t, 0], P_out[t, 1] = length_rates(m.palm_point_m[t], d, u, v)
