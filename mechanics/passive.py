"""Joint springs, dampers and stops, explicit (31)-(32) or linearly implicit.

    tau^dyn = c qd + k (q - q0) + stop,      arm = armature + h c + h^2 k + stop's share

With a step h > 0 the spring is evaluated at q + h qd and h c + h^2 k joins the inertia on the joint's axis:
exact for (M + diag) qdd = rhs, and stable where the explicit form needs h < 2/(c lambda_max(M^-1)). With
h = 0 this is the paper's explicit form. A stop pushes, it never pulls.
"""

from __future__ import annotations

from typing import Protocol

from signals.compiled import law
from signals.layout import FloatArray


class Stops(Protocol):
    """Fields of a record with joint stops, one number a joint each."""

    lower: FloatArray
    upper: FloatArray
    stop_stiffness: FloatArray
    stop_damping: FloatArray


class PassiveJoints(Stops, Protocol):
    """Fields of a record with springs and dampers at its joints too."""

    n_dofs: int
    armature: FloatArray
    damping: FloatArray
    stiffness: FloatArray
    rest: FloatArray


class PassiveWork(Protocol):
    """What ``passive_torques`` writes, one number a joint each."""

    passive: FloatArray
    arm: FloatArray


@law
def stop_torque(t: Stops, d: int, q: float, qd: float, h: float) -> tuple[float, float]:
    """Torque of a joint stop [N m or N] and its implicit diagonal; (0, 0) inside the range."""
    if t.stop_stiffness[d] == 0.0:
        return 0.0, 0.0
    ahead = q + h * qd
    depth = 0.0
    if ahead > t.upper[d]:
        depth = ahead - t.upper[d]
    elif ahead < t.lower[d]:
        depth = ahead - t.lower[d]
    if depth == 0.0:
        return 0.0, 0.0
    k, c = t.stop_stiffness[d], t.stop_damping[d]
    torque = k * depth + c * qd
    if torque * depth <= 0.0:
        return 0.0, 0.0
    return torque, h * c + h * h * k


@law
def stop_energy_j(t: Stops, d: int, q: float) -> float:
    """Energy stored in a joint stop [J]."""
    depth = max(q - t.upper[d], t.lower[d] - q, 0.0)
    if depth > 0.0:
        energy: float = 0.5 * t.stop_stiffness[d] * depth * depth
        return energy
    return 0.0


@law
def passive_torques(t: PassiveJoints, w: PassiveWork, q: FloatArray, qd: FloatArray, h: float) -> None:
    """Write ``w.passive`` and ``w.arm`` from positions and velocities, shape (nv,), and step ``h`` [s]."""
    damping, stiffness, rest = t.damping, t.stiffness, t.rest
    for d in range(t.n_dofs):
        stop, share = stop_torque(t, d, q[d], qd[d], h)
        c, k = damping[d], stiffness[d]
        w.passive[d] = c * qd[d] + k * (q[d] + h * qd[d] - rest[d]) + stop
        w.arm[d] = t.armature[d] + h * c + h * h * k + share
