"""What is said of hot motors: once when a winding comes near its limit, once when its torque is reduced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from signals.modes import Clip
from signals.names import HandNames
from signals.records import RecordArray

NEAR_K: Final = 10.0
"""Below the first limit: time to loosen a grasp before its torque is reduced."""
COOLED_K: Final = 5.0
"""Further below: what is said of a motor from then on is new."""
NEAR: Final = 1
REDUCED: Final = 2


class HeatWatch:
    """Tells each step of a motor that gets hot, once.

    Args:
        say: reporter of events: kind, level, text, hint.
        names: names of the hand.
        model: its model record, shape (1,).
    """

    def __init__(self, say: Callable[..., None], names: HandNames, model: RecordArray) -> None:
        self._say, self._names = say, names.motors
        self._first_degc, self._last_degc = (float(v) for v in model["winding_limit_degc"][0])
        self._told = np.zeros(len(names.motors), dtype=np.int64)

    def see(self, state: Any) -> None:
        """The newest state (a STATE scalar)."""
        n = len(self._names)
        winding = np.asarray(state["winding_temperature_degc"][:n], dtype=np.float64)
        near = self._first_degc - NEAR_K
        reduced = (state["clip"][:n] & np.uint32(Clip.TEMPERATURE)) != 0
        step = np.where(reduced, REDUCED, np.where(winding >= near, NEAR, 0))
        for i in np.flatnonzero(step > self._told):
            self._tell(int(i), float(winding[i]), int(step[i]))
        cooled = (winding < near - COOLED_K) & ~reduced
        self._told = np.where(cooled, 0, np.maximum(self._told, step))

    def _tell(self, i: int, winding_degc: float, step: int) -> None:
        name = self._names[i]
        if step == NEAR:
            text = f"{name}: winding at {winding_degc:.0f} degC"
            text += f", its torque is reduced from {self._first_degc:.0f} degC on"
            hint = "loosen the grasp"
        else:
            text = f"{name}: winding at {winding_degc:.0f} degC, its torque is reduced"
            hint = f"loosen the grasp; its finger is let go at {self._last_degc:.0f} degC"
        self._say("heat", "warning", text, hint)
