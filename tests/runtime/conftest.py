"""Fixtures of the runtime's tests: a hand read once, scratch shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from telemetry.shm.segment import FOLDER, Segment
from tests.runtime.runs import Run, blocks


@pytest.fixture(scope="session")
def finger() -> Hand:
    """The one-finger bench, read once; tests copy its model before they change it."""
    return read_hand(RunOptions(hand="finger_bench"))


@pytest.fixture
def segment() -> Iterator[Segment]:
    """A block of shared memory with a small ring."""
    made = Segment.create(rate_hz=100.0)
    try:
        yield made
    finally:
        made.unlink()


@pytest.fixture
def start(port_base: int) -> Iterator[Callable[..., Run]]:
    """Starts runs and kills what a failed test left over."""
    runs: list[Run] = []

    def begin(*words: str, **more: Any) -> Run:
        runs.append(Run(port_base, *words, **more))
        return runs[-1]

    yield begin
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()
        for block in blocks(run.pid):
            (FOLDER / block).unlink(missing_ok=True)
