"""How a hand follows a stream of poses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Following:
    """How the hand follows a stream.

    Attributes:
        delay_s: how much later than you it moves, beside the way of your messages.
        share: how far the ramp at the beginning has come, 0 to 1.
        late: poses that came too late or out of order and were passed over.
        jumps: poses that jumped.
        clamped: joints and axes of the last pose that are beyond the hand's range; they stay at its end.
    """

    delay_s: float
    share: float
    late: int
    jumps: int
    clamped: tuple[str, ...]


def following_of(told: dict[str, Any]) -> Following:
    """From what an answer says about the stream."""
    return Following(told["delay_s"], told["share"], told["late"], told["jumps"], tuple(told["clamped"]))
