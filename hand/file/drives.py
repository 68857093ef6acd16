"""Tables of the drives of a hand file: named types of motor, what they take and what they report.

A file with one type for all its motors may leave ``drives`` out and have ``motor``, ``gear``, ``friction``,
``ripple`` and ``thermal`` at the top.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from hand.file.drive import Friction, Gear, Motor, Ripple, Thermal
from hand.file.values import Count, Interval, Name, NonNegative, Positive
from signals.modes import DriveCommand, DriveReport
from signals.tables import Table

CommandName = Literal["current", "position", "current_position"]
ReportName = Literal["angle", "speed", "current", "temperature"]
ALL_REPORTS: tuple[ReportName, ...] = ("angle", "speed", "current", "temperature")


class PositionLoop(Table):
    """The position loop inside a device, seen at its output: torque = stiffness x error - damping x speed."""

    stiffness_nm_rad: Positive
    """Torque per angle that is missing."""
    damping_nms_rad: NonNegative
    """Torque per speed."""
    deadband_deg: NonNegative
    """Angle that may be missing without any torque."""
    travel_deg: Interval
    """Least and greatest angle of the output that the device takes as a goal, from the homed pose."""


class _Drive(Table):
    """What every type of drive says."""

    command: CommandName
    """What it takes: a current; an angle; an angle with the greatest current that it may use for it."""
    reports: Annotated[tuple[ReportName, ...], Field(min_length=1)]
    """What it reports; without a speed, the angles' differences are the speed."""
    position_loop: PositionLoop | None = None
    """The loop that is closed in the device, of a drive that takes angles."""

    @property
    def commanded(self) -> DriveCommand:
        """What it takes."""
        return DriveCommand[self.command.upper()]

    @property
    def reported(self) -> DriveReport:
        """What it reports, as bits."""
        bits = DriveReport(0)
        for name in self.reports:
            bits |= DriveReport[name.upper()]
        return bits


class PmsmDrive(_Drive):
    """A field-oriented motor with its gear, known from the inside."""

    kind: Literal["pmsm"]
    """Kind of drive."""
    motor: Motor
    gear: Gear
    friction: Friction
    ripple: tuple[Ripple, ...] = ()
    thermal: Thermal

    @property
    def torque_nm_a(self) -> float:
        """Torque at the output per ampere."""
        return self.motor.torque_constant_output_nm_a


class ServoDrive(_Drive):
    """A servo of which only the output shaft is known."""

    kind: Literal["servo"]
    """Kind of drive."""
    torque_constant_output_nm_a: Positive
    """Torque at the output per ampere that it reports or takes."""
    torque_stall_nm: Positive
    """Torque at standstill at the supply voltage."""
    speed_no_load_rad_s: Positive
    """Output speed without load at the supply voltage."""
    voltage_v: Positive
    """Supply voltage of both."""
    inertia_output_kg_m2: Positive
    """Rotor and gear, seen at the output."""
    current_limit_a: Positive
    """Greatest current that it may use."""
    counts_per_turn: Count
    """Counts of the angle per turn of the output."""
    friction: Friction
    thermal: Thermal | None = None
    """Left out: no thermal model, only the temperature that the device reports."""

    @property
    def torque_nm_a(self) -> float:
        """Torque at the output per ampere."""
        return self.torque_constant_output_nm_a


Drive = Annotated[PmsmDrive | ServoDrive, Field(discriminator="kind")]


class MotorEntry(Table):
    """``motors.<name>``: one motor of a named type."""

    id: Count
    """Device id; a bus file may say another."""
    drive: Name
    """Its type, a name of ``drives``."""
