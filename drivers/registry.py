"""The table of driver families: name -> module, imported when first asked for.

Others add a family by an entry point in the group ``flexor.drivers`` whose name is the family and whose
value is a ``drivers.family.Family``.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.metadata import entry_points

from drivers.errors import DriverError
from drivers.family import Family

GROUP = "flexor.drivers"

TABLE: dict[str, str] = {
    "collector": "drivers.collector.device",
    "dynamixel": "drivers.dynamixel.device",
    "odrive": "drivers.odrive.device",
    "hall-bridge": "drivers.hallbridge.device",
    "orca-encoders": "drivers.hallbridge.orca_device",
}
"""Our own families; each module holds ``FAMILY``."""


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
    """
    if name in TABLE:
        found = import_module(TABLE[name]).FAMILY
    else:
        points = [e for e in entry_points(group=GROUP) if e.name == name]
        if not points:
            raise UnknownFamily(name, family_names())
        found = points[0].load()
    if not isinstance(found, Family):
        raise DriverError(f"driver family {name!r}: {found!r} is not a drivers.family.Family")
    return found
