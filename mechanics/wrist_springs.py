r"""Antagonistic springs between a wrist axis and its two motors, and their share in the fingers' stiffness.

Each axis hangs on two opposed springs whose force grows e-fold over a length l (paper chapter 6, "helping
antagonistic concept"). Its motors pull them against each other with F at no load; where the motors' mean is
ahead of the axis by the angle d, one spring is longer and one shorter by r d:

.. math:: \tau = 2 r F \sinh(r d / l), \quad K = d\tau/dd = (2 r^2 F / l) \cosh(r d / l), \quad
          V = 2 F l (\cosh(r d / l) - 1)

So F sets the stiffness. Motors held, fingers and wrist are one elastic system, whose stiffness over joints q
and axes a is (paper: "not treated in this thesis")

.. math:: \begin{pmatrix} P^T K_t P + (\partial P^T/\partial q) f & P^T K_t P_w \\ P_w^T K_t P &
          P_w^T K_t P_w + (\partial P_w^T/\partial a) f + K \end{pmatrix}

and a finger is as stiff as the inverse of its own block of the inverse says.
"""

from __future__ import annotations

import math

import numpy as np

from signals.compiled import law
from signals.layout import FloatArray
from signals.typed import Model


@law
def is_sprung(m: Model) -> bool:
    """True if the wrist's axes hang on springs."""
    return bool(m.axis_spring_arm_m[0] > 0.0)


@law
def axis_spring(m: Model, a: int, ahead_rad: float) -> tuple[float, float, float]:
    """(torque on axis ``a`` [N m], stiffness [N m/rad], energy [J]) with its drive ahead by an angle."""
    r, force, length = m.axis_spring_arm_m[a], m.axis_spring_force_n[a], m.axis_spring_length_m[a]
    x = r * ahead_rad / length
    up, down = math.exp(x), math.exp(-x)
    return (
        r * force * (up - down),
        r * r * force / length * (up + down),
        force * length * (up + down - 2.0),
    )


@law
def spring_ahead_rad(m: Model, a: int, torque_nm: float) -> float:
    """How far the drive of axis ``a`` is ahead at a torque on the axis [rad]."""
    r, force, length = m.axis_spring_arm_m[a], m.axis_spring_force_n[a], m.axis_spring_length_m[a]
    return float(length / r * math.asinh(torque_nm / (2.0 * r * force)))


def seen_stiffness(K: FloatArray, own: list[int]) -> FloatArray:
    """Stiffness of the coordinates ``own`` where all others of K, shape (n, n), give way; (own, own)."""
    rest = [k for k in range(len(K)) if k not in own]
    given = K[np.ix_(own, rest)] @ np.linalg.solve(K[np.ix_(rest, rest)], K[np.ix_(rest, own)])
    seen: FloatArray = K[np.ix_(own, own)] - given
    return seen
