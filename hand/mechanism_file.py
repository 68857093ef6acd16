"""Hand files of mechanisms: a mechanism with motors, joint sensors, a controller and limits.

``flexor run NAME`` finds them in ``configs/mechanism_hands``. The equations come from a mechanism file; here
stands what the runtime adds. Joint angles of the hand count from ``home_rad``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Final, Literal

from pydantic import Field

from hand.file import origins, text
from hand.file.errors import HandFileError
from hand.file.locate import Locator, Path
from hand.file.origins import Origin
from hand.file.values import Interval, Name, NonNegative, Positive, RateHz, Vec3
from signals.sizes import FINGER_JOINTS
from signals.tables import Table

FOLDER: Final = "mechanism_hands"


class Control(Table):
    """Loop and plant."""

    rate_hz: RateHz
    """Control rate."""
    plant_step_s: Positive
    """Longest step of the simulated mechanism."""
    velocity_filter_hz: Positive
    """Filter of speeds."""


class InverseDynamics(Table):
    """Inverse dynamics and PD, one motor per coordinate."""

    kind: Literal["inverse_dynamics"]
    """Controller."""
    bandwidth_hz: Positive
    """Bandwidth of every joint."""
    damping_ratio: Positive
    """Damping of every joint."""


class MuscleForce(Table):
    """Position by force profile and cooling, one muscle."""

    kind: Literal["muscle"]
    """Controller."""
    force_kp_n_rad: NonNegative
    """Muscle force per closing angle."""
    force_ki_n_rads: NonNegative
    """Muscle force per closing angle and second."""
    heating_time_s: Positive
    """Time in which a wanted temperature is reached."""


class MotorTable(Table):
    """One motor; its torque, angle and inertia are at the gear output."""

    name: Name
    """Name."""
    torque_constant_nm_a: Positive
    """Torque per ampere; 1 for a muscle, whose current is what counts."""
    current_limit_a: Positive
    """Limit of its drive."""
    speed_limit_rad_s: Positive
    """Fastest speed."""
    rotor_inertia_kg_m2: NonNegative = 0.0
    """Inertia on the joint."""
    encoder_step_rad: Positive
    """Resolution."""
    brake_nms_rad: NonNegative = 0.0
    """Damper that its brake is while the drive gives no current; where a hand stands on the mechanism."""


class JointTable(Table):
    """One joint of the hand."""

    name: Name
    """Coordinate of the mechanism."""
    home_rad: float
    """Coordinate where the hand's joint angle is 0."""
    range_deg: Interval
    """Range, from home."""


class Sensors(Table):
    """Joint sensors."""

    counts_per_rad: Positive
    """Counts per joint angle."""
    count_fraction: Positive
    """Parts of a count that the device resolves by filtering."""


class Hold(Table):
    """What the guard does with a motor that has to stay."""

    position_kp_nm_rad: NonNegative
    """Torque per angle."""
    position_kd_nms_rad: NonNegative
    """Torque per speed."""
    reaction: Literal["release", "hold", "freeze"]
    """After a fault of the mechanism whose sensors are sound."""


class Limits(Table):
    """Limits of the guard."""

    torque_rate_nm_s: Positive
    """Fastest change of a motor torque."""
    command_age_ms: Positive
    """Oldest usable goal."""
    measurement_age_ms: Vec3
    """Warn, degraded, fault."""
    temperature_degc: Interval
    """Derate, fault."""


class MechanismHandFile(Table):
    """A mechanism as a hand."""

    schema_version: Literal[1]
    """Version of this layout."""
    name: Name
    """Name of the hand."""
    description: str
    """One sentence for people."""
    mechanism: Annotated[str, Field(min_length=1)]
    """Mechanism file: a shipped name or a path."""
    control: Control
    """Loop and plant."""
    controller: Annotated[InverseDynamics | MuscleForce, Field(discriminator="kind")]
    """Controller."""
    motor: Annotated[tuple[MotorTable, ...], Field(min_length=1, max_length=FINGER_JOINTS)]
    """Motors; one per coordinate, or one for a muscle."""
    joint: Annotated[tuple[JointTable, ...], Field(min_length=1, max_length=FINGER_JOINTS)]
    """Joints, in the order of the mechanism's coordinates."""
    sensors: Sensors
    """Joint sensors."""
    hold: Hold
    """Holding."""
    limits: Limits
    """Limits."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadHand:
    """A checked file with its text and labels."""

    file: MechanismHandFile
    text: str
    path: str
    origins: Mapping[Path, Origin]


NAMES: Final = ("kind", "description", "mechanism", "reaction")
"""Keys that say what something is, not how large; they need no label."""


def shipped_mechanism_hands() -> tuple[str, ...]:
    """Names of the hands in ``configs/mechanism_hands``."""
    return text.shipped(FOLDER)


def mechanism_hand_names() -> tuple[str, ...]:
    """Names of all hands that are mechanisms: ours and those of other people's packages."""
    return text.installed(FOLDER)


def is_mechanism_hand(name_or_path: str | os.PathLike[str]) -> bool:
    """Does ``flexor run`` get a mechanism? By its name, or by the key ``mechanism`` in its file."""
    name = os.fspath(name_or_path)
    if "/" not in name and not name.endswith(".toml"):
        return name in mechanism_hand_names()
    try:
        content = text.text_of_file(FilePath(name), HandFileError)
    except HandFileError:  # the reader of hand files says it again, to the user
        return False
    return any(line.split("=")[0].strip() == "mechanism" for line in content.splitlines())


def read_mechanism_hand(name_or_path: str | os.PathLike[str]) -> ReadHand:
    """Read and check a hand file of a mechanism.

    Raises:
        HandFileError: with every problem of the file.
    """
    path = text.path_of(os.fspath(name_or_path), FOLDER, "hand", HandFileError)
    return parse_mechanism_hand(text.text_of_file(path, HandFileError), str(path))


def parse_mechanism_hand(content: str, file: str) -> ReadHand:
    """Check the text of such a file; raises as ``read_mechanism_hand``."""
    locator = Locator.of(content)
    bare, labels, found = origins.split(text.raw_of(content, file, locator, HandFileError), NAMES)
    hand = text.checked(MechanismHandFile, bare, found, file, locator, HandFileError)
    return ReadHand(hand, content, file, labels)
