"""What other people's packages add to flexor, found by entry points; docs/extending.md is their page.

A package names what it adds in its ``pyproject.toml``; installing it is all that it takes. Nothing of it is
imported before it is asked for by name. Whatever is wrong with it is a sentence that names package and file.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from signals.choices import did_you_mean

T = TypeVar("T")

CONFIGS: Final = "flexor.configs"
DRIVERS: Final = "flexor.drivers"
WIRINGS: Final = "flexor.wirings"
MECHANISMS: Final = "flexor.mechanisms"
COMMANDS: Final = "flexor.commands"
GROUPS: Final[dict[str, str]] = {
    CONFIGS: "folder of hands, motions, buses, devices and mechanisms",
    DRIVERS: "driver family",
    WIRINGS: "wiring of emulated devices",
    MECHANISMS: "kind of mechanism",
    COMMANDS: "command",
}
"""Group of entry points -> what one of it is called."""


class PluginError(ValueError):
    """A package that adds something to flexor is broken, or two add the same; names packages and files."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry point of a package."""

    group: str
    point: EntryPoint

    @property
    def name(self) -> str:
        """What it is called by."""
        return self.point.name

    @property
    def package(self) -> str:
        """Name and version of the package that brings it."""
        dist = self.point.dist
        return f"{dist.name} {dist.version}" if dist is not None else "?"

    @property
    def summary(self) -> str:
        """First line of what the package says about itself."""
        dist = self.point.dist
        told: list[str] = [] if dist is None else dist.metadata.get_all("Summary") or []
        return told[0] if told else ""

    def __str__(self) -> str:
        return f"{GROUPS[self.group]} {self.name!r} of package {self.package} ({self.point.value})"


def offered(group: str) -> tuple[Plugin, ...]:
    """Everything that packages add in one group, by name; nothing is imported."""
    points = _points(tuple((place, _changed_ns(place)) for place in sys.path))
    found = [Plugin(group, point) for point in points.select(group=group)]
    return tuple(sorted(found, key=lambda p: (p.name, p.package)))


def _changed_ns(place: str) -> int:
    """When a place of packages was changed; 0: nobody can tell."""
    try:
        return Path(place or os.curdir).stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=1)
def _points(_places: tuple[tuple[str, int], ...]) -> Any:
    """Those of all packages, until one comes or goes: a file of each is read, and a start asks often."""
    return entry_points()


def named(group: str, name: str, ours: Iterable[str] = ()) -> Plugin | None:
    """The one entry of a name; None: nobody offers it, or it is ours.

    Raises:
        PluginError: two offer it, or one offers a name of ours.
    """
    found = [p for p in offered(group) if p.name == name]
    owners = ["flexor itself"] * (name in ours)
    owners += [f"package {p.package} ({p.point.value})" for p in found]
    if len(owners) > 1:
        raise PluginError(f"{GROUPS[group]} {name!r} is offered by {' and by '.join(owners)}; remove one")
    return found[0] if found else None


def load(plugin: Plugin, kind: type[T]) -> T:
    """Import what an entry point names.

    Args:
        plugin: the entry.
        kind: what it has to be.

    Raises:
        PluginError: it cannot be imported, or is something else.
    """
    found = imported(plugin)
    if not isinstance(found, kind):
        legal = f"{kind.__module__}.{kind.__qualname__}"
        raise PluginError(f"{plugin}: {where(plugin)}{found!r} is not a {legal}")
    return found


def called(plugin: Plugin) -> Callable[..., Any]:
    """Import what an entry point names: a function.

    Raises:
        PluginError: it cannot be imported, or cannot be called.
    """
    found = imported(plugin)
    if not callable(found):
        raise PluginError(f"{plugin}: {where(plugin)}{found!r} is no function")
    return cast(Callable[..., Any], found)


def imported(plugin: Plugin) -> Any:
    """Import what an entry point names, whatever it is.

    Raises:
        PluginError: it cannot be imported.
    """
    from signals.foreign import note, place_of_import, sentence  # numpy with it: not for a list of names

    point = plugin.point
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # their code: it may raise anything
        place = place_of_import(error)
        if place is None and isinstance(error, AttributeError) and point.module in sys.modules:
            raise PluginError(f"{plugin}: {where(plugin)}{_lacks(plugin)}") from error
        if place is None and isinstance(error, ModuleNotFoundError):
            raise PluginError(
                f"{plugin}: {_declared(plugin)}no module {error.name!r} is installed"
            ) from error
        raise PluginError(sentence(str(plugin), error, place)) from error
    module = sys.modules.get(point.module)
    if module is not None:
        note(str(plugin), module)
    return found


def _lacks(plugin: Plugin) -> str:
    module = sys.modules[plugin.point.module]
    names = [n for n in vars(module) if not n.startswith("_")]
    hint = did_you_mean(plugin.point.attr, names)
    return f"module {plugin.point.module!r} has no attribute {plugin.point.attr!r}{hint}"


def where(plugin: Plugin) -> str:
    """File and line where an imported entry's name is bound; line 1 where it is bound nowhere."""
    module = sys.modules.get(plugin.point.module)
    file = getattr(module, "__file__", None)
    if file is None:
        return ""
    name, line = plugin.point.attr.split(".")[0], 1
    for node in ast.parse(Path(file).read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        bound = {getattr(t, "id", getattr(t, "name", "")) for t in targets}
        line = node.lineno if name in bound else line
    return f"{file}:{line}: "


def _declared(plugin: Plugin) -> str:
    """File and line where the package declares an entry, as installed."""
    dist = plugin.point.dist
    folder = getattr(dist, "_path", None)
    text = "" if dist is None else dist.read_text("entry_points.txt") or ""
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = (part.strip() for part in line.partition("="))
        if equals and (name, value) == (plugin.name, plugin.point.value) and folder is not None:
            return f"{Path(folder) / 'entry_points.txt'}:{number}: "
    return ""


# --- folders of files ---------------------------------------------------------------------------------------

OURS: Final = "flexor itself"


def folder_of(plugin: Plugin) -> Path:
    """Folder that an entry of ``flexor.configs`` names: a package; its code is not run.

    Raises:
        PluginError: there is no such package.
    """
    try:
        spec = find_spec(plugin.point.value)
    except (Exception, SystemExit) as error:  # a package above it is imported
        from signals.foreign import place_of_import, sentence

        raise PluginError(sentence(str(plugin), error, place_of_import(error))) from error
    for place in () if spec is None else spec.submodule_search_locations or ():
        return Path(place)
    raise PluginError(f"{plugin}: {_declared(plugin)}no package {plugin.point.value!r} is installed")


def folders(below: str) -> Iterator[tuple[str, Path]]:
    """(owner, folder) of every place for files of a kind: ours first; what is broken is left to ``broken``.

    Args:
        below: folder below ``configs``, as ``hands`` or ``devices/dynamixel``.
    """
    yield OURS, Path(str(files("configs"))) / below
    for plugin in offered(CONFIGS):
        try:
            found = folder_of(plugin) / below
        except PluginError:
            continue
        if found.is_dir():
            yield f"package {plugin.package}", found


def files_named(below: str, suffix: str = ".toml") -> dict[str, list[tuple[str, Path]]]:
    """Name -> (owner, file) of everybody who offers it, sorted by name."""
    found: dict[str, list[tuple[str, Path]]] = {}
    for owner, folder in folders(below):
        for path in folder.iterdir():
            if path.name.endswith(suffix) and not path.name.startswith("_"):
                found.setdefault(path.name.removesuffix(suffix), []).append((owner, path))
    return dict(sorted(found.items()))


def broken_folders() -> list[str]:
    """Sentences about entries of ``flexor.configs`` that cannot be used."""
    told = []
    for plugin in offered(CONFIGS):
        try:
            folder_of(plugin)
        except PluginError as error:
            told.append(str(error))
    return told
