"""What is elastic in a tendon: a lever mechanism, a plain spring, or the cord alone."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from hand.file.refusals import UNSAID_KIND
from hand.file.values import NonNegative, Positive, Vec2
from signals.tables import Table

MOST_POWERS: Final = 12
"""Coefficients that a calibration may have; more follow the noise of its points."""


def _lever(kind: object) -> bool:
    """Left out, as in files that know no other kind: their hashes stay."""
    return kind == UNSAID_KIND


class LeverSpring(Table):
    """Tangent-alpha lever mechanism (Table 4.1), plane frame: x along the tendon, y its deflection."""

    kind: Annotated[Literal["lever"], Field(exclude_if=_lever)] = "lever"
    """``lever``, also where it is left out."""

    motor_pulley_center_m: Vec2
    """Centre of the pulley that the tendon comes from."""
    motor_pulley_radius_m: Positive
    """Its radius."""
    fixed_pulley_center_m: Vec2
    """Centre of the pulley that the tendon goes to."""
    fixed_pulley_radius_m: Positive
    """Its radius."""
    lever_pivot_m: Vec2
    """Pivot of the lever."""
    lever_length_m: Positive
    """Pivot to the centre of the lever's pulley."""
    lever_pulley_radius_m: Positive
    """Radius of the lever's pulley."""
    lever_inertia_kg_m2: NonNegative
    """Inertia of the lever; the model takes it as massless."""
    spring_attach_radius_m: Positive
    """Pivot to the spring's end, along the lever."""
    spring_fixed_point_m: Vec2
    """The spring's other end."""
    spring_constant_n_m: Positive
    """Spring constant."""
    spring_free_length_m: Positive
    """Length of the unloaded spring."""
    lever_slack_deg: float
    """Lever angle at the slack stop."""
    lever_max_deg: float
    """Tightest calibrated lever angle."""
    lever_hard_stop_deg: float
    """Lever angle at the hard stop of the tight end."""

    @model_validator(mode="after")
    def _stops_in_order(self) -> LeverSpring:
        _check_order(self)
        return self


class PolynomialSpring(Table):
    """A lever whose force and path were measured over its angle: the calibration polynomials of 4.1."""

    kind: Literal["polynomial"]
    """``polynomial``."""
    ln_force: Annotated[tuple[float, ...], Field(min_length=2, max_length=MOST_POWERS)]
    """ln(force / N) by rising powers of the lever angle [rad]: falls with the angle."""
    path_m: Annotated[tuple[float, ...], Field(min_length=2, max_length=MOST_POWERS)]
    """Path of the tendon by rising powers of the lever angle [rad]: grows with it, from any constant."""
    lever_slack_deg: float
    """Lever angle at the slack stop."""
    lever_max_deg: float
    """Tightest calibrated lever angle."""
    lever_hard_stop_deg: float
    """Lever angle at the hard stop of the tight end."""

    @model_validator(mode="after")
    def _stops_in_order(self) -> PolynomialSpring:
        _check_order(self)
        return self


class LinearSpring(Table):
    """A spring of one stiffness, in series with the cord."""

    kind: Literal["linear"]
    """``linear``."""
    stiffness_n_m: Positive
    """Stiffness of the spring alone."""
    force_max_n: Positive
    """Force at which it stops."""


def _check_order(spring: LeverSpring | PolynomialSpring) -> None:
    if not spring.lever_hard_stop_deg < spring.lever_max_deg < spring.lever_slack_deg:
        raise PydanticCustomError(
            "lever_order",
            "lever_hard_stop_deg < lever_max_deg < lever_slack_deg (the angle falls as the force rises)",
        )


class CordSpring(Table):
    """No spring: the cord itself stretches, by l0/EA of each tendon."""

    kind: Literal["cord"]
    """``cord``."""


def _kind(table: Any) -> Any:
    kind = table.get("kind", UNSAID_KIND) if isinstance(table, dict) else getattr(table, "kind", UNSAID_KIND)
    return kind if isinstance(kind, str) else UNSAID_KIND


Spring = Annotated[
    Annotated[LeverSpring, Tag("lever")]
    | Annotated[PolynomialSpring, Tag("polynomial")]
    | Annotated[LinearSpring, Tag("linear")]
    | Annotated[CordSpring, Tag("cord")],
    Discriminator(_kind),
]
LEVER_SPRINGS: Final = (LeverSpring, PolynomialSpring)
"""Springs with a lever, whose angle a Hall sensor sees."""
LEVER_KINDS: Final = ("lever", "polynomial")
"""Their kinds."""
