"""The only door between names and indices: files and logs use names, loops use indices.

Conventions: joint angle 0 is the straight finger, positive is flexion, abduction positive as Rz of
Table 5.1 (ulnar) for every finger; joints run proximal to distal; motor angle positive winds the tendon in.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from signals.choices import did_you_mean


class Space(StrEnum):
    """What an index counts."""

    MOTOR = "motor"
    TENDON = "tendon"
    HALL = "hall"
    """Hall channels: one per tendon, and named by it."""
    JOINT = "joint"
    AXIS = "axis"
    FINGER = "finger"
    BUS = "bus"
    """Buses that move motors."""
    HAND = "hand"
    """The hand itself, the only one of its space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCause:
    """What a detector of somebody else may latch, as the hand file says it."""

    function: str
    """The detector, as ``module:function``."""
    name: str
    """Of the cause."""
    space: Space
    """Motor, tendon, joint, finger, axis or hand."""
    sentence: str
    hint: str


class UnknownName(ValueError):
    """A name that the hand does not have; says the legal ones and the nearest."""

    def __init__(self, kind: str, name: str, legal: tuple[str, ...]) -> None:
        self.kind, self.name, self.legal = kind, name, legal
        shown = ", ".join(legal[:12]) + (", ..." if len(legal) > 12 else "")
        super().__init__(f"no {kind} {name!r}{did_you_mean(name, legal)} (legal: {shown or 'none'})")


@dataclass(frozen=True, slots=True, kw_only=True)
class HandNames:
    """Names of one hand; the index of a name is its place in the records."""

    hand: str
    motors: tuple[str, ...]
    tendons: tuple[str, ...]
    joints: tuple[str, ...]
    fingers: tuple[str, ...]
    axes: tuple[str, ...] = ()
    buses: tuple[str, ...] = ()
    """Those of the bus file that move motors; the simulation is one."""
    motor_ids: tuple[int, ...] = ()
    """Device id of every motor by the hand file; empty: 1, 2, ... in order."""
    hall_channels: tuple[int, ...] = ()
    """Channel of every tendon's Hall sensor by the hand file; empty: 1, 2, ... in order."""
    joint_channels: tuple[int, ...] = ()
    """Channel of every joint's own sensor by the hand file, 0: it has none; empty: no joint has one."""
    joint_roles: tuple[str, ...] = ()
    """What every joint is for, by the hand file; motions select joints by it."""
    foreign: tuple[ForeignCause, ...] = ()
    """Causes of detectors that are not ours."""

    def __post_init__(self) -> None:
        for key, names in (("motor_ids", self.motors), ("hall_channels", self.tendons)):
            if not getattr(self, key):
                object.__setattr__(self, key, tuple(range(1, len(names) + 1)))

    def id_of(self, motor: str) -> int:
        """Device id of a motor."""
        return self.motor_ids[self.index("motor", motor)]

    def motors_by_id(self, most: int) -> tuple[str, ...]:
        """Motor of each of the ids 1, 2, ... up to ``most``, "" where there is none."""
        return _placed(self.motors, self.motor_ids, most)

    def tendons_by_channel(self, most: int) -> tuple[str, ...]:
        """Tendon on each of the Hall channels 1, 2, ... up to ``most``, "" where there is none."""
        return _placed(self.tendons, self.hall_channels, most)

    def joints_by_channel(self, most: int) -> tuple[str, ...]:
        """Joint on each of the channels 1, 2, ... up to ``most``, "" where there is none."""
        seen = [(n, c) for n, c in zip(self.joints, self.joint_channels, strict=False) if c]
        return _placed(tuple(n for n, _ in seen), tuple(c for _, c in seen), most)

    @property
    def sensed_tendons(self) -> tuple[str, ...]:
        """Tendons with a Hall or force sensor."""
        return tuple(n for n, c in zip(self.tendons, self.hall_channels, strict=True) if c)

    @property
    def sensed_joints(self) -> tuple[str, ...]:
        """Joints with a sensor of their own."""
        return tuple(n for n, c in zip(self.joints, self.joint_channels, strict=False) if c)

    def of(self, space: str) -> tuple[str, ...]:
        """Names of an index space (a ``Space`` or its value)."""
        return {
            "motor": self.motors,
            "tendon": self.tendons,
            "hall": self.tendons,
            "joint": self.joints,
            "axis": self.axes,
            "finger": self.fingers,
            "bus": self.buses,
            "hand": (self.hand,),
        }[space]

    def index(self, space: str, name: str) -> int:
        """Index of a name.

        Raises:
            UnknownName: with the legal names and the nearest.
        """
        names = self.of(space)
        try:
            return names.index(name)
        except ValueError:
            raise UnknownName(space, name, names) from None


def _placed(names: tuple[str, ...], numbers: tuple[int, ...], most: int) -> tuple[str, ...]:
    at = {number: name for name, number in zip(names, numbers, strict=True) if number <= most}
    return tuple(at.get(number, "") for number in range(1, max(at, default=0) + 1))
