"""Joint angles, torques, residuals and fingertips of all fingers from their measured lengths."""

from __future__ import annotations

import math
from typing import Final

from estimators.linear import finger_lengths, finger_residual, linear_angles, weighted_angles
from estimators.memory import EstimatorMemory
from estimators.thumb import base_angles, normal_equations
from mechanics.coupling import move_jacobian, tendon_jacobian
from mechanics.finger_rows import along, gather, move_rows, place_rows
from mechanics.kinematics import tips_by_chain
from signals.compiled import law
from signals.layout import FloatArray
from signals.modes import FingerKind
from signals.typed import Model, State

TENSEGRITY: Final = int(FingerKind.TENSEGRITY_BASE)
BASE_JOINTS: Final = 2


@law
def finger_angles(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Joint angles [rad], what tells them, and condition numbers into ``s`` from ``s.tendon_length_m``.

    The thumb starts from the last cycle's angles.
    """
    q, length = s.joint_angle_rad, s.tendon_length_m
    if mem.started == 0:
        tendon_jacobian(m, q, mem.P_tj_m)
        place_rows(m, mem.P_tj_m, mem)
        for j in range(m.n_joints):
            s.joint_source[j] = m.joint_source[j]
    for f in range(m.n_fingers):
        first = 0
        if m.finger_carried[f] != 0:
            remove_carried(m, f, length, q)
        s.finger_condition[f] = m.finger_condition[f]
        if m.finger_kind[f] == TENSEGRITY:
            first = BASE_JOINTS
            j0, j1 = m.finger_joint[f, 0], m.finger_joint[f, 1]
            q[j0], q[j1] = base_angles(m, f, mem.weight, length, q[j0], q[j1])
            s.finger_condition[f] = max(s.finger_condition[f], base_condition(m, f, mem.weight, length, q))
        if mem.degraded[f] != 0:
            condition = weighted_angles(m, mem, f, first, length, q)
            s.finger_condition[f] = max(s.finger_condition[f], condition)
        else:
            linear_angles(m, mem, f, first, length, q)


@law
def remove_carried(m: Model, f: int, length_m: FloatArray, q_rad: FloatArray) -> None:
    """Take off lengths of finger ``f``'s tendons what joints that carry it add; those are found before."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        for j in range(m.n_joints):
            if m.joint_finger[j] != f:
                length_m[t] -= m.P_tj_m[t, j] * q_rad[j]


@law
def residuals(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Residuals per tendon and finger [m] into ``s``."""
    for f in range(m.n_fingers):
        finger_lengths(m, mem, f, s.joint_angle_rad)
        s.finger_residual_m[f] = finger_residual(m, mem, f, s.tendon_length_m, s.residual_m)


@law
def base_condition(m: Model, f: int, weight: FloatArray, length: FloatArray, q: FloatArray) -> float:
    """Condition number of a tensegrity base's P at the present pose."""
    q0, q1 = q[m.finger_joint[f, 0]], q[m.finger_joint[f, 1]]
    a00, a01, a11, _, _ = normal_equations(m, f, weight, length, q0, q1)
    mean, half = 0.5 * (a00 + a11), 0.5 * (a00 - a11)
    root = math.sqrt(half * half + a01 * a01)
    return math.sqrt((mean + root) / max(mean - root, 1e-12 * mean + 1e-300))


@law
def finger_torques(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Joint torques ``-P(q)^T f`` [N m] of the measured tensions into ``s``."""
    move_jacobian(m, s.joint_angle_rad, mem.P_tj_m)
    move_rows(m, mem.P_tj_m, mem)
    for f in range(m.n_fingers):
        gather(m, f, s.tension_n, mem.row)
        for b in range(m.finger_n_joints[f]):
            torque = -along(mem.P_fbk_m[f, b], mem.row, m.finger_n_tendons[f])
            s.joint_torque_nm[m.finger_joint[f, b]] = torque


@law
def tips(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Fingertips [m] in the palm and in the forearm frame into ``s``."""
    tips_by_chain(m, s.joint_angle_rad, mem.body_sin, mem.body_cos, s.fingertip_m)
    R, o = mem.wrist_R, mem.wrist_o_m
    for f in range(m.n_fingers):
        if m.finger_tip_body[f] >= 0:
            x, y, z = s.fingertip_m[f, 0], s.fingertip_m[f, 1], s.fingertip_m[f, 2]
            for i in range(3):
                s.fingertip_forearm_m[f, i] = o[i] + R[i, 0] * x + R[i, 1] * y + R[i, 2] * z
