"""Tables of the tendon side of a hand file: tendons, guides, friction loop, Hall sensor."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from hand.file.values import (
    Count,
    Fraction,
    Name,
    NonNegative,
    NonZero,
    Point,
    Positive,
    Sign,
    Vec3,
    left_out,
)
from signals.tables import Table


class TendonMaterial(Table):
    """What all tendons have in common."""

    material: str
    """Material, for people."""
    diameter_m: Positive
    """Diameter under load."""
    youngs_modulus_pa: Positive
    """Modulus of the braid; with the diameter it should give ``axial_stiffness_n``."""
    axial_stiffness_n: Positive
    """EA: force per strain; in use."""
    break_force_n: Positive
    """Force at which it breaks."""
    force_min_n: Positive
    """Least tension that the force distribution asks for."""
    pretension_n: Positive
    """Default co-contraction."""
    force_max_n: Positive
    """Greatest tension that the force distribution asks for."""
    force_limit_n: Positive
    """Tension above which the guard lets go."""
    slack_margin_deg: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Slack is the lever within this of its slack stop; hands with springs of kind lever have it."""
    creep_per_decade: NonNegative
    """Strain per decade of time under load; for people, not in the model."""
    spring: Name
    """Spring mechanism of a tendon that names none."""


class GuidePair(Table):
    """One pair of tendon and guide."""

    c0_frac: Fraction
    """Eq. 4.1: C0 as a share of the tension."""
    c1_per_rad: NonNegative
    """Eq. 4.1: C1."""
    rope_friction: NonNegative
    """Friction coefficient of the rope law."""


class Bending(Table):
    """What bending and straightening at the guides takes of a tendon, whatever its tension (4.2)."""

    moment_nm: Positive
    """Moment with which the tendon's fibres resist, by sliding on one another; half of what is between
    bending and straightening it by hand."""
    radii_m: Annotated[tuple[Positive, ...], Field(min_length=1)]
    """Radius of every guide over which a tendon runs."""


class Guides(Table):
    """Friction of the guides in palm and wrist."""

    law: Literal["saturating", "rope"]
    """``saturating``: eq. 4.1 with C0 proportional to the tension; ``rope``: Euler."""
    pair: Name
    """Which of the pairs is built in."""
    bending_angle_rad: NonNegative
    """Total bending angle of a tendon."""
    regularisation_speed_m_s: Positive
    """Tendon speed over which the sign of the friction turns."""
    pairs: dict[Name, GuidePair]
    """Pairs by name."""
    bending: Annotated[Bending | None, Field(exclude_if=left_out)] = None
    """Left out: bending takes nothing."""


class Hysteresis(Table):
    """Friction loop at the spring's lever: the angle stays true, the force differs."""

    relative_half_width_frac: Fraction
    """Half width of the loop as a share of the force."""
    presliding_lever_deg: Positive
    """Lever travel over which the loop's sign turns."""


class Hall(Table):
    """Hall sensor of the lever angle, and its default calibration."""

    bits: Annotated[int, Field(ge=8, le=24)]
    """Resolution."""
    span_deg: Positive
    """Lever angle over the full scale."""
    zero_count: NonNegative
    """Count at lever angle zero of a tendon without its own."""
    direction: Sign
    """1: the count rises with the lever angle, -1: it falls."""
    noise_counts_rms: NonNegative
    """Noise."""
    hysteresis_deg: NonNegative
    """Magnetic hysteresis, full width in lever angle."""
    filter_hz: Positive
    """The sensor's own low-pass."""


class Tendon(Table):
    """One tendon: what it moves, what winds it, how it runs."""

    name: Name
    """Name, unique in the hand."""
    finger: Name
    """Finger that it moves."""
    motor: Name
    """Motor that winds it; a return tendon without one is a row of ``passive``."""
    spool_radius_m: Annotated[NonZero | None, Field(exclude_if=left_out)] = None
    """Radius of its spool, if not the common one; negative: wound as the motor's angle falls. Every tendon of
    a motor that winds several has one."""
    hall_channel: Annotated[Count | None, Field(exclude_if=left_out)] = None
    """Channel of the Hall sensor at its spring's lever, from 1; a bus file may say another."""
    dh_dq_m_rad: dict[Name, float] | None = None
    """Row of P = dh/dq by joint name: path length change per joint angle; negative flexes."""
    dh_dq_curve_m: Annotated[dict[Name, Vec3] | None, Field(exclude_if=left_out)] = None
    """Where a lever arm depends on the angle: coefficients of q, q^2, q^3 [rad] in dh/dq, by joint name."""
    insertion: Point | None = None
    """Insertion point of a tensegrity base tendon, instead of ``dh_dq_m_rad``."""
    length_m: Positive
    """Free length l0: stretch per force is l0/EA."""
    forearm_m: Vec3 | None = None
    """Exit point in the forearm frame (hands with a wrist)."""
    palm_m: Vec3 | None = None
    """Entry point in the palm frame (hands with a wrist)."""
    spring: Name | None = None
    """Spring mechanism, if not the common one."""
    spring_scale: Positive | None = None
    """Calibrated spring constant relative to the mechanism's."""
    hall_zero_count: NonNegative | None = None
    """Calibrated count at lever angle zero."""
    hall_noise_counts_rms: NonNegative | None = None
    """Measured noise; a sensor noisier than the quietest of its finger weighs less in the joint angles."""
    hall_used: bool | None = None
    """False: motor-only, nothing is taken from its sensor."""

    @model_validator(mode="after")
    def _one_path_law(self) -> Tendon:
        if (self.dh_dq_m_rad is None) == (self.insertion is None):
            raise PydanticCustomError("path_law", "exactly one of dh_dq_m_rad and insertion")
        return self
