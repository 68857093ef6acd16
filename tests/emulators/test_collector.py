"""Collector board: watchdog, session, losses, position mode, clock - the emulated board and the driver."""

from __future__ import annotations

import time

import numpy as np
import pytest

from drivers.collector.codec import SampleFlag
from drivers.collector.device import CollectorBus
from drivers.collector.settings import CollectorSettings
from drivers.contract import Bench
from drivers.errors import BusLost, ConfigureError, WrongDevice
from signals.modes import Bus as BusBit
from signals.modes import Channel, MotorMode
from tests.emulators import rigs


def test_the_boards_own_watchdog_lets_go_and_torque_does_not_return_by_itself() -> None:
    with rigs.collector(3, watchdog_ms=60.0) as (rig, board):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.2)
        assert board.armed
        time.sleep(0.3)
        assert not board.armed and board.trips == 1 and not board.side.command["motor_current_a"].any()
        bench.run(0.05)
        assert (bench.of_motors("motor_status") & Channel.DEVICE_ERROR).all()
        assert not board.armed
        assert "watchdog" in rig.bus.report().reason  # type: ignore[attr-defined]
        bench.rest(0.05)
        assert not bench.of_motors("motor_status").any()
        bench.pull(0.3, 0.2)
        assert board.armed and bench.status == 0


def test_lost_late_and_damaged_samples_cost_their_own_cycle_only() -> None:
    with rigs.collector(3) as (rig, board):
        settings = rig.bus.settings.model_copy(update={"reply_timeout_us": 3000, "lost_after": 50})  # type: ignore[attr-defined]
        rig.bus.settings = settings  # type: ignore[attr-defined]
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.3)
        faults = board.faults
        faults.drop, faults.flip, faults.duplicate = 0.1, 0.1, 0.2
        seen = {0: 0, 1: 0}
        for _ in range(300):
            bench.status = bench.bus.exchange(bench.command, bench.measurement, time.monotonic_ns())
            seen[bool(bench.status)] += 1
            assert np.abs(bench.of_motors("motor_angle_rad") - 0.3).max() < 2e-3
            late = bool(bench.status & BusBit.TIMEOUT)
            assert bool((bench.of_motors("motor_status") & Channel.STALE).all()) == late
        assert seen[0] > 100 and seen[1] > 20
        faults.drop = faults.flip = faults.duplicate = 0.0
        bench.rest(0.1)
        bench.pull(0.3, 0.2)
        assert bench.status == 0
        assert rig.bus.counts.crc > 0  # type: ignore[attr-defined]


def test_every_exchange_ends_at_its_deadline_whatever_the_board_does() -> None:
    """The wait is bounded by the reply time-out; CPU time by a fraction of it."""
    with rigs.collector(3) as (rig, board):
        rig.bus.settings = rig.bus.settings.model_copy(update={"reply_timeout_us": 500})  # type: ignore[attr-defined]
        bench = Bench(rig)
        bench.start()
        board.faults.deaf = True
        waits, costs = [], []
        for _ in range(100):
            begun, cpu = time.monotonic_ns(), time.thread_time_ns()
            assert bench.bus.exchange(bench.command, bench.measurement, begun) & BusBit.TIMEOUT
            waits.append(time.monotonic_ns() - begun)
            costs.append(time.thread_time_ns() - cpu)
        assert np.median(waits) < 3_000_000
        assert np.median(costs) < 400_000


def test_position_mode_and_wrist_axes_are_closed_in_the_device() -> None:
    with rigs.collector(3) as (rig, board):
        bench = Bench(rig)
        bench.start()
        bench.command["motor_mode"][0, :3] = MotorMode.POSITION
        bench.command["motor_angle_rad"][0, :3] = 0.5, -0.25, 1.0
        bench.command["axis_enable"] = 1
        bench.command["axis_angle_rad"] = 0.2, -0.1
        bench.run(0.4)
        assert bench.of_motors("motor_angle_rad").tolist() == pytest.approx([0.5, -0.25, 1.0], abs=1e-3)
        assert bench.measurement["axis_angle_rad"][0].tolist() == pytest.approx([0.2, -0.1], abs=1e-3)


def test_a_stale_slot_keeps_value_and_time_and_marks_only_itself() -> None:
    with rigs.collector(3) as (rig, board):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.2)
        board.faults.stale_motors.add(1)
        bench.pull(0.1, 0.2)
        angle_rad, times = bench.of_motors("motor_angle_rad"), bench.of_motors("motor_time_ns")
        assert bench.of_motors("motor_status").tolist() == [0, Channel.STALE, 0]
        assert angle_rad.tolist() == pytest.approx([0.1, 0.3, 0.1], abs=2e-3)
        assert times[0] - times[1] > 100_000_000


def test_wrong_boards_and_wrong_settings_are_refused() -> None:
    with rigs.collector(3) as (rig, board):
        base = rig.bus.settings  # type: ignore[attr-defined]
        with pytest.raises(BusLost, match="no collector answers"):
            CollectorBus(base.model_copy(update={"port": _free_port()}), rigs.names(3, 2))
        rig.bus.close()
        with pytest.raises(WrongDevice, match="4 motors.*3 motors"):
            CollectorBus(base, rigs.names(4, 2))
        board.about = board.about.__class__(
            **{f: getattr(board.about, f) for f in board.about.__dataclass_fields__} | {"version": 2}
        )
        with pytest.raises(WrongDevice, match="protocol 2"):
            CollectorBus(base, rigs.names(3, 2))


def test_a_watchdog_time_that_the_board_does_not_offer_is_named() -> None:
    with rigs.collector(2) as (rig, board):
        rig.bus._session.watchdog_us = 5_000_000  # type: ignore[attr-defined]
        with pytest.raises(ConfigureError, match="watchdog_us is 1000000 after writing 5000000.*legal are"):
            Bench(rig).start()


def test_the_flags_of_a_sample_are_part_of_the_protocol() -> None:
    assert [f.value for f in SampleFlag] == [1, 2, 4, 8, 16]
    assert CollectorSettings.model_fields["watchdog_ms"].default == 20.0


def _free_port() -> int:
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
