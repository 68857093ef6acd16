"""Hands that people build behind emulated servos: what of the wire is used; makers' own client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from orca_core.hardware.dynamixel_client import DynamixelClient

from drivers.dynamixel import codec
from drivers.dynamixel.cycle import BLOCK_ADDRESS, BLOCK_BYTES
from drivers.dynamixel.device import DynamixelBus
from drivers.dynamixel.laws import BLOCK, FIRST
from drivers.dynamixel.models import BAUD_CODES, CYCLE, servo_model
from drivers.dynamixel.settings import DynamixelSettings
from hand.file.busfile import load_bus_file
from hand.options import RunOptions
from runtime.backends import motor_setups
from runtime.setup import read_hand
from signals.modes import MotorMode
from signals.records import COMMAND, MEASUREMENT, new
from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.servo import EmulatedServo
from sim.emulators.side import SpringSide
from sim.emulators.wire import serial_ns
from tests.rigs.stepped import Stage, put_on_stage

ORCA, LEAP = "orca_v2_position", "leap_v1"
WORKER_NS = 150_000
"""What a bus process needs between two exchanges, as in the tests of slow wires."""
EXCHANGES = 150
MODE_FINGERS, MODE_WRIST = 5, 4
ADDRESS_DEGC = 146


def _settings(name: str, port: Path) -> DynamixelSettings:
    """The shipped bus file of a hand at another port, and a computer that may be busy."""
    (entry,) = load_bus_file(f"{name}_servos").entries
    settings = entry.settings.fitted(read_hand(RunOptions(hand=name)).names)
    assert isinstance(settings, DynamixelSettings)
    return settings.with_values(port=str(port), reply_margin_us=100_000, watchdog_ms=2000)


def _chain(name: str, settings: DynamixelSettings, **words: Any) -> ChainEmulator:
    """The servos of its bus file."""
    motors = read_hand(RunOptions(hand=name)).names.motors
    side = SpringSide(len(motors), least_ns=1_000_000)
    servos = [
        EmulatedServo(d.id, servo_model(d.model), side, motors.index(d.motor), d.direction)
        for d in settings.device
    ]
    for servo, d in zip(servos, settings.device, strict=True):
        servo.put("baud", BAUD_CODES[settings.baud])
        offset = servo.model.registers["homing_offset"]  # so that its zero is the straight hand's
        counts = round(d.direction * d.zero_rad * servo.model.counts_per_turn / (2.0 * np.pi))
        assert not servo.write(offset.address, offset.encode(counts))
    return ChainEmulator(servos, side, Path(settings.port), **words)


def cycle_ns(settings: DynamixelSettings) -> int:
    """What the bytes of a cycle take: an angle to every servo, one block from every servo."""
    n = len(settings.device)
    ids = bytes(d.id for d in settings.device)
    goals = len(codec.sync_write(ids, CYCLE["goal_position"], 4, bytes(4 * n)))
    request = len(codec.sync_read(ids, BLOCK_ADDRESS, BLOCK_BYTES, True))
    return serial_ns(goals + request + FIRST + n * BLOCK, settings.baud)


@pytest.mark.parametrize(
    ("name", "adapter_ns", "share", "least_hz"), [(ORCA, 0, 0.85, 0.0), (LEAP, 1_000_000, 0.0, 300.0)]
)
def test_the_driver_gets_what_the_wire_gives(
    name: str,
    adapter_ns: int,
    share: float,
    least_hz: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In stepped time: real bytes, every angle new in every cycle, health on the way.

    ``share`` is of the rate that the bytes of a cycle allow; ``adapter_ns`` is the latency of a USB adapter.
    """
    stage = Stage()
    put_on_stage(stage, monkeypatch)
    hand, settings = read_hand(RunOptions(hand=name)), _settings(name, tmp_path / "servos")
    chain = _chain(name, settings, adapter_latency_ns=adapter_ns, clock=stage.clock)
    stage.emulators = [chain]
    n, ended, statuses, angles = len(hand.names.motors), [], set(), []

    def drive() -> None:
        bus = DynamixelBus(settings, hand.names, False, stage.clock)
        bus.configure(motor_setups(hand))
        bus.activate()
        command, measurement = new(COMMAND), new(MEASUREMENT)
        bus.exchange(command, measurement, stage.now_ns)
        command["motor_mode"][0, :n], command["motor_current_a"][0, :n] = MotorMode.POSITION, 0.25
        begun_ns = stage.now_ns
        for k in range(EXCHANGES):
            command["motor_angle_rad"][0, :n] = 0.4 * np.sin(0.05 * k + np.arange(n))
            statuses.add(bus.exchange(command, measurement, stage.now_ns))
            angles.append(measurement["motor_angle_rad"][0, :n].copy())
            stage.wait(stage.now_ns + WORKER_NS)
        ended.append((stage.now_ns - begun_ns) / EXCHANGES)

    stage.play(drive)
    stage.run(lambda: not ended)
    assert statuses == {0} and np.ptp(angles, axis=0).min() > 0.2, "all servos answer and move"
    assert cycle_ns(settings) / ended[0] >= share
    assert 1e9 / ended[0] >= least_hz


@pytest.fixture
def makers(tmp_path: Path) -> Iterator[tuple[DynamixelClient, ChainEmulator, list[int]]]:
    """Their client, connected to the emulated hand."""
    settings = _settings(ORCA, tmp_path / "servos")
    chain = _chain(ORCA, settings)
    for servo in chain.servos:
        servo.put("return_delay", 0)
    ids = [s.id for s in chain.servos]
    with EmulatorThread([chain]):
        client = DynamixelClient(ids, settings.port, settings.baud)
        client.connect()
        for _ in range(40):  # it gives each servo 34 ms, once: a busy computer may need more
            if len(client.responding_motor_ids()) == len(ids):
                break
            client.disconnect()
            client.connect()
        try:
            yield client, chain, ids
        finally:
            client.disconnect()


def test_its_makers_client_drives_the_emulated_hand(makers: Any) -> None:
    client, chain, ids = makers
    fingers = [i for i in ids if i != 1]
    assert sorted(client.responding_motor_ids()) == sorted(ids)
    client.set_operating_mode([1], MODE_WRIST)
    client.set_operating_mode(fingers, MODE_FINGERS)
    client.write_desired_current(ids, np.full(len(ids), 300.0))
    client.set_torque_enabled(ids, True)
    by_id = {s.id: s for s in chain.servos}
    assert [by_id[i].get("operating_mode") for i in ids] == [
        MODE_WRIST if i == 1 else MODE_FINGERS for i in ids
    ]
    assert all(by_id[i].get("goal_current") == 300 for i in fingers)
    wanted = np.linspace(-0.5, 0.5, len(ids))
    client.write_desired_pos(ids, wanted)

    def there() -> bool:
        found = client.read_position_velocity_current()
        return bool(client.last_read_ok and np.abs(found.position - wanted).max() < 3e-3)

    end = time.monotonic() + 20.0
    while not there() and time.monotonic() < end:
        time.sleep(0.02)
    assert there()


def test_a_cycle_of_theirs_takes_the_wire_for_as_long_as_ours(makers: Any) -> None:
    """A read and a write of every servo: both are at the bytes that protocol and servos ask for."""
    client, chain, ids = makers
    client.set_torque_enabled(ids, True)
    costs_ns = []
    for k in range(20):
        begun_ns, packets = chain.wire_ns, chain.packets
        client.read_position_velocity_current()
        client.write_desired_pos(ids, np.full(len(ids), 1e-2 * k))
        client.read_temperature()  # answered, so all before it has been on the wire
        if chain.packets == packets + 3:  # a busy computer lets them ask again
            costs_ns.append(chain.wire_ns - begun_ns)
    fast = (
        len(codec.sync_read(bytes(ids), ADDRESS_DEGC, 1, True)) + FIRST + len(ids) * (BLOCK - BLOCK_BYTES + 1)
    )
    ours_ns = cycle_ns(_settings(ORCA, Path(client.port_name)))
    assert min(costs_ns) - serial_ns(fast, client.baudrate) == pytest.approx(ours_ns, rel=0.01)
