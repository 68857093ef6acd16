"""Controls of what is played: where, how fast, and its events to jump to."""

from __future__ import annotations

from typing import Any, Final

from tools.view.tape import Tape

_SPEEDS: Final = ("0.1", "0.25", "0.5", "1", "2", "4")
_LACKS: Final = 2
"""Damaged parts that are told."""
_BEFORE_S: Final = 0.3
"""Time before an event to which a jump goes."""


class Player:
    """Scrub, speed, events.

    Args:
        gui: viser's.
        source: what is played.
    """

    def __init__(self, gui: Any, source: Tape) -> None:
        self._source = source
        gui.add_markdown(f"`{source.name}`, {source.seconds:.1f} s")
        for text in source.lacks[:_LACKS]:
            gui.add_markdown(f"**Not whole**: {text}")
        self._at = gui.add_slider("Time [s]", 0.0, round(source.seconds, 2), 0.01, 0.0)
        self._at.on_update(self._scrub)
        self._play = gui.add_checkbox("Play", True)
        self._play.on_update(self._go)
        repeat = gui.add_checkbox("Repeat", source.repeat)
        repeat.on_update(lambda _: setattr(source, "repeat", repeat.value))
        speed = gui.add_dropdown("Speed", _SPEEDS, initial_value="1")
        speed.on_update(lambda _: setattr(source, "speed", float(speed.value)))
        if source.marks:
            places = {f"{at:.2f} s  {text}"[:70]: at for at, text in source.marks}
            events = gui.add_dropdown("Jump to", tuple(places))
            events.on_update(lambda _: setattr(source, "at_s", max(places[events.value] - _BEFORE_S, 0.0)))

    def _scrub(self, event: Any) -> None:
        if event.client_id is not None:
            self._source.at_s = float(event.target.value)

    def _go(self, _: Any) -> None:
        if self._play.value and self._source.at_s >= self._source.seconds:
            self._source.at_s = 0.0
        self._source.playing = bool(self._play.value)

    def follow(self) -> None:
        """Show where it is."""
        at = round(self._source.at_s, 2)
        if abs(self._at.value - at) >= 0.05:
            self._at.value = min(at, self._at.max)
