"""Servo models as data: ``devices/dynamixel/*.toml`` of ``configs`` and of other people's packages."""

from __future__ import annotations

import math
import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from drivers.errors import DriverError
from signals.choices import did_you_mean
from signals.plugins import OURS, broken_folders, folders
from signals.tables import Table

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


FOLDER: Final = "devices/dynamixel"
BASE: Final = "_x_series.toml"
"""What the models share; a model's file adds its own keys, or overrides these."""
CYCLE: Final = {
    "torque_enable": 64,
    "goal_current": 102,
    "goal_position": 116,
    "present_current": 126,
    "present_velocity": 128,
    "present_position": 132,
}
"""Registers of every cycle: one request serves a whole chain, so they are at one place on all its servos."""


class Register(Table):
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


class ServoModel(Table):
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

    watchdog_doubt: str | None = None
    """Why its bus watchdog is not trusted to end its torque; told at every start of a hand that has it."""
    current_limit_max: int | None = None
    """Greatest current limit that it takes [counts]; none: not published, a servo refuses by itself."""

    def slot(self, i: int) -> Register:
        """Indirect address ``i``, counted from 0."""
        return Register(address=self.indirect_address + 2 * i, size=2)

    @property
    def has_current(self) -> bool:
        """Whether it measures its current, and takes one as its goal or as the greatest one."""
        return self.current_lsb_ma is not None

    @property
    def current_lsb_a(self) -> float:
        """Unit of the current registers [A]; 0 where the model has none."""
        return 0.0 if self.current_lsb_ma is None else self.current_lsb_ma * 1e-3

    @property
    def speed_lsb_rad_s(self) -> float:
        """Unit of the speed registers [rad/s]."""
        return self.speed_lsb_rpm * 2.0 * math.pi / 60.0


class UnknownModel(DriverError, ValueError):
    """A servo model without a device file that can be used; says which there are, and what is wrong."""

    def __init__(self, name: str, legal: tuple[str, ...], broken: tuple[str, ...] = ()) -> None:
        self.name, self.legal = name, legal
        told = "".join(f"; {sentence}" for sentence in broken)
        super().__init__(
            f"no servo model {name!r}{did_you_mean(name, legal)} (legal: {', '.join(legal)}){told}"
        )


class DeviceFileError(DriverError, ValueError):
    """A device file that cannot be used; names file, line and key."""


def read_model(path: Path) -> ServoModel:
    """One device file over what the X series shares; its own keys and registers come first.

    Raises:
        DeviceFileError: saying what is wrong where.
    """
    try:
        text = path.read_text(encoding="utf-8")
        own: dict[str, Any] = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise DeviceFileError(f"device file {path}: {error}") from None
    shared = tomllib.loads((Path(str(files("configs"))) / FOLDER / BASE).read_text(encoding="utf-8"))
    table = shared | own
    if isinstance(own.get("registers"), dict):
        table["registers"] = shared["registers"] | own["registers"]
    if isinstance(own.get("modes"), list):
        table["modes"] = tuple(own["modes"])
    try:
        model = ServoModel.model_validate(table)
    except ValidationError as error:
        wrong = []
        for one in error.errors():
            keys = [str(key) for key in one["loc"]]
            found = "" if one["type"] == "missing" else f" (found {one['input']!r})"
            wrong.append(_told(path, text, keys, f"{one['msg']}{found}"))
        raise DeviceFileError("; ".join(wrong)) from None
    if missing := [name for name in shared["registers"] if name not in model.registers]:
        raise DeviceFileError(_told(path, text, ["registers"], f"no {', '.join(missing)}"))
    if "current" in model.modes and model.current_lsb_ma is None:
        told = "a current mode without current_lsb_ma, the unit of its currents"
        raise DeviceFileError(_told(path, text, ["modes"], told))
    for register in model.registers.keys() - shared["registers"].keys():
        guess = did_you_mean(register, tuple(shared["registers"]))
        told = f"the driver uses no such register{guess}; legal: those of {FOLDER}/{BASE}"
        raise DeviceFileError(_told(path, text, ["registers", register], told))
    for register, address in CYCLE.items():
        at = model.registers[register].address
        if at != address:
            told = f"address {at}; legal: {address}, for one request serves a whole chain"
            raise DeviceFileError(_told(path, text, ["registers", register], told))
    return model


def _told(path: Path, text: str, keys: list[str], what: str) -> str:
    """A problem with the line of the innermost key that the file has."""
    lines = text.splitlines()
    for key in reversed(keys):
        for number, line in enumerate(lines, 1):
            if re.match(rf"\[?\s*{re.escape(key)}\b", line):
                return f"device file {path}:{number}: {'.'.join(keys)}: {what}"
    return f"device file {path}: {'.'.join(keys)}: {what}"


@cache
def _read() -> tuple[dict[str, ServoModel], tuple[str, ...]]:
    """Every model by name, and a sentence for every file of somebody else that cannot be used."""
    found: dict[str, ServoModel] = {}
    places: dict[str, tuple[str, Path]] = {}
    broken = list(broken_folders())
    for owner, folder in folders(FOLDER):
        for path in sorted(folder.glob("[!_]*.toml")):
            try:
                model = read_model(path)
            except DeviceFileError as error:
                if owner == OURS:
                    raise
                broken.append(f"{owner}: {error}")
                continue
            if model.name in places:
                both = " and by ".join(
                    f"{who} ({where})" for who, where in (places[model.name], (owner, path))
                )
                broken.append(f"servo model {model.name!r} is offered by {both}; remove one")
                found.pop(model.name, None)
                continue
            twin = next((m.name for m in found.values() if m.model_number == model.model_number), None)
            if twin is not None:
                both = " and by ".join(f"{who} ({where})" for who, where in (places[twin], (owner, path)))
                told = f"model number {model.model_number} is offered by {both}; {twin!r} keeps it"
                broken.append(f"{told}: register 0 of a servo tells which model it is")
                continue
            found[model.name], places[model.name] = model, (owner, path)
    return found, tuple(broken)


def forget() -> None:
    """Read device files anew when they are next asked for."""
    _read.cache_clear()


def models() -> dict[str, ServoModel]:
    """Every model by name: ours, and those of other people's packages."""
    return _read()[0]


def broken_models() -> tuple[str, ...]:
    """A sentence for every device file of somebody else that cannot be used."""
    return _read()[1]


def servo_model(name: str) -> ServoModel:
    """A model by name.

    Raises:
        UnknownModel: with the legal names and the device files that cannot be used.
    """
    found, broken = _read()
    if name not in found:
        raise UnknownModel(name, tuple(found), broken)
    return found[name]


def model_name(number: int) -> str:
    """Name of a model number, for scans."""
    return next((m.name for m in models().values() if m.model_number == number), f"model {number}")
