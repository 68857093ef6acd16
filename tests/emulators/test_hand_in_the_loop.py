"""The hand behind the board: joint errors as with the plant in the process, ages known, faults told.

The clock of board, driver and loop is the simulated one, so a slow machine changes nothing; the datagrams,
the sockets and the two threads are real. In real time the same is measured by ``flexor emulate`` and ``flexor
run --bus``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from drivers.collector.device import CollectorBus
from drivers.collector.settings import CollectorSettings
from hand.options import RunOptions
from runtime.backends import sim_bus
from runtime.loop import LOCKSTEP_START_NS
from runtime.session import Session
from runtime.setup import prepare
from signals.faults import Cause
from signals.modes import MachineState
from signals.records import RecordArray
from sim.emulators.collector import CollectorEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import BackendSide

SECONDS = 2.0
"""Friction lets go at another moment over the wire: of finger_bench the rms of both differ by 0.030 deg after
1.5 s, by 0.018 after 2 s and by 0.002 after 3 s."""
OLDER_DEG = 0.03
"""A joint moves that far, at the motion's fastest, while a sample waits for a period on the board."""


class SimClock:
    """Time of the loop, for everybody."""

    def __init__(self) -> None:
        self.now_ns = LOCKSTEP_START_NS - 11_000_000  # just before the first homing exchange

    def __call__(self) -> int:
        return self.now_ns


class OverWire:
    """The driver, with the clock set by the loop; the truth of the emulated hand beside it."""

    def __init__(self, bus: CollectorBus, clock: SimClock) -> None:
        self.bus, self.clock = bus, clock
        self.ages_ns: list[int] = []
        self.statuses: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bus, name)

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """As the driver's."""
        self.clock.now_ns = now_ns
        status = self.bus.exchange(command, measurement, now_ns)
        n = self.bus.capabilities.n_motors
        self.ages_ns.append(int(now_ns - measurement["motor_time_ns"][0, :n].min()))
        self.statuses.append(status)
        return status


@contextmanager
def over_the_wire(options: RunOptions) -> Iterator[tuple[Session, OverWire, CollectorEmulator]]:
    """A session whose bus is the driver of an emulated board with the plant behind it."""
    session = Session(options)
    hand, truth = session.hand, session.rig.views["truth"]
    clock, plant_truth = SimClock(), truth.copy()

    plant_options = replace(options, lockstep=False)
    side = BackendSide(lambda: sim_bus(hand, plant_options, plant_truth, session.rig.motion))
    n, axes = len(hand.names.motors), len(hand.names.axes)
    board = CollectorEmulator(side, n, len(hand.names.tendons), axes, clock=clock)
    board.before_answer = lambda: np.copyto(truth, plant_truth)
    settings = CollectorSettings(
        name="board",
        family="collector",
        host=board.host,
        port=board.port,
        reply_timeout_us=1_000_000,
        watchdog_ms=20.0,
    )
    thread = EmulatorThread([board])
    thread.loop._clock = clock
    board.thread = thread  # type: ignore[attr-defined]
    with thread:
        driver = CollectorBus(settings, hand.names, clock=clock)
        bus = OverWire(driver, clock)
        session.rig.bus = session.rig.pipeline.bus = bus
        prepare(session.rig, LOCKSTEP_START_NS)
        try:
            yield session, bus, board
        finally:
            driver.close()


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_joint_errors_over_the_wire_are_those_of_the_plant_in_the_process(hand: str) -> None:
    options = RunOptions(hand=hand, motion="open_close", lockstep=True, seconds=SECONDS)
    inside = Session(options)
    inside.run(SECONDS)
    wanted = inside.result().report
    with over_the_wire(options) as (session, bus, _board):
        session.run(SECONDS)
        found = session.result().report
        assert not any(bus.statuses)
        assert found["faults"] == []
        for name in ("estimate_error_deg", "tracking_error_deg"):
            assert found[name]["rms"] == pytest.approx(wanted[name]["rms"], rel=0.1, abs=OLDER_DEG), name
        period_ns = 1e9 / session.hand.rate_hz
        assert max(bus.ages_ns[1:]) <= 1.5 * period_ns  # the first follows the jump of the clock
        assert session.close() is True


def test_a_board_that_restarts_in_mid_motion_is_a_named_fault_without_motion_of_its_own() -> None:
    options = RunOptions(hand="finger_bench", motion="open_close", lockstep=True, seconds=1.0)
    with over_the_wire(options) as (session, bus, board):
        session.run(0.3)
        assert board.armed
        board.thread.do(board.restart)  # type: ignore[attr-defined]
        session.run(0.5)
        state = session.rig.views["state"][0]
        assert MachineState.FAULT in (state["machine"], state["finger_state"][0])
        causes = {int(state["hand_cause"]), int(state["finger_cause"][0])}
        assert causes & {Cause.MOTOR_RESET, Cause.BUS_LOST, Cause.MOTOR_LOST, Cause.MEASUREMENT_TOO_OLD}
        assert not board.side.command["motor_current_a"].any()


def test_a_board_whose_watchdog_tripped_stays_limp_when_it_is_heard_again() -> None:
    options = RunOptions(hand="finger_bench", motion="open_close", lockstep=True, seconds=1.0)
    with over_the_wire(options) as (session, bus, board):
        session.run(0.3)
        late_ns = bus.clock.now_ns + 50_000_000
        board.thread.do(lambda: board.on_time(late_ns))  # type: ignore[attr-defined]
        assert board.trips == 1 and not board.armed
        pulled = 0.0
        for _ in range(500):
            session.run(0.001)
            pulled = max(pulled, float(abs(board.side.command["motor_current_a"]).max()))
        state = session.rig.views["state"][0]
        assert int(state["finger_cause"][0]) == Cause.MOTOR_HELD
        assert pulled == 0.0


def test_a_loop_that_dies_leaves_the_hand_limp_within_the_boards_watchdog() -> None:
    options = RunOptions(hand="finger_bench", motion="open_close", lockstep=True, seconds=1.0)
    with over_the_wire(options) as (session, bus, board):
        session.run(0.3)
        assert board.side.command["motor_current_a"].any()
        for _ in range(300):
            bus.clock.now_ns += 100_000
            board.thread.do(lambda: board.on_time(bus.clock.now_ns))  # type: ignore[attr-defined]
        assert board.trips == 1 and not board.armed
        assert not board.side.command["motor_current_a"].any()
