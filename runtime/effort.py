"""Whether a process that starts up gets on, by its processor time: a slow machine is slow, not dead.

A cold start compiles for a minute or two of processor time, in steps without a heartbeat. On a full machine
a step lasts many minutes. So what counts is whether the process works, and how much it has worked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

IDLE_S: Final = 30.0
"""Time in which a process that starts may do nothing at all."""
WORK_S: Final = 900.0
"""Processor time after which a start counts as endless: ten times that of a cold one."""
BUSY_S: Final = 0.02
"""Processor time that counts as a sign of life."""


def used_of(pid: int) -> float:
    """Processor time of a process so far [s]; 0 if there is none."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    fields = words.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Effort:
    """Looks at a process now and then.

    Args:
        idle_s: time in which it may do nothing.
        work_s: processor time that it may use.
        clock: of the time in which it does nothing [s].
        used: processor time of a process [s].

    Attributes:
        used_s: processor time that it was seen to use, also by one that came in its place.
    """

    def __init__(
        self,
        idle_s: float,
        work_s: float = WORK_S,
        *,
        clock: Callable[[], float] = time.monotonic,
        used: Callable[[int], float] = used_of,
    ) -> None:
        self._limits, self._clock, self._used = (idle_s, work_s), clock, used
        self._alive = self._begun = clock()
        self._last_s = self.used_s = 0.0

    def look(self, pid: int) -> bool:
        """Whether it may go on.

        Args:
            pid: the process; another than before has come in its place.
        """
        now_s = self._used(pid)
        if abs(now_s - self._last_s) > BUSY_S:
            self.used_s += now_s - self._last_s if now_s > self._last_s else now_s
            self._last_s, self._alive = now_s, self._clock()
        return self.idle_s < self._limits[0] and self.used_s < self._limits[1]

    @property
    def idle_s(self) -> float:
        """Time since it was seen to work."""
        return self._clock() - self._alive

    @property
    def waited_s(self) -> float:
        """Time since the first look."""
        return self._clock() - self._begun

    def sentence(self) -> str:
        """What was seen."""
        done = f"it worked for {self.used_s:.0f} s and did nothing for {self.idle_s:.0f} s"
        return f"after {self.waited_s:.0f} s: {done}"
