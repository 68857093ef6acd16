"""Velocity and acceleration of the palm: exact Jacobian and bias of the closed wrist.

The wrist is the chain Ry(-q71), Trans(mx, my, 0), Rz(psi), Ry(sigma), Trans(0, 0, -c/2) of
``mechanics.wrist_loop``, in which mx, my, psi follow t_B = pi/2 - q73 and sigma follows both angles through
F(q71, t_B, sigma) = 0, differentiated implicitly:

    sigma_i  = -F_i / F_s
    sigma_ij = -(F_ij + F_is sigma_j + F_js sigma_i + F_ss sigma_i sigma_j) / F_s
"""

from __future__ import annotations

import math

from mechanics.wrist_loop import WristSize, closure, crossed_solution, parallelogram
from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model

LOCK_M = 1e-9
"""Least dF/dsigma that is divided by: at the lock itself no velocity exists, values stay finite."""


@law
def tilt_rates(
    a: float, b: float, c: float, q71: float, t: float
) -> tuple[float, float, float, float, float, float, float]:
    """(sin sigma, cos sigma, sigma_q, sigma_t, sigma_qq, sigma_qt, sigma_tt) by q71 and t_B."""
    mx, my, sp, cp, mx1, my1, psi1, mx2, my2, psi2 = parallelogram(a, b, c, t)
    sq, cq = math.sin(q71), math.cos(q71)
    alpha, beta, gamma = closure(a, b, c, q71, mx, my, sp, cp)
    ss, cs, root = crossed_solution(alpha, beta, gamma)
    px, py = mx - c * sq, my - 0.5 * b
    across = cp * py - sp * px
    turn = cp * my1 - sp * mx1
    aq, bq, gq = -c * cp * cq, c * sq, -mx * cq
    at, gt = cp * mx1 + sp * my1 + psi1 * across, (px * mx1 + py * my1) / c
    aqq, bqq, gqq = c * cp * sq, c * cq, mx * sq
    aqt, gqt = c * sp * psi1 * cq, -mx1 * cq
    att = cp * mx2 + sp * my2 + 2.0 * psi1 * turn + psi2 * across - psi1 * psi1 * alpha
    gtt = (mx1 * mx1 + px * mx2 + my1 * my1 + py * my2) / c
    k = -1.0 / max(root, LOCK_M)
    sigma_q = k * (aq * ss + bq * cs - gq)
    sigma_t = k * (at * ss - gt)
    fqs, fts = aq * cs - bq * ss, at * cs
    return (
        ss,
        cs,
        sigma_q,
        sigma_t,
        k * (aqq * ss + bqq * cs - gqq + 2.0 * fqs * sigma_q - gamma * sigma_q * sigma_q),
        k * (aqt * ss - gqt + fqs * sigma_t + fts * sigma_q - gamma * sigma_q * sigma_t),
        k * (att * ss - gtt + 2.0 * fts * sigma_t - gamma * sigma_t * sigma_t),
    )


@law
def palm_twists(
    m: WristSize, q71: float, q73: float
) -> tuple[float, float, float, float, float, float, float, float, float, float, float, float]:
    """Columns of S by q71, then by q73: angular velocity and velocity of the palm origin, palm components."""
    size = m.wrist_size_m
    a, b, c = size[0], size[1], size[2]
    t = 0.5 * math.pi - q73
    mx, _, sp, cp, mx1, my1, psi1, _, _, _ = parallelogram(a, b, c, t)
    ss, cs, sigma_q, sigma_t, _, _, _ = tilt_rates(a, b, c, q71, t)
    half = 0.5 * c
    d1, d2 = cp * mx1 + sp * my1, cp * my1 - sp * mx1
    wx, wy = -cs * sp, sigma_q - cp
    ux, uy = ss * psi1, -sigma_t
    return (
        wx,
        wy,
        -ss * sp,
        -ss * mx - half * wy,
        half * wx,
        cs * mx,
        ux,
        uy,
        -cs * psi1,
        -cs * d1 - half * uy,
        half * ux - d2,
        -ss * d1,
    )


@law
def palm_bias(
    m: WristSize, q71: float, q73: float, qd71: float, qd73: float
) -> tuple[float, float, float, float, float, float]:
    """d/dt(S) (qd71, qd73): spatial acceleration at constant axis speeds, palm components."""
    size = m.wrist_size_m
    a, b, c = size[0], size[1], size[2]
    t, td = 0.5 * math.pi - q73, -qd73
    mx, _, sp, cp, mx1, my1, psi1, mx2, my2, psi2 = parallelogram(a, b, c, t)
    ss, cs, sigma_q, sigma_t, sigma_qq, sigma_qt, sigma_tt = tilt_rates(a, b, c, q71, t)
    psid, psidd = psi1 * td, psi2 * td * td
    sigmad = sigma_q * qd71 + sigma_t * td
    sigmadd = sigma_qq * qd71 * qd71 + 2.0 * sigma_qt * qd71 * td + sigma_tt * td * td
    # M's velocity and its rate, turned by -psi
    v1, v2, v3 = (cp * mx1 + sp * my1) * td, (cp * my1 - sp * mx1) * td, qd71 * mx
    a1 = (cp * mx2 + sp * my2) * td * td + psid * v2
    a2 = (cp * my2 - sp * mx2) * td * td - psid * v1
    a3 = qd71 * mx1 * td
    wxd = qd71 * (ss * sigmad * sp - cs * cp * psid) - cs * sigmad * psid - ss * psidd
    wyd = qd71 * sp * psid + sigmadd
    wzd = -qd71 * (cs * sigmad * sp + ss * cp * psid) - ss * sigmad * psid + cs * psidd
    return (
        wxd,
        wyd,
        wzd,
        cs * a1 - ss * a3 - sigmad * (ss * v1 + cs * v3) - 0.5 * c * wyd,
        a2 + 0.5 * c * wxd,
        ss * a1 + cs * a3 + sigmad * (cs * v1 - ss * v3),
    )


@law
def wrist_motion(
    m: Model, q71: float, q73: float, qd71: float, qd73: float, S_out: FloatArray, bias_out: FloatArray
) -> None:
    """Spatial Jacobian and bias of the palm frame, in palm components, angular part first.

    Args:
        m: model record.
        q71: tilt of the BC plane [rad].
        q73: in-plane axis angle [rad].
        qd71: its rate [rad/s].
        qd73: its rate [rad/s].
        S_out: receives S, shape (6, 2): (angular velocity, velocity of the palm origin) = S (qd71, qd73).
        bias_out: receives d/dt(S) (qd71, qd73), shape (6,): the spatial acceleration without axis
            acceleration (its linear part is the origin's acceleration minus w x v).
    """
    (
        S_out[0, 0],
        S_out[1, 0],
        S_out[2, 0],
        S_out[3, 0],
        S_out[4, 0],
        S_out[5, 0],
        S_out[0, 1],
        S_out[1, 1],
        S_out[2, 1],
        S_out[3, 1],
        S_out[4, 1],
        S_out[5, 1],
    ) = palm_twists(m, q71, q73)
    (
        bias_out[0],
        bias_out[1],
        bias_out[2],
        bias_out[3],
        bias_out[4],
        bias_out[5],
    ) = palm_bias(m, q71, q73, qd71, qd73)
