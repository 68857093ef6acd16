"""A child of the supervisor: how it is started, and what it is given of the files that were checked."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from typing import IO, Any, Final

from hand.file.text import hold, texts_read
from hand.hand import Hand
from hand.options import RunOptions
from runtime.interrupts import ENDING
from telemetry.shm.segment import Segment

COMM: Final = "flexor-"
"""First part of a child's name as the kernel keeps it."""
_PR_SET_NAME: Final = 15


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


def last_object(printed: str) -> dict[str, Any]:
    """The JSON object in the last line of what a process has printed; empty if there is none."""
    lines = printed.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else {}
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}


class Child:
    """A child process whose stdout is one JSON object.

    Args:
        name: ``io`` or ``control``, a module beside this one.
        segment: shared memory of the run.
        options: options of the run.
        hand: the hand that was read with them. The child is then a fork, which has loaded what this process
            has loaded. Without, or where this process has other threads: a process of its own.
    """

    def __init__(self, name: str, segment: Segment, options: RunOptions, hand: Hand | None = None) -> None:
        self.name = name
        self._out: IO[bytes] = tempfile.TemporaryFile()
        alone = threading.active_count() == 1  # another thread may hold a lock that nobody would give back
        start = partial(self._forked, hand) if hand is not None and alone else self._started
        self._process: subprocess.Popen[bytes] | BaseProcess = start(segment, options)

    def _started(self, segment: Segment, options: RunOptions) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-P", "-m", f"runtime.processes.{self.name}", segment.name]
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        with lent_texts() as texts:
            return subprocess.Popen(
                [*words, options.to_json(), str(os.getpid()), str(texts)],
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                env=environment,
                start_new_session=True,
                pass_fds=(texts,),
            )

    def _forked(self, hand: Hand, segment: Segment, options: RunOptions) -> BaseProcess:
        words = self.name, segment, options, os.getpid(), hand, self._out.fileno()
        process = get_context("fork").Process(target=_be, args=words, daemon=False)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()  # what waits there is written once
        gc.freeze()  # the child's collector looks at its own objects alone
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # until the child has its own handlers
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            gc.unfreeze()
        return process

    @property
    def pid(self) -> int:
        """Its number."""
        return int(self._process.pid or 0)

    @property
    def returncode(self) -> int | None:
        """Its exit code, less than 0 for a signal; ``None`` while it runs."""
        if isinstance(self._process, BaseProcess):
            return self._process.exitcode
        return self._process.poll()

    def running(self) -> bool:
        """It has not ended yet."""
        return self.returncode is None

    def wait(self, budget_s: float) -> bool:
        """Wait for its end; False if it is still running after the budget."""
        if isinstance(self._process, BaseProcess):
            self._process.join(budget_s)
        else:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(budget_s)
        return not self.running()

    def kill(self) -> None:
        """End it without asking."""
        if self.running():
            self._process.kill()
            while not self.wait(1.0):
                pass

    def result(self) -> dict[str, Any]:
        """What it printed; empty if it died before."""
        self._out.seek(0)
        return last_object(self._out.read().decode(errors="replace"))


def _be(name: str, segment: Segment, options: RunOptions, parent: int, hand: Hand, out: int) -> None:
    """In a fork: what ``subprocess`` does for a process of its own, then the life of a child."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(out, 1)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    import_module(f"runtime.processes.{name}").live(segment, options, parent, hand)


def call_itself(name: str) -> None:
    """In a child: the name that ``ps -e`` and ``top`` show.

    Args:
        name: ``io`` or ``control``.
    """
    ctypes.CDLL(None).prctl(_PR_SET_NAME, f"{COMM}{name}".encode(), 0, 0, 0)
