"""What a hand says, gathered for a screen: the newest of everything, repeated warnings as counts."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Final

from tools.monitor.palm import Palm

EVENTS: Final = 200
"""Newest events that are kept."""
STALE_S: Final = 0.5
"""Silence after which a screen says that it shows the past."""


@dataclass(frozen=True, slots=True)
class Bands:
    """What the values of a hand may be, from ``meta``.

    Attributes:
        tension_n: tendon -> least, most, limit.
        joint_rad: joint -> ends of its range.
        axis_rad: wrist axis -> the same.
        winding_degc: derating and fault.
        finger_of_tendon: tendon -> its finger.
    """

    tension_n: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    joint_rad: dict[str, tuple[float, float]] = field(default_factory=dict)
    axis_rad: dict[str, tuple[float, float]] = field(default_factory=dict)
    winding_degc: tuple[float, float] = (100.0, 125.0)
    finger_of_tendon: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, meta: dict[str, Any]) -> Bands:
        """Those of a hand."""
        names, m = meta["names"], meta["geometry"]

        def rows(space: str, *fields: str) -> dict[str, Any]:
            return dict(zip(names[space], zip(*(m[each] for each in fields), strict=True), strict=True))

        warm, hot = m["winding_limit_degc"]
        return cls(
            rows("tendon", "tension_min_n", "tension_max_n", "tension_limit_n"),
            rows("joint", "joint_min_rad", "joint_max_rad"),
            {axis: (low, high) for axis, (low, high) in meta["ranges"]["axes"].items()},
            (warm, hot),
            {
                tendon: names["finger"][f]
                for tendon, (f,) in rows("tendon", "tendon_finger").items()
                if f >= 0
            },
        )


@dataclass(slots=True)
class Watched:
    """The newest of everything that came from the hand.

    Attributes:
        view: newest view; ``None`` before the first.
        health: newest health message.
        meta: names, geometry, ranges.
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
    _bands: Bands | None = None
    _palm: Palm | None = None

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
    def bands(self) -> Bands:
        """What the hand's values may be."""
        if self._bands is None and self.meta:
            self._bands = Bands.of(self.meta)
        return self._bands or Bands()

    def palm_rad(self) -> dict[str, float]:
        """How the palm is turned; empty for a hand without a wrist of linked axes, whose angles say it."""
        if self._palm is None and self.meta:
            self._palm = Palm(self.meta)
        angles = self._palm and self._palm.angles_rad(self.view.get("axis", {}))
        return dict(zip(("palm pitch", "palm yaw"), angles, strict=True)) if angles else {}

    @property
    def faults(self) -> list[dict[str, Any]]:
        """Faults that are latched now, of the hand first."""
        found: list[dict[str, Any]] = self.health.get("latched", [])
        return found
