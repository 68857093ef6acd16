"""What a hand says, gathered for a screen: the newest of everything, repeated warnings as counts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

EVENTS: Final = 200
"""Newest events that are kept."""
STALE_S: Final = 0.5
"""Silence after which a screen says that it shows the past."""


@dataclass(slots=True)
class Watched:
    """The newest of everything that came from the hand.

    Attributes:
        view: newest view; ``None`` before the first.
        health: newest health message.
        meta: names and limits.
        events: newest events that are not counted, oldest first.
        counted: kind of a repeated warning -> how often, and its newest text.
        lost: messages that never arrived.
    """

    view: Any = None
    health: dict[str, Any] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    counted: dict[str, tuple[int, str]] = field(default_factory=dict)
    lost: int = 0
    came_s: float = field(default_factory=time.monotonic)

    @property
    def age_s(self) -> float:
        """Time since anything came [s]."""
        return time.monotonic() - self.came_s

    def take(self, hand: Any) -> None:
        """Drain every topic to its newest message.

        Args:
            hand: ``flexor.Hand``.
        """
        from flexor.errors import HandError, HandSilent

        try:
            self.view = hand.view()
        except HandSilent:
            return
        self.lost += self.view.lost
        self.came_s = time.monotonic()
        for event in hand.waiting_events():
            self._sort_in(event)
        self.health = hand.newest_health() or self.health
        if not self.meta:
            try:
                self.meta = hand.meta
            except HandError:
                return

    def _sort_in(self, event: dict[str, Any]) -> None:
        if event["level"] == "warning" and event["kind"] in ("overrun", "clock"):
            count, _ = self.counted.get(event["kind"], (0, ""))
            self.counted[event["kind"]] = count + 1, event["text"]
        else:
            self.events = [*self.events, event][-EVENTS:]

    @property
    def faults(self) -> list[dict[str, Any]]:
        """Faults that are latched now, of the hand first."""
        found: list[dict[str, Any]] = self.health.get("latched", [])
        return found
