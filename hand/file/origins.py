"""Where a value comes from: every value of a hand file carries a label.

The labels of a table stand in its ``origin``: one text for the whole table, or one per key. A label for
an array of tables or a table of values may be one text for all of it, or one per key of its items; an item
labels by its own ``origin`` what the array has not. Nothing is labelled twice, nothing is left out.

A label is ``word: source``. Words: printed (in the source paper; say where), published (elsewhere; say
where), derived (from such values; say how), assumed (also what is recalled), identified (date and run). A
value with several parts has the weakest label of its parts.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hand.file.locate import Path
from hand.file.refusals import Refusal
from signals.choices import nearest

ORIGIN: Final = "origin"
WORDS: Final = ("printed", "published", "derived", "assumed", "identified")
UNLABELLED: Final = frozenset(
    ("schema_version", "name", "description", "controller", "estimator", "side")
    + ("function", "cause", "space", "sentence", "hint")
)
"""Keys that say what something is called, not how large it is."""
VALUE_TABLES: Final = frozenset({"dh_dq_m_rad", "dh_dq_curve_m", "motor_per_joint", "palm_m", "bone_m"})
"""Tables that are one value."""

_NO_LABEL: Final = "a value without origin"
_NO_VALUE: Final = "a label without a value"
_LABEL: Final = re.compile(r"^([a-z]+)(?::\s+(\S.*))?$")
_DATE: Final = re.compile(r"^(\d{4}-\d{2}-\d{2})\s+\S")


@dataclass(frozen=True, slots=True)
class Origin:
    """A label."""

    word: str
    source: str

    def __str__(self) -> str:
        return f"{self.word}: {self.source}" if self.source else self.word


def parsed(path: Path, text: object) -> Origin | Refusal:
    """A label, or what is wrong with it."""
    legal = "a label as " + '"printed: Table 5.1"; words are ' + ", ".join(WORDS)
    if not isinstance(text, str):
        return Refusal(path=path, found=repr(text), legal=legal)
    match = _LABEL.match(text.strip())
    word, source = (match.group(1), match.group(2) or "") if match else (text.split(":")[0], "")
    if word not in WORDS:
        more = " (recalled counts as assumed)" if word == "recalled" else ""
        return Refusal(path=path, found=f'"{text}"', legal=legal + more, nearest=nearest(word, WORDS))
    if word in ("printed", "published", "derived") and not source:
        return Refusal(path=path, found=f'"{text}"', legal=f'"{word}: " and where or how')
    if word == "identified" and not _dated(source):
        return Refusal(path=path, found=f'"{text}"', legal='"identified: YYYY-MM-DD run"')
    return Origin(word, source)


def _dated(source: str) -> bool:
    match = _DATE.match(source)
    if match is None:
        return False
    try:
        datetime.date.fromisoformat(match.group(1))
    except ValueError:
        return False
    return True


def split(
    raw: dict[str, Any], names: tuple[str, ...] = ()
) -> tuple[dict[str, Any], dict[Path, Origin], list[Refusal]]:
    """Take the labels out of a raw file: (the file without them, label of each value, what is wrong).

    Args:
        raw: tables of the file.
        names: keys that need no label in a file of this kind, beside ``UNLABELLED``.
    """
    labels: dict[Path, Origin] = {}
    faults: list[Refusal] = []
    bare = _table(raw, (), None, (), labels, faults)
    return bare, labels, [f for f in faults if not (f.found == _NO_LABEL and f.path[-1] in names)]


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _table(
    raw: dict[str, Any],
    path: Path,
    outer: Any,
    outer_path: Path,
    labels: dict[Path, Origin],
    faults: list[Refusal],
) -> dict[str, Any]:
    """One table: ``outer`` is what the table around has to say about its keys (text, table or None)."""
    own = raw.get(ORIGIN)
    own_path = (*path, ORIGIN)
    if own is not None and not isinstance(own, (str, dict)):
        legal = "a label, or a table of labels by key"
        faults.append(Refusal(path=own_path, found=repr(own), legal=legal))
        own = {}
    bare: dict[str, Any] = {}
    for key, value in raw.items():
        if key == ORIGIN:
            continue
        here = (*path, key)
        inner = _said(own, key)
        inner_path = own_path if isinstance(own, str) else (*own_path, key)
        from_outer = _said(outer, key)
        if inner is not None and from_outer is not None and key not in UNLABELLED:
            legal = f"one label; the other stands with {'.'.join(str(p) for p in outer_path)}"
            faults.append(Refusal(path=inner_path, found="a second label", legal=legal))
        elif inner is None and from_outer is not None:
            inner = from_outer
            inner_path = outer_path if isinstance(outer, str) else (*outer_path, key)
        if isinstance(value, dict) and key not in VALUE_TABLES:
            bare[key] = _table(value, here, inner, inner_path, labels, faults)
        elif _is_tables(value):
            bare[key] = [
                _table(v, (*here, k), inner, inner_path, labels, faults) for k, v in enumerate(value)
            ]
        else:
            bare[key] = value
            if key not in UNLABELLED:
                _label(here, inner, inner_path, labels, faults)
    if isinstance(own, dict):
        faults.extend(_strays(own, own_path, raw))
    return bare


def _said(origin: Any, key: str) -> Any:
    if isinstance(origin, str):
        return None if key in UNLABELLED else origin
    return origin.get(key) if isinstance(origin, dict) else None


def _label(path: Path, text: Any, text_path: Path, labels: dict[Path, Origin], faults: list[Refusal]) -> None:
    if text is None:
        legal = f'an origin, as origin.{path[-1]} = "assumed"; words are {", ".join(WORDS)}'
        faults.append(Refusal(path=path, found=_NO_LABEL, legal=legal))
        return
    result = parsed(text_path, text)
    if isinstance(result, Origin):
        labels[path] = result
    elif result not in faults:
        faults.append(result)


def _strays(own: dict[str, Any], own_path: Path, raw: dict[str, Any]) -> Iterator[Refusal]:
    """Labels of keys that are not there."""
    for key, said in own.items():
        value = raw.get(key)
        if key not in raw or key == ORIGIN or key in UNLABELLED:
            names = tuple(k for k in raw if k != ORIGIN and k not in UNLABELLED)
            near = nearest(key, names)
            yield Refusal(path=(*own_path, key), found=_NO_VALUE, legal="a key of the table", nearest=near)
        elif isinstance(said, dict) and key not in VALUE_TABLES:
            tables = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
            keys = (k for table in tables if isinstance(table, dict) for k in table)
            names = tuple(dict.fromkeys(k for k in keys if k != ORIGIN))
            for inner in said:
                if inner not in names:
                    path, near = (*own_path, key, inner), nearest(inner, names)
                    yield Refusal(path=path, found=_NO_VALUE, legal=f"a key of {key}", nearest=near)
