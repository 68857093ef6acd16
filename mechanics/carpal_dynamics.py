"""Dynamics of the carpal wrist with a rigid tool: A thdd + h = M, regular everywhere the geometry is.

    A = m Jv^T Jv + Jw^T R I R^T Jw
    h = Jv^T m (vdot_0 - g) + Jw^T (R I R^T wdot_0 + w x R I R^T w) + springs and dampers at the motors

with v, Jv of the tool's centre of mass: (6.16)-(6.21) of the paper, whose -dT/dth and +dV/dth stand inside
the sum over m and would count three times (docs/papers/carpal_wrist.md).
"""

from __future__ import annotations

from mechanics.carpal import CarpalRecord, carpal_motion
from mechanics.passive import stop_energy_j, stop_torque
from signals.compiled import law
from signals.layout import FloatArray, Records


@law
def tool_motion(c: CarpalRecord) -> None:
    """Write ``c.rg``, ``c.Iw``, ``c.Jg``: the tool in base axes, after ``carpal_motion``."""
    R, B, Iw, Jw, Jg, rg = c.R, c.inertia_kg_m2, c.Iw, c.Jw, c.Jg, c.rg
    for i in range(3):
        rg[i] = R[i, 0] * c.com_m[0] + R[i, 1] * c.com_m[1] + R[i, 2] * c.com_m[2]
        x = R[i, 0] * B[0, 0] + R[i, 1] * B[1, 0] + R[i, 2] * B[2, 0]
        y = R[i, 0] * B[0, 1] + R[i, 1] * B[1, 1] + R[i, 2] * B[2, 1]
        z = R[i, 0] * B[0, 2] + R[i, 1] * B[1, 2] + R[i, 2] * B[2, 2]
        for j in range(3):
            Iw[i, j] = x * R[j, 0] + y * R[j, 1] + z * R[j, 2]
    for k in range(3):
        a, b, d = Jw[0, k], Jw[1, k], Jw[2, k]
        Jg[0, k] = c.Jv[0, k] + b * rg[2] - d * rg[1]
        Jg[1, k] = c.Jv[1, k] + d * rg[0] - a * rg[2]
        Jg[2, k] = c.Jv[2, k] + a * rg[1] - b * rg[0]


@law
def bias_wrench(c: CarpalRecord) -> tuple[float, float, float, float, float, float]:
    """Force and moment about the centre of mass that the motion at thdd = 0 needs, gravity included."""
    w, wd, rg, Iw, g, m = c.w, c.wd, c.rg, c.Iw, c.gravity_m_s2, c.mass_kg
    a, b, d = w[0], w[1], w[2]
    ux, uy, uz = b * rg[2] - d * rg[1], d * rg[0] - a * rg[2], a * rg[1] - b * rg[0]
    f0 = m * (c.vd[0] + wd[1] * rg[2] - wd[2] * rg[1] + b * uz - d * uy - g[0])
    f1 = m * (c.vd[1] + wd[2] * rg[0] - wd[0] * rg[2] + d * ux - a * uz - g[1])
    f2 = m * (c.vd[2] + wd[0] * rg[1] - wd[1] * rg[0] + a * uy - b * ux - g[2])
    hx = Iw[0, 0] * a + Iw[0, 1] * b + Iw[0, 2] * d
    hy = Iw[1, 0] * a + Iw[1, 1] * b + Iw[1, 2] * d
    hz = Iw[2, 0] * a + Iw[2, 1] * b + Iw[2, 2] * d
    n0 = Iw[0, 0] * wd[0] + Iw[0, 1] * wd[1] + Iw[0, 2] * wd[2] + b * hz - d * hy
    n1 = Iw[1, 0] * wd[0] + Iw[1, 1] * wd[1] + Iw[1, 2] * wd[2] + d * hx - a * hz
    n2 = Iw[2, 0] * wd[0] + Iw[2, 1] * wd[1] + Iw[2, 2] * wd[2] + a * hy - b * hx
    return f0, f1, f2, n0, n1, n2


@law
def carpal_equations(c: CarpalRecord, th: FloatArray, thd: FloatArray, step_s: float) -> None:
    """Write ``c.A``, ``c.h`` from leg angles and rates; ``step_s`` > 0: implicit springs and dampers."""
    carpal_motion(c, th, thd)
    tool_motion(c)
    f0, f1, f2, n0, n1, n2 = bias_wrench(c)
    A, h, Jw, Jg, Iw, m = c.A, c.h, c.Jw, c.Jg, c.Iw, c.mass_kg
    for k in range(3):
        a, b, d = Jw[0, k], Jw[1, k], Jw[2, k]
        x = Iw[0, 0] * a + Iw[0, 1] * b + Iw[0, 2] * d
        y = Iw[1, 0] * a + Iw[1, 1] * b + Iw[1, 2] * d
        z = Iw[2, 0] * a + Iw[2, 1] * b + Iw[2, 2] * d
        for j in range(3):
            linear = Jg[0, j] * Jg[0, k] + Jg[1, j] * Jg[1, k] + Jg[2, j] * Jg[2, k]
            A[j, k] = m * linear + Jw[0, j] * x + Jw[1, j] * y + Jw[2, j] * z
        rate, damping, stiffness = thd[k], c.damping_nms_rad[k], c.stiffness_nm_rad[k]
        h[k] = Jg[0, k] * f0 + Jg[1, k] * f1 + Jg[2, k] * f2 + a * n0 + b * n1 + d * n2
        h[k] += damping * rate + stiffness * (th[k] + step_s * rate - c.rest_rad[k])
        stop, share = stop_torque(c, k, th[k], rate, step_s)
        h[k] += stop
        A[k, k] += step_s * (damping + step_s * stiffness) + share


@law
def solve_3(A: FloatArray, b0: float, b1: float, b2: float, x: FloatArray) -> None:
    """Solve A x = b for a symmetric positive definite 3 x 3 matrix by LDL^T."""
    l10, l20 = A[1, 0] / A[0, 0], A[2, 0] / A[0, 0]
    d1 = A[1, 1] - l10 * A[1, 0]
    l21 = (A[2, 1] - l20 * A[1, 0]) / d1
    d2 = A[2, 2] - l20 * A[2, 0] - l21 * l21 * d1
    y1 = b1 - l10 * b0
    y2 = b2 - l20 * b0 - l21 * y1
    x[2] = y2 / d2
    x[1] = y1 / d1 - l21 * x[2]
    x[0] = b0 / A[0, 0] - l10 * x[1] - l20 * x[2]


@law
def carpal_acceleration(
    carpal: Records[CarpalRecord],
    th: FloatArray,
    thd: FloatArray,
    motor_nm: FloatArray,
    step_s: float,
    thdd: FloatArray,
) -> None:
    """Leg accelerations [rad/s2] from motor torques [N m], arrays of shape (3,), ``carpal`` of shape (1,)."""
    c = carpal[0]
    carpal_equations(c, th, thd, step_s)
    solve_3(c.A, motor_nm[0] - c.h[0], motor_nm[1] - c.h[1], motor_nm[2] - c.h[2], thdd)


@law
def carpal_torque(
    carpal: Records[CarpalRecord], th: FloatArray, thd: FloatArray, thdd: FloatArray, motor_nm: FloatArray
) -> None:
    """Motor torques [N m] that give the leg accelerations (6.16), arrays of shape (3,)."""
    c = carpal[0]
    carpal_equations(c, th, thd, 0.0)
    for k in range(3):
        motor_nm[k] = c.h[k] + c.A[k, 0] * thdd[0] + c.A[k, 1] * thdd[1] + c.A[k, 2] * thdd[2]


@law
def carpal_energy_j(carpal: Records[CarpalRecord], th: FloatArray, thd: FloatArray) -> tuple[float, float]:
    """Kinetic energy, and potential energy of gravity and springs [J]."""
    c = carpal[0]
    carpal_equations(c, th, thd, 0.0)
    kinetic = potential = 0.0
    for j in range(3):
        for k in range(3):
            kinetic += 0.5 * thd[j] * c.A[j, k] * thd[k]
        stretch = th[j] - c.rest_rad[j]
        potential += 0.5 * c.stiffness_nm_rad[j] * stretch * stretch + stop_energy_j(c, j, th[j])
        potential -= c.mass_kg * c.gravity_m_s2[j] * (c.D[j] + c.rg[j])
    return kinetic, potential
