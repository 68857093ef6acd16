"""Tensions as bars in a terminal, while tendons are brought into their band."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from rich.console import Console, ConsoleOptions
from rich.text import Text

from calibration.tension import band_n
from hand.hand import Hand
from signals.layout import FloatArray

OVER: Final = 1.6
"""Right end of a bar, in greatest tensions of the band."""
HEAD_ROWS: Final = 4
"""Rows of a terminal that belong to others: prompt, the bar of the run, what is left out."""
LEAST_COLUMNS: Final = 10
_STYLES: Final = {"slack": "yellow", "tight": "red", "in": "green", "": "dim"}


class TensionBars:
    """One line for each tendon: its tension, its band, how long it has been in there; the others first.

    Args:
        hand: the hand, read.
        tendons: their indices.
    """

    def __init__(self, hand: Hand, tendons: list[int]) -> None:
        self._names = [hand.names.tendons[t] for t in tendons]
        self._tendons, self._bands = tendons, [band_n(hand, t) for t in tendons]
        self._now: list[float] = []
        self._inside_s = [float("nan")] * len(tendons)
        self._time_s = 0.0

    def see(self, time_s: float, tension_n: FloatArray) -> None:
        """The newest tensions [N], shape (tendons of the hand,), at a time [s] of the run."""
        self._time_s, self._now = time_s, [float(tension_n[t]) for t in self._tendons]
        for k, value in enumerate(self._now):
            if self._state(k, value) != "in":
                self._inside_s[k] = float("nan")
            elif np.isnan(self._inside_s[k]):
                self._inside_s[k] = time_s

    def _state(self, k: int, value: float) -> str:
        low, high = self._bands[k]
        return "" if np.isnan(value) else "slack" if value < low else "tight" if value > high else "in"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """As many lines as the terminal has room for."""
        if not self._now:
            return
        states = [self._state(k, value) for k, value in enumerate(self._now)]
        order = sorted(range(len(states)), key=lambda k: states[k] == "in")
        room = max(console.height - HEAD_ROWS, 1)
        for k in order[:room]:
            yield self._line(k, states[k], options.max_width)
        if left := order[room:]:
            inside = sum(states[k] == "in" for k in left)
            yield Text(f"and {len(left)} more, {inside} of them in their band", style="dim")

    def _line(self, k: int, state: str, width: int) -> Text:
        low, high = self._bands[k]
        said = {
            "in": f"in for {self._time_s - self._inside_s[k]:.1f} s", "slack": "too slack",
            "tight": "too tight", "": "not known",
        }[state]  # fmt: skip
        name = max(len(name) for name in self._names)
        value = f"{self._now[k]:.1f}" if state else "-"
        figures = f" {value:>6} N, band {low:.1f} to {high:.1f}, {said:13}"
        columns = max(width - name - len(figures) - 3, LEAST_COLUMNS)
        text = Text(f"{self._names[k]:{name}} ", no_wrap=True, overflow="ellipsis")
        text.append(_bar(self._now[k], low, high, columns), style=_STYLES[state])
        return text.append(figures)


def _bar(value: float, low: float, high: float, columns: int) -> str:
    """Filled up to the value; the band is marked in what is filled and in what is not."""
    per_n = columns / (OVER * high)
    filled = min(round(max(value, 0.0) * per_n), columns) if np.isfinite(value) else 0
    band = range(int(low * per_n), int(np.ceil(high * per_n)))
    return "".join(("█ ", "▓·")[c in band][c >= filled] for c in range(columns))
