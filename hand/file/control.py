"""Tables of rates, gains, limits, tolerances and surroundings of a hand file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from hand.file.values import Count, Fraction, NonNegative, Positive, RateHz, Vec3, left_out
from signals.tables import Table


def _rising(steps: tuple[float, ...]) -> tuple[float, ...]:
    if any(a >= b for a, b in zip(steps, steps[1:], strict=False)):
        raise PydanticCustomError("rising", "values that rise from the first to the last")
    return steps


class Control(Table):
    """Rates of the loop."""

    rate_hz: RateHz
    """Control rate."""
    command_delay_cycles: Annotated[int, Field(ge=0, le=20)]
    """Cycles from the computation of a command to its action."""


class Estimation(Table):
    """Estimator: search of tensegrity bases, damping."""

    thumb_solver: Literal["gauss_newton", "gradient_search"]
    """Which search finds the base angles."""
    gauss_newton_iterations: Annotated[int, Field(ge=1, le=20)]
    """Steps of Gauss-Newton."""
    gradient_search_iterations: Annotated[int, Field(ge=5, le=200)]
    """Steps of the paper's halving gradient search."""
    damping_frac: Annotated[float, Field(ge=1e-12, le=1e-2)] = 1e-6
    """Damping of the joint angles towards the last ones, as a share of the coupling's mean curvature, where a
    tendon of the finger is not fully believed: a direction that nothing sees stays where it was."""


class Gains(Table):
    """Gains of the controllers; those of the joints stand with the joints."""

    tension_kp_nm_n: NonNegative
    """Tension loop, proportional."""
    tension_kd_nms_rad: NonNegative
    """Tension loop, motor damping."""
    position_kp_nm_rad: NonNegative
    """Motor position loop, proportional."""
    position_kd_nms_rad: NonNegative
    """Motor position loop, derivative."""
    velocity_filter_hz: Positive
    """Filter of motor and joint speeds."""
    friction_gain: Fraction
    """Share of the friction that the feedforward compensates; over-compensation destroys passivity."""
    ripple_gain: Fraction
    """Share of the ripple that the feedforward compensates."""
    guide_gain: Annotated[Fraction | None, Field(exclude_if=left_out)] = None
    """Share of joint friction and guide losses that the feedforward compensates; left out: none."""
    lever_gain: Annotated[Fraction | None, Field(exclude_if=left_out)] = None
    """Share of the lever's friction loop that is put back into tensions in tendon force; left out: none."""


class Limits(Table):
    """Limits that the guard keeps."""

    device_current_a: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Current limit set in the drives; servos have their own."""
    torque_rate_nm_s: Positive
    """Greatest change of a motor torque."""
    tension_rate_n_s: Positive
    """Greatest change of a wanted tension."""
    joint_speed_max_deg_s: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Greatest speed of a joint's reference; left out: derived from the motors (``flexor check`` says it)."""
    joint_acceleration_max_deg_s2: Annotated[Positive | None, Field(exclude_if=left_out)] = None
    """Greatest acceleration of a joint's reference; left out: derived from the motors."""
    command_age_ms: Positive
    """Oldest usable goal."""
    measurement_age_ms: Annotated[tuple[Positive, Positive, Positive], AfterValidator(_rising)]
    """Age of a measurement: warn, degraded, fault."""
    winding_temperature_degc: Annotated[tuple[float, float], AfterValidator(_rising)]
    """Winding: derate, fault."""


class JointStops(Table):
    """What a joint meets beyond its range, in the plant."""

    stiffness_nm_rad: Positive
    """Stiffness."""
    damping_nms_rad: NonNegative
    """Damping."""
    coulomb_speed_rad_s: Positive
    """Joint speed over which the sign of the Coulomb friction turns."""


class Surroundings(Table):
    """Where the hand stands."""

    gravity_m_s2: Vec3
    """Gravity in the forearm frame (base frame of a hand without wrist)."""
    ambient_degc: Annotated[float, Field(ge=-40, le=80)]
    """Temperature."""


class Tolerances(Table):
    """Spread (1 sigma) of drawn hands, relative but for the phase."""

    friction: NonNegative
    """Motor friction, both parts."""
    inertia: NonNegative
    """Motor inertia."""
    torque_constant: NonNegative
    """Torque constant."""
    ripple_amplitude: NonNegative
    """Amplitude of each harmonic."""
    ripple_phase_deg: NonNegative
    """Phase of each harmonic."""
    pulley_radius: NonNegative
    """Joint pulleys and spools."""
    spring_constant: NonNegative
    """Springs."""
    guide_coefficient: NonNegative
    """Guide losses."""
    bone_length: NonNegative
    """Bones."""
    backlash: Annotated[NonNegative | None, Field(exclude_if=left_out)] = None
    """Play of gears that have one; left out: as the file says."""
    wrist_zero_deg: Annotated[NonNegative | None, Field(exclude_if=left_out)] = None
    """Zero of the sensor of each wrist axis; left out: it is as the file says."""


__all__ = ["Control", "Count", "Estimation", "Gains", "JointStops", "Limits", "Surroundings", "Tolerances"]
