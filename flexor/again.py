"""A thread that says something again and again, for programs that pause between two commands."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread


class Again:
    """Calls ``say`` until ``end``.

    Args:
        say: what is called; it raises nothing.
        name: for lists of threads.
        every_s: time between two calls.
    """

    def __init__(self, say: Callable[[], None], name: str, every_s: float) -> None:
        self._say, self._every_s, self._ending = say, every_s, Event()
        self._thread = Thread(target=self._run, name=f"flexor: {name}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ending.wait(self._every_s):
            self._say()

    def end(self) -> None:
        """Stop, and wait until it has."""
        self._ending.set()
        self._thread.join()
