"""What is played: a stretch of time with a place in it that goes on, stands, or begins again."""

from __future__ import annotations

import time


class Tape:
    """Time of something that is over and is shown.

    Args:
        name: for the player.
        seconds: its length [s].
        repeat: at its end it begins again.

    Attributes:
        at_s: where it is played [s]; may be set.
        playing: it goes on by itself.
        speed: its seconds in a second.
        marks: (time [s], text) of its events.
        lacks: what of it could not be read.
    """

    def __init__(self, name: str, seconds: float, *, repeat: bool = False) -> None:
        self.name, self.seconds, self.repeat = name, seconds, repeat
        self.at_s, self.speed, self.playing = 0.0, 1.0, True
        self.marks: list[tuple[float, str]] = []
        self.lacks: list[str] = []
        self._last_s = time.monotonic()

    def advance(self) -> None:
        """Go on, if it is playing."""
        now = time.monotonic()
        if self.playing:
            self.at_s += self.speed * (now - self._last_s)
        if self.at_s > self.seconds:
            self.at_s = 0.0 if self.repeat and self.playing else self.seconds
        self._last_s = now
