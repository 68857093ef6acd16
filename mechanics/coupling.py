"""Coupling of joints and tendons: path lengths h(q), P = dh/dq, joint torque and joint stiffness.

    tau = -P^T f          K_q = -d tau/dq = P^T K_t P + (dP^T/dq) f

(eq. 5.5-5.13, 5.16-5.23 with the signs of virtual work). A tendon over pulleys has a constant row of P;
the base tendons of a tensegrity thumb add their exact, pose dependent rows (``mechanics.thumb``). Lengths of
pulley tendons are relative to the straight finger, those of base tendons absolute.
"""

from __future__ import annotations

from mechanics.curves import CURVED, curve_bend, curved_length, move_curved
from mechanics.thumb import (
    INSERTION,
    insertion_curvature,
    insertion_length,
    write_base_jacobian,
)
from signals.compiled import law
from signals.layout import FloatArray
from signals.modes import FingerKind
from signals.typed import Model

TENSEGRITY = int(FingerKind.TENSEGRITY_BASE)


@law
def tendon_lengths(m: Model, q_rad: FloatArray, h_out: FloatArray) -> None:
    """Path lengths in the fingers [m] into ``h_out``, shape (T,), from joint angles, shape (J,)."""
    for t in range(m.n_tendons):
        h_out[t] = tendon_length(m, t, q_rad)


@law
def tendon_length(m: Model, t: int, q_rad: FloatArray) -> float:
    """Path length [m] of tendon ``t`` in its finger, from joint angles, shape (J,)."""
    h, f = 0.0, m.tendon_finger[t]
    for b in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, b]
        h += m.P_tj_m[t, j] * q_rad[j]
    if m.finger_kind[f] == CURVED:
        h += curved_length(m, f, t, q_rad)
    if m.tendon_kind[t] == INSERTION:
        h += insertion_length(m, f, t, q_rad[m.finger_joint[f, 0]], q_rad[m.finger_joint[f, 1]])
    return h


@law
def tendon_jacobian(m: Model, q_rad: FloatArray, P_out: FloatArray) -> None:
    """P = dh/dq [m/rad] into ``P_out``, shape (T, J), from joint angles, shape (J,)."""
    P_tj_m = m.P_tj_m
    joints = m.n_joints
    for t in range(m.n_tendons):
        for j in range(joints):
            P_out[t, j] = P_tj_m[t, j]
    move_jacobian(m, q_rad, P_out)


@law
def move_jacobian(m: Model, q_rad: FloatArray, P: FloatArray) -> None:
    """Bring the rows of ``P`` that depend on the pose, of ``tendon_jacobian`` before, to joint angles."""
    for finger in range(m.n_fingers):
        if m.finger_kind[finger] == TENSEGRITY:
            q0 = q_rad[m.finger_joint[finger, 0]]
            q1 = q_rad[m.finger_joint[finger, 1]]
            write_base_jacobian(m, finger, q0, q1, P)
        elif m.finger_kind[finger] == CURVED:
            move_curved(m, finger, q_rad, P)


@law
def joint_torque(m: Model, P_tj_m: FloatArray, tension_n: FloatArray, tau_out: FloatArray) -> None:
    """Joint torque tau = -P^T f [N m] into ``tau_out``, shape (J,), from tensions, shape (T,)."""
    for j in range(m.n_joints):
        tau_out[j] = 0.0
    for finger in range(m.n_fingers):
        for b in range(m.finger_n_joints[finger]):
            j = m.finger_joint[finger, b]
            torque = 0.0
            for k in range(m.finger_n_tendons[finger]):
                t = m.finger_tendon[finger, k]
                torque -= P_tj_m[t, j] * tension_n[t]
            tau_out[j] = torque


@law
def joint_stiffness(
    m: Model,
    q_rad: FloatArray,
    tension_n: FloatArray,
    stiffness_n_m: FloatArray,
    P_tj_m: FloatArray,
    K_out: FloatArray,
) -> None:
    """Joint stiffness K_q = P^T K_t P + (dP^T/dq) f [N m/rad] into ``K_out``, shape (J, J).

    Args:
        m: model record.
        q_rad: joint angles, shape (J,).
        tension_n: tensions, shape (T,).
        stiffness_n_m: stiffness of each tendon with its spring, shape (T,).
        P_tj_m: P at ``q_rad`` (``tendon_jacobian``), shape (T, J).
        K_out: receives the stiffness (eq. 5.12 with K = -d tau/dq).
    """
    joints = m.n_joints
    for i in range(joints):
        for j in range(joints):
            K_out[i, j] = 0.0
    for t in range(m.n_tendons):
        k = stiffness_n_m[t]
        for i in range(joints):
            p = P_tj_m[t, i] * k
            if p != 0.0:
                for j in range(joints):
                    K_out[i, j] += p * P_tj_m[t, j]
    add_geometric_stiffness(m, q_rad, tension_n, K_out)


@law
def add_geometric_stiffness(m: Model, q_rad: FloatArray, tension_n: FloatArray, K: FloatArray) -> None:
    """Add (dP^T/dq) f [N m/rad] to ``K``, shape (J, J): zero but for tensegrity bases and curved paths."""
    for finger in range(m.n_fingers):
        if m.finger_kind[finger] == TENSEGRITY:
            j0 = m.finger_joint[finger, 0]
            j1 = m.finger_joint[finger, 1]
            for n in range(m.finger_n_tendons[finger]):
                t = m.finger_tendon[finger, n]
                if m.tendon_kind[t] == INSERTION:
                    h00, h01, h11 = insertion_curvature(m, finger, t, q_rad[j0], q_rad[j1])
                    f = tension_n[t]
                    K[j0, j0] += h00 * f
                    K[j0, j1] += h01 * f
                    K[j1, j0] += h01 * f
                    K[j1, j1] += h11 * f
        elif m.finger_kind[finger] == CURVED:
            for n in range(m.finger_n_tendons[finger]):
                t = m.finger_tendon[finger, n]
                for b in range(m.finger_n_joints[finger]):
                    j = m.finger_joint[finger, b]
                    K[j, j] += curve_bend(m, t, j, q_rad[j]) * tension_n[t]
