"""Servo models as data: ``configs/devices/dynamixel/*.toml``."""

from __future__ import annotations

import math
import tomllib
from functools import cache
from importlib.resources import files
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from drivers.errors import DriverError
from drivers.family import Strict

ModeName = Literal["current", "velocity", "position", "extended_position", "current_position", "pwm"]
MODE_CODES: dict[str, int] = {
    "current": 0,
    "velocity": 1,
    "position": 3,
    "extended_position": 4,
    "current_position": 5,
    "pwm": 16,
}
BAUD_CODES: dict[int, int] = {
    9600: 0,
    57600: 1,
    115200: 2,
    1_000_000: 3,
    2_000_000: 4,
    3_000_000: 5,
    4_000_000: 6,
    4_500_000: 7,
}
"""Register 8; the factory setting is 57600."""


CYCLE: Final = {
    "goal_current": 102,
    "goal_position": 116,
    "present_current": 126,
    "present_velocity": 128,
    "present_position": 132,
}
"""Registers of every cycle: one request serves a whole chain, so they are at one place on all its servos."""


class Register(Strict):
    """One entry of the control table."""

    address: Annotated[int, Field(ge=0, le=1023)]
    size: Literal[1, 2, 4]
    signed: bool = False

    def encode(self, value: int) -> bytes:
        """Bytes of a value; raises OverflowError if it does not fit."""
        return value.to_bytes(self.size, "little", signed=self.signed)

    def decode(self, data: bytes) -> int:
        """Value of exactly ``size`` bytes."""
        if len(data) != self.size:
            raise ValueError(f"register {self.address}: {len(data)} bytes, it has {self.size}")
        return int.from_bytes(data, "little", signed=self.signed)


class ServoModel(Strict):
    """What the driver has to know of one model."""

    name: str
    model_number: int
    modes: tuple[ModeName, ...]
    counts_per_turn: int
    current_lsb_ma: float | None = None
    """Unit of the current registers; none: the model measures load, not current."""
    speed_lsb_rpm: float
    voltage_lsb_v: float
    fast_sync_read_firmware: int | None = None
    """First firmware with the fast reads; none: it has none."""
    indirect_address: int
    indirect_data: int
    indirect_slots: int
    baud_max: int
    registers: dict[str, Register]
    source: str

    current_limit_max: int | None = None
    """Greatest current limit that it takes [counts]; none: not published, a servo refuses by itself."""

    def slot(self, i: int) -> Register:
        """Indirect address ``i``, counted from 0."""
        return Register(address=self.indirect_address + 2 * i, size=2)

    @property
    def current_lsb_a(self) -> float:
        """Unit of the current registers [A]; 0 where the model has none."""
        return 0.0 if self.current_lsb_ma is None else self.current_lsb_ma * 1e-3

    @property
    def speed_lsb_rad_s(self) -> float:
        """Unit of the speed registers [rad/s]."""
        return self.speed_lsb_rpm * 2.0 * math.pi / 60.0


class UnknownModel(DriverError, ValueError):
    """A servo model without a device file; says which there are."""

    def __init__(self, name: str, legal: tuple[str, ...]) -> None:
        self.name, self.legal = name, legal
        super().__init__(f"no servo model {name!r} (legal: {', '.join(legal)})")


@cache
def models() -> dict[str, ServoModel]:
    """Every model by name."""
    folder = files("configs") / "devices" / "dynamixel"
    shared: dict[str, Any] = tomllib.loads((folder / "_x_series.toml").read_text(encoding="utf-8"))
    found = {}
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".toml") and not entry.name.startswith("_"):
            table = shared | tomllib.loads(entry.read_text(encoding="utf-8"))
            table["modes"] = tuple(table["modes"])
            model = ServoModel.model_validate(table)
            for register, address in CYCLE.items():
                if model.registers[register].address != address:
                    at = model.registers[register].address
                    raise DriverError(
                        f"{entry.name}: {register} is at {at}; one cycle needs all at {address}"
                    )
            found[model.name] = model
    return found


def servo_model(name: str) -> ServoModel:
    """A model by name.

    Raises:
        UnknownModel: with the legal names.
    """
    try:
        return models()[name]
    except KeyError:
        raise UnknownModel(name, tuple(models())) from None


def model_name(number: int) -> str:
    """Name of a model number, for scans."""
    return next((m.name for m in models().values() if m.model_number == number), f"model {number}")
