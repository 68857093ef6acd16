"""What is wrong with a part of a hand, as the looks at it before anything is measured find it."""

from __future__ import annotations

from dataclasses import dataclass


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
