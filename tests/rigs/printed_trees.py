"""The articulated-body method of the tree paper in plain numpy, misprint by misprint.

With ``Reading()`` it is the corrected algorithm; each switch puts one equation back as it is printed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanics.dynamics.regular import rigid_inertia, skew


@dataclass(frozen=True)
class Reading:
    """Which equations are taken literally."""

    bias_without_mass: bool = False  # (14), (16): w x (w x r_c)
    parent_vector_unrotated: bool = False  # (9), (12): w x (w x r_L) not turned into frame i
    gravity_as_printed: bool = False  # a_0 = [g; 0] with g pointing down
    tip_force_added: bool = False  # (30): b + F_tip for a load on the tip


def placed(t, i, q):
    """(E, X) of body ``i``."""
    angle = float(q[int(t["dof"][i])])
    c, s = np.cos(angle), np.sin(angle)
    E = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ t["E0"][i].reshape(3, 3)
    return E, np.block([[E, -E @ skew(t["r0"][i])], [np.zeros((3, 3)), E]])


def accelerations(tree, q, qd, tau, loads=None, reading=Reading()):
    """Joint accelerations of a tree of hinges; loads in the bodies' frames, at their joints, shape (n, 6)."""
    t = tree.record[0]
    n = int(t["n_bodies"])
    phi, z = np.eye(6)[5], np.eye(3)[2]
    X, C, b, IA, w = [], [], [], [], []
    for i in range(n):
        E, Xi = placed(t, i, q)
        p = int(t["parent"][i])
        wp = np.zeros(3) if p < 0 else w[p]
        w.append(E @ wp + z * qd[i])
        centripetal = np.cross(wp, np.cross(wp, t["r0"][i]))
        if not reading.parent_vector_unrotated:
            centripetal = E @ centripetal
        C.append(np.concatenate([centripetal, np.cross(w[i], z * qd[i])]))
        inertia = rigid_inertia(t, i)
        com = t["moment"][i] / t["mass"][i]
        linear = np.cross(w[i], np.cross(w[i], com))
        if not reading.bias_without_mass:
            linear = t["mass"][i] * linear
        bias = np.concatenate([linear, np.cross(w[i], inertia[3:, 3:] @ w[i])])
        if loads is not None:
            bias += loads[i] if reading.tip_force_added else -loads[i]
        X.append(Xi)
        IA.append(inertia)
        b.append(bias)
    kept = []
    for i in range(n - 1, -1, -1):
        reach = IA[i] @ phi
        M, torque = phi @ reach, tau[i] - phi @ b[i]
        kept.append((i, reach, M, torque))
        p = int(t["parent"][i])
        if p >= 0:
            N = IA[i] - np.outer(reach, reach) / M
            IA[p] = IA[p] + X[i].T @ N @ X[i]
            b[p] = b[p] + X[i].T @ (b[i] + N @ C[i] + reach * torque / M)
    sign = 1.0 if reading.gravity_as_printed else -1.0
    a: dict[int, np.ndarray] = {-1: np.concatenate([sign * t["gravity"], np.zeros(3)])}
    out = np.zeros(n)
    for i, reach, M, torque in reversed(kept):
        ahead = X[i] @ a[int(t["parent"][i])] + C[i]
        out[i] = (torque - reach @ ahead) / M
        a[i] = ahead + phi * out[i]
    return out


def node_as_printed(tree, q, tau):
    """(36) literally, at rest: one acceleration for all branches of a held node, one phi, one torque."""
    t = tree.record[0]
    phi = np.eye(6)[5]
    branches = [i for i in range(int(t["n_bodies"])) if t["parent"][i] == 0]
    total, bias = np.zeros((6, 6)), np.zeros(6)
    ahead = np.zeros(6)
    for i in branches:
        _, X = placed(t, i, q)
        total += rigid_inertia(t, i)
        ahead = X @ np.concatenate([-t["gravity"], np.zeros(3)])
        bias += rigid_inertia(t, i) @ ahead
    return float((tau - phi @ bias) / (phi @ total @ phi))
