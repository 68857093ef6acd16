"""Bus-file table of a chain of Dynamixel servos."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field

from drivers.dynamixel.codec import ID_MAX
from drivers.dynamixel.models import BAUD_CODES, UnknownModel, servo_model
from drivers.family import FROM_HAND, BusSettings
from drivers.locks import serial_identity
from drivers.motors import MotorDevice, numbered
from signals.names import HandNames

WATCHDOG_STEP_MS = 20


class DynamixelDevice(MotorDevice):
    """``[[bus.device]]``: one servo."""

    id: Annotated[int, Field(ge=0, le=ID_MAX)] = FROM_HAND
    """Left out: the id that the hand file gives the motor."""
    model: Annotated[str, Field(min_length=1)]


class DynamixelSettings(BusSettings):
    """``[[bus]]`` with ``family = "dynamixel"``."""

    family: Literal["dynamixel"]
    port: Annotated[str, Field(min_length=1)]
    baud: Annotated[int, Field(ge=9600, le=10_500_000)] = 1_000_000
    adapter_latency_us: Annotated[int, Field(ge=0, le=20_000)] = 1000
    """Turn-around of the USB adapter; 16 000 where its latency timer was left alone."""
    reply_margin_us: Annotated[int, Field(ge=0, le=200_000)] = 2000
    """What the operating system may add before a servo counts as silent."""
    spin_us: Annotated[int, Field(ge=0, le=300)] = 0
    """Look for the reply without sleeping from this long before it is due: faster, costs part of a core."""
    watchdog_ms: Annotated[int, Field(ge=WATCHDOG_STEP_MS, le=127 * WATCHDOG_STEP_MS)] = 40
    """Time without any packet after which a servo stops by itself; multiple of 20."""
    device: Annotated[tuple[DynamixelDevice, ...], Field(min_length=1)]

    def identity(self) -> str:
        """The serial line."""
        return serial_identity(self.port)

    def fitted(self, names: HandNames) -> Self:
        """With the hand file's ids where a device has none."""
        return self.with_values(device=numbered(self.device, "id", names))

    def motors(self, names: HandNames) -> tuple[str, ...]:
        """Motors of the chain."""
        return tuple(d.motor for d in self.device)

    def unproven(self, names: HandNames) -> tuple[str, ...]:
        """Watchdogs that trip without effect; all else is written and read back, or ``configure`` refuses."""
        doubts: dict[str, list[str]] = {}
        for d in self.device:
            doubt = servo_model(d.model).watchdog_doubt
            if doubt is not None:
                doubts.setdefault(f"{d.model}: {doubt}", []).append(d.motor)
        return tuple(
            f"the watchdog of {', '.join(motors)} may not end the torque when the computer is gone; {doubt}"
            for doubt, motors in doubts.items()
        )

    def holding(self, names: HandNames) -> tuple[str, ...]:
        """All: a bus watchdog makes a servo in a position mode brake, it lets go in current mode alone."""
        return self.motors(names)

    def conflicts(self) -> tuple[str, ...]:
        """Ids used twice, unknown models, impossible baud rates and watchdog times."""
        found = []
        for d in self.device:
            twin = next((e for e in self.device if e.id == d.id and e is not d), None)
            if twin is not None and d.id != FROM_HAND and d.motor < twin.motor:
                found.append(f"id {d.id} is given to {d.motor!r} and to {twin.motor!r}")
            try:
                baud_max = servo_model(d.model).baud_max
            except UnknownModel as error:
                found.append(f"{d.motor}: {error}")
                continue
            if self.baud > baud_max:
                found.append(f"{d.motor}: {d.model} has at most {baud_max} baud, not {self.baud}")
        if self.baud not in BAUD_CODES:
            found.append(f"baud {self.baud} (legal: {', '.join(map(str, BAUD_CODES))})")
        if self.watchdog_ms % WATCHDOG_STEP_MS:
            found.append(f"watchdog_ms {self.watchdog_ms} is not a multiple of {WATCHDOG_STEP_MS}")
        return tuple(found)
