"""Bus-file table of a collector board."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field

from drivers.collector.codec import MAX_SLOTS, PORT
from drivers.family import BusSettings
from drivers.locks import address_identity
from signals.names import HandNames


class CollectorSettings(BusSettings):
    """``[[bus]]`` with ``family = "collector"``."""

    family: Literal["collector"]
    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Field(ge=1, le=65535)] = PORT
    reply_timeout_us: Annotated[int, Field(ge=50, le=1_000_000)] = 250
    """Longest wait for the sample of a cycle."""
    watchdog_ms: Annotated[float, Field(ge=1.0, le=1000.0)] = 20.0
    """Time without commands after which the board itself goes to zero torque."""
    lost_after: Annotated[int, Field(ge=1)] = 30
    """Cycles without a sample after which the bus counts as lost."""
    slots: tuple[str, ...] = ()
    """Motor of every slot, "" for none; empty: the motor with id n of the hand file is in slot n - 1."""
    hall_slots: tuple[str, ...] = ()
    """Tendon of every slot's Hall sensor; empty: Hall channel n of the hand file is in slot n - 1."""
    axis_slots: tuple[str, ...] | None = None
    """Wrist axis of each of the two axis channels; left out: the hand's axes in order."""

    def identity(self) -> str:
        """Address of the board."""
        return address_identity(self.host, self.port)

    def motor_slots(self, names: HandNames) -> tuple[str, ...]:
        """Motor of every slot."""
        return self.slots or names.motors_by_id(MAX_SLOTS)

    def tendon_slots(self, names: HandNames) -> tuple[str, ...]:
        """Tendon of every slot."""
        return self.hall_slots or names.tendons_by_channel(MAX_SLOTS)

    def fitted(self, names: HandNames) -> Self:
        """With the slots that the hand file's ids and Hall channels say."""
        for key, number, told in (
            ("slots", max(names.motor_ids, default=0), "id"),
            ("hall_slots", max(names.hall_channels, default=0), "hall_channel"),
        ):
            if not getattr(self, key) and number > MAX_SLOTS:
                raise ValueError(f"{told} {number} has no slot (legal: 1 to {MAX_SLOTS}, or give {key})")
        return self.with_values(slots=self.motor_slots(names), hall_slots=self.tendon_slots(names))

    def motors(self, names: HandNames) -> tuple[str, ...]:
        """Motors that this board moves."""
        return tuple(n for n in self.motor_slots(names) if n)

    def halls(self, names: HandNames) -> tuple[str, ...]:
        """Tendons whose Hall channel this board reads."""
        return tuple(n for n in self.tendon_slots(names) if n)

    def axes(self, names: HandNames) -> tuple[str, ...]:
        """Wrist axes of this board."""
        return names.axes if self.axis_slots is None else tuple(n for n in self.axis_slots if n)

    def unproven(self, names: HandNames) -> tuple[str, ...]:
        """Nothing: watchdog and limits of the board are written and read back, or ``configure`` refuses."""
        return ()

    def conflicts(self) -> tuple[str, ...]:
        """Slots named twice, too many slots."""
        found = []
        for key, slots in (("slots", self.slots), ("hall_slots", self.hall_slots)):
            named = [n for n in slots if n]
            found += [f"{key}: {n!r} is named twice" for n in sorted(set(named)) if named.count(n) > 1]
            if len(slots) > MAX_SLOTS:
                found.append(f"{key}: {len(slots)} entries, at most {MAX_SLOTS}")
        return tuple(found)
