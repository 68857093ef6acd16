"""Curves of chosen signals over the last seconds."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import numpy as np

SECONDS: Final = 10.0
_SIGNALS: Final = ("tension", "pos", "track", "torque", "current", "temp", "vel")
_MOST: Final = 240
_COLOURS: Final = ("#4ea1ff", "#ffb347", "#5fd38d", "#ff6b6b", "#c58cff", "#4dd0e1", "#ffd54f", "#f48fb1")


class Curves:
    """A chart with a choice of signal and finger.

    Args:
        gui: viser's.
        meta: of the hand; ``signals`` and ``group`` (what a choice of them is called) of what is no hand.
    """

    def __init__(self, gui: Any, meta: dict[str, Any]) -> None:
        self._gui, self._meta = gui, meta
        self._signals = tuple(meta.get("signals", _SIGNALS))
        self._rows: deque[tuple[float, dict[str, Any]]] = deque(maxlen=2000)
        self._folder = gui.add_folder("Curves")
        with self._folder:
            self._signal = gui.add_dropdown("Signal", self._signals)
            self._finger = gui.add_dropdown(meta.get("group", "Finger"), tuple(meta["names"]["finger"]))
        self._chart: Any = None
        self._drawn: tuple[str, ...] = ()

    def add(self, view: dict[str, Any]) -> None:
        """Remember a view; time that goes back begins anew."""
        at = float(view["timestamp"])
        if self._rows and at == self._rows[-1][0]:
            return
        if self._rows and at < self._rows[-1][0]:
            self._rows.clear()
        self._rows.append((at, {key: view[key] for key in self._signals}))

    def draw(self) -> None:
        """Draw what was chosen."""
        if len(self._rows) < 2:
            return
        signal, finger = self._signal.value, self._finger.value
        names = [n for n in self._rows[-1][1][signal] if self._is_of(n, finger)]
        last = self._rows[-1][0]
        rows = [row for row in self._rows if row[0] > last - SECONDS]
        rows = rows[:: max(1, len(rows) // _MOST)]
        times = np.array([row[0] - last for row in rows])
        data = (times, *(np.array([row[1][signal][n] for row in rows], dtype=float) for n in names))
        if not names:
            self._end()
        elif self._chart is None or self._drawn != (signal, *names):
            self._begin(signal, names, data)
        else:
            self._chart.data = data

    def _end(self) -> None:
        if self._chart is not None:
            self._chart.remove()
            self._chart = None

    def _is_of(self, name: str, finger: str) -> bool:
        """Joints and tendons by the hand's own tables, motors by the tendon of the same name."""
        for table in ("finger_of_joint", "finger_of_tendon"):
            if name in self._meta.get(table, {}):
                return bool(self._meta[table][name] == finger)
        return len(self._meta["names"]["finger"]) == 1 or f"_{finger}_" in f"_{name}_"

    def _begin(self, signal: str, names: list[str], data: tuple[Any, ...]) -> None:
        unit = self._meta.get("keys", {}).get(signal, {}).get("unit", "rad" if signal == "track" else "")
        series = [{"label": "s"}] + [
            {"label": name, "stroke": _COLOURS[k % len(_COLOURS)], "width": 2} for k, name in enumerate(names)
        ]
        self._end()
        grid = {"stroke": "rgba(160,170,190,0.25)"}
        axes = tuple({"stroke": "#9aa4b2", "grid": grid} for _ in range(2))
        with self._folder:
            self._chart = self._gui.add_uplot(
                data, tuple(series), title=f"{signal} [{unit}]", height=230, axes=axes,
                scales={"x": {"time": False}},
            )  # fmt: skip
        self._drawn = (signal, *names)
