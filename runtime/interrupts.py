"""Signals of a run: before the hand is started they end it at once, after that they are counted."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any, Final

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_WORDS: Final = {
    signal.SIGINT: "Ctrl-C",
    signal.SIGTERM: "SIGTERM",
    signal.SIGHUP: "SIGHUP (closed terminal)",
}
EARLIER: Final[list[int]] = []
"""Signals that came as ``KeyboardInterrupt``; a library that is being imported may swallow that silently."""


def ending_signals() -> tuple[signal.Signals, ...]:
    """Those that end a command; not the end of the terminal where that is ignored (nohup).

    Ctrl-C is taken even if it is ignored, as in the background of a script.
    """
    return tuple(s for s in ENDING if s != signal.SIGHUP or signal.getsignal(s) != signal.SIG_IGN)


class Interrupted(BaseException):
    """A signal came before the hand was started.

    Attributes:
        number: the signal.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def stopped_by(number: int) -> str:
    """``stopped by Ctrl-C`` and the like."""
    return f"stopped by {_WORDS.get(signal.Signals(number), signal.Signals(number).name)}"


class Interrupts:
    """Takes SIGINT, SIGTERM and SIGHUP over inside a ``with`` block.

    Args:
        signals: which of them.

    Attributes:
        number: the first signal that came; 0: none.
        count: how many came.
        moving: set it when the hand is started; from then on signals are counted instead of raised.
    """

    def __init__(self, signals: tuple[signal.Signals, ...] = ENDING) -> None:
        self.number, self.count, self.moving = 0, 0, False
        self._signals = signals
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        self._before = {number: signal.signal(number, self._on) for number in self._signals}
        return self

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Act on a signal that came while something else had them, and that nobody acted on.

        Raises:
            Interrupted: there was one.
        """
        if EARLIER and not self.number:
            self._on(EARLIER[0], None)

    def _on(self, number: int, _frame: FrameType | None) -> None:
        self.number = self.number or number
        self.count += 1
        if not self.moving:
            raise Interrupted(number)
