"""Light enough to be imported before everything else: a child process that starts up looks after itself."""

from __future__ import annotations

import os
import threading
from contextlib import suppress


class StartGuard(threading.Thread):
    """Ends the process when its parent is gone, while modules load and functions compile.

    Signals wait there for the end of a step, which may take seconds; nothing is switched on yet.

    Args:
        segment: name of the shared memory, which goes too.
        parent: process id of the supervisor.
    """

    def __init__(self, segment: str, parent: int) -> None:
        super().__init__(daemon=True)
        self._segment, self._parent, self._over = segment, parent, threading.Event()
        self.start()

    def run(self) -> None:
        """Look twenty times a second."""
        while not self._over.wait(0.05):
            if os.getppid() != self._parent:
                with suppress(OSError):
                    os.unlink(f"/dev/shm/{self._segment}")
                os._exit(1)

    def end(self) -> None:
        """The loop is next: it looks by itself, and no other thread shall run beside it."""
        self._over.set()
        self.join()
