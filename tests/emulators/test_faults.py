"""Field reports on wires: B11 (bus-off), B20, B29, B43 (twins), B51 (two masters)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import can
import numpy as np
import pytest

from drivers.contract import Bench
from drivers.dynamixel.device import DynamixelBus
from drivers.errors import BusBusy, ConfigureError, DuplicateId, ReadOnly, TurnsUnknown, WrongDevice
from drivers.hal import MotorSetup
from drivers.odrive.device import OdriveBus
from signals.modes import BusStatus, ChannelStatus, MotorMode
from signals.records import COMMAND, MEASUREMENT, new
from sim.emulators.loop import EmulatorThread
from sim.emulators.odrive import EmulatedAxis
from sim.emulators.servo import OVERLOAD, EmulatedServo
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs
from tests.rigs.emulated import pulls_again

NOT_FRESH = int(ChannelStatus.STALE | ChannelStatus.MISSING)


# --- two masters (B51) --------------------------------------------------------------------------------


def test_a_second_runtime_on_the_same_line_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2) as (rig, chain):
        (tmp_path / "other").symlink_to(chain.line.link)
        with pytest.raises(BusBusy) as caught:
            DynamixelBus(rigs.servo_settings(tmp_path / "other", 2), rigs.names(2))
        assert caught.value.pid == os.getpid()
        Bench(rig).start()


def test_a_foreign_command_for_our_axes_is_a_fault_of_that_motor() -> None:
    with rigs.odrive(2) as (rig, server, _axes):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, 0.2)
        other = can.Bus(interface="socketcand", channel="can0", host=server.host, port=server.port)
        time.sleep(0.05)
        other.send(can.Message(arbitration_id=2 << 5 | 0x0E, data=bytes(8), is_extended_id=False))
        assert bench.run(
            1.0, lambda: bool(bench.measurement["motor_status"][0, 1] & ChannelStatus.DEVICE_ERROR)
        )
        assert bench.measurement["motor_status"][0, 0] == 0
        assert "somebody else commands node 2" in rig.bus.report().reason  # type: ignore[attr-defined]
        other.shutdown()


def test_a_second_computer_on_the_board_is_refused_with_the_address_of_the_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from drivers.collector.device import CollectorBus

    with rigs.collector(2) as (rig, _board):
        bench = Bench(rig)
        bench.start()
        monkeypatch.setenv("FLEXOR_LOCK_DIR", str(tmp_path))  # as from another machine
        second = CollectorBus(rig.bus.settings, rigs.names(2, 2))  # type: ignore[attr-defined]
        bench.run(0.01)
        with pytest.raises(BusBusy, match="127.0.0.1:"):
            second.configure((MotorSetup(index=0, name="motor_0", current_limit_a=1.0),))
        bench.pull(0.2, 0.2)
        assert bench.status == 0
        second.close()


# --- bus-off (B11) ------------------------------------------------------------------------------------


def test_bus_off_is_named_with_its_remedy_and_comes_back_only_with_fresh_feedback() -> None:
    with rigs.odrive(2) as (rig, server, axes):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, 0.2)
        rig.unplug()  # type: ignore[misc]
        assert bench.comes(1.0, lambda: bool(bench.status & BusStatus.LOST))
        assert "bus-off" in rig.bus.report().reason and "restart-ms" in rig.bus.report().reason  # type: ignore[attr-defined]
        server.buses["can0"].faults.bus_off = False
        axes[1].silent = True
        with pytest.raises(TimeoutError, match="node 2"):
            rig.bus.recover()
        bench.run(0.05)
        assert bench.status & BusStatus.LOST
        axes[1].silent = False
        rig.bus.recover()
        bench.run(0.1)
        assert not (bench.of_motors("motor_status") & NOT_FRESH).any()
        assert (bench.of_motors("motor_status") == ChannelStatus.HELD).all()


def test_a_server_that_hangs_up_is_a_lost_bus() -> None:
    with rigs.odrive(2) as (rig, server, _axes):
        bench = Bench(rig)
        bench.start()
        server.thread.do(server.kick)  # type: ignore[attr-defined]
        assert bench.run(2.0, lambda: bool(bench.status & (BusStatus.LOST | BusStatus.TIMEOUT)))
        assert (bench.of_motors("motor_status") & NOT_FRESH).all() or bench.run(
            2.0, lambda: bool((bench.of_motors("motor_status") & NOT_FRESH).all())
        )


# --- twins, wrong models, refused settings (B43, B20) ---------------------------------------------------


def test_two_servos_with_one_id_are_named_before_any_torque(tmp_path: Path) -> None:
    side = SpringSide(3)
    chain = rigs.servo_chain(tmp_path / "servos", 3, side)
    chain.servos[2].put("id", 2)
    with EmulatorThread([chain]):
        with pytest.raises(DuplicateId, match="more than one device at id 2"):
            DynamixelBus(rigs.servo_settings(tmp_path / "servos", 2), rigs.names(2))
    assert not any(s.get("torque_enable") for s in chain.servos)


def test_two_axes_with_one_node_are_named_before_any_torque() -> None:
    side = SpringSide(3)
    server, axes = rigs.axis_bus(2, side)
    twin = EmulatedAxis(2, side, 2, heartbeat_ms=50, feedback_ms=5, start_ns=time.monotonic_ns() + 20_000_000)
    server.buses["can0"].nodes.append(twin)
    with EmulatorThread([server]):
        with pytest.raises(DuplicateId, match="id 2"):
            for _ in range(20):  # a computer that stalls for most of the listening hears neither of them
                OdriveBus(rigs.axis_settings(server, 2), rigs.names(2)).close()
    assert all(a.state == 1 for a in axes)


def test_another_model_than_the_files_is_refused(tmp_path: Path) -> None:
    side = SpringSide(1)
    chain = rigs.servo_chain(tmp_path / "servos", 1, side)
    chain.servos[0].put("model_number", 1220)
    with EmulatorThread([chain]):
        with pytest.raises(WrongDevice, match="xm430-w210.*xc330-t288"):
            DynamixelBus(rigs.servo_settings(tmp_path / "servos", 1), rigs.names(1))


def test_a_limit_that_a_device_does_not_take_is_named_with_its_motor() -> None:
    with rigs.collector(3) as (rig, board):
        board.faults.limit_refused = 1
        with pytest.raises(ConfigureError, match="motor motor 1"):
            Bench(rig).start()
    with rigs.odrive(1) as (rig, _server, axes):
        axes[0].received = lambda frame, now_ns: []  # type: ignore[method-assign,assignment]
        with pytest.raises((ConfigureError, TimeoutError), match="node 1"):
            Bench(rig).start()


def test_a_rebooted_servo_boots_a_turn_off_and_is_put_right_or_refused(tmp_path: Path) -> None:
    """B29: whole turns are resolved by the travel; ambiguous: no torque and a message."""
    with rigs.dynamixel(tmp_path, 2) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        for step_a in (0.9, -0.9):
            bench.pull(step_a, 0.3)
            rig.reset(0)  # type: ignore[misc]
            assert bench.comes(
                1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.RESET)
            )
            pulls_again(bench, step_a)
    wide = (
        rigs.servo_settings(tmp_path / "servos2", 1).device[0].model_copy(update={"travel_rad": (-4.0, 4.0)})
    )
    side = SpringSide(1)
    chain = rigs.servo_chain(tmp_path / "servos2", 1, side)
    side.angle_rad[:] = 3.5
    side._show(1)
    side.advance = lambda now_ns: None  # type: ignore[method-assign]
    with EmulatorThread([chain]):
        settings = rigs.servo_settings(tmp_path / "servos2", 1).model_copy(update={"device": (wide,)})
        bus = DynamixelBus(settings, rigs.names(1))
        with pytest.raises(TurnsUnknown, match="2 turns fit its travel.*re-home"):
            bus.configure((MotorSetup(index=0, name="motor_0", current_limit_a=1.0),))
        assert chain.servos[0].get("torque_enable") == 0
        bus.close()


# --- servos in trouble --------------------------------------------------------------------------------


def test_an_overloaded_servo_is_reported_and_rebooted_only_at_rest(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.3)
        chain.servos[0].trip(OVERLOAD)
        assert bench.run(1.0, lambda: "overload" in rig.bus.report().reason)  # type: ignore[attr-defined]
        bench.run(0.3)
        assert chain.servos[0].reboots == 0
        assert bench.measurement["motor_status"][0, 0] & ChannelStatus.DEVICE_ERROR
        assert bench.measurement["motor_status"][0, 1] == 0
        pulls_again(bench, 0.3)
        assert chain.servos[0].reboots == 1


def test_damage_on_the_line_costs_single_cycles_and_never_a_value(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 4) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.4)
        faults = chain.faults
        faults.flip, faults.truncate, faults.junk = 0.03, 0.03, 0.1
        bad = 0
        for _ in range(400):
            bench.run(0.0, None)
            bench.status = bench.bus.exchange(bench.command, bench.measurement, time.monotonic_ns())
            bad += bench.status != 0
            assert np.abs(bench.of_motors("motor_angle_rad") - 0.3).max() < 3e-3
            assert np.abs(bench.of_motors("motor_current_a") - 0.3).max() < 5e-3
        assert 5 < bad < 390
        faults.flip = faults.truncate = faults.junk = 0.0
        faults.split_ns = 2_000_000
        pulls_again(bench, 0.3)
        assert bench.comes(0.3, lambda: bench.status == 0), bench.tell()


def test_readonly_buses_never_write(tmp_path: Path) -> None:
    side = SpringSide(2)
    chain = rigs.servo_chain(tmp_path / "servos", 2, side)
    command, measurement = new(COMMAND), new(MEASUREMENT)
    command["motor_mode"], command["motor_current_a"] = MotorMode.CURRENT, 0.5
    with EmulatorThread([chain]):
        bus = DynamixelBus(rigs.servo_settings(tmp_path / "servos", 2), rigs.names(2), readonly=True)
        with pytest.raises(ReadOnly):
            bus.activate()
        assert bus.exchange(command, measurement, 1) & BusStatus.READ_ONLY
        assert chain.packets == 0
        bus.close()
    with rigs.collector(2) as (rig, board):
        from drivers.collector.device import CollectorBus

        Bench(rig).start()
        watcher = CollectorBus(rig.bus.settings, rigs.names(2, 2), readonly=True)  # type: ignore[attr-defined]
        before = board.commands
        for _ in range(20):
            assert watcher.exchange(command, measurement, time.monotonic_ns()) & BusStatus.READ_ONLY
        assert board.commands == before and measurement["motor_time_ns"][0, 0] > 0
        watcher.close()
    server, axes = rigs.axis_bus(2, side)
    with EmulatorThread([server]):
        listener = OdriveBus(rigs.axis_settings(server, 2), rigs.names(2), readonly=True)
        assert listener.exchange(command, measurement, 1) == BusStatus.READ_ONLY
        assert measurement["motor_time_ns"][0, 0] > 0 and all(a._fed_ns <= 2**62 for a in axes)
        assert all(a.state == 1 for a in axes)
        listener.close()


def test_a_servo_of_the_wrong_baud_rate_is_silent_not_wrong(tmp_path: Path) -> None:
    side = SpringSide(1)
    chain = rigs.servo_chain(tmp_path / "servos", 1, side)
    assert isinstance(chain.servos[0], EmulatedServo)
    chain.servos[0].put("baud", 1)
    with EmulatorThread([chain]):
        with pytest.raises(TimeoutError, match="motor_0"):
            DynamixelBus(rigs.servo_settings(tmp_path / "servos", 1), rigs.names(1))
