"""pydantic's errors in the user's words: the path in the file, what was found, what is legal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hand.file import schema
from hand.file.errors import shown
from hand.file.locate import Path
from signals.choices import nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A problem that knows its path but not yet its line."""

    path: Path
    found: str
    legal: str
    nearest: str | None = None
    also: Path | None = None
    """A second entry that takes part in it."""


UNSAID_KIND = "lever"
"""Kind of a spring that says none."""
_BOUNDS = {"greater_than": ("gt", ">"), "greater_than_equal": ("ge", ">="), "less_than_equal": ("le", "<=")}


def refusals(root: type[BaseModel], raw: dict[str, Any], error: ValidationError) -> list[Refusal]:
    """All of pydantic's errors on a raw file."""
    found = []
    for e in error.errors(include_url=False):
        if e["type"] == "too_short" and len(e["input"]) >= e["ctx"]["min_length"]:
            continue  # pydantic does not count entries that it refuses; those are told themselves
        found.append(_refusal(root, raw, e))
        if e["type"] == "union_tag_not_found":
            found += _misspelled_kind(raw, _path(raw, e["loc"]))
    return found


def _misspelled_kind(raw: Any, path: Path) -> list[Refusal]:
    """Keys that look like the missing ``kind``; without it the other keys cannot be judged."""
    table = raw
    for part in path:
        table = table[part]
    near = [k for k in table if nearest(k, ["kind"])] if isinstance(table, dict) else []
    legal = "kind, which says what the other keys are"
    return [Refusal(path=(*path, k), found="an unknown key", legal=legal, nearest="kind") for k in near]


def _refusal(root: type[BaseModel], raw: dict[str, Any], error: ErrorDetails) -> Refusal:
    path = _path(raw, error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    found = shown(error["input"])
    legal = schema.legal_at(root, raw, path)
    near: str | None = None
    if kind == "extra_forbidden":
        keys = schema.keys_of(schema.annotation_at(root, raw, path[:-1]))
        found, near = "an unknown key", schema.nearest_key(root, raw, path)
        legal = "the keys " + ", ".join(keys)
    elif kind == "missing":
        found = "nothing"
    elif kind in _BOUNDS:
        name, sign = _BOUNDS[kind]
        legal = f"{sign} {context[name]}; {legal}"
    elif kind in ("too_long", "too_short") and "exactly" not in legal:
        least_or_most = "at most {max_length}" if kind == "too_long" else "at least {min_length}"
        found, legal = f"{len(error['input'])} of them", f"{least_or_most.format(**context)}; {legal}"
    elif kind == "literal_error":
        near = _near_literal(root, raw, path, error["input"])
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        tags = context.get("expected_tags", "").replace("'", "")
        path = (*path, "kind")
        found = shown(context["tag"]) if "tag" in context else "nothing"
        legal = f"one of {tags or schema.kinds_of(root, raw, path[:-1])}"
        near = nearest(str(context.get("tag", "")), tags.split(", ")) if "tag" in context else None
    elif kind == "finite_number":
        legal = f"a finite number; {legal}"
    elif kind == "string_pattern_mismatch":
        legal = f"text that matches {context['pattern']}"
    elif kind not in _TYPE_ERRORS:
        legal = error["msg"]
    return Refusal(path=path, found=found, legal=legal, nearest=near)


_TYPE_ERRORS = (
    "float_type",
    "int_type",
    "int_from_float",
    "string_type",
    "bool_type",
    "tuple_type",
    "dict_type",
    "model_type",
    "model_attributes_type",
    "too_long",
    "too_short",
)


def _near_literal(root: type[BaseModel], raw: Any, path: Path, found: object) -> str | None:
    legal = get_args(schema._plain(schema.annotation_at(root, raw, path)))
    return nearest(found, [a for a in legal if isinstance(a, str)]) if isinstance(found, str) else None


def _is_mark(part: int | str) -> bool:
    """A mark of pydantic's or of ours, as ``[key]``; none of the file's keys."""
    return isinstance(part, str) and part.startswith("[")


def _path(raw: Any, location: tuple[int | str, ...]) -> Path:
    """Pydantic's location without the tags of unions and its marks of keys."""
    path: Path = ()
    for k, part in enumerate(location):
        if isinstance(raw, dict) and part in raw:
            path, raw = (*path, part), raw[part]
        elif isinstance(raw, (list, tuple)) and isinstance(part, int) and part < len(raw):
            path, raw = (*path, part), raw[part]
        elif isinstance(raw, dict) and raw.get("kind", UNSAID_KIND) == part:
            continue
        elif not _is_mark(part):
            return (*path, *(p for p in location[k:] if not _is_mark(p)))
    return path
