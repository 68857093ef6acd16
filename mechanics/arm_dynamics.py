"""Forward dynamics and energy of the arm in Lagrange form: H qdd = tau + J^T F - v - g - passive torques."""

from __future__ import annotations

from mechanics.arm import ArmRecord, lagrange_terms, wrench_torque
from mechanics.cholesky import factorise, solve_factored
from signals.compiled import law
from signals.layout import FloatArray, Records


@law
def factor(m: ArmRecord, step_s: float) -> None:
    """Write the Cholesky factor of ``m.H`` plus the implicit diagonal into ``m.L``."""
    L = m.L
    for i in range(m.n):
        for j in range(i + 1):
            v = m.H[i, j]
            if i == j:
                v += step_s * (m.damping_nms_rad[i] + step_s * m.stiffness_nm_rad[i])
            L[i, j] = v
    factorise(L, m.n, 1e-300)


@law
def arm_acceleration(
    arm: Records[ArmRecord],
    q: FloatArray,
    qd: FloatArray,
    tau_nm: FloatArray,
    wrench: FloatArray,
    step_s: float,
    qdd: FloatArray,
) -> None:
    """Joint accelerations.

    Args:
        arm: ``mechanics.arm.ARM``, shape (1,).
        q: joint angles [rad], shape (n,).
        qd: joint speeds, shape (n,).
        tau_nm: joint torques, shape (n,).
        wrench: force [N] and moment [N m] of the environment on the last link, in its frame, shape (6,).
        step_s: > 0 for implicit springs and dampers.
        qdd: receives the accelerations, shape (n,).
    """
    m = arm[0]
    lagrange_terms(m, q, qd)
    factor(m, step_s)
    for i in range(m.n):
        passive = m.damping_nms_rad[i] * qd[i]
        passive += m.stiffness_nm_rad[i] * (q[i] + step_s * qd[i] - m.rest_rad[i])
        qdd[i] = tau_nm[i] - m.v[i] - m.g[i] - passive
    wrench_torque(m, wrench, qdd)
    solve_factored(m.L, qdd, m.n)


@law
def arm_energy_j(arm: Records[ArmRecord], q: FloatArray, qd: FloatArray) -> tuple[float, float]:
    """Kinetic energy (5), and potential energy (7) with joint springs [J]."""
    m = arm[0]
    lagrange_terms(m, q, qd)
    kinetic = potential = 0.0
    for i in range(m.n):
        for j in range(m.n):
            kinetic += 0.5 * qd[i] * m.H[i, j] * qd[j]
        stretch = q[i] - m.rest_rad[i]
        potential += 0.5 * m.stiffness_nm_rad[i] * stretch * stretch
    for a in range(3):
        potential -= m.gravity_m_s2[a] * m.G[0, a, 3]
    return kinetic, potential
