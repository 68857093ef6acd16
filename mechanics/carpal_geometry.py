"""Inverse pose, singularities and workspace of the carpal wrist.

    s_i = N.e_i,   th_i = atan2(N_z, s_i) - acos((N_z p - s_i r) / (l hypot(s_i, N_z)))   (outward branch)

A pose exists while every |argument of acos| <= 1: else that leg is too short. Two kinds of singular pose: a
stretched leg (N.M_i' = 0, its motor no longer moves the plate) and a loose plate (det A = 0, it moves with
the motors locked).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanics.carpal import (
    CARPAL,
    LEG_X,
    LEG_Y,
    CarpalRecord,
    carpal_motion,
    invert_loop,
    middle_joints,
    mirror,
)
from signals.compiled import law
from signals.layout import FloatArray


class CarpalError(ValueError):
    """A pose or geometry that the wrist cannot have; says which leg and what to change."""

    def __init__(self, problem: str, remedy: str) -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(f"carpal wrist: {problem}; {remedy}")


@law
def leg_cosine(r_m: float, l_m: float, i: int, nx: float, ny: float, nz: float, p_m: float) -> float:
    """Argument of the leg's arc cosine; the pose exists while it is within -1..1."""
    s = nx * LEG_X[i] + ny * LEG_Y[i]
    cosine: float = (nz * p_m - s * r_m) / (l_m * math.hypot(s, nz))
    return cosine


@law
def leg_angle(r_m: float, l_m: float, i: int, nx: float, ny: float, nz: float, p_m: float) -> float:
    """Leg angle [rad] of a pose given by N and p, outward branch; the pose must exist."""
    s = nx * LEG_X[i] + ny * LEG_Y[i]
    return math.atan2(nz, s) - math.acos(leg_cosine(r_m, l_m, i, nx, ny, nz, p_m))


@law
def margins(c: CarpalRecord, th: FloatArray) -> tuple[float, float, float, float, float]:
    """Distances from singular poses, 0 singular, about 1 at best.

    Returns:
        |N.M_i'| / l of the three legs, |det A| / (r + l)^2 / 1.3 of the plate, N_z of the tilt.
    """
    middle_joints(c, th)
    mirror(c)
    size = c.r_m + c.l_m
    plate = abs(invert_loop(c)) / (1.3 * size * size)
    M1, N = c.M1, c.N
    a = abs(N[0] * M1[0, 0] + N[1] * M1[0, 1] + N[2] * M1[0, 2]) / c.l_m
    b = abs(N[0] * M1[1, 0] + N[1] * M1[1, 1] + N[2] * M1[1, 2]) / c.l_m
    d = abs(N[0] * M1[2, 0] + N[1] * M1[2, 1] + N[2] * M1[2, 2]) / c.l_m
    return a, b, d, plate, N[2]


def check_geometry(r_m: float, l_m: float) -> None:
    """Refuse a wrist that cannot be built.

    Raises:
        CarpalError: a length that is not positive, or legs that cannot leave the base plane.
    """
    for name, value in (("joint radius", r_m), ("leg link", l_m)):
        if not (math.isfinite(value) and value > 0.0):
            raise CarpalError(f"{name} {value} m is not positive", "give a length > 0")


def normal_of(alpha_rad: float, beta_rad: float) -> FloatArray:
    """Midplane normal of a tool direction: azimuth alpha, tilt beta of the distal plate."""
    half = 0.5 * beta_rad
    return np.array(
        [math.sin(half) * math.cos(alpha_rad), math.sin(half) * math.sin(alpha_rad), math.cos(half)]
    )


def legs_of_pose(r_m: float, l_m: float, alpha_rad: float, beta_rad: float, p_m: float) -> FloatArray:
    """Leg angles [rad], shape (3,), of a tool pose.

    Raises:
        CarpalError: tilt of 180 deg or more, or a leg too short; names the leg and the length it would need.
    """
    check_geometry(r_m, l_m)
    if not 0.0 <= abs(beta_rad) < math.pi:
        raise CarpalError(f"tilt {math.degrees(beta_rad):.1f} deg", "stay below 180 deg")
    nx, ny, nz = (float(v) for v in normal_of(alpha_rad, beta_rad))
    for i in range(3):
        cosine = leg_cosine(r_m, l_m, i, nx, ny, nz, p_m)
        if abs(cosine) > 1.0:
            raise CarpalError(
                f"leg {i + 1} of {l_m:.4f} m is too short for alpha {math.degrees(alpha_rad):.1f} deg, "
                f"beta {math.degrees(beta_rad):.1f} deg, p {p_m:.4f} m",
                f"it needs {abs(cosine) * l_m:.4f} m; lengthen the legs, lower p or the tilt",
            )
    return np.array([leg_angle(r_m, l_m, i, nx, ny, nz, p_m) for i in range(3)])


@dataclass(frozen=True, slots=True)
class CarpalPose:
    """Where the tool plate is for three leg angles."""

    alpha_rad: float
    beta_rad: float
    p_m: float
    R: FloatArray
    """Base from distal, shape (3, 3)."""
    D_m: FloatArray
    """Distal centre, shape (3,)."""
    M_m: FloatArray
    """Middle joints, shape (3, 3)."""
    margin: float
    """Least distance from a singular pose, 0 singular."""


def new_wrist(r_m: float, l_m: float) -> NDArray[Any]:
    """Scratch of a wrist without a tool, shape (1,); raises as ``check_geometry``."""
    check_geometry(r_m, l_m)
    carpal = np.zeros(1, dtype=CARPAL)
    carpal["r_m"], carpal["l_m"] = r_m, l_m
    return carpal


def pose_of_legs(r_m: float, l_m: float, th_rad: FloatArray, least_margin: float = 1e-6) -> CarpalPose:
    """Pose of the tool plate.

    Raises:
        CarpalError: the pose is singular, or nearer to it than ``least_margin``; says in which way.
    """
    carpal = new_wrist(r_m, l_m)
    c = carpal[0]
    th = np.array(th_rad, dtype=np.float64)
    distance = margins(c, th)
    worst = int(np.argmin(distance))
    if not distance[worst] > least_margin:
        names = ("leg 1 is stretched", "leg 2 is stretched", "leg 3 is stretched", "the plate is loose")
        problem = (*names, "the plate is folded over")[worst]
        shown = ", ".join(f"{math.degrees(a):.2f}" for a in th)
        raise CarpalError(f"{problem} at leg angles {shown} deg", "stay further from this pose")
    carpal_motion(c, th, np.zeros(3))
    x, y, z = (float(v) for v in c["N"])
    return CarpalPose(
        math.atan2(y, x),
        2.0 * math.atan2(math.hypot(x, y), z),
        float(c["p"]),
        c["R"].copy(),
        c["D"].copy(),
        c["M"].copy(),
        float(distance[worst]),
    )


@dataclass(frozen=True, slots=True)
class Workspace:
    """What a sweep over the leg angles reaches."""

    alpha_rad: FloatArray
    beta_rad: FloatArray
    p_m: FloatArray
    D_m: FloatArray
    margin: FloatArray
    """Least distance from a singular pose, per reachable sample."""
    share: float
    """Part of the samples that are farther than the least margin."""


def workspace(
    r_m: float, l_m: float, low_rad: float, high_rad: float, steps: int = 15, least_margin: float = 0.05
) -> Workspace:
    """Sweep all leg angles over one range in ``steps`` steps; poses nearer than ``least_margin`` are dropped.

    Raises:
        CarpalError: the geometry, or a range in which nothing is reachable.
    """
    c = new_wrist(r_m, l_m)[0]
    axis = np.linspace(low_rad, high_rad, steps)
    rows = []
    for th in np.array(np.meshgrid(axis, axis, axis, indexing="ij")).reshape(3, -1).T:
        margin = min(margins(c, np.ascontiguousarray(th)))
        if margin > least_margin:
            x, y, z = c["N"]
            tilt = 2.0 * math.atan2(math.hypot(x, y), z)
            rows.append((math.atan2(y, x), tilt, float(c["p"]), *c["D"], margin))
    if not rows:
        span = f"{math.degrees(low_rad):.0f}..{math.degrees(high_rad):.0f} deg"
        raise CarpalError(
            f"nothing is reachable with leg angles {span}", "widen the range or lower the margin"
        )
    table = np.array(rows)
    return Workspace(table[:, 0], table[:, 1], table[:, 2], table[:, 3:6], table[:, 6], len(rows) / steps**3)
