"""Loops of the double inverted parallelogram wrist in closed form: palm pose from the two axis angles.

The neutral wrist is a box (length a, width b, thickness c); the crossing bars are its diagonals (chapter 6).
In the plane of B and C, tilted by q71 about B0C0, the bars B0B and C0C and the plate BC form a four-bar loop
(eq. 6.4, exact); A then closes the last loop |A - A0|. The palm frame is

    R_0P = Ry(-q71) Rz(psi) Ry(sigma),     o = M - c/2 z_P,    M = (B + C)/2 = Ry(-q71) (mx, my, 0)

with mx, my, psi functions of t_B = pi/2 - q73 alone and sigma the solution of

    F = alpha sin(sigma) + beta cos(sigma) - gamma = 0,    dF/dsigma = +sqrt(alpha^2 + beta^2 - gamma^2)

on the branch with the plus sign: the crossed one (A = (a, b/2, 0) in neutral), never left while
``wrist_margin`` is positive. Where the loop cannot close the root is held at zero.
"""

from __future__ import annotations

import math
from typing import Protocol

from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model


class WristSize(Protocol):
    """Field of a record with a wrist of this kind."""

    wrist_size_m: FloatArray


@law
def parallelogram(
    a: float, b: float, c: float, t: float
) -> tuple[float, float, float, float, float, float, float, float, float, float]:
    """Plate BC in its plane (u, y) over ``t`` = t_B, with derivatives by t.

    Returns:
        (mx, my [m], sin psi, cos psi, mx', my' [m/rad], psi', mx'', my'', psi''): M is the plate's middle,
        psi turns the plate about the plane's normal, 0 when neutral.
    """
    square = a * a + b * b + c * c
    r = math.sqrt(square)
    s, k = math.sin(t), math.cos(t)
    # eq. 6.4: C = N/D with C0 = (0, b) already inside, then the quotient rule twice
    g = square - b * b
    d0, d1, d2 = square + b * b - 2.0 * r * b * s, -2.0 * r * b * k, 2.0 * r * b * s
    cx0 = g * r * k / d0
    cx1 = (-g * r * s - cx0 * d1) / d0
    cx2 = (-g * r * k - 2.0 * cx1 * d1 - cx0 * d2) / d0
    cy0 = g * (r * s - b) / d0
    cy1 = (g * r * k - cy0 * d1) / d0
    cy2 = (-g * r * s - 2.0 * cy1 * d1 - cy0 * d2) / d0
    bx, by = r * k, r * s
    sp, cp = -(bx - cx0) / b, (by - cy0) / b
    # the plate's direction e = (-sin psi, cos psi): e' . (-cos psi, -sin psi) = psi', same for e''
    psi1 = (cp * (by + cx1) - sp * (bx - cy1)) / b
    psi2 = (cp * (bx + cx2) + sp * (by + cy2)) / b
    return (
        0.5 * (bx + cx0),
        0.5 * (by + cy0),
        sp,
        cp,
        0.5 * (-by + cx1),
        0.5 * (bx + cy1),
        psi1,
        0.5 * (-bx + cx2),
        0.5 * (-by + cy2),
        psi2,
    )


@law
def closure(
    a: float, b: float, c: float, q71: float, mx: float, my: float, sp: float, cp: float
) -> tuple[float, float, float]:
    """Coefficients (alpha, beta, gamma) [m] of the last loop, |A - A0|^2 = a^2 + c^2."""
    sq, cq = math.sin(q71), math.cos(q71)
    px, py = mx - c * sq, my - 0.5 * b
    gamma = (mx * (mx - 2.0 * c * sq) + py * py + c * c - a * a) / (2.0 * c)
    return cp * px + sp * py, -c * cq, gamma


@law
def crossed_solution(alpha: float, beta: float, gamma: float) -> tuple[float, float, float]:
    """(sin sigma, cos sigma, dF/dsigma [m]) on the crossed branch; held at the lock where there is none."""
    rho = math.sqrt(alpha * alpha + beta * beta)
    g = min(max(gamma, -rho), rho)
    # product form keeps digits near the lock
    root = math.sqrt((rho - g) * (rho + g))
    square = rho * rho
    return (alpha * g - beta * root) / square, (beta * g + alpha * root) / square, root


@law
def wrist_margin(m: Model, q71_rad: float, q73_rad: float) -> float:
    """Distance from the pose where the loop locks: 1 neutral, 0 locked, negative beyond.

    The last loop locks where its root is 0. With the palm straight ahead that is q71 = +-90 deg, where all
    its bars lie in one line and the crossed and the open solution meet: the root grows again beyond, but on
    the other branch, so that those poses count as impossible too.
    """
    size = m.wrist_size_m
    a, b, c = size[0], size[1], size[2]
    mx, my, sp, cp, _, _, _, _, _, _ = parallelogram(a, b, c, 0.5 * math.pi - q73_rad)
    alpha, beta, gamma = closure(a, b, c, q71_rad, mx, my, sp, cp)
    margin: float = (alpha * alpha + beta * beta - gamma * gamma) / (a * a)
    ahead: float = math.cos(q71_rad) * math.sqrt(a * a + c * c) / a
    return min(margin, ahead)


@law
def palm_pose(
    m: WristSize, q71_rad: float, q73_rad: float
) -> tuple[float, float, float, float, float, float, float, float, float, float, float, float]:
    """Palm in the forearm frame {0}: R_0P row by row, then the origin o [m]."""
    size = m.wrist_size_m
    a, b, c = size[0], size[1], size[2]
    mx, my, sp, cp, _, _, _, _, _, _ = parallelogram(a, b, c, 0.5 * math.pi - q73_rad)
    alpha, beta, gamma = closure(a, b, c, q71_rad, mx, my, sp, cp)
    ss, cs, _ = crossed_solution(alpha, beta, gamma)
    sq, cq = math.sin(q71_rad), math.cos(q71_rad)
    # columns in the tilted frame (u, y, z_M), then Ry(-q71): (x, y, z) -> (c x - s z, y, s x + c z)
    zx = cq * cp * ss - sq * cs
    zy = sp * ss
    zz = sq * cp * ss + cq * cs
    return (
        cq * cp * cs + sq * ss,
        -cq * sp,
        zx,
        sp * cs,
        cp,
        zy,
        sq * cp * cs - cq * ss,
        -sq * sp,
        zz,
        cq * mx - 0.5 * c * zx,
        my - 0.5 * c * zy,
        sq * mx - 0.5 * c * zz,
    )
