"""A witness of the machine's own stalls, for tests with real clocks.

A virtual machine is now and then stopped for tens of milliseconds by its host; a hand that is held to
deadlines of 5 ms then ends in a named fault, as it should. One small process per core does nothing but wake
up every millisecond, at a priority above everything under test where that is allowed, and notes when it could
not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

STALL_NS: Final = 4_000_000
"""Shorter stalls harm nobody: the shortest limit of the product is 5 ms."""
PRIORITY: Final = 95


def watch(core: int, path: str, parent: int) -> None:
    """Append ``begin_ns length_ns`` of every stall of a core to a file, until the parent is gone."""
    os.sched_setaffinity(0, {core})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        pass  # a witness in the crowd sees more stalls than there are, never fewer
    with open(path, "a", buffering=1, encoding="ascii") as notes:
        last = time.monotonic_ns()
        while os.getppid() == parent:
            time.sleep(0.001)
            now = time.monotonic_ns()
            if now - last > STALL_NS:
                notes.write(f"{last} {now - last}\n")
            last = now


class Notes:
    """What a witness has noted in its folder, also for others that run their tests beside it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def longest_ms(self, since_ns: int) -> float:
        """The longest stall [ms] of any core that ended after a moment of the monotonic clock."""
        lines = [
            line.split() for note in Path(self.folder).iterdir() for line in note.read_text().splitlines()
        ]
        return max((int(n) / 1e6 for begin, n in lines if int(begin) + int(n) > since_ns), default=0.0)


class Witness(Notes):
    """Watches every core that the tests may use, from now on."""

    def __init__(self) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="flexor-witness-")
        super().__init__(self._temporary.name)
        cores = sorted(os.sched_getaffinity(0))
        words = [sys.executable, "-P", __file__]
        self.processes = [
            subprocess.Popen([*words, str(core), str(Path(self.folder) / str(core)), str(os.getpid())])
            for core in cores
        ]

    def close(self) -> None:
        """End the watchers."""
        for process in self.processes:
            process.kill()
            process.wait()
        self._temporary.cleanup()


if __name__ == "__main__":
    watch(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
