"""What is wrong with a part of a hand, as the looks at it before anything is measured find it."""

from __future__ import annotations

from dataclasses import dataclass

from calibration.part import BAD, Part


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a part.

    Attributes:
        part: tendon.
        what: one word: saturated, slack, lost_turn, unmoved, silent, reversed, swapped, elsewhere, misplaced,
            fault.
        text: a sentence, with figures and what to do.
        value: its figure, in ``unit``.
        unit: of the figure.
    """

    part: str
    what: str
    text: str
    value: float = float("nan")
    unit: str = "1"

    def row(self, kind: str) -> Part:
        """For the table of a procedure of this kind."""
        return Part.bare(self.part, f"{kind}.{self.what}", self.unit, BAD, self.text, self.value)
