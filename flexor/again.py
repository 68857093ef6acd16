"""A thread that says something again and again, for programs that pause between two commands."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from typing import Final

ALIVE_EVERY_S: Final = 0.03
"""Time between two messages; a goal lives 0.1 s."""


class Again:
    """Calls ``say`` until ``end``.

    Args:
        say: what is called; it raises nothing.
        name: for lists of threads.
    """

    def __init__(self, say: Callable[[], None], name: str) -> None:
        self._say, self._ending = say, Event()
        self._thread = Thread(target=self._run, name=f"flexor: {name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.wait(ALIVE_EVERY_S):
            self._say()

    def end(self) -> None:
        """Stop, and wait until it has."""
        self._ending.set()
        self._thread.join()
