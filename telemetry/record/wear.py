"""The odometer of a run: counted from its frames, added to the hand's file now and then, told in time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from signals.names import HandNames
from signals.records import RecordArray
from telemetry.record.odometer import Counts, Odometer
from telemetry.record.odometer_file import NEAR, OdometerError, add, added, path_of, worn

SAVE_NS: Final = 5_000_000_000
"""A run that is killed loses no more than this."""
STEPS: Final = (NEAR, 1.0)
"""Shares of a life that are told, each once a run."""
TRIES: Final = 3
"""Saves in a row that may fail, as somebody else may hold the file; what they had goes to the next."""
_HINT: Final = "flexor odometer shows it"


class Wear:
    """What the parts of a hand do in a run.

    Args:
        names: names of the hand.
        model: its model record; ``None``: a mechanism, of which nothing is counted.
        event: publishes an event: kind, level, text, hint.
        hot_degc: temperature from which a winding counts as hot.
        simulated: what is done wears no real hand.
        life: the table ``life`` of the hand file, or ``None``.
    """

    def __init__(
        self,
        names: HandNames,
        model: RecordArray | None,
        event: Callable[..., None],
        *,
        hot_degc: float,
        simulated: bool,
        life: Any = None,
    ) -> None:
        self._event, self._hand, self._life = event, names.hand, life
        self._odometer: Odometer | None = None
        self._path = Path()
        self._saving: threading.Thread | None = None
        self._left: Counts | None = None
        self._failed = 0
        self._found: list[dict[str, Any] | str] = []
        self._told: dict[tuple[str, str], int] = {}
        self._notices: list[str] = []
        self._saved_ns, self._runs = 0, 1
        if model is None:
            return
        try:
            self._path = path_of(names.hand, simulated)
            self._odometer = Odometer(names, model, hot_degc)
        except OdometerError as error:
            self._failed = TRIES
            self._say(f"the odometer of {self._hand} is not kept: {error}", _HINT)

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
        self._saving = threading.Thread(target=self._save, args=(self._taken(),), daemon=True)
        self._saving.start()

    def _taken(self) -> Counts:
        """What was done since the last save that came through."""
        assert self._odometer is not None
        counts, left, self._left = self._odometer.take(), self._left, None
        return counts if left is None else added(left, counts)

    def _save(self, counts: Counts) -> None:
        try:
            odometer, said = add(self._path, self._hand, counts, self._runs)
        except (OSError, OdometerError) as error:
            self._left, self._failed = counts, self._failed + 1
            if self._failed == TRIES:
                self._found.append(f"the odometer of {self._hand} is not kept: {error}")
            return
        self._runs = self._failed = 0
        self._found += [said, odometer] if said else [odometer]

    def _tell(self) -> None:
        found, self._found = self._found, []
        if self._failed >= TRIES:
            self._odometer = None  # said once, and no more time is lost with it
        for item in found:
            if isinstance(item, str):
                self._say(item, _HINT)
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
            self._failed = max(self._failed, TRIES - 1)  # the last chance: said if it fails
            self._save(self._taken())
            self._tell()
        return self._notices
