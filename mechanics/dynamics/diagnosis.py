"""Why a run diverged: the linearised system tells whether the integrator or the physics did it.

With x' = A x around the last sound state, one step multiplies small motions by

    euler          I + h A
    rk4            sum_{k<=4} (h A)^k / k!
    semi-implicit  [[I + h^2 K, h (I + h C)], [h K, I + h C]]

where A = [[0, I], [K, C]]. A spectral radius above exp(h max Re) of A itself is the integrator's doing: its
eigenvector names the joint, and a real (complex) eigenvalue of A the damper (spring) behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanics.dynamics.inputs import sample
from mechanics.dynamics.integrate import Scheme
from mechanics.dynamics.systems import System, accelerate
from signals.layout import FloatArray


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where and why a run stopped."""

    step: int
    time_s: float
    coordinate: str
    cause: str
    remedy: str
    largest_step_s: float | None
    """Largest stable step of the scheme, if the step is the cause."""

    def __str__(self) -> str:
        """One line for people."""
        where = f"step {self.step} (t = {self.time_s:.6g} s), {self.coordinate}"
        return f"diverged at {where}: {self.cause}; {self.remedy}"


def linearised(
    system: System, t: float, inputs: Any, q: FloatArray, qd: FloatArray, z: FloatArray
) -> FloatArray:
    """A = [[0, I], [K, C]] by central differences, shape (2 n, 2 n)."""
    n = system.n_dofs
    u, zd = np.zeros(n + 1), np.zeros(1)
    loads = np.zeros((len(system.frames), 6))
    sample(inputs, t, u, loads)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    kind = int(system.kind)
    for column in range(2 * n):
        found = []
        for sign in (1.0, -1.0):
            x = np.concatenate([q, qd])
            x[column] += sign * 1e-6
            out = np.zeros(n)
            accelerate(kind, system.parts, x[:n].copy(), x[n:].copy(), z, u, loads, 0.0, out, zd)
            found.append(out)
        A[n:, column] = (found[0] - found[1]) / 2e-6
    return A


def step_matrix(A: FloatArray, scheme: Scheme, h: float) -> FloatArray:
    """What one step does to small motions, shape of ``A``."""
    n = A.shape[0] // 2
    one = np.eye(2 * n)
    if scheme == Scheme.EULER:
        return one + h * A
    if scheme == Scheme.RK4:
        X = h * A
        return one + X @ (one + X @ (one + X @ (one + X / 4.0) / 3.0) / 2.0)
    K, C = A[n:, :n], A[n:, n:]
    if scheme == Scheme.IMPLICIT:
        ahead = np.eye(n) - h * C - h * h * K
        lower = np.asarray(np.linalg.solve(ahead, np.hstack([h * K, np.eye(n)])), dtype=np.float64)
    else:
        lower = np.hstack([h * K, np.eye(n) + h * C])
    upper = np.hstack([np.eye(n), np.zeros((n, n))]) + h * lower
    return np.vstack([upper, lower])


def excess(A: FloatArray, scheme: Scheme, h: float) -> float:
    """Growth of one step beyond that of the linearised system itself; > 0 is the integrator's doing."""
    growth = float(np.max(np.linalg.eigvals(A).real))
    radius = float(np.abs(np.linalg.eigvals(step_matrix(A, scheme, h))).max())
    # Euler's own second-order growth of slow oscillations is no divergence
    slack = 0.5 * (h * float(np.abs(np.linalg.eigvals(A)).max())) ** 2 if scheme == Scheme.EULER else 0.0
    return radius - math.exp(h * max(growth, 0.0)) - min(slack, 0.05) - 1e-3


def largest_step(A: FloatArray, scheme: Scheme, h: float) -> float:
    """Largest step [s] below ``h`` without ``excess``, by bisection."""
    low, high = 0.0, h
    for _ in range(40):
        middle = 0.5 * (low + high)
        if excess(A, scheme, middle) > 0.0:
            high = middle
        else:
            low = middle
    return low


def unstable_step(system: System, A: FloatArray, scheme: Scheme, h: float) -> tuple[str, str, str, float]:
    """Coordinate, cause, remedy and largest step when the integrator is to blame."""
    n = system.n_dofs
    values, vectors = np.linalg.eig(A)
    gain = np.abs(np.linalg.eigvals(step_matrix(A, scheme, h)))
    worst = int(np.argmax(np.abs(values)))
    mode = values[worst]
    joint = system.dofs[int(np.argmax(np.abs(vectors[n:, worst])))]
    limit = largest_step(A, scheme, h)
    name = scheme.name.lower().replace("_", "-")
    if abs(mode.imag) < 0.1 * abs(mode.real):
        what = f"damping is too strong for {name} (decay rate {abs(mode.real):.4g} 1/s, step {h:.3g} s)"
    else:
        what = f"stiffness is too high for {name} ({abs(mode) / (2 * math.pi):.4g} Hz, step {h:.3g} s)"
    cause = f"{what}, small motions grow {gain.max():.3g} times a step"
    other = "" if scheme == Scheme.IMPLICIT else " or use --integrator implicit"
    return joint, cause, f"take a step below {limit:.2e} s{other}", limit


def diagnose(
    system: System,
    scheme: Scheme,
    step_s: float,
    step: int,
    bad: int,
    inputs: Any,
    start: FloatArray,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
) -> Divergence:
    """Find the likely cause: at the start pose, else at the last sound one, both at rest; then as it moved.

    Speeds of a run that is being torn apart say nothing about the scheme, so poses are judged at rest.
    """
    t = step * step_s
    where = system.dofs[bad] if bad < system.n_dofs else "further state"
    rest = np.zeros_like(qd)
    for time, pose, speed in ((0.0, start, rest), (t, q, rest), (t, q, qd)):
        A = linearised(system, time, inputs, pose, speed, z)
        if not np.all(np.isfinite(A)):
            cause = "the pose is singular: accelerations are not finite there"
            remedy = "start elsewhere, or add joint stops before this pose"
            return Divergence(step, t, where, cause, remedy, None)
        if excess(A, scheme, step_s) > 0.0:
            where, cause, remedy, limit = unstable_step(system, A, scheme, step_s)
            return Divergence(step, t, where, cause, remedy, limit)
    fastest = float(np.abs(qd).max())
    stiffness = float(np.abs(A[system.n_dofs :, : system.n_dofs]).max())
    if stiffness > 1e10:
        cause = f"near a singular pose (acceleration changes by {stiffness:.2g} 1/s2 per unit of motion)"
        return Divergence(step, t, where, cause, "add joint stops before this pose", None)
    cause = f"it moves too fast for the step ({fastest:.3g} rad/s or m/s before it)"
    limit = 0.1 / max(fastest, 1e-9)
    remedy = f"take a step below {limit:.1e} s, or look for a torque or load that is too large"
    return Divergence(step, t, where, cause, remedy, None)
