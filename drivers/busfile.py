"""Bus files: which devices at which places are which motors, sensors and axes of a hand.

TOML with one ``[[bus]]`` table per physical bus; every family adds its own keys. All problems are told at
once, each with bus and key; nothing in a file is ignored.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from drivers.errors import DriverError, FileError
from drivers.family import BusSettings, Family
from drivers.registry import family
from signals.names import HandNames, UnknownName

LEGAL = ("bus", "realtime", "truth")


@dataclass(frozen=True, slots=True)
class BusEntry:
    """One bus of a file with its family."""

    settings: BusSettings
    family: Family


@dataclass(frozen=True, slots=True, kw_only=True)
class BusFile:
    """A checked bus file."""

    path: str
    entries: tuple[BusEntry, ...]
    realtime: bool = True
    """False: bus processes run at normal priority (emulated devices behind ptys need that)."""
    truth: str = ""
    """Shared memory in which ``flexor emulate`` shows the true state of its plant."""

    def check_against(self, names: HandNames) -> None:
        """Compare with a hand: unknown names, channels claimed twice, motors that no bus moves.

        Raises:
            FileError: with every problem.
        """
        problems: list[str] = []
        for space, method in (("motor", "motors"), ("tendon", "halls"), ("axis", "axes")):
            owner: dict[str, str] = {}
            for entry in self.entries:
                bus = entry.settings
                for name in getattr(bus, method)(names):
                    if name not in names.of(space):
                        problems.append(f"bus {bus.name!r}: {UnknownName(space, name, names.of(space))}")
                    elif name in owner:
                        problems.append(f"{space} {name!r} is claimed by {owner[name]!r} and by {bus.name!r}")
                    owner[name] = bus.name
            missing = [n for n in names.of(space) if n not in owner]
            if missing and space != "tendon":
                problems.append(f"no bus for {space} {', '.join(missing[:6])}{' ...' if missing[6:] else ''}")
        if problems:
            raise FileError(self.path, tuple(problems))


def load_bus_file(name_or_path: str) -> BusFile:
    """Read a bus file from a path, or by its name from ``configs/buses``.

    Raises:
        FileError: with every problem of the file.
    """
    path, text = _text(name_or_path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(path, (str(error),)) from None
    problems = [f"unknown key {key!r} (legal: {', '.join(LEGAL)})" for key in table if key not in LEGAL]
    realtime, truth = table.get("realtime", True), table.get("truth", "")
    if not isinstance(realtime, bool) or not isinstance(truth, str):
        problems.append(f"realtime is {realtime!r} (legal: true, false), truth is {truth!r} (legal: text)")
    buses = table.get("bus", [])
    if not isinstance(buses, list) or not buses:
        raise FileError(path, (*problems, "no [[bus]] table"))
    entries = []
    for i, raw in enumerate(buses):
        try:
            entries.append(_entry(raw))
        except ValidationError as error:
            label = raw.get("name", f"number {i + 1}")
            problems += [f"bus {label!r}: {line}" for line in _lines(error, raw)]
        except DriverError as error:
            problems.append(f"bus number {i + 1}: {error}")
    problems += _contradictions(entries)
    if problems:
        raise FileError(path, tuple(problems))
    return BusFile(path=path, entries=tuple(entries), realtime=realtime, truth=truth)


def _text(name_or_path: str) -> tuple[str, str]:
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.exists():
        try:
            return str(path), path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FileError(name_or_path, (f"cannot read: {error}",)) from None
    folder = files("configs") / "buses"
    entry = folder / f"{name_or_path}.toml"
    if not entry.is_file():
        legal = sorted(e.name[:-5] for e in folder.iterdir() if e.name.endswith(".toml"))
        raise FileError(name_or_path, (f"no such bus file (a path, or one of: {', '.join(legal)})",))
    return f"configs/buses/{name_or_path}.toml", entry.read_text(encoding="utf-8")


def _entry(raw: Any) -> BusEntry:
    if not isinstance(raw, dict) or not isinstance(raw.get("family"), str):
        raise DriverError('no key "family"')
    found = family(raw["family"])
    return BusEntry(found.settings.model_validate_json(json.dumps(raw)), found)


def _lines(error: ValidationError, raw: dict[str, Any]) -> Iterator[str]:
    for detail in error.errors():
        key = ".".join(str(part) for part in detail["loc"]) or "table"
        found = detail.get("input")
        shown = f", found {found!r}" if not isinstance(found, dict | list) else ""
        yield f"{key}: {detail['msg'].lower()}{shown}"


def _contradictions(entries: list[BusEntry]) -> list[str]:
    found = []
    names: dict[str, str] = {}
    places: dict[str, str] = {}
    for entry in entries:
        bus = entry.settings
        found += [f"bus {bus.name!r}: {text}" for text in bus.conflicts()]
        if bus.name in names:
            found.append(f"two buses are named {bus.name!r}")
        place = bus.identity()
        if place in places:
            found.append(f"buses {places[place]!r} and {bus.name!r} are the same physical bus ({place})")
        names[bus.name] = places[place] = bus.name
    return found
