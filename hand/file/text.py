"""TOML text -> raw tables with a place for every key; shared by hand files and motions."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hand.file.errors import FileError, Problem
from hand.file.locate import Locator, Place, dotted
from hand.file.refusals import Refusal, refusals
from signals.choices import nearest
from signals.plugins import broken_folders, files_named

E = TypeVar("E", bound=FileError)
T = TypeVar("T", bound=BaseModel)
LARGEST_BYTES = 1_000_000
"""Longest TOML file; the shipped hands have 30 kB."""
LARGEST_TABLE = 100_000_000
"""Longest CSV file."""
DEEPEST = 32
"""Levels of tables and lists; the shipped files need 6."""
_MARKS = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}.*?\'{3}|"(?:\\[^\n]|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|'''
    r"(?<![\w-])(?:[\w-]++[ \t]*\.[ \t]*){32}|[\[{\]}]",
    re.DOTALL,
)
"""Strings and comments (stepped over), a key of more than 32 parts, brackets."""
_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)$")


def shipped(folder: str) -> tuple[str, ...]:
    """Names of the files in a folder of ``configs``."""
    return tuple(
        sorted(f.name[:-5] for f in (files("configs") / folder).iterdir() if f.name.endswith(".toml"))
    )


def installed(folder: str) -> tuple[str, ...]:
    """Names of the files in a folder of ``configs`` and in the same folder of other people's packages."""
    return tuple(files_named(folder))


def is_path(name_or_path: str) -> bool:
    """Whether a word is the path of a file: it has a slash or a suffix."""
    return "/" in name_or_path or Path(name_or_path).suffix in (".toml", ".csv")


def path_of(
    name_or_path: str, folder: str, kind: str, error: type[FileError], others: tuple[str, ...] = ()
) -> Path:
    """A file by path (with a slash or a suffix), or by its name in a folder of ``configs`` or of a package.

    ``others`` are names that are legal to the user, though not for this reader: a refusal lists them too.
    """
    if is_path(name_or_path):
        return Path(name_or_path)
    known = files_named(folder)
    found, near = repr(name_or_path), None
    places = known.get(name_or_path, [])
    if len(places) == 1:
        return places[0][1]
    if places:
        found += " from " + " and from ".join(f"{owner} ({path})" for owner, path in places)
        legal = "one of them: remove the other, or give the path"
    else:
        names = (*known, *others)
        near = nearest(name_or_path, names)
        legal = "; ".join(["a path, or one of " + ", ".join(names), *broken_folders()])
    raise error([Problem(file=f"({folder})", line=0, key=kind, found=found, legal=legal, nearest=near)])


_ONCE: ContextVar[dict[str, str] | None] = ContextVar("texts of one run", default=None)


@contextmanager
def read_once() -> Iterator[None]:
    """Inside, every file is read once: who asks again gets the text that was checked."""
    token = _ONCE.set({})
    try:
        yield
    finally:
        _ONCE.reset(token)


def texts_read() -> dict[str, str]:
    """Path -> text of what has been read inside ``read_once``, for a child process; else empty."""
    return _ONCE.get() or {}


def hold(texts: dict[str, str]) -> None:
    """From now on this process reads every file once, and not at all those that its parent has read."""
    _ONCE.set(dict(texts))


def text_of_file(path: Path, error: type[FileError]) -> str:
    """Content of a UTF-8 text file."""
    known = _ONCE.get()
    if known is None:
        return _read(path, error)
    if str(path) not in known:
        known[str(path)] = _read(path, error)
    return known[str(path)]


def _read(path: Path, error: type[FileError]) -> str:
    try:
        limit = LARGEST_TABLE if path.suffix == ".csv" else LARGEST_BYTES
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
        if len(content) > limit:
            found, legal = f"more than {limit / 1e6:g} MB", f"a file of up to {limit / 1e6:g} MB"
            raise whole(str(path), found, legal, error)
        text = content.decode("utf-8-sig")
    except OSError as problem:
        found = problem.strerror or "an unreadable file"
        raise whole(str(path), found, "a file that can be read", error) from None
    except UnicodeDecodeError as problem:
        found = f"a byte that is not UTF-8 at offset {problem.start}"
        raise whole(str(path), found, "UTF-8 text", error) from None
    if path.suffix != ".csv":
        refuse_depth(text, str(path), error)
    return text


def whole(file: str, found: str, legal: str, error: type[FileError]) -> FileError:
    """A problem of the file as a whole."""
    return error([Problem(file=file, line=0, key="(file)", found=found, legal=legal)])


def refuse_depth(text: str, file: str, error: type[FileError]) -> None:
    """Refuse tables and lists so deep within each other that a parser would give up."""
    depth = 0
    for match in _MARKS.finditer(text):
        mark = match.group()
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth = max(depth - 1, 0)
        if depth > DEEPEST or (mark[-1] in ". \t" and mark[0] not in "\"'#"):
            at = match.start()
            column = at - text.rfind("\n", 0, at)
            line = text.count("\n", 0, at) + 1
            found, legal = f"more than {DEEPEST} levels", f"tables and lists up to {DEEPEST} levels deep"
            problem = Problem(file=file, line=line, column=column, key="(nesting)", found=found, legal=legal)
            raise error([problem])


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
    except ValueError:  # a whole number of more digits than Python converts
        at = max(re.finditer(r"\d[\d_]*", text), key=lambda m: len(m.group())).start()
        place = Place(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), at)
        raise error([_too_large(place, file, "(number)")]) from None
    large = [_too_large(locator.place(path), file, dotted(path)) for path in _large(raw)]
    if large:
        raise error(large)
    if not raw:
        raise whole(file, "an empty file", "a file with content (see docs)", error)
    return raw


def _large(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Places of whole numbers that TOML does not allow, and no float holds."""
    if isinstance(value, (dict, list)):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _large(item, (*path, key))
    elif isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield path


def _too_large(place: Place, file: str, key: str) -> Problem:
    found, legal = (
        "a whole number of more than 64 bits",
        "a whole number of 64 bits, or a number with a point",
    )
    return Problem(file=file, line=place.line, column=place.column, key=key, found=found, legal=legal)


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


def refused(found: Iterable[Refusal], file: str, locator: Locator, error: type[E]) -> E:
    """The error that tells them all, each once and with its line."""
    return error(problem_of(r, file, locator) for r in dict.fromkeys(found))


def checked(
    root: type[T], raw: dict[str, Any], found: list[Refusal], file: str, locator: Locator, error: type[E]
) -> T:
    """The tables of a file by their schema.

    Args:
        root: the schema.
        raw: tables without their labels.
        found: what is wrong with the file already.
        file: its name in messages.
        locator: of its text.
        error: what is raised.

    Raises:
        FileError: of that kind, with what was found and all that the schema refuses.
    """
    try:
        tables = root.model_validate(tuples(raw))
    except ValidationError as problem:
        raise refused([*found, *refusals(root, raw, problem)], file, locator, error) from None
    if found:
        raise refused(found, file, locator, error)
    return tables
