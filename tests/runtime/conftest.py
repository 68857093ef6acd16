"""Fixtures of the runtime's tests: a hand read once, scratch shared memory, free ports."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from runtime.options import RunOptions
from runtime.setup import Hand, read_hand
from runtime.telemetry.segment import Segment


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
def port_base() -> int:
    """Two neighbouring free ports; other test processes begin their search elsewhere."""
    for k in range(2000):
        base = 20_000 + (os.getpid() * 614 + 2 * k) % 12_000
        try:
            for port in (base, base + 1):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return base
    raise RuntimeError("no free ports")
