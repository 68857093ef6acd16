"""Bus files: which devices at which places are which motors, sensors and axes of a hand.

TOML with one ``[[bus]]`` table per physical bus; every family adds its own keys. All problems are told at
once, each with line and key; nothing in a file is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ValidationError

from drivers.errors import DriverError
from drivers.family import BusSettings, Family
from drivers.registry import family
from hand.file import text
from hand.file.errors import FileError, Problem, shown
from hand.file.locate import Locator, Path
from hand.file.refusals import Refusal, refusals
from signals.choices import nearest
from signals.names import HandNames, UnknownName

FOLDER: Final = "buses"
_SHARED: Final = {"realtime": (bool, "true or false"), "truth": (str, "text in quotes")}
"""Keys beside the buses -> type and what is legal."""
_CLAIMS: Final = (("motor", "motors"), ("tendon", "halls"), ("joint", "joints"), ("axis", "axes"))
"""Index space -> method of a bus that tells which of its parts it moves or reads."""


class BusFileError(FileError, DriverError):
    """A bus file that cannot be used, or not with this hand."""

    what = "bus file"


@dataclass(frozen=True, slots=True)
class BusEntry:
    """One bus of a file with its family."""

    settings: BusSettings
    family: Family
    line: int
    """Where it begins in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusFile:
    """A checked bus file."""

    path: str
    entries: tuple[BusEntry, ...]
    realtime: bool = True
    """False: bus processes run at normal priority (emulated devices behind ptys need that)."""
    truth: str = ""
    """Shared memory in which ``flexor emulate`` shows the true state of its plant."""

    def refusal(self, found: str, line: int = 0) -> BusFileError:
        """A single problem of the file, found when it is used."""
        return BusFileError([_problem(self.path, line, found)])

    def fitted_to(self, names: HandNames) -> BusFile:
        """The same file for a hand: what it leaves out has the hand file's ids and channels.

        Unknown names, channels claimed twice and motors that no bus moves are refused.

        Raises:
            BusFileError: with every problem.
        """
        problems: list[Problem] = []
        for space, method in _CLAIMS:
            owner: dict[str, str] = {}
            for entry in self.entries:
                bus = entry.settings
                for name in getattr(bus, method)(names):
                    found = ""
                    if name not in names.of(space):
                        found = str(UnknownName(space, name, names.of(space)))
                    elif name in owner:
                        found = f"{space} {name!r} is claimed by {owner[name]!r} and by {bus.name!r}"
                    if found:
                        problems.append(_problem(self.path, entry.line, f"bus {bus.name!r}: {found}"))
                    owner[name] = bus.name
            needed = {"tendon": (), "joint": names.sensed_joints}.get(space, names.of(space))
            missing = [n for n in needed if n not in owner]
            if missing:
                what = "the sensor of joint" if space == "joint" else space
                listed = ", ".join(missing[:6]) + (" ..." if missing[6:] else "")
                problems.append(_problem(self.path, 0, f"no bus for {what} {listed}"))
        if problems:
            raise BusFileError(problems)
        return replace(self, entries=tuple(self._fitted(entry, names) for entry in self.entries))

    def _fitted(self, entry: BusEntry, names: HandNames) -> BusEntry:
        bus = entry.settings
        try:
            told = (fitted := bus.fitted(names)).conflicts()
        except ValidationError as error:
            told = tuple(f"{e['loc'][-1]} {shown(e['input'])}: {e['msg']}" for e in error.errors())
        except ValueError as error:
            told = (str(error),)
        if told:
            where = f"bus {bus.name!r}, with ids and Hall channels of the hand file"
            raise BusFileError([_problem(self.path, entry.line, f"{where}: {text}") for text in told])
        return replace(entry, settings=fitted)


def load_bus_file(name_or_path: str) -> BusFile:
    """Read a bus file from a path, or by its name from ``configs/buses``.

    Raises:
        BusFileError: with every problem of the file.
    """
    path = text.path_of(name_or_path, FOLDER, "bus", BusFileError)
    return parse_bus_file(text.text_of_file(path, BusFileError), str(path))


def is_bus_file(word: str) -> bool:
    """Whether a word is the path of a bus file or the name of one, and no other choice."""
    return text.is_path(word) or word in text.installed(FOLDER)


def parse_bus_file(content: str, file: str) -> BusFile:
    """Check the text of a bus file; ``file`` is its name in messages.

    Raises:
        BusFileError: with every problem of the text.
    """
    locator = Locator.of(content)
    table = text.raw_of(content, file, locator, BusFileError)
    found = list(_shared_refusals(table))
    buses = table.get("bus")
    entries = []
    for k, raw in enumerate(buses if isinstance(buses, list) else ()):
        path: Path = ("bus", k)
        entry = _entry(raw, path, locator.place(path).line)
        if isinstance(entry, BusEntry):
            entries.append(entry)
        else:
            found += entry
    problems = [text.problem_of(r, file, locator) for r in found]
    problems += [_problem(file, line, told) for line, told in _contradictions(entries)]
    if problems:
        raise BusFileError(problems)
    return BusFile(
        path=file,
        entries=tuple(entries),
        realtime=table.get("realtime", True),
        truth=table.get("truth", ""),
    )


def _problem(file: str, line: int, found: str) -> Problem:
    return Problem(file=file, line=line, key="", found=found, legal="")


def _shared_refusals(table: dict[str, Any]) -> Iterator[Refusal]:
    legal = ("bus", *_SHARED)
    for key in table:
        if key not in legal:
            near, keys = nearest(key, legal), ", ".join(legal)
            yield Refusal(path=(key,), found="an unknown key", legal=f"the keys {keys}", nearest=near)
    for key, (kind, words) in _SHARED.items():
        if not isinstance(table.get(key, kind()), kind):
            yield Refusal(path=(key,), found=shown(table[key]), legal=words)
    buses = table.get("bus")
    if not isinstance(buses, list) or not buses:
        yield Refusal(path=("bus",), found="no [[bus]] table", legal="one [[bus]] table per physical bus")


def _entry(raw: Any, path: Path, line: int) -> BusEntry | list[Refusal]:
    """A checked bus, or what is wrong with it."""
    named = raw.get("family") if isinstance(raw, dict) else None
    if not isinstance(named, str):
        found = "nothing" if isinstance(raw, dict) and named is None else shown(named or raw)
        return [Refusal(path=(*path, "family"), found=found, legal="name of a driver family in quotes")]
    try:
        offered = family(named)
    except DriverError as error:
        return [Refusal(path=(*path, "family"), found=f'"{named}"', legal=str(error))]
    try:
        return BusEntry(offered.settings.model_validate(text.tuples(raw)), offered, line)
    except ValidationError as error:
        return [
            Refusal(path=path + r.path, found=r.found, legal=r.legal, nearest=r.nearest)
            for r in refusals(offered.settings, raw, error)
        ]


def _contradictions(entries: list[BusEntry]) -> Iterator[tuple[int, str]]:
    names: dict[str, str] = {}
    places: dict[str, str] = {}
    for entry in entries:
        bus = entry.settings
        for told in bus.conflicts():
            yield entry.line, f"bus {bus.name!r}: {told}"
        if bus.name in names:
            yield entry.line, f"two buses are named {bus.name!r}"
        place = bus.identity()
        if place in places:
            told = f"buses {places[place]!r} and {bus.name!r} are the same physical bus ({place})"
            yield entry.line, told
        names[bus.name] = places[place] = bus.name
