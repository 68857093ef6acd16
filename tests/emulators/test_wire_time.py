"""What emulated wires charge: no answer comes before its bits could have passed, however fast the pty is."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from drivers.contract import Bench
from sim.emulators.pty_line import HOP_MAX_NS, PtyLine
from tests.rigs import emulated as rigs


@pytest.mark.parametrize("spin_us", [0, 200])
def test_no_servo_answers_before_the_wire_is_through(tmp_path: Path, spin_us: int) -> None:
    """The least time of the pty is taken off what is charged; together they are never less than the wire."""
    with rigs.dynamixel(tmp_path, 4, spin_us=spin_us) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        bench.command["motor_mode"][0, :4], bench.command["motor_current_a"][0, :4] = 1, 0.3
        bus = rig.bus
        bus._slow_ns = 2**62  # type: ignore[attr-defined]
        goals, request, reply = 14 + 3 * 4, 14 + 4, 8 + 14 * 4
        wire_ns = 10 * (goals + request + reply) * 1_000_000_000 // rigs.BAUD
        trips = []
        for _ in range(100):
            assert bench.bus.exchange(bench.command, bench.measurement, time.monotonic_ns()) == 0
            trips.append(bus.round_trip_ns)  # type: ignore[attr-defined]
        assert wire_ns <= min(trips)
        assert wire_ns == pytest.approx(1e9 / bus.capabilities.rate_max_hz, rel=1e-6)
        assert 0 < chain.line.hop_in_ns <= HOP_MAX_NS and 0 < chain.line.hop_out_ns <= HOP_MAX_NS


def test_measuring_the_pty_leaves_no_byte_in_it(tmp_path: Path) -> None:
    line = PtyLine(tmp_path / "line")
    try:
        assert not line.readable() and line.read() == b""
        line.plug()
        assert not line.readable() and line.read() == b""
    finally:
        line.close()


def test_a_rehearsal_leaves_no_trace(tmp_path: Path) -> None:
    """The driver rehearses its cycle while a reply is on the wire: motors and record do not see it."""
    with rigs.dynamixel(tmp_path, 3) as (rig, _chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.0)
        bus = rig.bus
        bench.status = bus.exchange(bench.command, bench.measurement, time.monotonic_ns())
        before = bench.measurement.tobytes()
        everybody = np.ones(3, dtype=np.bool_)
        bits = np.zeros(3, dtype=np.uint32)
        chain = bus._chain  # type: ignore[attr-defined]
        goals = chain.goals(bench.command, everybody, everybody, bits)
        chain.rehearse()
        assert bench.measurement.tobytes() == before
        assert chain.goals(bench.command, everybody, everybody, bits) == goals
