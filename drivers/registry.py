"""The table of driver families: name -> module, imported when first asked for.

Others add a family by an entry point in the group ``flexor.drivers`` whose name is the family and whose
value is a ``drivers.family.Family``.
"""

from __future__ import annotations

import difflib
import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from drivers.errors import DriverError
from drivers.family import BusSettings, Family
from drivers.hal import Bus
from signals.foreign import note, place_of_import, sentence
from signals.names import HandNames

GROUP = "flexor.drivers"

TABLE: dict[str, str] = {
    "collector": "drivers.collector.device",
    "dynamixel": "drivers.dynamixel.device",
    "odrive": "drivers.odrive.device",
    "hall-bridge": "drivers.hallbridge.device",
    "orca-encoders": "drivers.hallbridge.orca_device",
}
"""Our own families; each module holds ``FAMILY``."""
_PARTS: Final = sorted(name for name in vars(Bus) if not name.startswith("_"))


class ForeignDriver(DriverError):
    """A driver family of somebody else's package that is broken; names the package, file and line."""


class UnknownFamily(DriverError, ValueError):
    """A family that nobody offers; says the legal names and the nearest."""

    def __init__(self, name: str, legal: tuple[str, ...]) -> None:
        self.name, self.legal = name, legal
        near = difflib.get_close_matches(name, legal, n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        super().__init__(f"no driver family {name!r}{hint} (legal: {', '.join(legal)})")


def family_names() -> tuple[str, ...]:
    """Every family that can be named in a bus file."""
    return tuple(TABLE) + tuple(sorted(e.name for e in entry_points(group=GROUP) if e.name not in TABLE))


def family(name: str) -> Family:
    """A driver family by name.

    Raises:
        UnknownFamily: with the legal names.
        ForeignDriver: a package offers it and is broken, or two do.
    """
    if name in TABLE:
        ours: Family = import_module(TABLE[name]).FAMILY
        return ours
    points = [e for e in entry_points(group=GROUP) if e.name == name]
    if not points:
        raise UnknownFamily(name, family_names())
    whose = sorted(_package(point) for point in points)
    if len(points) > 1:
        raise ForeignDriver(f"driver family {name!r} is offered by {' and by '.join(whose)}; remove one")
    return _loaded(f"driver family {name!r} of {whose[0]}", points[0])


def _package(point: EntryPoint) -> str:
    named = f"{point.dist.name} {point.dist.version}" if point.dist is not None else "?"
    return f"package {named} ({point.value})"


def _loaded(what: str, point: EntryPoint) -> Family:
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # their code: it may raise anything
        raise ForeignDriver(sentence(what, error, place_of_import(error))) from error
    module = sys.modules.get(point.module)
    if module is not None:
        note(what, module)
    if not isinstance(found, Family):
        raise ForeignDriver(f"{what}: {found!r} is not a drivers.family.Family")
    if not isinstance(found.settings, type) or not issubclass(found.settings, BusSettings):
        raise ForeignDriver(f"{what}: its settings are {found.settings!r}, no drivers.family.BusSettings")
    return found


def opened(found: Family, settings: BusSettings, names: HandNames, readonly: bool) -> Bus:
    """The bus of a family, opened.

    Raises:
        DriverError: it does not open, or what it opens is no bus.
    """
    bus = found.open(settings, names, readonly)
    missing = [part for part in _PARTS if not hasattr(bus, part)]
    if missing:
        kind = f"{type(bus).__module__}.{type(bus).__qualname__}"
        raise ForeignDriver(f"driver family {found.name!r} opens a {kind} without {', '.join(missing)}")
    return bus
