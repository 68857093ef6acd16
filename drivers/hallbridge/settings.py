"""Bus-file tables of sensor streams: the Hall bridge and the ORCA encoder stream."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from drivers.family import BusSettings
from drivers.hallbridge.codec import CHANNELS_MAX
from drivers.hallbridge.orca import SLOTS
from drivers.locks import serial_identity
from signals.names import HandNames
from signals.tables import Table


class AxisChannel(Table):
    """``[[bus.axis]]``: a potentiometer of a wrist axis on one channel."""

    name: Annotated[str, Field(min_length=1)]
    channel: Annotated[int, Field(ge=0, lt=CHANNELS_MAX)]
    zero_count: float
    """Count at axis angle zero."""
    rad_count: float
    """Axis angle per count; negative where the count falls."""


class StreamSettings(BusSettings):
    """What both streams share."""

    LEAST: ClassVar[int] = 1
    """Channels that every stream of this family has."""

    port: Annotated[str, Field(min_length=1)]
    baud: Annotated[int, Field(ge=9600)] = 2_000_000
    """Ignored by a bridge on native USB."""
    channels: tuple[str, ...] = ()
    """Tendon of every channel in order, "" for one that is not used or belongs to an axis; left out: Hall
    channel n of the hand file is channel n - 1."""
    joint_channels: tuple[str, ...] = ()
    """Joint whose own sensor every channel reads, "" for none; left out: as the hand file's rows."""
    rate_hz: Annotated[float, Field(gt=0.0, le=20_000.0)] = 3000.0
    """Samples per second and channel that are expected."""
    lost_ms: Annotated[float, Field(ge=1.0, le=1000.0)] = 20.0
    """Silence after which the stream counts as lost."""
    look_us: Annotated[int, Field(ge=0, le=5000)] = 500
    """Least time between two looks at the line where frames come faster: each takes all that came, a sample
    is older by this much at most, and no wake-up is spent on a frame alone. 0: wake for every frame."""
    axis: tuple[AxisChannel, ...] = ()

    def identity(self) -> str:
        """The serial line."""
        return serial_identity(self.port)

    def fitted(self, names: HandNames) -> Self:
        """With the hand file's channels of Hall sensors and of joints' sensors where the table lists none."""
        told = {"hall_channel": names.hall_channels, "the channel of a joint's sensor": names.joint_channels}
        listed = {"hall_channel": self.channels, "the channel of a joint's sensor": self.joint_channels}
        for what, numbers in told.items():
            if not listed[what] and max(numbers, default=0) > CHANNELS_MAX:
                which = f"{what} {max(numbers)} of the hand file"
                raise ValueError(f"{which} is no channel (legal: 1 to {CHANNELS_MAX}, or give channels)")
        halls = self.channels or names.tendons_by_channel(CHANNELS_MAX)
        joints = self.joint_channels or names.joints_by_channel(CHANNELS_MAX)
        many = max([len(halls), len(joints), self.LEAST, *(a.channel + 1 for a in self.axis)])
        wide = self.channels or halls + ("",) * (many - len(halls))
        return self.with_values(channels=wide, joint_channels=joints + ("",) * (len(wide) - len(joints)))

    def motors(self, names: HandNames) -> tuple[str, ...]:
        """None."""
        return ()

    def halls(self, names: HandNames) -> tuple[str, ...]:
        """Tendons of the channels."""
        return tuple(n for n in self.channels if n)

    def joints(self, names: HandNames) -> tuple[str, ...]:
        """Joints of the channels."""
        return tuple(n for n in self.joint_channels or names.sensed_joints if n)

    def axes(self, names: HandNames) -> tuple[str, ...]:
        """Axes of the potentiometers."""
        return tuple(a.name for a in self.axis)

    def conflicts(self) -> tuple[str, ...]:
        """Channels used twice or missing."""
        found = []
        for key, listed in (("channels", self.channels), ("joint_channels", self.joint_channels)):
            named = [n for n in listed if n]
            found += [f"{key}: {n!r} is named twice" for n in sorted(set(named)) if named.count(n) > 1]
        for k, (tendon, joint) in enumerate(zip(self.channels, self.joint_channels, strict=False)):
            if tendon and joint:
                found.append(f"channel {k} belongs to tendon {tendon!r} and to joint {joint!r}")
        if self.channels and len(self.joint_channels) > len(self.channels):
            found.append(
                f"joint_channels: {len(self.joint_channels)}, there are {len(self.channels)} channels"
            )
        for a in self.axis:
            if not self.channels:
                continue  # those of the hand file, looked at when they are known
            if a.channel >= len(self.channels):
                found.append(f"axis {a.name!r}: channel {a.channel}, there are {len(self.channels)}")
            elif self.channels[a.channel]:
                found.append(f"axis {a.name!r}: channel {a.channel} belongs to {self.channels[a.channel]!r}")
        return tuple(found)


class HallBridgeSettings(StreamSettings):
    """``[[bus]]`` with ``family = "hall-bridge"``."""

    family: Literal["hall-bridge"]
    channels: Annotated[tuple[str, ...], Field(min_length=1, max_length=CHANNELS_MAX)] = ()
    serial: str = ""
    """Serial number that the bridge must report; empty: any."""


class OrcaSettings(StreamSettings):
    """``[[bus]]`` with ``family = "orca-encoders"``."""

    family: Literal["orca-encoders"]
    LEAST: ClassVar[int] = SLOTS
    channels: Annotated[tuple[str, ...], Field(min_length=SLOTS, max_length=SLOTS)] = ()
    rate_hz: Annotated[float, Field(gt=0.0, le=5000.0)] = 1000.0
    step_max_count: Annotated[int, Field(ge=1, le=8192)] = 400
    """Greatest believable change between two frames."""
