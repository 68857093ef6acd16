"""TOML text -> raw tables with a place for every key; shared by hand files and motions."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from runtime.config.errors import FileError, Problem, nearest
from runtime.config.locate import Locator, dotted
from runtime.config.refusals import Refusal

_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")


def shipped(folder: str) -> tuple[str, ...]:
    """Names of the files in a folder of ``configs``."""
    return tuple(
        sorted(f.name[:-5] for f in (files("configs") / folder).iterdir() if f.name.endswith(".toml"))
    )


def path_of(name_or_path: str, folder: str, kind: str, error: type[FileError]) -> Path:
    """A file by path (with a slash or a suffix), or by its name in a folder of ``configs``."""
    if "/" in name_or_path or Path(name_or_path).suffix in (".toml", ".csv"):
        return Path(name_or_path)
    names = shipped(folder)
    if name_or_path not in names:
        legal = "a path, or one of " + ", ".join(names)
        near = nearest(name_or_path, names)
        found = repr(name_or_path)
        raise error([Problem(file=f"({folder})", line=0, key=kind, found=found, legal=legal, nearest=near)])
    return Path(str(files("configs") / folder / f"{name_or_path}.toml"))


def text_of_file(path: Path, error: type[FileError]) -> str:
    """Content of a UTF-8 text file."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as problem:
        found = problem.strerror or "an unreadable file"
        raise whole(str(path), found, "a file that can be read", error) from None
    except UnicodeDecodeError as problem:
        found = f"a byte that is not UTF-8 at offset {problem.start}"
        raise whole(str(path), found, "UTF-8 text", error) from None


def whole(file: str, found: str, legal: str, error: type[FileError]) -> FileError:
    """A problem of the file as a whole."""
    return error([Problem(file=file, line=0, key="(file)", found=found, legal=legal)])


def raw_of(text: str, file: str, locator: Locator, error: type[FileError]) -> dict[str, Any]:
    """Raw tables of a text; syntax errors and keys that come twice with their lines."""
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
    except tomllib.TOMLDecodeError as syntax:
        if not problems:
            problems.append(_syntax(syntax, text, file))
        raise error(problems) from None
    if not raw:
        raise whole(file, "an empty file", "a file with content (see docs)", error)
    return raw


def _syntax(error: tomllib.TOMLDecodeError, text: str, file: str) -> Problem:
    match = _PLACE.search(str(error))
    lines = text.splitlines()
    line = int(match.group(1)) if match else max(len(lines), 1)
    column = int(match.group(2)) if match else 0
    content = lines[line - 1].strip() if 0 < line <= len(lines) else "the end of the file"
    key = content.split("=")[0].strip() if "=" in content else "(syntax)"
    legal = f"TOML ({_PLACE.sub('', str(error)).lower()})"
    return Problem(file=file, line=line, column=column, key=key, found=repr(content[:60]), legal=legal)


def tuples(value: Any) -> Any:
    """Lists as tuples: the schemas are strict, and frozen."""
    if isinstance(value, dict):
        return {k: tuples(v) for k, v in value.items()}
    return tuple(tuples(v) for v in value) if isinstance(value, list) else value


def problem_of(refusal: Refusal, file: str, locator: Locator) -> Problem:
    """A refusal with its line."""
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
