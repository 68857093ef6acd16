"""Figures that no hand has: each unit has a size beyond which a value can only be a slip of the pen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hand.file.locate import Path
from hand.file.refusals import Refusal
from hand.file.schema import unit_of

LARGEST: Final[dict[str, float]] = {
    "m": 10.0,
    "kg": 1e3,
    "kg m2": 1e3,
    "N": 1e6,
    "N/m": 1e9,
    "N s/m": 1e6,
    "N/s": 1e7,
    "N m": 1e4,
    "N m/rad": 1e7,
    "N m s/rad": 1e4,
    "N m/s": 1e6,
    "N m/N": 1e3,
    "N m/A": 1e3,
    "Pa": 1e13,
    "rad": 1e4,
    "deg": 1e5,
    "rad/s": 1e5,
    "deg/s": 1e6,
    "1/rad": 1e4,
    "s/rad": 1e6,
    "m/rad": 10.0,
    "m/s": 1e3,
    "m/s2": 1e3,
    "s": 1e5,
    "ms": 1e6,
    "Hz": 1e6,
    "A": 1e3,
    "V": 1e3,
    "V s/rad": 1e3,
    "Ohm": 1e4,
    "H": 10.0,
    "Wb": 1e2,
    "K/W": 1e5,
    "J/K": 1e7,
    "degC": 1e3,
    "counts": 1e9,
    "1": 1e6,
    "": 1e9,
}
"""Unit -> largest amount: some orders of magnitude above any hand, far below where arithmetic suffers."""


def size_refusals(raw: dict[str, Any]) -> Iterator[Refusal]:
    """Numbers beyond the size of their unit, anywhere in a file."""
    yield from _of(raw, (), "")


def _of(value: Any, path: Path, unit: str) -> Iterator[Refusal]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _of(inner, (*path, key), unit_of(key) or unit)
    elif isinstance(value, (list, tuple)):
        for k, inner in enumerate(value):
            yield from _of(inner, (*path, k), unit)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        largest = LARGEST[unit]
        if largest < abs(value) < float("inf"):
            legal = f"an amount up to {largest:g} {unit}".rstrip()
            yield Refusal(
                path=path, found=f"{value:g}" if abs(value) < 1e300 else "a huge number", legal=legal
            )
