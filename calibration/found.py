"""What a procedure has found: parts with verdicts, sections of the page, arrays, lines for the hand file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from calibration.part import Part
from reports.parquet import Table


def _no_patch(_origin: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a procedure has found.

    Attributes:
        parts: rows with verdicts.
        seconds: of motion.
        sections: of the page.
        raw: tables to keep, by name.
        patch: an origin -> lines for the hand file.
        notices: sentences for people.
        widths: (part, parameter) -> half 95 % widths of the noise that was seen, and of independent noise of
            that size (Cramer-Rao); the stated interval has what the method leaves open besides.
    """

    parts: list[Part]
    seconds: float
    sections: list[str]
    raw: dict[str, Table]
    patch: Callable[[str], str] = _no_patch
    notices: list[str] = field(default_factory=list)
    widths: dict[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
