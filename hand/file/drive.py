"""Tables of the motor side of a hand file: motor, gear, friction, ripple, spool, thermal model."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from hand.file.values import Count, Fraction, Name, NonNegative, NonZero, Positive, left_out
from signals.tables import Table

SENSOR_ZERO_DEG: Final = 20.0
"""Greatest zero of a wrist axis' sensor: who has more turns the sensor on its axis."""
SensorZero = Annotated[float, Field(ge=-SENSOR_ZERO_DEG, le=SENSOR_ZERO_DEG)]


class Motor(Table):
    """One motor type for all modules; angles and torques of the product are at the gear output."""

    type: Literal["PMSM"]
    """Kind of motor."""
    pole_pairs: Count
    """Pole pairs."""
    phase_resistance_ohm: Positive
    """Resistance of one phase."""
    phase_inductance_h: Positive
    """Inductance of one phase."""
    flux_linkage_wb: Positive
    """Amplitude of the flux linkage of one phase."""
    torque_constant_output_nm_a: Positive
    """Torque at the gear output per ampere of phase amplitude, friction apart."""
    rotor_inertia_kg_m2: Positive
    """Inertia of the rotor, at the rotor."""
    bus_voltage_v: Positive
    """Supply voltage."""
    current_limit_peak_a: Positive
    """What the drive's hardware can give."""
    current_limit_continuous_a: Positive
    """What the winding stands for ever."""
    encoder_counts_per_output_turn: Count
    """Encoder counts per turn of the gear output."""
    encoder_reference: Literal["absolute", "until_reset", "none"] = "absolute"
    """What its angle is worth as the phase of the ripple: the same after every power-up; relative, and
    referenced since the last one; relative, and not referenced."""


class Gear(Table):
    """Gear between rotor and spool."""

    type: Literal["harmonic drive", "planetary", "spur", "none"]
    """Kind of gear."""
    size: Count
    """Size class of the maker."""
    ratio: Positive
    """Input turns per output turn."""
    wave_generator_inertia_kg_m2: NonNegative
    """Inertia of the gear's input side, at the input."""
    output_inertia_kg_m2: NonNegative
    """Inertia of the gear's output side, at the output."""
    torque_rated_nm: Positive
    """Rated torque at the output."""
    torque_peak_nm: Positive
    """Repeated peak torque at the output."""
    torsional_stiffness_nm_rad: Positive
    """Stiffness of the gear; taken as rigid by the model."""


class Friction(Table):
    """Motor friction at the gear output, eq. 3.8: gamma_2 atan(gamma_1 w) + gamma_3 w."""

    gamma_1_s_rad: Positive
    """Slope of the arctangent."""
    gamma_2_nm: NonNegative
    """Amplitude of the arctangent."""
    gamma_3_nms_rad: NonNegative
    """Viscous part."""


class Ripple(Table):
    """One harmonic of the motor torque, at the gear output."""

    shaft: Literal["input", "output"]
    """Shaft whose angle the harmonic follows."""
    order: Count
    """Periods per turn of that shaft."""
    amplitude_nm: NonNegative
    """Amplitude at the output."""
    phase_deg: float = Field(ge=-360, le=360)
    """Phase at angle zero."""


class Identified(Table):
    """What was measured of one motor, tendon, joint or axis; it counts in the place of the figures of all."""

    gamma_1_s_rad: Positive | None = None
    """Slope of the friction's arctangent."""
    gamma_2_nm: NonNegative | None = None
    """Amplitude of the friction's arctangent."""
    gamma_3_nms_rad: NonNegative | None = None
    """Viscous friction."""
    force_friction_gain: Annotated[Fraction | None, Field(exclude_if=left_out)] = None
    """Share of a motor's friction that is fed forward in tendon force: what is certain of it. A greater
    ``gains.friction_gain`` counts, and one of zero."""
    motor_inertia_kg_m2: Positive | None = None
    """Inertia of everything that turns, at the gear output."""
    zero_rad: float | None = None
    """Its angle while the hand is straight at its start tension: the zero of ``homing.pose = "absolute"``,
    and what a lost turn shows against."""
    ripple: tuple[Ripple, ...] = ()
    """Harmonics; one that the hand has is replaced, another is added."""
    spring_scale: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Spring constant of a tendon relative to its mechanism's."""
    hall_zero_count: Annotated[NonNegative | None, Field(exclude_if=left_out)] = None
    """Count of a tendon's Hall sensor at lever angle zero."""
    relative_half_width_frac: Annotated[Fraction | None, Field(exclude_if=left_out)] = None
    """Half width of the friction loop of a tendon's lever, as a share of the force."""
    presliding_lever_deg: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Lever travel over which the sign of a tendon's loop turns."""
    guide_loss_frac: Annotated[Fraction | None, Field(exclude_if=left_out)] = None
    """Share of its tension that a tendon's guides take, at its bending angle as built."""
    spool_radius_m: Annotated[NonZero | None, Field(exclude_if=left_out)] = None
    """Radius of a tendon's spool, with the sign of the hand file's."""
    dh_dq_m_rad: Annotated[dict[Name, float] | None, Field(exclude_if=left_out)] = None
    """Path length change of a tendon per joint angle, of joints that the hand file has for it."""
    coulomb_nm: Annotated[NonNegative | None, Field(exclude_if=left_out)] = None
    """Coulomb friction of a joint coordinate."""
    sensor_zero_deg: Annotated[SensorZero | None, Field(exclude_if=left_out)] = None
    """What the sensor of a wrist axis shows beyond the axis' angle."""


MOTOR_KEYS: Final = (
    "gamma_1_s_rad", "gamma_2_nm", "gamma_3_nms_rad", "force_friction_gain", "motor_inertia_kg_m2",
    "zero_rad", "ripple",
)  # fmt: skip
TENDON_KEYS: Final = (
    "spring_scale", "hall_zero_count", "relative_half_width_frac", "presliding_lever_deg", "guide_loss_frac",
    "spool_radius_m", "dh_dq_m_rad",
)  # fmt: skip
JOINT_KEYS: Final = ("coulomb_nm",)
AXIS_KEYS: Final = ("sensor_zero_deg",)
"""What ``[identified]`` can say of a motor, a tendon, a joint and a wrist axis."""


class Spool(Table):
    """Pulley on the gear output that winds the tendon."""

    radius_m: Positive
    """Radius of the tendon's centre line."""


class Thermal(Table):
    """Two-body thermal model of each motor: winding, case, surroundings."""

    winding_resistance_k_w: Positive
    """Winding to case."""
    winding_capacity_j_k: Positive
    """Winding."""
    case_resistance_k_w: Positive
    """Case to surroundings."""
    case_capacity_j_k: Positive
    """Case."""
