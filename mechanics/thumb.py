"""Tensegrity base of the thumb: straight tendons from palm points X0 to points X below the PIP joint.

    h_i(q) = | T(q) X_i - X0_i |,   T = Rz(q0) Trans(base_offset) Ry(-q1) Trans(metacarpal)

(eq. 5.19-5.20; frames {10} and {12} aligned in the neutral pose, insertion points of Table 5.2 in each).
P is the exact first derivative of h, the curvature its second. q0, q1 are the finger's first two joints.
"""

from __future__ import annotations

import math

from mechanics.sine import sine_cosine
from signals.compiled import law
from signals.layout import FloatArray
from signals.modes import TendonKind
from signals.typed import Model

INSERTION = int(TendonKind.INSERTION_POINTS)


@law
def insertion_offset(
    m: Model, finger: int, t: int, q0_rad: float, q1_rad: float
) -> tuple[float, float, float, float, float, float, float, float, float]:
    """Vector X0 -> X of base tendon ``t`` [m] and its two derivatives [m/rad], in frame {10}."""
    s0, c0 = sine_cosine(q0_rad)
    s1, c1 = sine_cosine(q1_rad)
    bone = m.insertion_bone_m
    palm = m.insertion_palm_m
    vx = m.thumb_metacarpal_m[finger] + bone[t, 0]
    y, z = bone[t, 1], bone[t, 2]
    wx = c1 * vx - s1 * z
    wz = s1 * vx + c1 * z
    rx = m.thumb_base_offset_m[finger] + wx
    px = c0 * rx - s0 * y
    py = s0 * rx + c0 * y
    return (
        px - palm[t, 0],
        py - palm[t, 1],
        wz - palm[t, 2],
        -py,
        px,
        0.0,
        -c0 * wz,
        -s0 * wz,
        wx,
    )


@law
def insertion_length(m: Model, finger: int, t: int, q0_rad: float, q1_rad: float) -> float:
    """Length of base tendon ``t`` [m] (eq. 5.20)."""
    x, y, z, _, _, _, _, _, _ = insertion_offset(m, finger, t, q0_rad, q1_rad)
    return math.sqrt(x * x + y * y + z * z)


@law
def insertion_gradient(
    m: Model, finger: int, t: int, q0_rad: float, q1_rad: float
) -> tuple[float, float, float]:
    """Length [m] of base tendon ``t`` and its row of P, (dh/dq0, dh/dq1) [m/rad]."""
    x, y, z, ax, ay, az, bx, by, bz = insertion_offset(m, finger, t, q0_rad, q1_rad)
    h = math.sqrt(x * x + y * y + z * z)
    return h, (x * ax + y * ay + z * az) / h, (x * bx + y * by + z * bz) / h


@law
def insertion_curvature(
    m: Model, finger: int, t: int, q0_rad: float, q1_rad: float
) -> tuple[float, float, float]:
    """Second derivatives (h_00, h_01, h_11) of base tendon ``t`` [m/rad^2].

    h_ij = (Y_i.Y_j - h_i h_j)/h + n.Y_ij with Y the bone point, n the tendon's direction.
    """
    x, y, z, ax, ay, az, bx, by, bz = insertion_offset(m, finger, t, q0_rad, q1_rad)
    h = math.sqrt(x * x + y * y + z * z)
    h0 = (x * ax + y * ay + z * az) / h
    h1 = (x * bx + y * by + z * bz) / h
    s0, c0 = math.sin(q0_rad), math.cos(q0_rad)
    # Y_00 = z x Y_0, Y_01 = z x Y_1, Y_11 = -(part of Y that q1 turns)
    n00 = (-x * ay + y * ax) / h
    n01 = (-x * by + y * bx) / h
    wz = -(c0 * bx + s0 * by)
    n11 = -(x * c0 * bz + y * s0 * bz + z * wz) / h
    return (
        (ax * ax + ay * ay + az * az - h0 * h0) / h + n00,
        (ax * bx + ay * by + az * bz - h0 * h1) / h + n01,
        (bx * bx + by * by + bz * bz - h1 * h1) / h + n11,
    )


@law
def move_base(m: Model, finger: int, q0_rad: float, q1_rad: float, h: FloatArray, P: FloatArray) -> None:
    """Lengths [m] of the base tendons added to their places in ``h``, shape (T,), and their rows of P.

    The rows are those of ``write_base_jacobian``; both come from one look at the geometry.
    """
    j0, j1 = m.finger_joint[finger, 0], m.finger_joint[finger, 1]
    for k in range(m.finger_n_tendons[finger]):
        t = m.finger_tendon[finger, k]
        if m.tendon_kind[t] == INSERTION:
            length, p0, p1 = insertion_gradient(m, finger, t, q0_rad, q1_rad)
            h[t] += length
            P[t, j0] = m.P_tj_m[t, j0] + p0
            P[t, j1] = m.P_tj_m[t, j1] + p1


@law
def write_base_jacobian(m: Model, finger: int, q0_rad: float, q1_rad: float, P: FloatArray) -> None:
    """The base tendons' entries of P [m/rad] at a pose into ``P``, shape (T, J), whatever was there."""
    j0, j1 = m.finger_joint[finger, 0], m.finger_joint[finger, 1]
    for k in range(m.finger_n_tendons[finger]):
        t = m.finger_tendon[finger, k]
        if m.tendon_kind[t] == INSERTION:
            _, p0, p1 = insertion_gradient(m, finger, t, q0_rad, q1_rad)
            P[t, j0] = m.P_tj_m[t, j0] + p0
            P[t, j1] = m.P_tj_m[t, j1] + p1
