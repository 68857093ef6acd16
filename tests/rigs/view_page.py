"""``flexor view`` in a process of its own, for tests of what it shows and takes."""

from __future__ import annotations

import os
import subprocess
import sys


class Page:
    """A page; ``url`` is where it is served."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.cli", *words],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=os.environ | {"PYTHONPATH": os.getcwd()},
        )  # fmt: skip
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if line.startswith("view: "):
                self.url = line.split()[1]
                return
        raise AssertionError("".join(said))

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
