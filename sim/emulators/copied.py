"""Emulated devices in the place of those of a bus file: its ids, models, baud rates, signs and zeros.

So a bus file is tried before there is hardware, and a simulated hand has the wires of the real one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import tomlkit

from drivers.dynamixel.models import BAUD_CODES, servo_model
from drivers.dynamixel.settings import DynamixelDevice, DynamixelSettings
from drivers.hallbridge.settings import HallBridgeSettings, OrcaSettings, StreamSettings
from hand.file.busfile import BusEntry, BusFile, is_bus_file, load_bus_file
from signals.names import HandNames
from sim.emulators.chain import ChainEmulator
from sim.emulators.hallstream import HallBridgeEmulator, OrcaEmulator
from sim.emulators.loop import Emulator
from sim.emulators.registers import RANGES
from sim.emulators.servo import EmulatedServo
from sim.emulators.side import DeviceSide
from sim.emulators.wiring import Site, Wiring, slow, wire

EMULATED: Final = ("dynamixel", "hall-bridge", "orca-encoders")
"""Families whose devices are emulated by a bus file."""
PATIENCE: Final = {"dynamixel": {"reply_margin_us": 50_000, "watchdog_ms": 100}}
"""Keys of buses behind ptys: what a busy computer adds to an emulation is not the devices' doing."""


class BeyondDevice(ValueError):
    """A value of a bus file that the device in the place of the real one cannot have."""


def wire_as(file: str, side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    """Wire a hand as a bus file has it.

    Args:
        file: name or path of the bus file.
        side: the hand.
        names: its names.
        site: where; ``servo`` and the board's address count for nothing here.

    Raises:
        BusFileError: the file is refused, is not for this hand, or has devices that are not emulated.
    """
    found = load_bus_file(file).fitted_to(names)
    document = tomlkit.parse(Path(found.path).read_text(encoding="utf-8"))
    for key in ("realtime", "truth"):
        document.pop(key, None)
    tables: Any = document["bus"]
    wiring = slow("dynamixel") if _any(found, DynamixelSettings) else Wiring()
    for entry, table in zip(found.entries, tables, strict=True):
        link = site.folder / entry.settings.name
        make = _device(found, entry)
        try:
            emulator, what = make(entry.settings, side, names, site, link)
        except BeyondDevice as error:
            raise found.refusal(f"bus {entry.settings.name!r}: {error}", entry.line) from None
        wiring.emulators.append(emulator)
        wiring.endpoints.append(f"{entry.settings.family} {link}{what}")
        table["port"] = str(link)
        table.pop("serial", None)
        for key, value in PATIENCE.get(entry.settings.family, {}).items() if site.line is None else ():
            table[key] = max(value, getattr(entry.settings, key))
    wiring.text = tomlkit.dumps(document)
    return wiring


def wire_by(word: str, side: DeviceSide, names: HandNames, site: Site) -> Wiring:
    """Wire a hand by the name of a wiring or as a bus file has it; raises as ``wire`` and ``wire_as``."""
    return wire_as(word, side, names, site) if is_bus_file(word) else wire(word, side, names, site)


def _any(file: BusFile, kind: type[Any]) -> bool:
    return any(isinstance(entry.settings, kind) for entry in file.entries)


def _device(file: BusFile, entry: BusEntry) -> _Make:
    make = _MAKERS.get(type(entry.settings))
    if make is None:
        told = f"devices of the family {entry.settings.family!r} are not emulated by a bus file"
        raise file.refusal(f"bus {entry.settings.name!r}: {told} (legal: {', '.join(EMULATED)})", entry.line)
    return make


def _chain(
    settings: DynamixelSettings, side: DeviceSide, names: HandNames, site: Site, link: Path
) -> tuple[Emulator, str]:
    servos = [_servo(d, settings.baud, side, names) for d in settings.device]
    latency_ns = settings.adapter_latency_us * 1000
    chain = ChainEmulator(servos, side, link, latency_ns, clock=site.clock, line=site.line)
    ids = ", ".join(f"{servo.id} {servo.model.name}" for servo in servos)
    return chain, f" at {settings.baud} baud, ids {ids}"


def _servo(device: DynamixelDevice, baud: int, side: DeviceSide, names: HandNames) -> EmulatedServo:
    """A servo that shows the file's zero where the hand is straight."""
    model, motor = servo_model(device.model), names.motors.index(device.motor)
    servo = EmulatedServo(device.id, model, side, motor, device.direction, device.gear_ratio)
    servo.put("baud", BAUD_CODES[baud])
    counts_rad = device.direction * device.gear_ratio * model.counts_per_turn / (2.0 * math.pi)
    most = RANGES["homing_offset"][1]
    if not abs(counts_rad * device.zero_rad) < most:
        legal = f"{model.name} can have {most / abs(counts_rad):.4g} rad to either side"
        raise BeyondDevice(f"motor {device.motor}: zero_rad {device.zero_rad:g}; {legal}")
    offset = model.registers["homing_offset"]
    servo.write(offset.address, offset.encode(round(counts_rad * device.zero_rad)))
    return servo


def _places(settings: StreamSettings, names: HandNames) -> tuple[list[int], list[int]]:
    """Tendon and joint of every channel, -1: none."""
    tendons = [names.index("tendon", t) if t else -1 for t in settings.channels]
    joints = [names.index("joint", j) if j else -1 for j in settings.joint_channels]
    return tendons, joints


def _bridge(
    settings: HallBridgeSettings, side: DeviceSide, names: HandNames, site: Site, link: Path
) -> tuple[Emulator, str]:
    tendons, joints = _places(settings, names)
    axes = tuple((a.channel, names.index("axis", a.name), a.zero_count, a.rad_count) for a in settings.axis)
    words: Any = {
        "rate_hz": settings.rate_hz,
        "axes": axes,
        "joints": joints,
        "clock": site.clock,
        "line": site.line,
    }
    return HallBridgeEmulator(side, tendons, link, samples=4, **words), f", {len(tendons)} channels"


def _orca(
    settings: OrcaSettings, side: DeviceSide, names: HandNames, site: Site, link: Path
) -> tuple[Emulator, str]:
    tendons, joints = _places(settings, names)
    return OrcaEmulator(side, tendons, link, settings.rate_hz, joints, site.clock, site.line), ""


_Make = Callable[[Any, DeviceSide, HandNames, Site, Path], tuple[Emulator, str]]
_MAKERS: Final[dict[type[Any], _Make]] = {
    DynamixelSettings: _chain,
    HallBridgeSettings: _bridge,
    OrcaSettings: _orca,
}
