"""Hand file -> ``HandFile``: everything that is wrong with it is found before anything is refused."""

from __future__ import annotations

import os
import re
import tomllib
from importlib.resources import files
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from runtime.config import origins
from runtime.config.checks import check_all
from runtime.config.errors import HandFileError, Problem, nearest
from runtime.config.hand import HandFile
from runtime.config.locate import Locator, dotted
from runtime.config.old_names import renamed
from runtime.config.refusals import Refusal, refusals

_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")


def shipped_hands() -> tuple[str, ...]:
    """Names of the hands in ``configs/hands``."""
    folder = files("configs") / "hands"
    return tuple(sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".toml")))


def load_hand(name_or_path: str | os.PathLike[str]) -> HandFile:
    """Read and check a hand file.

    Args:
        name_or_path: Name of a hand in ``configs/hands``, or a path (with a slash, or ending in .toml).

    Raises:
        HandFileError: with every problem of the file.
    """
    path = _path_of(name_or_path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise _whole(str(path), error.strerror or "an unreadable file", "a file that can be read") from None
    except UnicodeDecodeError as error:
        raise _whole(str(path), f"a byte that is not UTF-8 at offset {error.start}", "UTF-8 text") from None
    return parse_hand(text, str(path))


def parse_hand(text: str, file: str) -> HandFile:
    """Check the text of a hand file; ``file`` is its name in messages.

    Raises:
        HandFileError: with every problem of the text.
    """
    locator = Locator.of(text)
    raw = _toml(text, file, locator)
    bare, labels, faults = origins.split(raw)
    bare, notices, clashes = renamed(bare)
    found: list[Refusal] = list(clashes)
    for fault in faults:
        near = nearest(fault.wrong, fault.names) if fault.wrong is not None else None
        found.append(Refusal(path=fault.path, found=fault.found, legal=fault.legal, nearest=near))
    hand: HandFile | None = None
    try:
        hand = HandFile.model_validate(_tuples(bare))
    except ValidationError as error:
        found += refusals(HandFile, bare, error)
    found += check_all(bare, hand)
    if found or hand is None:
        raise HandFileError(_problem(r, file, locator) for r in _once(found))
    hand._path = file
    hand._notices = tuple(f"{file}:{locator.place(n.path).line}: {n.text}" for n in notices)
    hand._origins = MappingProxyType(labels)
    return hand


def _path_of(name_or_path: str | os.PathLike[str]) -> FilePath:
    text = os.fspath(name_or_path)
    if "/" in text or text.endswith(".toml"):
        return FilePath(text)
    shipped = shipped_hands()
    if text not in shipped:
        legal = "a path, or one of " + ", ".join(shipped)
        problem = Problem(
            file="(hands)", line=0, key="hand", found=repr(text), legal=legal, nearest=nearest(text, shipped)
        )
        raise HandFileError([problem])
    return FilePath(str(files("configs") / "hands" / f"{text}.toml"))


def _whole(file: str, found: str, legal: str) -> HandFileError:
    return HandFileError([Problem(file=file, line=0, key="(file)", found=found, legal=legal)])


def _toml(text: str, file: str, locator: Locator) -> dict[str, Any]:
    problems = [
        Problem(
            file=file,
            line=second.line,
            column=second.column,
            key=dotted(path),
            found=f"the key a second time (first in line {first.line})",
            legal="every key once",
        )
        for path, first, second in locator.repeated
    ]
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if not problems:
            problems.append(_syntax(error, text, file))
        raise HandFileError(problems) from None
    if not raw:
        raise _whole(file, "an empty file", "a hand file (docs/hand_files.md)")
    return raw


def _syntax(error: tomllib.TOMLDecodeError, text: str, file: str) -> Problem:
    match = _PLACE.search(str(error))
    lines = text.splitlines()
    line = int(match.group(1)) if match else len(lines)
    column = int(match.group(2)) if match else 0
    content = lines[line - 1].strip() if 0 < line <= len(lines) else "the end of the file"
    key = content.split("=")[0].strip() if "=" in content else "(syntax)"
    what = _PLACE.sub("", str(error))
    return Problem(
        file=file,
        line=line,
        column=column,
        key=key,
        found=f"{content[:60]!r}",
        legal=f"TOML ({what.lower()})",
    )


def _tuples(value: Any) -> Any:
    """Lists as tuples: the schema is strict, and frozen."""
    if isinstance(value, dict):
        return {k: _tuples(v) for k, v in value.items()}
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def _once(found: list[Refusal]) -> list[Refusal]:
    return list(dict.fromkeys(found))


def _problem(refusal: Refusal, file: str, locator: Locator) -> Problem:
    place = locator.place(refusal.path)
    found = refusal.found
    if refusal.also is not None:
        found += f" (see {dotted(refusal.also)} in line {locator.place(refusal.also).line})"
    return Problem(
        file=file,
        line=place.line,
        column=place.column,
        key=dotted(refusal.path),
        found=found,
        legal=refusal.legal,
        nearest=refusal.nearest,
    )
