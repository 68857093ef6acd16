"""The whole hand file as one frozen value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PrivateAttr, Tag

from hand.file.control import Control, Estimation, Gains, JointStops, Limits, Surroundings, Tolerances
from hand.file.detectors import Detector
from hand.file.drive import Friction, Gear, Identified, Motor, Ripple, Spool, Thermal
from hand.file.drives import ALL_REPORTS, Drive, MotorEntry, PmsmDrive
from hand.file.fingers import Finger, Forearm, Joint, Object, Palm
from hand.file.gears import GearTrain
from hand.file.homing import Homing
from hand.file.life import Life
from hand.file.locate import Path
from hand.file.origins import Origin
from hand.file.passive import PassiveRow
from hand.file.sensors import DifferenceSensor, ForceSensor, JointSensor, Sensor
from hand.file.springs import Spring
from hand.file.tendons import Guides, Hall, Hysteresis, Tendon, TendonMaterial
from hand.file.values import Count, Name, Stage, left_empty, left_out
from hand.file.wrist import AXES, Wrist
from signals.faults import FOREIGN
from signals.tables import Table


def _entry_kind(entry: Any) -> str:
    """A motor is its device id, or a table with id and drive."""
    return "[drive]" if isinstance(entry, (dict, MotorEntry)) else "[id]"


MotorValue = Annotated[
    Annotated[Count, Tag("[id]")] | Annotated[MotorEntry, Tag("[drive]")], Discriminator(_entry_kind)
]
ONE_TYPE = "motor"
"""Name of the drive of a file that has one type for all its motors."""


class HandFile(Table):
    """A hand as its file describes it, checked; ``hand.assembly`` makes the model record of it."""

    schema_version: Annotated[int, Field(ge=1, le=1)]
    """Version of this format."""
    name: Name
    """Name of the hand."""
    description: str
    """One sentence for people."""
    controller: Stage = "flexor"
    """``flexor``, or a foreign controller in the place of ours, as ``package.module:function``."""
    estimator: Stage = "flexor"
    """``flexor``, or a foreign estimator in the place of ours, as ``package.module:function``."""
    detectors: Annotated[tuple[Detector, ...], Field(max_length=len(FOREIGN), exclude_if=left_empty)] = ()
    """Foreign detectors beside ours, which all run before them."""
    control: Control
    estimation: Estimation
    surroundings: Surroundings
    drives: Annotated[dict[Name, Drive] | None, Field(min_length=1, exclude_if=left_out)] = None
    """Types of drive by name; left out: one type, whose tables stand at the top."""
    motor: Annotated[Motor | None, Field(exclude_if=left_out)] = None
    gear: Annotated[Gear | None, Field(exclude_if=left_out)] = None
    friction: Annotated[Friction | None, Field(exclude_if=left_out)] = None
    ripple: Annotated[tuple[Ripple, ...] | None, Field(exclude_if=left_out)] = None
    spool: Spool
    thermal: Annotated[Thermal | None, Field(exclude_if=left_out)] = None
    tendon: TendonMaterial
    guides: Guides
    hysteresis: Annotated[Hysteresis | None, Field(exclude_if=left_empty)] = None
    """Of springs of kind lever."""
    hall: Annotated[Hall | None, Field(exclude_if=left_empty)] = None
    """Of the tendons that have a ``hall_channel``."""
    sensors: Annotated[tuple[Sensor, ...], Field(exclude_if=left_empty)] = ()
    """Sensors beside the levers' Hall sensors."""
    springs: Annotated[dict[Name, Spring], Field(min_length=1)]
    motors: Annotated[dict[Name, MotorValue], Field(min_length=1)]
    """Motor name -> device id, or id and drive, in the order of the records; a bus file may change ids."""
    identified: Annotated[dict[Name, Identified], Field(exclude_if=left_empty)] = Field(default_factory=dict)
    """Motor, tendon, joint or wrist axis -> what was measured of it; written by ``flexor apply``."""
    fingers: Annotated[dict[Name, Finger], Field(min_length=1)]
    """Fingers by name, in the order of the records."""
    gears: Annotated[tuple[GearTrain, ...], Field(exclude_if=left_empty)] = ()
    """Joints that motors turn without tendons; ``tendons`` are then the lines that stand for them."""
    tendons: Annotated[tuple[Tendon, ...], Field(min_length=1)]
    """Tendons, in the order of the records."""
    passive: Annotated[tuple[PassiveRow, ...], Field(exclude_if=left_empty)] = ()
    """Return tendons, bands and springs over one or several joints, without a motor."""
    palm: Palm
    forearm: Forearm | None = None
    wrist: Wrist | None = None
    object: Object | None = None
    side: Annotated[Literal["right", "left"] | None, Field(exclude_if=left_empty)] = None
    """``left``: the mirror image, across the plane y = 0, of the bones that the file has; their rows stay."""
    homing: Annotated[Homing | None, Field(exclude_if=left_empty)] = None
    life: Annotated[Life | None, Field(exclude_if=left_empty)] = None
    """What the odometer warns of."""
    gains: Gains
    limits: Limits
    joint_stops: JointStops
    tolerances: Tolerances

    _path: str = PrivateAttr(default="")
    _notices: tuple[str, ...] = PrivateAttr(default=())
    _origins: Mapping[Path, Origin] = PrivateAttr(default_factory=lambda: MappingProxyType({}))
    _lines: Mapping[Path, int] = PrivateAttr(default_factory=lambda: MappingProxyType({}))

    @property
    def path(self) -> str:
        """File that it was read from."""
        return self._path

    @property
    def notices(self) -> tuple[str, ...]:
        """What the user should know although the file is usable, as old names in use."""
        return self._notices

    @property
    def origins(self) -> Mapping[Path, Origin]:
        """Where each value comes from, by its path in the file."""
        return self._origins

    def line_of(self, path: Path) -> int:
        """Line of a value in the file, or of the nearest table around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._lines:
                return self._lines[path[:length]]
        return 1

    @property
    def drive_types(self) -> dict[str, Drive]:
        """Every type of drive by name; of a file that has one at its top, that one."""
        if self.drives is not None:
            return self.drives
        tables: dict[str, Any] = {
            "motor": self.motor,
            "gear": self.gear,
            "friction": self.friction,
            "ripple": self.ripple,
            "thermal": self.thermal,
        }
        one = PmsmDrive.model_construct(kind="pmsm", command="current", reports=ALL_REPORTS, **tables)
        return {ONE_TYPE: one}

    @property
    def motor_drives(self) -> tuple[Drive, ...]:
        """The drive of every motor, in the order of the records."""
        types = self.drive_types
        return tuple(types[e.drive if isinstance(e, MotorEntry) else ONE_TYPE] for e in self.motors.values())

    @property
    def motor_ids(self) -> tuple[int, ...]:
        """The device id of every motor, in the order of the records."""
        return tuple(e.id if isinstance(e, MotorEntry) else e for e in self.motors.values())

    def current_limit_a(self, drive: Drive) -> float:
        """Greatest current of a motor with this drive [A]: the servo's own, or the hand's."""
        if isinstance(drive, PmsmDrive):
            assert self.limits.device_current_a is not None  # hand.file.checks_drives wants it
            return self.limits.device_current_a
        return drive.current_limit_a

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joint coordinates in the order of the records: finger by finger, proximal first."""
        return tuple(j for f in self.fingers.values() for j in f.joints)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the wrist axes: q71, q73."""
        return AXES if self.wrist is not None else ()

    @property
    def axis_zeros_rad(self) -> tuple[float, ...]:
        """What the sensor of each wrist axis shows beyond the axis' angle."""
        return tuple(math.radians(self.measured(name).sensor_zero_deg or 0.0) for name in self.axes)

    def measured(self, name: str) -> Identified:
        """What was measured of a motor, tendon, joint or wrist axis; of one that was not, nothing."""
        return self.identified.get(name, Identified())

    def force_sensor_at(self, tendon: str) -> ForceSensor | None:
        """The force sensor of a tendon."""
        return next((s for s in self.sensors if isinstance(s, ForceSensor) and s.at == tendon), None)

    def difference_at(self, tendon: str) -> DifferenceSensor | None:
        """The sensor of a difference of forces in a tendon's channel."""
        return next((s for s in self.sensors if isinstance(s, DifferenceSensor) and s.at == tendon), None)

    def joint_sensor_at(self, joint: str) -> JointSensor | None:
        """The sensor of a joint's own."""
        return next((s for s in self.sensors if isinstance(s, JointSensor) and s.at == joint), None)

    def channel_at(self, tendon: str) -> int | None:
        """Channel of a tendon's sensor, Hall, force or difference; None without one."""
        force = self.force_sensor_at(tendon) or self.difference_at(tendon)
        if force is not None:
            return force.channel
        return next(t.hall_channel for t in self.tendons if t.name == tendon)

    def sees(self, tendon: str) -> bool:
        """True if what a sensor says of a tendon is used."""
        row = next(t for t in self.tendons if t.name == tendon)
        own = self.difference_at(tendon) is None and self.channel_at(tendon) is not None
        return row.hall_used is not False and own
