"""The odometer of a run: counted from its frames, added to the hand's file now and then, told in time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hand.hand import Hand
from hand.options import RunOptions
from signals.records import RecordArray
from telemetry.publish.heat import NEAR_K
from telemetry.record.odometer import Counts, Odometer
from telemetry.record.odometer_file import NEAR, OdometerError, add, path_of, worn

SAVE_NS: Final = 5_000_000_000
"""A run that is killed loses no more than this."""
STEPS: Final = (NEAR, 1.0)
"""Shares of a life that are told, each once a run."""


class Wear:
    """What the parts of a hand do in a run.

    Args:
        hand: the hand; of a mechanism nothing is counted.
        options: options of the run.
        event: publishes an event: kind, level, text, hint.
    """

    def __init__(self, hand: Hand, options: RunOptions, event: Callable[..., None]) -> None:
        self._event, self._hand = event, hand.name
        self._life = None if hand.mechanism is not None else hand.file.life
        self._odometer: Odometer | None = None
        self._path = Path()
        self._saving: threading.Thread | None = None
        self._waiting: Counts | None = None
        self._found: list[dict[str, Any] | str] = []
        self._told: dict[tuple[str, str], int] = {}
        self._notices: list[str] = []
        self._saved_ns, self._runs = 0, 1
        if hand.mechanism is not None:
            return
        hot_degc = float(hand.model["winding_limit_degc"][0, 0]) - NEAR_K
        try:
            self._path = path_of(hand.name, simulated=options.bus is None)
            self._odometer = Odometer(hand.names, hand.model, hot_degc)
        except OdometerError as error:
            self._lost(error)

    def see(self, frames: RecordArray) -> None:
        """Frames of a turn, shape (k,) of FRAME."""
        if self._odometer is not None:
            self._odometer.see(frames)

    def turn(self, now_ns: int) -> None:
        """Save now and then, beside the turn: a disk may take its time. Tell what was found."""
        if self._saving is not None and not self._saving.is_alive():
            self._saving = None
            self._tell()
        if self._odometer is None or self._saving is not None or now_ns - self._saved_ns < SAVE_NS:
            return
        self._saved_ns = now_ns
        self._waiting = self._odometer.take()
        self._saving = threading.Thread(target=self._save, args=(self._waiting,), daemon=True)
        self._saving.start()

    def _save(self, counts: Counts) -> None:
        try:
            odometer, said = add(self._path, self._hand, counts, self._runs)
        except (OSError, OdometerError) as error:
            self._found.append(f"the odometer of {self._hand} is not kept: {error}")
            return
        self._runs = 0
        self._found += [said, odometer] if said else [odometer]

    def _lost(self, error: Exception) -> None:
        self._found.append(f"the odometer of {self._hand} is not kept: {error}")
        self._tell()

    def _tell(self) -> None:
        found, self._found = self._found, []
        for item in found:
            if isinstance(item, str):
                self._say(item, "flexor odometer shows it")
                if "is not kept" in item:
                    self._odometer = None  # said once, and no more time is lost with it
                continue
            for wear in worn(item, self._life):
                step = sum(wear["share"] >= s for s in STEPS)
                if step > self._told.get((wear["part"], wear["key"]), 0):
                    self._told[wear["part"], wear["key"]] = step
                    self._say(
                        wear["text"],
                        f"replace it, then flexor odometer {self._hand} --replaced {wear['part']}",
                    )

    def _say(self, text: str, hint: str) -> None:
        self._notices.append(text)
        self._event("wear", "warning", text, hint)
        print(f"warning: {text}", file=sys.stderr)

    def close(self) -> list[str]:
        """Save what is left; the sentences that were said."""
        if self._saving is not None:
            self._saving.join()
        self._tell()
        if self._odometer is not None:
            self._save(self._odometer.take())
            self._tell()
        return self._notices
