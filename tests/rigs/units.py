"""Units as the tables write them and as the last words of names mean them."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np

Exponents = np.ndarray[Any, Any]
"""Powers of force, length, time, sensor resolution and current, shape (5,)."""
TIME: Final = 2
"""Index of time in them."""
BASES: Final = {
    "1": (0, 0, 0, 0, 0), "rad": (0, 0, 0, 0, 0), "rad2": (0, 0, 0, 0, 0), "count": (0, 0, 0, 1, 0),
    "N": (1, 0, 0, 0, 0), "m": (0, 1, 0, 0, 0), "m2": (0, 2, 0, 0, 0), "kg": (1, -1, 2, 0, 0),
    "s": (0, 0, 1, 0, 0), "s2": (0, 0, 2, 0, 0), "Hz": (0, 0, -1, 0, 0), "K": (0, 0, 0, 0, 0),
    "J": (1, 1, 0, 0, 0), "W": (1, 1, -1, 0, 0), "degC": (0, 0, 0, 0, 0),
    "A": (0, 0, 0, 0, 1), "V": (1, 1, -1, 0, -1), "Ohm": (1, 1, -1, 0, -2),
}  # fmt: skip
SUFFIXES: Final = {
    "n": "N", "nm": "N m", "nms": "N m s", "ns": "N s", "m": "m", "m2": "m2", "mm": "m", "s": "s", "ms": "s",
    "us": "s", "s2": "s2", "hz": "Hz", "kg": "kg", "a": "A", "v": "V", "ohm": "Ohm", "h": "Ohm s",
    "wb": "V s", "j": "J", "k": "K", "w": "W", "rad": "rad", "rad2": "rad2", "deg": "rad", "degc": "degC",
    "pa": "N/m2", "turn": "1", "counts": "1", "count": "1", "count2": "1", "1": "1",
}  # fmt: skip
"""Last words of names -> the unit that they mean, but for a power of ten; counts are those of a file, of a
sensor as it is, and "ns" a damping or a nanosecond: alike in time."""


def dimension(unit: str) -> Exponents:
    """Exponents of a unit of the table: "N m s/rad" is N m s over rad."""
    above, _, below = unit.partition("/")
    total = np.zeros(5)
    for sign, words in ((1, above), (-1, below)):
        for word in re.split(r"[ /]", words) if words else ():
            total += sign * np.array(BASES[word])
    return total


def dimension_of_name(name: str) -> Exponents | None:
    """Exponents of the unit at a name's end, its first word over the others; ``None``: there is none."""
    parts = name.lower().replace("gamma_1_", "gamma_").split("_")  # this 1 is no unit
    n = len(parts)
    while n and parts[n - 1] in SUFFIXES:
        n -= 1
    words = parts[n:]
    if n == 0 or words in ([], ["1"]):
        return None
    above = 2 if words[:2] == ["kg", "m2"] else 1
    units = [dimension(SUFFIXES[word]) for word in words]
    return np.sum(units[:above], axis=0) - np.sum(units[above:], axis=0)
