"""Inverse dynamics of every kind of system: the torques that give wanted accelerations."""

from __future__ import annotations

from mechanics.arm import ArmRecord, lagrange_terms
from mechanics.carpal_dynamics import carpal_torque
from mechanics.dynamics.rnea import rnea
from mechanics.dynamics.systems import K_CARPAL, K_FINGER, K_TREE, Parts
from mechanics.muscle_finger import MuscleFingerRecord, finger_coriolis, finger_gravity, finger_inertia
from signals.compiled import law
from signals.layout import FloatArray


@law
def finger_torque(
    f: MuscleFingerRecord, q: FloatArray, qd: FloatArray, qdd: FloatArray, tau: FloatArray
) -> None:
    """Joint torques [N m] of the muscle finger, shape (3,)."""
    finger_inertia(f, q)
    finger_coriolis(f, q, qd)
    finger_gravity(f, q)
    for i in range(3):
        tau[i] = f.coriolis[i] + f.gravity[i] + f.joint_damping_nms_rad[i] * qd[i]
        tau[i] += f.stiffness_nm_rad[i] * (q[i] - f.rest_rad[i])
        for j in range(3):
            tau[i] += f.D[i, j] * qdd[j]


@law
def arm_torque(m: ArmRecord, q: FloatArray, qd: FloatArray, qdd: FloatArray, tau: FloatArray) -> None:
    """Joint torques [N m] of an arm in Lagrange form, shape (n,)."""
    lagrange_terms(m, q, qd)
    for i in range(m.n):
        tau[i] = m.v[i] + m.g[i] + m.damping_nms_rad[i] * qd[i]
        tau[i] += m.stiffness_nm_rad[i] * (q[i] - m.rest_rad[i])
        for j in range(m.n):
            tau[i] += m.H[i, j] * qdd[j]


@law
def inverse(
    kind: int,
    parts: Parts,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    loads: FloatArray,
    tau: FloatArray,
) -> None:
    """Driving joint torques [N m or N], shape (n,), that give ``qdd``; arguments as ``systems.accelerate``.

    Loads count for trees only.
    """
    if kind == K_TREE:
        rnea(parts[0], q, qd, qdd, loads, parts[1], tau)
    elif kind == K_CARPAL:
        carpal_torque(parts[2], q, qd, qdd, tau)
    elif kind == K_FINGER:
        finger_torque(parts[3][0], q, qd, qdd, tau)
    else:
        arm_torque(parts[4][0], q, qd, qdd, tau)
