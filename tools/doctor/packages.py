"""Packages that add something to flexor: what each adds, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reports.finding import Finding, fail, good
from runtime.host.machine import Machine
from signals import plugins
from signals.plugins import Plugin, PluginError

NAME: Final = "packages"
DEVICES: Final = "devices/dynamixel"


def packages(_machine: Machine) -> list[Finding]:
    """Is everything sound that other people's packages add?"""
    found = []
    for group in plugins.GROUPS:
        for plugin in plugins.offered(group):
            try:
                added = CHECKS[group](plugin)
            except ValueError as error:
                distribution = plugin.package.split()[0]
                cost = "it cannot be used; what else the package adds may work"
                told = " ".join(str(error).split())
                found.append(fail(NAME, told, cost, f"mend the named file, or pip uninstall {distribution}"))
            else:
                found.append(good(NAME, f"{plugin.package}: {added}"))
    return found or [good(NAME, "none adds anything")]


def _driver(plugin: Plugin) -> str:
    from drivers.registry import family

    family(plugin.name)
    return f"driver family {plugin.name!r}"


def _wiring(plugin: Plugin) -> str:
    from sim.emulators.wiring import wire_of

    wire_of(plugin.name)
    return f"wiring {plugin.name!r} of emulated devices"


def _command(plugin: Plugin) -> str:
    from tools.command_table import command_of

    command_of(plugin.name)
    return f"command {plugin.name!r}"


def _mechanism(plugin: Plugin) -> str:
    from sim.mechanisms.load import kind_of

    kind_of(plugin.name)
    return f"kind of mechanism {plugin.name!r}"


def _files(plugin: Plugin) -> str:
    """Every file of a package's folder is read, as by the command that would use it."""
    added = []
    for below, read in READERS.items():
        for name, places in plugins.files_named(below).items():
            mine = [path for owner, path in places if owner == f"package {plugin.package}"]
            if mine and len(places) > 1 and below != DEVICES:
                owners = " and by ".join(f"{owner} ({path})" for owner, path in places)
                raise PluginError(f"{below}: {name!r} is offered by {owners}; remove one")
            for path in mine:
                read(str(path))
                added.append(f"{below}/{name}")
    plugins.folder_of(plugin)
    if not added:
        folders = ", ".join(READERS)
        raise PluginError(f"{plugin}: {plugins.folder_of(plugin)} holds no file (folders: {folders})")
    return ", ".join(added)


def _hand(path: str) -> None:
    from hand.file import load_hand

    load_hand(path)


def _bus(path: str) -> None:
    from hand.file.busfile import load_bus_file

    load_bus_file(path)


def _device(path: str) -> None:
    """Names and numbers of servos stand in their files: two files of one name may be two models."""
    from pathlib import Path

    from drivers.dynamixel.models import broken_models, read_model

    read_model(Path(path))
    if told := [sentence for sentence in broken_models() if f"({path})" in sentence]:
        raise PluginError("; ".join(told))


def _mechanism_file(path: str) -> None:
    from sim.mechanisms.load import load_mechanism

    load_mechanism(path)


def _mechanism_hand(path: str) -> None:
    from runtime.mechanism_hand import load_mechanism_hand

    load_mechanism_hand(path)


def _motion(path: str) -> None:
    """A motion is judged with a hand; here it only has to be a text."""
    from pathlib import Path

    from hand.file import MotionFileError
    from hand.file.text import text_of_file

    text_of_file(Path(path), MotionFileError)


READERS: Final[dict[str, Callable[[str], None]]] = {
    "hands": _hand,
    "motions": _motion,
    "buses": _bus,
    DEVICES: _device,
    "mechanisms": _mechanism_file,
    "mechanism_hands": _mechanism_hand,
    "mechanism_hands/motions": _motion,
}
"""Folder of files -> who reads one."""
CHECKS: Final[dict[str, Callable[[Plugin], str]]] = {
    plugins.CONFIGS: _files,
    plugins.DRIVERS: _driver,
    plugins.WIRINGS: _wiring,
    plugins.MECHANISMS: _mechanism,
    plugins.COMMANDS: _command,
}
"""Group -> what its entry adds, in words; raises ``ValueError`` if it is broken."""
