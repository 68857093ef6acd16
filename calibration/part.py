"""A row of what a run has found: one parameter of one part, with its interval and a verdict."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Final

GOOD: Final = "good"
BAD: Final = "not good"
OPEN: Final = "open"
"""Not looked at, since something else has to be seen to first."""

ORDER: Final = (BAD, OPEN, GOOD)
"""In which they are told."""


@dataclass(frozen=True, slots=True)
class Part:
    """One parameter of one part, as the command's JSON has it; what is not known is not a number here."""

    name: str
    parameter: str
    value: float
    low: float
    high: float
    unit: str
    verdict: str
    text: str

    @classmethod
    def around(
        cls, name: str, parameter: str, value: float, half: float, unit: str, verdict: str, text: str
    ) -> Part:
        """With the interval ``value`` +- ``half``."""
        return cls(name, parameter, value, value - half, value + half, unit, verdict, text)

    @classmethod
    def bare(
        cls, name: str, parameter: str, unit: str, verdict: str, text: str, value: float = math.nan
    ) -> Part:
        """Without an interval; the value, where there is one, is what was seen."""
        return cls(name, parameter, value, math.nan, math.nan, unit, verdict, text)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, where an unknown number is ``null``."""
        found = asdict(self)
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in found.items()}

    @classmethod
    def of(cls, found: dict[str, Any]) -> Part:
        """What ``as_dict`` made."""
        numbers = {k: math.nan if found[k] is None else found[k] for k in ("value", "low", "high")}
        return cls(**(found | numbers))
