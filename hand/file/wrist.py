"""Tables of a wrist with two axes and its own drive; a wrist of other joints is a finger of kind tree."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from hand.file.values import Count, Interval, NonNegative, Positive, Vec2, left_out
from signals.tables import Table

AXES: Final = ("wrist_flexion", "wrist_abduction")
"""Names of the axes: q71, q73."""


class Potentiometer(Table):
    """Sensor of a wrist axis; its zero is ``[identified.AXIS] sensor_zero_deg``."""

    bits: Annotated[int, Field(ge=8, le=24)]
    """Resolution over the range."""
    range_deg: Positive
    """Range."""
    noise_deg_rms: NonNegative
    """Noise."""


class WristSprings(Table):
    """Two opposed springs between each axis (flexion, abduction) and its two motors, which pull them taut."""

    lever_arm_m: tuple[Positive, Positive]
    """Lever arm of the springs about the axis."""
    pretension_n: tuple[Positive, Positive]
    """Force of both springs at no load: it sets the axis' stiffness."""
    force_length_m: tuple[Positive, Positive]
    """Elongation over which a spring's force grows e-fold."""
    damping_nms_rad: tuple[NonNegative, NonNegative]
    """Damping between motors and axis."""


class WristDrive(Table):
    """Drive of the wrist: takes two angles, closes its own loop."""

    motor_ids: Annotated[tuple[Count, ...], Field(min_length=1)]
    """Device ids of its motors; its own business, kept to find collisions."""
    bandwidth_hz: Positive
    """Bandwidth of its position loop."""
    damping_ratio: Positive
    """Damping of its position loop."""
    speed_max_deg_s: Positive
    """Fastest axis speed."""
    torque_max_nm: tuple[Positive, Positive]
    """Torque of flexion and abduction axis."""
    springs: Annotated[WristSprings | None, Field(exclude_if=left_out)] = None
    """Left out: axes and motors are one."""


class Wrist(Table):
    """Double inverted parallelogram wrist (chapter 6): the neutral wrist is a box, its diagonals cross."""

    length_m: Positive
    """a of Table 6.1."""
    width_m: Positive
    """b of Table 6.1."""
    thickness_m: Positive
    """c of Table 6.1."""
    neutral_rad: Vec2
    """Neutral (q71, q73)."""
    pitch_range_deg: Interval
    """Range of the palm's pitch (flexion)."""
    yaw_range_deg: Interval
    """Range of the palm's yaw (abduction)."""
    design_load_n: Positive
    """Load of all tendons it is built for; for people, not in the model."""
    potentiometer: Potentiometer
    """Sensor of both axes."""
    drive: WristDrive
    """Drive of both axes."""
