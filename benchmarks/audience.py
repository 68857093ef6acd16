"""Who listens while the loop is measured: five subscribers, one stopped, one slow; a page looked at."""

from __future__ import annotations

import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

SUBSCRIBERS: Final = 5
STOPPED, SLOW = 0, 1
"""Which of them is stopped once all listen, and which reads a message every half second."""


class Child(Protocol):
    """What is asked of ``benchmarks.runtime_loop.Process``."""

    process: Any

    def end(self, number: int = signal.SIGTERM, budget_s: float = 5.0) -> None:
        """Ask it to end, then end it."""

    def said(self) -> str:
        """Its stdout so far."""

    def warnings(self) -> list[str]:
        """Lines it wrote to stderr."""

    def told(self) -> dict[str, Any]:
        """The JSON object on its stdout."""


class Audience:
    """Subscribers and page of a run.

    Args:
        port_base: of the run.
        folder: for their output.
        start: starts a module with words, as ``benchmarks.runtime_loop.Process`` does.
    """

    def __init__(self, port_base: int, folder: Path, start: Callable[[list[str], Path, str], Child]) -> None:
        self._folder, self._start, port = folder, start, str(port_base)
        self.subscribers = [
            start(["benchmarks.subscriber", port, *(["0.5"] if k == SLOW else [])], folder, f"subscriber-{k}")
            for k in range(SUBSCRIBERS)
        ]
        self._page: Child | None = None
        self._onlooker: Child | None = None
        self._complete = False
        if find_spec("viser") is not None:
            words = ["tools.cli", "view", "--port-base", port, "--wait", "1000"]
            self._page = start(words, folder, "page")

    def complete(self) -> bool:
        """Everybody is there: the page is looked at, one subscriber stands still."""
        if not self._complete and self._looked_at():
            self.subscribers[STOPPED].process.send_signal(signal.SIGSTOP)
            self._complete = True
        return self._complete

    def _looked_at(self) -> bool:
        if self._page is None:
            return True
        if self._onlooker is None:
            places = [line.split()[1] for line in self._page.said().splitlines() if line.startswith("view: ")]
            if places:
                self._onlooker = self._start(["benchmarks.onlooker", places[0]], self._folder, "onlooker")
            return False
        return bool(self._onlooker.said())

    def end(self) -> dict[str, Any]:
        """End them; what they received, so that silent ones cannot pass for a company.

        Raises:
            ValueError: somebody received nothing.
        """
        others = [s for k, s in enumerate(self.subscribers) if k != STOPPED]
        for child in (*others, *(c for c in (self._onlooker, self._page) if c is not None)):
            child.end()
        self.subscribers[STOPPED].end(signal.SIGKILL)
        told = [s.told() for s in others]
        if not all(t.get("bytes") for t in told):
            raise ValueError(f"a subscriber received nothing: {told}")
        found: dict[str, Any] = {"subscriber_bytes": [t["bytes"] for t in told]}
        if self._page is not None:
            seen = self._onlooker.told() if self._onlooker is not None else {}
            if not seen.get("pictures"):
                raise ValueError(f"nobody saw the page: {seen} {self._page.warnings()[-3:]}")
            found["pictures_hz"] = round((seen["pictures"] - 1) / max(seen["seconds"], 1e-3), 1)
        return found

    def kill(self) -> None:
        """End whoever is left."""
        for child in (*self.subscribers, self._onlooker, self._page):
            if child is not None:
                child.end(signal.SIGKILL)
