"""The form of a motion file: tracks of joints, tendons, motors and palm over time."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from hand.file.values import Name, NonNegative, Positive
from signals.tables import Table

Mode = Literal["off", "motor_position", "motor_torque", "tendon_force", "joint_torque", "joint_impedance"]
CUSTOMARY_ROLES = ("abduction", "flexion", "pip", "dip", "metacarpal")
"""Roles that a motion may name beside others although the hand has none such; other words must be there."""


def _times(times: tuple[float, ...]) -> tuple[float, ...]:
    if any(a >= b for a, b in zip(times, times[1:], strict=False)):
        raise PydanticCustomError("times", "times that rise from the first to the last")
    return times


Times = Annotated[tuple[NonNegative, ...], Field(min_length=1), AfterValidator(_times)]
Values = Annotated[tuple[float, ...], Field(min_length=1)]


class Sine(Table):
    """mean + amplitude sin(2 pi frequency t + phase)."""

    mean: float
    """Middle, in the track's unit."""
    amplitude: NonNegative
    """Amplitude, in the track's unit."""
    frequency_hz: Positive
    """Frequency."""
    phase_deg: float = 0.0
    """Phase at time zero."""
    phase_per_finger_deg: float = 0.0
    """Added once per finger, in the order of the hand's fingers."""


class Line(Table):
    """Values at times."""

    times_s: Times
    """Times; before the first its value holds."""
    values: Values
    """Values, in the track's unit."""
    period_s: Positive | None = None
    """Repeats after it; without it the last value holds."""

    @model_validator(mode="after")
    def _same_length(self) -> Line:
        if len(self.times_s) != len(self.values):
            raise PydanticCustomError("lengths", "as many values as times_s")
        if self.period_s is not None and self.period_s < self.times_s[-1]:
            raise PydanticCustomError("period", "a period_s that is not shorter than the last time")
        return self


class Ramp(Table):
    """Starts where the channel stands and goes on at a constant rate."""

    rate: float
    """Rate, in the track's unit per second."""


class _Track(Table):
    names: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Names, ``*`` and ``?`` as wildcards."""
    optional: bool = False
    """True: a hand without them is welcome."""
    sine: Sine | None = None
    """A sine."""
    points: Line | None = None
    """Smooth moves between points, at rest in each."""
    steps: Line | None = None
    """Jumps at times."""
    ramp: Ramp | None = None
    """A constant rate."""

    @model_validator(mode="after")
    def _one_shape(self) -> Any:
        if sum(getattr(self, s) is not None for s in ("sine", "points", "steps", "ramp")) != 1:
            raise PydanticCustomError("shape", "exactly one of sine, points, steps, ramp")
        return self


class JointTrack(_Track):
    """Angles of joints, or their torques."""

    kind: Literal["joint_deg", "joint_torque_nm"]
    """What the track gives, with its unit."""
    roles: Annotated[tuple[Name, ...], Field(min_length=1)] | None = None
    """Joints by what they are for."""

    @model_validator(mode="after")
    def _selects(self) -> JointTrack:
        if (self.names is None) == (self.roles is None):
            raise PydanticCustomError("selection", "exactly one of names and roles")
        return self


class PartTrack(_Track):
    """Tendon forces, motor angles or motor torques."""

    kind: Literal["tendon_n", "motor_rad", "motor_torque_nm"]
    """What the track gives, with its unit."""
    names: Annotated[tuple[str, ...], Field(min_length=1)]
    """Names, ``*`` and ``?`` as wildcards."""
    relative: bool = False
    """True: values count from where the motors stand at the start."""

    @model_validator(mode="after")
    def _counts_from_a_motor(self) -> PartTrack:
        if self.relative and self.kind != "motor_rad":
            raise PydanticCustomError("relative", "relative values of motor_rad alone")
        return self


class PalmTrack(_Track):
    """Pitch or yaw of the palm; the wrist axes follow from both."""

    kind: Literal["palm_pitch_deg", "palm_yaw_deg"]
    """What the track gives, with its unit."""
    names: None = None
    """There is one palm."""


Track = Annotated[JointTrack | PartTrack | PalmTrack, Field(discriminator="kind")]


class MotionFile(Table):
    """A motion; tracks that come later win over those before them."""

    description: str
    """One sentence for people."""
    blend_s: NonNegative = 0.8
    """Time over which the motion takes over from the measured pose; runs are scored after one second."""
    mode: Mode = "joint_impedance"
    """Mode of all fingers that ``modes`` does not name."""
    modes: dict[Name, Mode] = Field(default_factory=dict)
    """Modes of single fingers."""
    tendons_off: tuple[str, ...] = ()
    """Tendons that are taken off their spools before the run."""
    object: bool = False
    """True: the hand's object is in reach."""
    tracks: tuple[Track, ...]
    """What moves."""
