"""A child of the supervisor: how it is started, and what it is given of the files that were checked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from hand.file.text import hold, texts_read
from hand.options import RunOptions
from telemetry.shm.segment import Segment


def take_over(words: list[str]) -> None:
    """In a child: files that its parent has checked are not read again.

    Args:
        words: of the command line; the fifth is a descriptor of ``lent_texts``, and may be missing.
    """
    if len(words) > 4:
        with open(f"/proc/self/fd/{int(words[4])}", encoding="utf-8") as texts:  # with a place of its own
            hold(json.load(texts))


@contextmanager
def lent_texts() -> Iterator[int]:
    """Descriptor of a file with all texts that were read, for children to take over."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as texts:
        json.dump(texts_read(), texts)
        texts.flush()
        yield texts.fileno()


class Child:
    """A child process whose stdout is one JSON object."""

    def __init__(self, name: str, segment: Segment, options: RunOptions) -> None:
        self.name = name
        self._out: IO[bytes] = tempfile.TemporaryFile()
        words = [sys.executable, "-P", "-m", f"runtime.processes.{name}", segment.name]
        with lent_texts() as texts:
            words += [options.to_json(), str(os.getpid()), str(texts)]
            self.process = self._started(words, texts)

    def _started(self, words: list[str], lent: int) -> subprocess.Popen[bytes]:
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            env=environment,
            start_new_session=True,
            pass_fds=(lent,),
        )

    def running(self) -> bool:
        """It has not ended yet."""
        return self.process.poll() is None

    def wait(self, budget_s: float) -> bool:
        """Wait for its end; False if it is still running after the budget."""
        try:
            self.process.wait(budget_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End it without asking."""
        if self.running():
            self.process.kill()
            self.process.wait()

    def result(self) -> dict[str, Any]:
        """What it printed; empty if it died before."""
        self._out.seek(0)
        lines = self._out.read().decode(errors="replace").strip().splitlines()
        try:
            found = json.loads(lines[-1]) if lines else {}
        except ValueError:
            found = {}
        return found if isinstance(found, dict) else {}
