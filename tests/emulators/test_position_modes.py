"""Position modes behind a hand that moves by currents alone: refused or said, on every wire."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from drivers.contract import Bench, Rig
from drivers.errors import ConfigureError
from drivers.hal import MotorSetup
from signals.modes import ChannelStatus, MotorMode
from sim.backend import SimulatedBus
from sim.emulators.side import BackendSide, SpringSide
from sim.options import SimOptions
from tests.rigs import bench_hand
from tests.rigs import emulated as rigs

SETUP = MotorSetup(index=0, name="motor_0", current_limit_a=1.0, mode=MotorMode.POSITION)


def test_the_plant_behind_emulated_devices_follows_no_positions() -> None:
    m = bench_hand.model()
    side = BackendSide(lambda: SimulatedBus(m.copy(), SimOptions()))
    assert side.positions == (MotorMode.POSITION in side.bus.capabilities.motor_modes)
    assert not side.positions


def test_a_servo_refuses_the_mode(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 1) as (rig, chain):
        chain.servos[0]._modes = frozenset({0})
        with pytest.raises(ConfigureError, match=r"motor_0 \(id 1\): operating_mode is 'refused"):
            rig.bus.configure((SETUP,))
        assert not chain.servos[0].get("torque_enable")


def test_a_servo_left_in_another_mode_takes_no_torque(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 1) as (_rig, chain):
        servo, torque = chain.servos[0], chain.servos[0].model.registers["torque_enable"]
        servo.put("operating_mode", 1)  # of velocities
        assert servo.write(torque.address, b"\1") != 0 and not servo.get("torque_enable")


def test_an_axis_latches_an_error_and_is_named() -> None:
    with rigs.odrive(1) as (rig, _server, axes):
        axes[0].side.positions = False
        rig.bus.configure((SETUP,))
        with pytest.raises(ConfigureError, match=r"motor_0 \(node 1\): state is '1 \(error 0x10\)'"):
            rig.bus.activate()


def test_a_board_says_wrong_mode_and_drives_nothing() -> None:
    with rigs.collector(3) as (rig, board):
        board.side.positions = False
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.2)
        bench.command["motor_mode"][0, 1] = MotorMode.POSITION
        bench.command["motor_angle_rad"][0, 1] = 0.5
        assert bench.comes(0.2, lambda: bool(bench.of_motors("motor_status")[1] & ChannelStatus.WRONG_MODE))
        assert board.side.command["motor_mode"][0, :3].tolist() == [1, 0, 1]
        assert not np.delete(bench.of_motors("motor_status"), 1).any()
        bench.pull(0.3, 0.2)
        assert not bench.of_motors("motor_status").any(), bench.tell()


# --- goals that are no numbers ---------------------------------------------------------------------------


def _in_position(rig: Rig) -> Bench:
    """All motors in position mode at 0.5 rad."""
    bench = Bench(rig)
    setups = tuple(
        MotorSetup(index=i, name=f"motor {i}", current_limit_a=1.0, mode=MotorMode.POSITION)
        for i in rig.motors
    )
    rig.bus.configure(setups)
    rig.bus.activate()
    bench.rest(0.1)
    bench.command["motor_mode"][0, list(rig.motors)] = MotorMode.POSITION
    bench.command["motor_current_a"][0, list(rig.motors)] = 1.0
    bench.command["motor_angle_rad"][0, list(rig.motors)] = 0.5
    assert bench.comes(0.5, lambda: bool(np.abs(bench.of_motors("motor_angle_rad") - 0.5).max() < 5e-3))
    return bench


def _led_by_no_number(rig: Rig, side: SpringSide) -> list[str]:
    """What goals that are no numbers did: NaN is none (where it is, or limp), infinities end nobody."""
    bench, found, c = _in_position(rig), [], side.command[0]
    bench.command["motor_angle_rad"][0, 0] = np.nan
    bench.run(0.1)
    if c["motor_mode"][0] != MotorMode.OFF and not abs(c["motor_angle_rad"][0] - 0.5) <= 5e-3:
        found.append(f"nan: led to {c['motor_angle_rad'][0]}")
    for value in (np.inf, -np.inf, 1e300):
        bench.command["motor_angle_rad"][0, 0] = value
        bench.run(0.05)
        if not np.isfinite(c["motor_angle_rad"][0]):
            found.append(f"{value}: led to {c['motor_angle_rad'][0]}")
        if not abs(bench.of_motors("motor_angle_rad")[1] - 0.5) < 5e-3:
            found.append(f"{value}: its neighbour moved: {bench.tell()}")
    return found


def test_a_servo_takes_no_number_for_no_goal(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2) as (rig, chain):
        assert _led_by_no_number(rig, chain.side) == []  # type: ignore[arg-type]


def test_an_axis_takes_no_number_for_no_goal() -> None:
    with rigs.odrive(2) as (rig, _server, axes):
        assert _led_by_no_number(rig, axes[0].side) == []  # type: ignore[arg-type]


def test_a_board_takes_no_number_for_no_goal() -> None:
    with rigs.collector(2) as (rig, board):
        assert _led_by_no_number(rig, board.side) == []  # type: ignore[arg-type]


def test_a_wrist_axis_takes_no_number_for_no_goal() -> None:
    with rigs.collector(2) as (rig, board):
        bench = Bench(rig)
        bench.start()
        bench.command["axis_enable"], bench.command["axis_angle_rad"] = 1, 0.3
        bench.run(0.3)
        bench.command["axis_angle_rad"][0, 0] = np.nan
        bench.run(0.1)
        assert board.side.command["axis_enable"][0].tolist() == [0, 1]
        assert bench.measurement["axis_angle_rad"][0].tolist() == pytest.approx([0.3, 0.3], abs=1e-3)
