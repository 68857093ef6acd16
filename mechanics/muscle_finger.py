"""Planar finger of three links pulled by one muscle, in closed form.

    D qdd + sum C_ijk qd_i qd_j + P_k + c_d qd = (alpha, beta, gamma) F e

D is (A17) with 2 l1 l_c3 cos(q2 + q3) in d11, C_ijk is (A18), P from (A11) with gravity along -y
(docs/papers/muscle_finger.md). The paper's reduced model drops Coriolis terms and off-diagonal inertia; it is
an option. Angles: q1 against the horizontal x axis, q2, q3 relative; positive turns x towards y.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Protocol

from mechanics.muscle import (
    CURRENT,
    FORCE,
    TEMPERATURE,
    Muscle,
    muscle_force_n,
    temperature_rate_k_s,
    transmitted_n,
)
from mechanics.passive import stop_energy_j, stop_torque
from signals.compiled import law
from signals.layout import FloatArray, Records, dtype_of


class MuscleFingerRecord(Muscle, Protocol):
    """One finger with its scratch."""

    drive: int  # MuscleDrive
    reduced: int  # 1: the paper's reduced model
    length_m: Annotated[FloatArray, 3]
    com_m: Annotated[FloatArray, 3]  # from the proximal joint, along the link
    mass_kg: Annotated[FloatArray, 3]
    inertia_kg_m2: Annotated[FloatArray, 3]  # about the centre of mass
    gravity_m_s2: float  # along -y
    stiffness_nm_rad: Annotated[FloatArray, 3]
    rest_rad: Annotated[FloatArray, 3]
    joint_damping_nms_rad: Annotated[FloatArray, 3]
    lower: Annotated[FloatArray, 3]  # joint stops, as in a tree
    upper: Annotated[FloatArray, 3]
    stop_stiffness: Annotated[FloatArray, 3]
    stop_damping: Annotated[FloatArray, 3]
    offset_m: float  # of the tendon at every joint
    split: Annotated[FloatArray, 3]  # alpha, beta, gamma
    temperature_max_degc: float  # of the muscle
    D: Annotated[FloatArray, 3, 3]  # scratch from here on
    coriolis: Annotated[FloatArray, 3]
    gravity: Annotated[FloatArray, 3]
    force_n: float
    tau: Annotated[FloatArray, 3]
    share: Annotated[FloatArray, 3]  # implicit diagonal of the stops


FINGER: Final = dtype_of(MuscleFingerRecord)


@law
def finger_inertia(f: MuscleFingerRecord, q: FloatArray) -> None:
    """Write ``f.D`` (A17, corrected) from joint angles [rad], shape (3,)."""
    l1, l2 = f.length_m[0], f.length_m[1]
    c1, c2, c3 = f.com_m[0], f.com_m[1], f.com_m[2]
    m1, m2, m3 = f.mass_kg[0], f.mass_kg[1], f.mass_kg[2]
    i1, i2, i3 = f.inertia_kg_m2[0], f.inertia_kg_m2[1], f.inertia_kg_m2[2]
    k2, k3, k23 = math.cos(q[1]), math.cos(q[2]), math.cos(q[1] + q[2])
    d33 = m3 * c3 * c3 + i3
    d23 = d33 + m3 * l2 * c3 * k3
    d13 = d23 + m3 * l1 * c3 * k23
    d22 = m3 * (l2 * l2 + c3 * c3 + 2.0 * l2 * c3 * k3) + m2 * c2 * c2 + i2 + i3
    d12 = d22 + m2 * l1 * c2 * k2 + m3 * (l1 * l2 * k2 + l1 * c3 * k23)
    across = 2.0 * l1 * l2 * k2 + 2.0 * l2 * c3 * k3 + 2.0 * l1 * c3 * k23
    d11 = m1 * c1 * c1 + m2 * (l1 * l1 + c2 * c2 + 2.0 * l1 * c2 * k2) + i1 + i2 + i3
    d11 += m3 * (l1 * l1 + l2 * l2 + c3 * c3 + across)
    D = f.D
    D[0, 0], D[0, 1], D[0, 2] = d11, d12, d13
    D[1, 0], D[1, 1], D[1, 2] = d12, d22, d23
    D[2, 0], D[2, 1], D[2, 2] = d13, d23, d33


@law
def finger_coriolis(f: MuscleFingerRecord, q: FloatArray, qd: FloatArray) -> None:
    """Write ``f.coriolis`` = sum C_ijk qd_i qd_j with the 27 symbols of (A18)."""
    l1, l2, c2, c3 = f.length_m[0], f.length_m[1], f.com_m[1], f.com_m[2]
    m2, m3 = f.mass_kg[1], f.mass_kg[2]
    h2 = m3 * l1 * c3 * math.sin(q[1] + q[2])
    h3 = m3 * l2 * c3 * math.sin(q[2])
    h14 = (m2 * l1 * c2 + m3 * l1 * l2) * math.sin(q[1])
    a, b, c = qd[0], qd[1], qd[2]
    f.coriolis[0] = -(h14 + h2) * (2.0 * a * b + b * b) - (h2 + h3) * (2.0 * (a + b) * c + c * c)
    f.coriolis[1] = (h14 + h2) * a * a - h3 * (2.0 * (a + b) * c + c * c)
    f.coriolis[2] = (h2 + h3) * a * a + h3 * (2.0 * a * b + b * b)


@law
def finger_gravity(f: MuscleFingerRecord, q: FloatArray) -> None:
    """Write ``f.gravity`` = dP_g/dq of (A11)."""
    l1, l2, g = f.length_m[0], f.length_m[1], f.gravity_m_s2
    m1, m2, m3 = f.mass_kg[0], f.mass_kg[1], f.mass_kg[2]
    p3 = m3 * f.com_m[2] * g * math.cos(q[0] + q[1] + q[2])
    p2 = p3 + (m2 * f.com_m[1] + m3 * l2) * g * math.cos(q[0] + q[1])
    f.gravity[0] = p2 + (m1 * f.com_m[0] + (m2 + m3) * l1) * g * math.cos(q[0])
    f.gravity[1] = p2
    f.gravity[2] = p3


@law
def muscle_pull_n(
    f: MuscleFingerRecord, q: FloatArray, qd: FloatArray, given: float, temperature_degc: float
) -> float:
    """Force in the finger's tendon [N] for the drive in use; ``given`` is force, temperature or current."""
    shortening = f.offset_m * (qd[0] + qd[1] + qd[2])
    if f.drive == FORCE:
        force = max(0.0, given)
    elif f.drive == TEMPERATURE or f.drive == CURRENT:
        heat = given if f.drive == TEMPERATURE else temperature_degc
        force = muscle_force_n(f, -f.offset_m * (q[0] + q[1] + q[2]), -shortening, heat)
    else:
        return 0.0
    f.force_n = transmitted_n(f, force, shortening)
    pull: float = f.force_n
    return pull


@law
def solve_joints(
    f: MuscleFingerRecord, r0: float, r1: float, r2: float, step_s: float, qdd: FloatArray
) -> None:
    """Solve (D + implicit diagonal) qdd = r, with D's diagonal alone in the reduced model."""
    D, c, k, s = f.D, f.joint_damping_nms_rad, f.stiffness_nm_rad, f.share
    a = D[0, 0] + step_s * (c[0] + step_s * k[0]) + s[0]
    b = D[1, 1] + step_s * (c[1] + step_s * k[1]) + s[1]
    d = D[2, 2] + step_s * (c[2] + step_s * k[2]) + s[2]
    if f.reduced:
        qdd[0], qdd[1], qdd[2] = r0 / a, r1 / b, r2 / d
        return
    l10, l20 = D[0, 1] / a, D[0, 2] / a
    e1 = b - l10 * D[0, 1]
    l21 = (D[1, 2] - l20 * D[0, 1]) / e1
    e2 = d - l20 * D[0, 2] - l21 * l21 * e1
    y1 = r1 - l10 * r0
    qdd[2] = (r2 - l20 * r0 - l21 * y1) / e2
    qdd[1] = y1 / e1 - l21 * qdd[2]
    qdd[0] = r0 / a - l10 * qdd[1] - l20 * qdd[2]


@law
def finger_acceleration(
    finger: Records[MuscleFingerRecord],
    q: FloatArray,
    qd: FloatArray,
    tau_nm: FloatArray,
    given: float,
    temperature_degc: float,
    step_s: float,
    qdd: FloatArray,
) -> float:
    """Joint accelerations, and the rate of the muscle's temperature [K/s].

    Args:
        finger: ``FINGER``, shape (1,).
        q: joint angles [rad], shape (3,).
        qd: joint speeds, shape (3,).
        tau_nm: further joint torques, shape (3,).
        given: force [N], temperature [degC] or current [A], by the drive in use.
        temperature_degc: temperature of the muscle (drive by current).
        step_s: > 0 for implicit springs and dampers.
        qdd: receives the accelerations, shape (3,).
    """
    f = finger[0]
    finger_inertia(f, q)
    finger_gravity(f, q)
    if f.reduced:
        f.coriolis[0] = f.coriolis[1] = f.coriolis[2] = 0.0
    else:
        finger_coriolis(f, q, qd)
    pull = f.offset_m * muscle_pull_n(f, q, qd, given, temperature_degc)
    for k in range(3):
        passive = f.joint_damping_nms_rad[k] * qd[k]
        passive += f.stiffness_nm_rad[k] * (q[k] + step_s * qd[k] - f.rest_rad[k])
        stop, f.share[k] = stop_torque(f, k, q[k], qd[k], step_s)
        passive += stop
        f.tau[k] = tau_nm[k] + f.split[k] * pull - passive - f.coriolis[k] - f.gravity[k]
    solve_joints(f, f.tau[0], f.tau[1], f.tau[2], step_s, qdd)
    if f.drive == CURRENT:
        return temperature_rate_k_s(f, given, temperature_degc)
    return 0.0


@law
def finger_energy_j(
    finger: Records[MuscleFingerRecord], q: FloatArray, qd: FloatArray
) -> tuple[float, float]:
    """Kinetic energy, and potential energy (A11) [J]."""
    f = finger[0]
    finger_inertia(f, q)
    kinetic = potential = 0.0
    for i in range(3):
        for j in range(3):
            kinetic += 0.5 * qd[i] * f.D[i, j] * qd[j]
        stretch = q[i] - f.rest_rad[i]
        potential += 0.5 * f.stiffness_nm_rad[i] * stretch * stretch + stop_energy_j(f, i, q[i])
    l1, l2, g, m, c = f.length_m[0], f.length_m[1], f.gravity_m_s2, f.mass_kg, f.com_m
    s1, s2, s3 = math.sin(q[0]), math.sin(q[0] + q[1]), math.sin(q[0] + q[1] + q[2])
    potential += m[0] * g * c[0] * s1 + m[1] * g * (l1 * s1 + c[1] * s2)
    potential += m[2] * g * (l1 * s1 + l2 * s2 + c[2] * s3)
    return kinetic, potential
