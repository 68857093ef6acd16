"""Tables that all mechanism files share: numbers that check themselves, scenarios."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from hand.file.values import Name, NonNegative, Positive, Vec3
from signals.tables import Table

NonNegativeVec3 = tuple[NonNegative, NonNegative, NonNegative]


def _direction(axis: Vec3) -> Vec3:
    if sum(a * a for a in axis) < 1e-12:
        raise PydanticCustomError("direction", "a direction of length > 0")
    return axis


def _in_time(points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    if any(b[0] <= a[0] for a, b in zip(points, points[1:], strict=False)):
        raise PydanticCustomError("rising_times", "[time, value] pairs with rising times")
    return points


Direction = Annotated[Vec3, AfterValidator(_direction)]
Profile = Annotated[tuple[tuple[float, float], ...], Field(min_length=1), AfterValidator(_in_time)]
"""[time, value] pairs, linear in between, held at the ends."""


class Load(Table):
    """A force and a moment on a body, in the axes of its frame, about its origin."""

    body: Name
    """Body that carries it."""
    force_n: Vec3 = (0.0, 0.0, 0.0)
    """Force."""
    moment_nm: Vec3 = (0.0, 0.0, 0.0)
    """Moment."""
    from_s: NonNegative = 0.0
    """Begin."""
    to_s: Positive | None = None
    """End; without it the load stays."""


class Change(Table):
    """What a scenario changes at a joint."""

    stiffness_nm_rad: NonNegative | None = None
    """Joint spring."""
    damping_nms_rad: NonNegative | None = None
    """Joint damper."""
    rest_rad: float | None = None
    """Angle at which the spring is relaxed."""


class Scenario(Table):
    """A run: start, inputs, changes, integrator."""

    description: str = ""
    """One line for people."""
    duration_s: Positive
    """Simulated time."""
    step_s: Positive
    """Step of the integrator."""
    integrator: Literal["euler", "semi-implicit", "implicit", "rk4"] = "rk4"
    """Integration scheme."""
    start_rad: dict[Name, float] = {}
    """Start of hinges, 0 where nothing is said."""
    start_m: dict[Name, float] = {}
    """Start of sliders."""
    speed_rad_s: dict[Name, float] = {}
    """Start of hinges' speeds."""
    speed_m_s: dict[Name, float] = {}
    """Start of sliders' speeds."""
    torque_nm: dict[Name, Profile] = {}
    """Torques of hinges over time."""
    force_n: dict[Name, Profile] = {}
    """Forces of sliders over time."""
    muscle: Profile | None = None
    """Force [N], temperature [degC] or current [A] of the muscle over time, by its drive."""
    loads: tuple[Load, ...] = ()
    """Forces and moments on bodies."""
    joints: dict[Name, Change] = {}
    """Changes at joints."""


class MechanismTable(Table):
    """What every mechanism file begins with."""

    schema_version: Literal[1]
    """Version of this layout."""
    kind: str
    """Kind of mechanism."""
    name: Name
    """Name of the mechanism."""
    description: str
    """One line for people."""
    scenario: dict[Name, Scenario]
    """Runs by name; the first is the default."""
