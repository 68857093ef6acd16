"""Bus-file table of a collector board."""

from __future__ import annotations

from typing import Annotated, Literal

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
    """Motor of every slot, "" for none; empty: the hand's motors in order."""
    hall_slots: tuple[str, ...] = ()
    """Tendon of every slot's Hall channel; empty: the hand's tendons in order."""
    axis_slots: tuple[str, ...] | None = None
    """Wrist axis of each of the two axis channels; left out: the hand's axes in order."""

    def identity(self) -> str:
        """Address of the board."""
        return address_identity(self.host, self.port)

    def motor_slots(self, names: HandNames) -> tuple[str, ...]:
        """Motor of every slot."""
        return self.slots or names.motors[:MAX_SLOTS]

    def motors(self, names: HandNames) -> tuple[str, ...]:
        """Motors that this board moves."""
        return tuple(n for n in self.motor_slots(names) if n)

    def halls(self, names: HandNames) -> tuple[str, ...]:
        """Tendons whose Hall channel this board reads."""
        return tuple(n for n in (self.hall_slots or names.tendons[:MAX_SLOTS]) if n)

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
