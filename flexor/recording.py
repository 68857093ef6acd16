"""Logs of a hand, as a client asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Record(Generic[R]):
    """``control.record``: logs at full rate on the hand's computer; each call gives the file's path there.

    With asyncio it gives something to await.
    """

    ask: Callable[[str], R]
    snapshot: Callable[[], R]
    """As ``Hand.snapshot``."""

    def start(self) -> R:
        """Begin a log.

        Raises:
            Refused: ``busy``: one is being written, or there is no room.
        """
        return self.ask("start")

    def stop(self) -> R:
        """End the log.

        Raises:
            Refused: ``busy``: none is being written.
        """
        return self.ask("stop")
