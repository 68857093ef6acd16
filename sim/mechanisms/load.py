"""Mechanism file -> ``Mechanism``: everything that is wrong with the file is told with its line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hand.assembly.assemble import model_of, names_of
from hand.file import load_hand, origins, text
from hand.file.errors import FileError, shown
from hand.file.locate import Locator, Path
from hand.file.origins import Origin
from hand.file.refusals import Refusal
from signals import plugins
from signals.choices import WrongChoice, nearest
from signals.plugins import MECHANISMS, PluginError
from sim.mechanisms.arm7 import ArmFile
from sim.mechanisms.carpal_wrist import CarpalWristFile
from sim.mechanisms.files import ALONE, MechanismKind
from sim.mechanisms.hand_on_arm import HandOnArmFile, hand_on_arm_mechanism
from sim.mechanisms.hand_on_carpal import HandOnCarpalFile, hand_on_carpal_mechanism
from sim.mechanisms.mechanism import Mechanism
from sim.mechanisms.tables import MechanismTable

FOLDER: Final = "mechanisms"
NAMES: Final = ("kind", "description", "integrator")
"""Keys that say what something is, not how large; they need no label."""


class MechanismFileError(FileError):
    """A mechanism file that cannot be used."""

    what = "mechanism file"


@dataclass(frozen=True, slots=True, eq=False)
class LoadedMechanism:
    """A mechanism with the file that it came from."""

    mechanism: Mechanism
    file: MechanismTable
    path: str
    origins: Mapping[Path, Origin]
    """Label of every value."""


def shipped_mechanisms() -> tuple[str, ...]:
    """Names of the mechanisms in ``configs/mechanisms``."""
    return text.shipped(FOLDER)


def mechanism_names() -> tuple[str, ...]:
    """Names of all mechanisms: ours and those of other people's packages."""
    return text.installed(FOLDER)


def load_mechanism(name_or_path: str | os.PathLike[str]) -> LoadedMechanism:
    """Read, check and assemble a mechanism file.

    Args:
        name_or_path: Name of a mechanism in ``configs/mechanisms``, or a path (a slash, or .toml at the end).

    Raises:
        MechanismFileError: with every problem of the file, or the impossible part of the mechanism.
    """
    path = text.path_of(os.fspath(name_or_path), FOLDER, "mechanism", MechanismFileError)
    return parse_mechanism(text.text_of_file(path, MechanismFileError), str(path))


def parse_mechanism(content: str, file: str) -> LoadedMechanism:
    """Check the text of a mechanism file and assemble it; ``file`` is its name in messages.

    Raises:
        MechanismFileError: with every problem of the text, or the impossible part of the mechanism.
    """
    locator = Locator.of(content)
    tables, labels = read_tables(content, file, locator)
    try:
        mechanism = kind_of(tables.kind).assemble(tables)
    except (FileError, PluginError):
        raise
    except ValueError as error:
        refusal = Refusal(path=_named_part(error, locator), found="what cannot exist", legal=str(error))
        raise text.refused([refusal], file, locator, MechanismFileError) from error
    return LoadedMechanism(mechanism, tables, file, labels)


def read_tables(content: str, file: str, locator: Locator) -> tuple[MechanismTable, dict[Path, Origin]]:
    """Tables and labels of a text; raises ``MechanismFileError``."""
    bare, labels, found = origins.split(text.raw_of(content, file, locator, MechanismFileError), NAMES)
    named, kinds = str(bare.get("kind", "")), kind_names()
    if named not in kinds:
        near = nearest(named, kinds)
        kind = shown(bare["kind"]) if "kind" in bare else "nothing"
        found.append(Refusal(path=("kind",), found=kind, legal="one of " + ", ".join(kinds), nearest=near))
        raise text.refused(found, file, locator, MechanismFileError)
    tables = text.checked(kind_of(named).tables, bare, found, file, locator, MechanismFileError)
    return tables, labels


def _named_part(error: ValueError, locator: Locator) -> Path:
    """Place of the body, link or scenario that an error names, or the file's kind."""
    part = str(getattr(error, "part", error)).split("'")
    name = part[1] if len(part) > 1 else ""
    for path, value in locator.values.items():
        if path[-1] == "name" and len(path) > 1 and locator.text[value + 1 :].startswith(f'{name}"'):
            return path[:-1]
    return ("scenario", name) if ("scenario", name) in locator.keys else ("kind",)


def _hand_on_arm(tables: HandOnArmFile) -> Mechanism:
    """A kind that names other files: a hand and an arm."""
    arm = load_mechanism(tables.arm).file
    if not isinstance(arm, ArmFile):
        raise WrongChoice(f"arm = {tables.arm!r} is a {arm.kind!r} file; give an arm file")
    hand = load_hand(tables.hand)
    return hand_on_arm_mechanism(tables, arm, model_of(hand), names_of(hand))


def _hand_on_carpal(tables: HandOnCarpalFile) -> Mechanism:
    """As that, with a carpal wrist."""
    carpal = load_mechanism(tables.carpal).file
    if not isinstance(carpal, CarpalWristFile):
        raise WrongChoice(f"carpal = {tables.carpal!r} is a {carpal.kind!r} file; give a carpal wrist file")
    hand = load_hand(tables.hand)
    return hand_on_carpal_mechanism(tables, carpal, model_of(hand), names_of(hand))


KINDS: Final[dict[str, MechanismKind]] = ALONE | {
    "hand_on_arm": MechanismKind(tables=HandOnArmFile, assemble=_hand_on_arm),
    "hand_on_carpal": MechanismKind(tables=HandOnCarpalFile, assemble=_hand_on_carpal),
}
"""Our own kinds. Others add one by an entry point in the group ``flexor.mechanisms``: a ``MechanismKind``."""


def kind_names() -> tuple[str, ...]:
    """Every kind that a mechanism file can have."""
    return (*KINDS, *(p.name for p in plugins.offered(MECHANISMS) if p.name not in KINDS))


def kind_of(name: str) -> MechanismKind:
    """A kind by its name, one of ``kind_names()``.

    Raises:
        PluginError: a package offers it and is broken, or two do.
    """
    plugin = plugins.named(MECHANISMS, name, KINDS)
    if plugin is None:
        return KINDS[name]
    found = plugins.load(plugin, MechanismKind)
    if not isinstance(found.tables, type) or not issubclass(found.tables, MechanismTable):
        raise PluginError(
            f"{plugin}: its tables are {found.tables!r}, no sim.mechanisms.tables.MechanismTable"
        )
    return found
