r"""Return tendons, bands and springs that run over joints of a finger and have no motor.

.. math:: f_r = \max(f_{0,r} + k_r\, a_r^T q,\ 0), \qquad \tau = -\sum_r a_r f_r

with a the row's moment arms over the joints [m/rad], as in ``P = dh/dq``, f_0 its tension at q = 0 and k its
stiffness. A row pulls and never pushes; ``hand.file.passive`` wants it taut over the ranges, where it is a
linear spring of the matrix ``k a a^T``.
"""

from __future__ import annotations

from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model


@law
def pull_n(m: Model, r: int, way_m: float) -> float:
    """Tension [N] of passive row ``r`` that is longer by a way [m] than with all joints at 0."""
    return float(max(m.passive_preload_n[r] + m.passive_stiffness_n_m[r] * way_m, 0.0))


@law
def row_tension_n(m: Model, r: int, q_rad: FloatArray) -> float:
    """Tension [N] of passive row ``r`` at joint angles, shape (J,)."""
    f, way = m.passive_finger[r], 0.0
    for x in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, x]
        way += m.passive_arm_m[r, j] * q_rad[j]
    return pull_n(m, r, way)


@law
def rows_torque_nm(m: Model, j: int, q_rad: FloatArray) -> float:
    """Torque [N m] that holds joint ``j`` against all passive rows at joint angles, shape (J,)."""
    torque = 0.0
    for r in range(m.n_passives):
        if m.passive_arm_m[r, j] != 0.0:
            torque += m.passive_arm_m[r, j] * row_tension_n(m, r, q_rad)
    return torque


@law
def rows_energy_j(m: Model, q_rad: FloatArray) -> float:
    """Elastic energy [J] of all passive rows at joint angles, shape (J,); 0 where they are slack."""
    energy = 0.0
    for r in range(m.n_passives):
        energy += 0.5 * row_tension_n(m, r, q_rad) ** 2 / m.passive_stiffness_n_m[r]
    return energy


@law
def stiffness_of_joints_nm_rad(m: Model, i: int, j: int) -> float:
    """Torque [N m/rad] of springs at joint ``i`` per angle of joint ``j``: their own, and those of rows."""
    stiffness = m.joint_spring_nm_rad[i] if i == j else 0.0
    for r in range(m.n_passives):
        stiffness += m.passive_stiffness_n_m[r] * m.passive_arm_m[r, i] * m.passive_arm_m[r, j]
    return float(stiffness)
