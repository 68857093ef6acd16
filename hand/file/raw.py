"""Careful looks into a raw file whose types nobody has checked yet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def dict_at(raw: Any, key: str) -> dict[str, Any]:
    """The table under a key; empty if it is missing or something else."""
    value = raw.get(key) if isinstance(raw, dict) else None
    return value if isinstance(value, dict) else {}


def dicts_at(raw: Any, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The tables of an array of tables with their place; nothing if it is something else."""
    value = raw.get(key) if isinstance(raw, dict) else None
    for k, item in enumerate(value if isinstance(value, list) else ()):
        if isinstance(item, dict):
            yield k, item


def text_of(raw: Any, key: str) -> str:
    """A text; '' if it is missing or something else."""
    value = raw.get(key) if isinstance(raw, dict) else None
    return value if isinstance(value, str) else ""


def whole_of(value: Any) -> int | None:
    """A whole number, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number_of(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    number = float(value)
    return number if number - number == 0.0 else None


def positive_of(value: Any) -> float:
    """A number above 0, or 1 in the place of one that the schema refuses."""
    number = number_of(value)
    return number if number is not None and number > 0.0 else 1.0


def point_of(value: Any) -> tuple[float, float, float] | None:
    """Three finite numbers, or None."""
    if not isinstance(value, list) or len(value) != 3:
        return None
    x, y, z = (number_of(v) for v in value)
    return None if x is None or y is None or z is None else (x, y, z)
