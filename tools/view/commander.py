"""The page's right to command: one lease for whoever looks at the page; the stop needs none."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from threading import RLock
from typing import Any

import flexor
from flexor.control import Control
from flexor.errors import HandError
from flexor.places import LOOPBACK
from flexor.runs import asker, chosen


class Commander:
    """Takes, uses and returns the lease; its requests come from the page's threads, one after the other.

    Args:
        port_base: of the hand.
        host: of the hand.
        tell: takes what went wrong, in words.
    """

    def __init__(self, host: str, port_base: int, tell: Callable[[str], None]) -> None:
        self._host, self._port_base, self._tell = host, port_base, tell
        self._hand = flexor.Hand(host, port_base=port_base)
        self._control: Control | None = None
        self._turn = RLock()
        self.name = asker("flexor view")

    @property
    def holds(self) -> bool:
        """The page has the lease, as far as it knows."""
        return self._control is not None

    def do(self, action: Callable[[Control], Any]) -> Any:
        """One act under the lease; what is refused is told, nothing is raised."""
        with self._turn:
            if self._control is None:
                self._tell("nobody here commands the hand: take command first")
                return None
            try:
                return action(self._control)
            except HandError as error:
                if getattr(error, "code", "") == "no_lease":
                    self._forget()
                self._tell(str(error))
                return None

    def ask(self, op: str) -> dict[str, Any]:
        """Ask the hand something that needs no lease.

        Raises:
            HandError: no answer, or a refusal.
        """
        return self._hand.request(op)

    def take(self, force: bool) -> None:
        """Acquire the lease, or take it from whoever has it."""
        with self._turn:
            if self._control is not None:
                return
            control = Control(self._hand, self.name, "asked for on the page" if force else None)
            try:
                self._control = control.open(keep_alive=True)
            except HandError as error:
                self._tell(str(error))

    def give_back(self) -> None:
        """Let the hand go over to holding, and return the lease."""
        with self._turn:
            control, self._control = self._control, None
            if control is not None:
                control.close()

    def lost(self) -> None:
        """Somebody else commands now."""
        with self._turn:
            self._forget()

    def _forget(self) -> None:
        control, self._control = self._control, None
        if control is not None:
            control.close()
            self._tell("the hand is commanded by somebody else, or this page was silent for too long")

    def stop(self) -> None:
        """Stop the hand, on a connection that nothing else waits for."""
        try:
            with flexor.Hand(self._host, port_base=self._port_base, timeout_s=1.0) as hand:
                hand.stop(by=self.name)
        except HandError as error:
            self._tell(f"STOP: {self._end_start() or error}")

    def _end_start(self) -> str:
        """A run that answers nobody is starting, or stuck: its own way to end is a signal."""
        run = chosen(self._port_base, None)[1] if self._host == LOOPBACK else None
        if run is None:
            return ""
        try:
            os.kill(run.pid, signal.SIGINT)
        except OSError as error:
            return f"process {run.pid} of {run.hand}: {error.strerror}"
        return f"{run.hand} answers nobody yet; it was told to end"

    def close(self) -> None:
        """Return the lease, close the connection."""
        self.give_back()
        self._hand.close()
