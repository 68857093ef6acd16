"""Tests are collected and run once; every mutant then runs them in a fork until the first one fails.

A fork inherits everything that the run without a mutant has loaded, so that a mutant costs its tests and
nothing else, and only those of its tests that reach it, the likely killers first. What a mutant may take is
counted in processor time: a busy computer makes nobody hang.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from _pytest.runner import runtestprotocol
from hypothesis import Phase, settings

from tests.mutation.schema import CELL, Mutant

PATIENCE, PATIENCE_S = 8.0, 2.0
"""Processor time of a test before it counts as hung: factor on its own, and what comes on top."""
COLD_S = 0.3
NEWS_S = 10.0
"""Between two lines of progress."""


@dataclass(frozen=True)
class Running:
    """A mutant in a child: the pipe on which it names its end, and its tests in their order."""

    mutant: Mutant
    pipe: int
    order: list[int]


class Forks:
    """A plugin of pytest in the place of its loop over the tests.

    Args:
        sweep: called once with this object, when all tests have passed without a mutant.
        mutants: all mutants.
        verbose: show what the tests of the mutants print.
    """

    def __init__(self, sweep: Callable[[Forks], None], mutants: list[Mutant], verbose: bool = False) -> None:
        self._sweep, self.mutants, self._verbose = sweep, mutants, verbose
        self._rarity: dict[str, list[float]] = {}
        self.items: list[Any] = []
        self.cost_s: list[float] = []
        self.reach: list[frozenset[int]] = []
        self.kills: dict[str, Counter[str]] = {}
        self.failed = ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Whoever fails is dead: nobody wants the smallest example."""
        settings.register_profile(
            "mutants",
            settings.get_profile("flexor"),
            phases=(Phase.explicit, Phase.generate),
            report_multiple_bugs=False,
        )
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Every test once, then the mutants."""
        self.items = [i for i in session.items if i.get_closest_marker("realtime") is None]
        self.cost_s = [0.0] * len(self.items)
        self.reach = [frozenset()] * len(self.items)
        told = time.monotonic()
        for k, item in enumerate(self.items):
            if time.monotonic() - told > NEWS_S:
                told = time.monotonic()
                print(f"without a mutant: {k} of {len(self.items)} tests", file=sys.stderr, flush=True)
            failure = self._timed(k)
            if self.cost_s[k] > COLD_S:  # it compiled; what it takes from now on shows the second time
                failure = failure or self._timed(k)
            if failure:
                self.failed = f"{item.nodeid}\n{failure}"
                return True
        if threading.active_count() > 1:
            self.failed = f"threads stay behind the tests: {threading.enumerate()}"
            return True
        self._sweep(self)
        return True

    def _timed(self, number: int) -> str:
        CELL[1:] = 0
        begun = time.process_time()
        failure = self._failure(number, self.items[number + 1] if number + 1 < len(self.items) else None)
        self.cost_s[number] = time.process_time() - begun
        self.reach[number] |= frozenset(np.flatnonzero(CELL[1:]) + 1)
        return failure

    def _failure(self, number: int, following: Any) -> str:
        item = self.items[number]
        item._initrequest()  # a test runs more than once
        for report in runtestprotocol(item, log=False, nextitem=following):
            if report.failed:
                return str(report.longreprtext)
        return ""

    def learn(self, mutant: Mutant, node: str) -> None:
        """A test has killed a mutant: it may kill its neighbours too."""
        for name in (f"{mutant.module}.{mutant.function}", mutant.module, ""):
            self.kills.setdefault(name, Counter())[node] += 1

    def reaching(self, mutant: Mutant) -> list[int]:
        """Numbers of the tests that reach a mutant, those first that are likely to kill in short time.

        Likely is who has killed neighbours, and who gets to places of the function and of its module where
        few tests get.
        """
        function = f"{mutant.module}.{mutant.function}"
        own, room, anywhere = (self.kills.get(name, Counter()) for name in (function, mutant.module, ""))
        near, around = self._rare(function), self._rare(mutant.module)

        def worth(k: int) -> float:
            node = self.items[k].nodeid
            likely = own[node] + 0.3 * room[node] + 0.02 * anywhere[node] + near[k] + 0.3 * around[k]
            return float(likely / (self.cost_s[k] + 0.02))

        found = [k for k in range(len(self.items)) if mutant.block in self.reach[k]]
        return sorted(found, key=worth, reverse=True)

    def _rare(self, place: str) -> list[float]:
        """For every test how many blocks of a function or module it reaches, each by how few others do."""
        if place not in self._rarity:
            blocks = {m.block for m in self.mutants if place in (m.module, f"{m.module}.{m.function}")}
            share = {b: 1.0 / max(sum(b in reach for reach in self.reach), 1) for b in blocks}
            self._rarity[place] = [sum(share[b] for b in blocks & reach) for reach in self.reach]
        return self._rarity[place]

    def begin(self, mutant: Mutant, order: list[int]) -> tuple[int, Running]:
        """Start a mutant in a child; its process number and what to know of it."""
        end, begin = os.pipe()
        child = os.fork()
        if child:
            os.close(begin)
            return child, Running(mutant, end, order)
        code = 1
        try:
            CELL[0] = mutant.number
            if not self._verbose:
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
            code = self._run(order, begin)
        finally:
            os._exit(code)

    def _run(self, order: list[int], pipe: int) -> int:
        for place, k in enumerate(order):
            os.write(pipe, k.to_bytes(2, "little"))
            with _impatient(PATIENCE * self.cost_s[k] + PATIENCE_S):
                failure = self._failure(k, self.items[order[place + 1]] if place + 1 < len(order) else None)
            if failure:
                print(self.items[k].nodeid, failure, sep="\n", file=sys.stderr)
                return 1
        return 0

    def ended(self, running: Running, status: int) -> tuple[str, str]:
        """What an ended child says of its mutant: survived or killed, and the test that said so."""
        told = b""
        while part := os.read(running.pipe, 65536):
            told += part
        os.close(running.pipe)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0:
            return "survived", ""
        node = str(self.items[int.from_bytes(told[-2:], "little")].nodeid)
        self.learn(running.mutant, node)
        how = "killed"
        if os.WIFSIGNALED(status):
            how = "killed (hung)" if os.WTERMSIG(status) == signal.SIGPROF else "killed (crashed)"
        return how, node


@contextmanager
def _impatient(seconds: float) -> Iterator[None]:
    """The process ends if what is inside takes more processor time."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
