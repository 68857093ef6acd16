"""What a schema says about a path: legal keys, kind, unit, meaning; refusals take their words from here."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
import typing
from functools import cache
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel

from hand.file.errors import shown
from hand.file.locate import Path
from signals.choices import nearest

UNITS: Final[dict[str, str]] = {
    "_nms_rad": "N m s/rad",
    "_v_s_rad": "V s/rad",
    "_kg_m2": "kg m2",
    "_nm_rad": "N m/rad",
    "_m_rad": "m/rad",
    "_rad_s": "rad/s",
    "_s_rad": "s/rad",
    "_deg_s": "deg/s",
    "_per_rad": "1/rad",
    "_nm_n": "N m/N",
    "_nm_a": "N m/A",
    "_nm_s": "N m/s",
    "_n_s": "N/s",
    "_n_m": "N/m",
    "_ns_m": "N s/m",
    "_m_s2": "m/s2",
    "_m_s": "m/s",
    "_k_w": "K/W",
    "_j_k": "J/K",
    "_degc": "degC",
    "_deg": "deg",
    "_deg_rms": "deg",
    "_counts_rms": "counts",
    "_count": "counts",
    "_rad": "rad",
    "_ohm": "Ohm",
    "_wb": "Wb",
    "_hz": "Hz",
    "_ms": "ms",
    "_kg": "kg",
    "_nm": "N m",
    "_pa": "Pa",
    "_frac": "1",
    "_s": "s",
    "_a": "A",
    "_v": "V",
    "_h": "H",
    "_n": "N",
    "_m": "m",
}
"""Suffix of a key -> unit."""


@cache
def unit_of(key: str) -> str:
    """Unit that a key's longest suffix names, or ''."""
    found = [suffix for suffix in UNITS if key.endswith(suffix)]
    return UNITS[max(found, key=len)] if found else ""


def _plain(annotation: Any) -> Any:
    """Annotation without Annotated and Optional."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in (Union, types.UnionType) and type(None) in get_args(annotation):
            rest = [a for a in get_args(annotation) if a is not type(None)]
            annotation = rest[0] if len(rest) == 1 else Union[tuple(rest)]  # noqa: UP007
        else:
            return annotation


def _chosen(annotation: Any, raw: Any) -> Any:
    """Of a union of tables the one whose ``kind`` the file names; of table and value what the file has."""
    annotation = _plain(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        plain = [_plain(m) for m in get_args(annotation)]
        members = [m for m in plain if isinstance(m, type) and issubclass(m, BaseModel)]
        if len(members) < len(plain):
            return members[0] if isinstance(raw, dict) else next(m for m in plain if m not in members)
        kind = raw.get("kind") if isinstance(raw, dict) else None
        for member in members:
            if kind in get_args(member.model_fields["kind"].annotation):
                return member
        return members[0] if members else annotation
    return annotation


def _step(annotation: Any, part: str | int, raw: Any) -> Any:
    annotation = _chosen(annotation, raw)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        return field.annotation if field else None
    arguments = get_args(annotation)
    if get_origin(annotation) is tuple and isinstance(part, int) and arguments:
        return arguments[0] if arguments[-1] is Ellipsis else arguments[min(part, len(arguments) - 1)]
    if get_origin(annotation) is dict and isinstance(part, str):
        return arguments[1]
    return None


def annotation_at(root: type[BaseModel], raw: Any, path: Path) -> Any:
    """Type of the value at a path (None: unknown); ``raw`` chooses between kinds of table."""
    annotation: Any = root
    for part in path:
        if annotation is None:
            return None
        annotation = _step(annotation, part, raw)
        try:
            raw = raw[part]
        except (KeyError, IndexError, TypeError):
            raw = None
    return _chosen(annotation, raw)


def keys_of(annotation: Any) -> tuple[str, ...]:
    """Legal keys of a table type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return tuple(annotation.model_fields)
    return ()


def meaning_of(root: type[BaseModel], raw: Any, path: Path) -> str:
    """The sentence of the schema about a key, or ''."""
    if not path or not isinstance(path[-1], str):
        return ""
    table = annotation_at(root, raw, path[:-1])
    if isinstance(table, type) and issubclass(table, BaseModel) and path[-1] in table.model_fields:
        return table.model_fields[path[-1]].description or _sentences(table).get(path[-1], "")
    return ""


@cache
def _sentences(table: type[BaseModel]) -> dict[str, str]:
    """Key -> the sentence below it in the source; read for a refusal only: it takes 0.1 s of all tables."""
    found: dict[str, str] = {}
    for kind in reversed(table.__mro__):
        if not issubclass(kind, BaseModel) or kind is BaseModel:
            continue
        try:
            source = inspect.getsource(kind)
        except (OSError, TypeError):  # a class without a file
            continue
        (definition,) = ast.parse(textwrap.dedent(source)).body
        assert isinstance(definition, ast.ClassDef)
        for key, text in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(key, ast.AnnAssign) and isinstance(key.target, ast.Name):
                value = text.value if isinstance(text, ast.Expr) else None
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    found[key.target.id] = inspect.cleandoc(value.value).strip()
    return found


def kind_of(annotation: Any) -> str:
    """A type in words."""
    annotation = _plain(annotation)
    if annotation is float:
        return "a number"
    if annotation is int:
        return "a whole number"
    if annotation is str:
        return "text in quotes"
    if annotation is bool:
        return "true or false"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is typing.Literal:
        return "one of " + ", ".join(shown(a) for a in arguments)
    if origin is tuple:
        many = arguments[-1] is Ellipsis
        inner = _plain(arguments[0])
        tables = isinstance(inner, type) and issubclass(inner, BaseModel)
        what = "tables" if tables else "values" if get_origin(inner) else f"{kind_of(inner)[2:]}s"
        return f"a list of {what}" if many else f"a list of exactly {len(arguments)} {what}"
    if origin is dict:
        return "a table of names"
    return "a table" if keys_of(annotation) or origin in (Union, types.UnionType) else "a value"


def legal_at(root: type[BaseModel], raw: Any, path: Path) -> str:
    """What may stand at a path: kind, unit, meaning."""
    text = kind_of(annotation_at(root, raw, path))
    key = next((p for p in reversed(path) if isinstance(p, str)), "")
    unit = unit_of(key)
    meaning = meaning_of(root, raw, path)
    return text + (f" [{unit}]" if unit else "") + (f": {meaning.rstrip('.')}" if meaning else "")


def nearest_key(root: type[BaseModel], raw: Any, path: Path) -> str | None:
    """Nearest legal key to the last part of a path."""
    return nearest(str(path[-1]), keys_of(annotation_at(root, raw, path[:-1])))


def kinds_of(root: type[BaseModel], raw: Any, path: Path) -> str:
    """Legal values of ``kind`` in a union of tables."""
    annotation: Any = root
    for part in path:
        annotation = _step(annotation, part, raw)
        try:
            raw = raw[part]
        except (KeyError, IndexError, TypeError):
            raw = None
    members = map(_plain, get_args(_plain(annotation)))
    return ", ".join(str(k) for m in members for k in get_args(m.model_fields["kind"].annotation))
