"""The table of driver families: name -> module, imported when first asked for.

Others add a family by an entry point in the group ``flexor.drivers`` whose name is the family and whose
value is a ``drivers.family.Family``.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final

from drivers.errors import DriverError
from drivers.family import BusSettings, Family
from drivers.hal import Bus
from signals import plugins
from signals.choices import did_you_mean
from signals.names import HandNames
from signals.plugins import DRIVERS, PluginError

TABLE: dict[str, str] = {
    "collector": "drivers.collector.device",
    "dynamixel": "drivers.dynamixel.device",
    "odrive": "drivers.odrive.device",
    "hall-bridge": "drivers.hallbridge.device",
    "orca-encoders": "drivers.hallbridge.orca_device",
}
"""Our own families; each module holds ``FAMILY``."""
_PARTS: Final = sorted(name for name in vars(Bus) if not name.startswith("_"))


class ForeignDriver(DriverError, PluginError):
    """A driver family of somebody else's package that is broken; names the package, file and line."""


class UnknownFamily(DriverError, ValueError):
    """A family that nobody offers; says the legal names and the nearest."""

    def __init__(self, name: str, legal: tuple[str, ...]) -> None:
        self.name, self.legal = name, legal
        super().__init__(f"no driver family {name!r}{did_you_mean(name, legal)} (legal: {', '.join(legal)})")


def family_names() -> tuple[str, ...]:
    """Every family that can be named in a bus file."""
    return tuple(TABLE) + tuple(p.name for p in plugins.offered(DRIVERS) if p.name not in TABLE)


def family(name: str) -> Family:
    """A driver family by name.

    Raises:
        UnknownFamily: with the legal names.
        ForeignDriver: a package offers it and is broken, or two do.
    """
    try:
        plugin = plugins.named(DRIVERS, name, TABLE)
        if plugin is None and name in TABLE:
            ours: Family = import_module(TABLE[name]).FAMILY
            return ours
        if plugin is None:
            raise UnknownFamily(name, family_names())
        return _sound(plugins.load(plugin, Family), plugin)
    except PluginError as error:
        raise ForeignDriver(str(error)) from error


def _sound(found: Family, plugin: plugins.Plugin) -> Family:
    if not isinstance(found.settings, type) or not issubclass(found.settings, BusSettings):
        raise PluginError(f"{plugin}: its settings are {found.settings!r}, no drivers.family.BusSettings")
    lacking = sorted(found.settings.__abstractmethods__)
    if lacking:
        kind = f"{found.settings.__module__}.{found.settings.__qualname__}"
        raise PluginError(f"{plugin}: {plugins.where(plugin)}its settings, {kind}, have no {lacking[0]}()")
    if not callable(found.open):
        raise PluginError(f"{plugin}: {plugins.where(plugin)}its open is {found.open!r}, no function")
    if found.name != plugin.name:
        raise PluginError(f"{plugin}: its FAMILY is named {found.name!r}; legal: {plugin.name!r}")
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
