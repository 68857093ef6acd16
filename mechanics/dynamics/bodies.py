"""Bodies and joints as the user writes them: frozen values that check themselves once.

A body's frame sits at its joint: at q = 0 it is the parent's frame moved by ``p_PB_m``, turned by ``R_PB``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from mechanics.dynamics.records import N_CUSTOM_DOFS, N_PARAMS, JointKind
from signals.layout import FloatArray

TOLERANCE: Final = 1e-9


class TreeError(ValueError):
    """A body or joint that cannot exist; names it and says what would be legal."""

    def __init__(self, part: str, problem: str, remedy: str) -> None:
        self.part, self.problem, self.remedy = part, problem, remedy
        super().__init__(f"{part}: {problem}; {remedy}")


def _vector(part: str, name: str, values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise TreeError(part, f"{name} has shape {array.shape}", f"give shape {shape}")
    if not np.all(np.isfinite(array)):
        raise TreeError(part, f"{name} = {array.tolist()} is not finite", "give finite numbers")
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Joint:
    """A joint and what acts in it; the units are those of its kind (rad, N m or m, N).

    Raises:
        TreeError: no axis, an empty range, or a negative inertia, damping or stop.
    """

    kind: JointKind = JointKind.FIXED
    axis: FloatArray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    """In the body frame; any length."""
    coordinates: tuple[str, ...] = ()
    """Names of a custom joint's coordinates; other joints use the body's name."""
    custom_law: int = 0
    """``mechanics.dynamics.joint_laws.CustomLaw``."""
    params: tuple[float, ...] = ()
    parent_ratio: float | None = None
    """Two-body joint: this hinge turns by ratio times the parent's coordinate."""
    armature: float = 0.0
    damping: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    stop_stiffness: float = 0.0
    stop_damping: float = 0.0

    def __post_init__(self) -> None:
        axis = _vector("joint", "axis", self.axis, (3,))
        length = float(np.linalg.norm(axis))
        if length < TOLERANCE:
            raise TreeError("joint", "its axis has no direction", "give an axis of length > 0")
        unit = axis / length
        unit.setflags(write=False)
        object.__setattr__(self, "axis", unit)
        for name in ("armature", "damping", "stop_stiffness", "stop_damping"):
            value = getattr(self, name)
            if not value >= 0.0:
                raise TreeError("joint", f"{name} = {value} is negative", "give a value >= 0")
        if not self.lower <= self.upper:
            raise TreeError("joint", f"range {self.lower}..{self.upper} is empty", "give lower <= upper")
        if len(self.params) > N_PARAMS or len(self.coordinates) > N_CUSTOM_DOFS:
            raise TreeError(
                "joint", "too many parameters or coordinates", f"at most {N_PARAMS} and {N_CUSTOM_DOFS}"
            )
        if self.kind == JointKind.CUSTOM and not self.coordinates:
            raise TreeError("joint", "a custom joint has no coordinates", "name them")

    @property
    def n_dofs(self) -> int:
        """Coordinates of its own."""
        if self.kind == JointKind.FIXED or self.parent_ratio is not None:
            return 0
        return len(self.coordinates) if self.kind == JointKind.CUSTOM else 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Body:
    """A rigid body with the joint that holds it.

    Raises:
        TreeError: negative mass, an inertia that no mass distribution has, a rotation that is none.
    """

    name: str
    parent: str | None = None
    """Name of the parent body, None for the world."""
    joint: Joint = field(default_factory=Joint)
    R_PB: FloatArray = field(default_factory=lambda: np.eye(3))
    p_PB_m: FloatArray = field(default_factory=lambda: np.zeros(3))
    mass_kg: float = 0.0
    com_m: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia_kg_m2: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))
    """About the centre of mass, in the body frame."""

    def __post_init__(self) -> None:
        part = f"body {self.name!r}"
        for name, shape in (("R_PB", (3, 3)), ("p_PB_m", (3,)), ("com_m", (3,)), ("inertia_kg_m2", (3, 3))):
            object.__setattr__(self, name, _vector(part, name, getattr(self, name), shape))
        if not (np.isfinite(self.mass_kg) and self.mass_kg >= 0.0):
            raise TreeError(part, f"mass {self.mass_kg} kg is negative or not finite", "give a mass >= 0")
        error = float(np.abs(self.R_PB @ self.R_PB.T - np.eye(3)).max())
        if error > 1e-8 or np.linalg.det(self.R_PB) < 0.0:
            raise TreeError(
                part, f"R_PB is no rotation (error {error:.1e})", "give an orthonormal, right-handed matrix"
            )
        check_inertia(part, self.inertia_kg_m2)


def check_inertia(part: str, inertia: FloatArray) -> None:
    """Refuse an inertia about the centre of mass that no distribution of mass has.

    Raises:
        TreeError: not symmetric, a negative principal moment, or one larger than the sum of the others.
    """
    scale = float(np.abs(inertia).max())
    if scale == 0.0:
        return
    if np.abs(inertia - inertia.T).max() > 1e-9 * scale:
        raise TreeError(part, "inertia is not symmetric", "mirror its off-diagonal entries")
    low, middle, high = (float(v) for v in np.linalg.eigvalsh(inertia))
    if low < -TOLERANCE * scale:
        raise TreeError(
            part, f"principal moment {low:.3g} kg m2 is negative", "give a positive definite inertia"
        )
    if high > (low + middle) * (1.0 + 1e-6) + TOLERANCE * scale:
        raise TreeError(
            part,
            f"principal moments {low:.3g}, {middle:.3g}, {high:.3g} kg m2: one exceeds the sum of the others",
            "check units and the reference point (centre of mass, body frame)",
        )


def rod_inertia(mass_kg: float, length_m: float, direction: FloatArray) -> FloatArray:
    """Inertia of a slender uniform rod about its centre [kg m2], shape (3, 3)."""
    u = np.asarray(direction, dtype=np.float64)
    u = u / np.linalg.norm(u)
    return mass_kg * length_m**2 / 12.0 * (np.eye(3) - np.outer(u, u))
