"""Logs of a hand, as a client asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """``control.record``: a log at full rate on the hand's computer."""

    ask: Callable[[str], str]
    snapshot: Callable[[], str]
    """As ``Hand.snapshot``."""

    def start(self) -> str:
        """Begin a log; returns its path on the hand's computer.

        Raises:
            Refused: ``busy``: one is being written, or there is no room.
        """
        return self.ask("start")

    def stop(self) -> str:
        """End the log; returns its path.

        Raises:
            Refused: ``busy``: none is being written.
        """
        return self.ask("stop")
