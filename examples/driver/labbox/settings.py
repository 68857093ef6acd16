"""Table of the box in a bus file."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from drivers.family import BusSettings
from drivers.locks import address_identity
from labbox.codec import PORT
from signals.names import HandNames


class BoxSettings(BusSettings):
    """``[[bus]]`` with ``family = "lab-box"``."""

    family: Literal["lab-box"]
    host: Annotated[str, Field(min_length=1)]
    port: Annotated[int, Field(ge=1, le=65535)] = PORT
    motor: Annotated[tuple[str, ...], Field(min_length=1, max_length=32)]
    """Motors of the hand in the order of the box."""
    hall: tuple[str, ...] = ()
    """Tendons whose Hall channels it reads, in its order."""
    reply_timeout_ms: Annotated[float, Field(gt=0.0, le=100.0)] = 5.0
    lost_ms: Annotated[float, Field(gt=0.0, le=10_000.0)] = 200.0
    """Silence after which the bus counts as lost."""

    def identity(self) -> str:
        """Name of the physical bus, the same by every way to it: two drivers on it are refused."""
        return address_identity(self.host, self.port)

    def motors(self, names: HandNames) -> tuple[str, ...]:
        """Motors that it moves."""
        return self.motor

    def halls(self, names: HandNames) -> tuple[str, ...]:
        """Tendons whose Hall channel it reads."""
        return self.hall

    def conflicts(self) -> tuple[str, ...]:
        """Names that stand twice."""
        twice = {n for n in self.motor + self.hall if (self.motor + self.hall).count(n) > 1}
        return tuple(f"{name!r} is named twice" for name in sorted(twice))

    def unproven(self, names: HandNames) -> tuple[str, ...]:
        """The watchdog is watched at work only when it trips; this is told at every start."""
        return ("the box's watchdog is believed, not read back",)
