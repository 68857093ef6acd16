"""Other people's code that a run loads by name: an error in it names its file and line, never a bug of ours.

Estimators and controllers come from ``module:function`` in a hand file, driver families from entry points.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

import numpy as np

from signals.choices import nearest
from signals.records import RECORDS

_FIELD: Final = re.compile(
    r"no field of name (\w+)|'numpy\.\w+' object has no attribute '(\w+)'|Field '(\w+)' was not found"
)
_NOISE: Final = ("Failed in", "During:", "File ", "def ", "<source", "- ", "There are", ">>>")
"""Beginnings of lines of a numba error that say nothing to its reader."""
LONGEST: Final = 300
Place = tuple[str, int]
"""File and line."""
Records = Mapping[str, "np.dtype[Any]"]

_loaded: dict[str, Path] = {}
"""What was loaded -> its file, or its package's folder."""


def note(what: str, module: ModuleType) -> Path | None:
    """Remember a module that is not ours; its file, or the folder of its package."""
    if module.__file__ is None:
        return None
    file = Path(module.__file__)
    depth = module.__name__.count(".") + (file.name == "__init__.py")
    _loaded[what] = file.parents[depth - 1] if depth else file
    return _loaded[what]


def told(error: BaseException) -> str:
    """The sentence about an error in code that was noted; empty: it is none of theirs."""
    for what, root in _loaded.items():
        place = place_of(error, root)
        if place is not None:
            return sentence(what, error, place)
    return ""


def sentence(
    what: str, error: BaseException, place: Place | None, memory: np.dtype[Any] | None = None
) -> str:
    """What went wrong in whose code, where, and the nearest name of a record's field.

    Args:
        what: whose code.
        error: what it raised.
        place: where.
        memory: a record of its own.
    """
    where = f"{place[0]}:{place[1]}: " if place is not None else ""
    records = RECORDS if memory is None else {**RECORDS, "memory": memory}
    return f"{what}: {where}{_words(error, records)}"


def place_of(error: BaseException, root: Path) -> Place | None:
    """Deepest place of an error below a file or folder: in its traceback, or where numba stood in it."""
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).is_relative_to(root):
        return error.filename, error.lineno or 1
    found: Place | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        if Path(frame.f_code.co_filename).is_relative_to(root):
            found = frame.f_code.co_filename, line
        elif _is_numbas(frame.f_globals):
            for loc in _locations(frame.f_locals):
                if Path(loc.filename).is_relative_to(root):
                    found = loc.filename, loc.line
    for last in _locations({"loc": getattr(error, "loc", None)}):
        if found is None and Path(last.filename).is_relative_to(root):
            found = last.filename, last.line
    return found


def place_of_import(error: BaseException) -> Place | None:
    """Where a module broke while it was imported: its own file, not what it called."""
    found: Place | None = None
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 1
    imported = False
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            imported = True
        elif imported and frame.f_code.co_name == "<module>" and found is None:
            found = frame.f_code.co_filename, line
    return found


def place_of_code(function: Any) -> Place | None:
    """Where a function begins."""
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if isinstance(code, CodeType) else None


def _is_numbas(names: dict[str, Any]) -> bool:
    return str(names.get("__name__", "")).startswith("numba.")


def _locations(names: dict[str, Any]) -> Iterator[Any]:
    """Places in sources that numba held while it compiled."""
    for value in (names.get("loc"), getattr(names.get("constraint"), "loc", None)):
        if hasattr(value, "filename") and hasattr(value, "line"):
            yield value


def _words(error: BaseException, records: Records) -> str:
    name = _field_of(error)
    if name:
        return f"no such field: {name!r}{_nearest_field(name, records)}"
    text = str(error)
    if type(error).__module__.startswith("numba."):
        lines = [x.strip() for x in text.splitlines() if x.strip()]
        text = next((x for x in lines if not x.startswith(_NOISE)), text)
    text = " ".join(text.split())
    return f"{type(error).__name__}: {text[:LONGEST]}" if text else type(error).__name__


def _field_of(error: BaseException) -> str:
    """Name of a record's field that an error misses, or ''."""
    match = _FIELD.search(str(error))
    if match is not None:
        return next(name for name in match.groups() if name)
    deepest = [frame.f_globals for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    if isinstance(error, KeyError) and deepest and _is_numbas(deepest[0]):  # an attribute of a record
        return str(error.args[0])
    return ""


def _nearest_field(name: str, records: Records) -> str:
    """The nearest field of any record and the records that have it."""
    fields = {field: None for record in records.values() for field in record.names or ()}
    near = nearest(name, fields)
    if near is None:
        return f" (records: {', '.join(records)}; flexor signals lists their fields)"
    holders = " and ".join(record for record, dtype in records.items() if near in (dtype.names or ()))
    return f"; did you mean {near!r} of {holders}?"
