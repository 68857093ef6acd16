"""Patches into hand files: merged whole or not at all, comments kept, old files archived, and back again."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.exceptions import TOMLKitError

from hand.file import HandFileError, parse_hand
from reports.files import write_text

ARCHIVE: Final = ".history"
"""Ending of the folder beside a hand file that holds its earlier versions."""
LIST: Final = "changes.jsonl"


FRICTION: Final = frozenset(("gamma_1_s_rad", "gamma_2_nm", "gamma_3_nms_rad"))
SURE: Final = "force_friction_gain"
"""What is certain of a friction goes with the figures that it was found with."""


class PatchError(ValueError):
    """A patch or a hand file cannot be used; says which, why and what would be legal."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a hand file.

    Attributes:
        number: counts from 1.
        date: when.
        what: the run that was applied, or the number that was gone back to.
        before: name of the archived file as it was before.
        keys: tables that were changed.
    """

    number: int
    date: str
    what: str
    before: str
    keys: list[str]


def merged(text: str, *patches: str) -> tuple[str, list[str]]:
    """A hand file with patches in it, one after the other, and the tables that they changed.

    Raises:
        PatchError: one of them is no TOML.
    """
    try:
        document, *new = (tomlkit.parse(each) for each in (text, *patches))
    except TOMLKitError as error:
        raise PatchError(f"not TOML: {error}") from None
    changed: list[str] = []
    for each in new:
        _merge(document, each, (), changed)
        for name, found in each.get("identified", {}).items():
            if isinstance(found, dict) and FRICTION & found.keys() and SURE not in found:
                document["identified"][name].pop(SURE, None)
    return tomlkit.dumps(document), changed


def _merge(target: Any, new: Any, path: tuple[str, ...], changed: list[str]) -> None:
    for key, value in new.items():
        here = (*path, str(key))
        if isinstance(value, dict) and isinstance(target.get(key), dict):
            _merge(target[key], value, here, changed)
        elif isinstance(value, dict) and not path and key not in target:
            target[key] = tomlkit.table(is_super_table=True)
            _merge(target[key], value, here, changed)
        else:
            target[key] = value
            changed.append(".".join(here))


def apply(hand: Path, patch: str, what: str) -> Change:
    """Merge a patch into a hand file.

    Raises:
        PatchError: the result is no legal hand file, or one cannot be written; the file is as it was.
    """
    text = _read(hand)
    made, changed = merged(text, patch)
    if not changed:
        raise PatchError(f"the patch of {what} is empty: no part was good")
    try:
        parse_hand(made, str(hand))
    except HandFileError as error:
        raise PatchError(f"{hand} would not be legal with the patch of {what}: {error}") from None
    return _replace(hand, text, made, what, changed)


def history(hand: Path) -> list[Change]:
    """Changes of a hand file, oldest first.

    Raises:
        PatchError: their list is damaged; says where.
    """
    path, found = _archive(hand) / LIST, list[Change]()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise PatchError(f"{path}: {error.strerror}") from None
    for number, line in enumerate(lines, 1):
        try:
            found += [Change(**json.loads(line))] if line.strip() else []
        except (TypeError, ValueError) as error:
            raise PatchError(
                f"{path}, line {number}, is damaged ({error}); legal: delete that line"
            ) from None
    return found


def revert(hand: Path, number: int | None = None) -> Change:
    """Put back the file as it was before a change (default: the last).

    Raises:
        PatchError: there is no such change.
    """
    changes = history(hand)
    if not changes:
        raise PatchError(f"{hand} has no history: nothing was applied to it")
    wanted = changes[-1].number if number is None else number
    found = next((change for change in changes if change.number == wanted), None)
    if found is None:
        raise PatchError(f"{hand} has no change {wanted}; legal: 1 to {changes[-1].number}")
    old = _read(_archive(hand) / found.before)
    return _replace(hand, _read(hand), old, f"revert of change {wanted}", found.keys)


def _archive(hand: Path) -> Path:
    return hand.with_name(hand.name + ARCHIVE)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PatchError(f"{path}: {error.strerror}") from None


def _replace(hand: Path, old: str, new: str, what: str, keys: list[str]) -> Change:
    """Archive the old text, then put the new one in its place in one step."""
    folder, changes = _archive(hand), history(hand)
    number = max((change.number for change in changes), default=0) + 1
    before = f"{number:04d}-{hand.name}"
    change = Change(number, time.strftime("%Y-%m-%d %H:%M:%S"), what, before, keys)
    part = hand.with_name(f".{hand.name}.part")
    try:
        folder.mkdir(exist_ok=True)
        write_text(folder / before, old)
        with part.open("w", encoding="utf-8") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        # the list before the file: killed in between it names a change too many, never one too few
        write_text(folder / LIST, "".join(json.dumps(asdict(each)) + "\n" for each in (*changes, change)))
        part.replace(hand)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise PatchError(f"{hand} is as it was: {error.strerror} ({error.filename or hand.parent})") from None
    return change
