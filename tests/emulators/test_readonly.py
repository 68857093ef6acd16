"""Read-only: a whole life of every family, with every byte that it wrote recorded at the other end.

Each recorder is proved by the same life without ``readonly``, which has to leave traces.
"""

from __future__ import annotations

import fcntl
import os
import select
import socket
import sys
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivers.collector.codec import Kind
from drivers.collector.device import CollectorBus
from drivers.collector.settings import CollectorSettings
from drivers.dynamixel import codec as servo_codec
from drivers.dynamixel.device import DynamixelBus
from drivers.errors import DriverError, ReadOnly
from drivers.hal import Bus, MotorSetup
from drivers.hallbridge.device import HallBridgeBus
from drivers.hallbridge.orca_device import OrcaBus
from drivers.hallbridge.settings import HallBridgeSettings, OrcaSettings
from drivers.odrive.device import OdriveBus
from hand.options import OptionError, RunOptions
from runtime.busprocess.remote import RemoteBus
from runtime.loop import Loop
from runtime.setup import build, prepare, read_hand
from signals.modes import BusStatus, ChannelStatus, MotorMode, Request
from signals.records import COMMAND, MEASUREMENT, new
from sim.emulators.collector import CollectorEmulator
from sim.emulators.hallstream import HallBridgeEmulator, OrcaEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from sim.emulators.socketcand import BusServer
from telemetry.shm.channel import Channel as Ring
from tests.rigs import emulated as rigs

READ_ONLY = int(BusStatus.READ_ONLY)
NOT_FRESH = int(ChannelStatus.STALE | ChannelStatus.MISSING)


def whole_life(bus: Bus, n: int, cycles: int = 20) -> list[int]:
    """Everything that a control process may do with a bus, with torque asked for; the exchanges' statuses."""
    command, measurement, statuses = new(COMMAND), new(MEASUREMENT), []
    setups = tuple(MotorSetup(index=i, name=f"motor_{i}", current_limit_a=1.0) for i in range(n))
    try:
        bus.configure(setups)
        with suppress(ReadOnly):
            bus.activate()
        for k in range(2 * cycles):
            command["motor_mode"][0, :n] = MotorMode.OFF if k == 0 else MotorMode.CURRENT
            command["motor_current_a"][0, :n] = 0.0 if k == 0 else 0.5
            command["axis_enable"], command["axis_angle_rad"] = 1, 0.2
            statuses.append(bus.exchange(command, measurement, time.monotonic_ns()))
            if k == cycles:
                with suppress(DriverError):
                    bus.recover()
        bus.deactivate()
    finally:
        bus.close()
    return statuses


@pytest.mark.parametrize("readonly", [True, False])
def test_a_chain_of_servos_is_never_written_to(tmp_path: Path, readonly: bool) -> None:
    chain = rigs.servo_chain(tmp_path / "servos", 2, SpringSide(2))
    heard = _recorded(chain.line)
    with EmulatorThread([chain]):
        bus = DynamixelBus(rigs.servo_settings(tmp_path / "servos", 2), rigs.names(2), readonly=readonly)
        statuses = whole_life(bus, 2)
    assert bool(heard) is not readonly
    assert all(bool(s & READ_ONLY) is readonly for s in statuses)


@pytest.mark.parametrize("readonly", [True, False])
def test_a_hall_bridge_is_never_written_to(tmp_path: Path, readonly: bool) -> None:
    bridge = HallBridgeEmulator(SpringSide(2, 2), [0, 1], tmp_path / "hall", rate_hz=500.0)
    heard = _recorded(bridge.line)
    settings = HallBridgeSettings(
        name="hall",
        family="hall-bridge",
        port=str(tmp_path / "hall"),
        channels=rigs.names(2).tendons,
        lost_ms=1000.0,
    )
    with EmulatorThread([bridge]):
        statuses = whole_life(HallBridgeBus(settings, rigs.names(2), readonly), 0)
    assert bool(heard) is not readonly
    assert all(bool(s & READ_ONLY) is readonly for s in statuses) and READ_ONLY in [*statuses, READ_ONLY]


def test_an_encoder_stream_is_never_written_to(tmp_path: Path) -> None:
    """ORCA's stream talks by itself; this family has nothing to say at all."""
    stream = OrcaEmulator(SpringSide(17, 17), list(range(17)), tmp_path / "orca")
    heard = _recorded(stream.line)
    channels = (*rigs.names(2).tendons, *("" for _ in range(15)))
    settings = OrcaSettings(
        name="orca", family="orca-encoders", port=str(tmp_path / "orca"), channels=channels, lost_ms=1000.0
    )
    with EmulatorThread([stream]):
        statuses = whole_life(OrcaBus(settings, rigs.names(2), readonly=True), 0)
    assert not heard and READ_ONLY in statuses


def _recorded(line: Any) -> list[bytes]:
    """Every piece that comes out of the device's end of a line, from now on."""
    heard: list[bytes] = []
    read = line.read

    def noted() -> bytes:
        data: bytes = read()
        if data:
            heard.append(data)
        return data

    line.read = noted
    return heard


@pytest.mark.parametrize("readonly", [True, False])
def test_a_can_bus_is_never_written_to(readonly: bool) -> None:
    """The whole dialogue with the bus server: it is opened, and no frame is ever sent."""
    server, axes = rigs.axis_bus(2, SpringSide(2))
    words: list[str] = []
    message = server._message

    def noted(guest: Any, verb: str, rest: str, now_ns: int) -> None:
        words.append(verb)
        message(guest, verb, rest, now_ns)

    server._message = noted  # type: ignore[method-assign]
    with EmulatorThread([server]):
        bus = OdriveBus(rigs.axis_settings(server, 2), rigs.names(2), readonly=readonly)
        statuses = whole_life(bus, 2)
    assert set(words) == {"open", "rawmode"} | (set() if readonly else {"send"})
    assert all(bool(s & READ_ONLY) is readonly for s in statuses)
    if readonly:
        assert READ_ONLY in statuses[-5:]  # all axes heard, also after the interface was opened again


class Relay(threading.Thread):
    """Passes datagrams on between one computer and one board, and keeps those to the board."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(daemon=True)
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("127.0.0.1", 0))
        self._back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._back.connect((host, port))
        self.port = self._front.getsockname()[1]
        self.kinds: list[int] = []
        self.stopping = threading.Event()

    def run(self) -> None:
        address: Any = None
        while not self.stopping.is_set():
            for ready in select.select([self._front, self._back], [], [], 0.05)[0]:
                if ready is self._front:
                    data, address = self._front.recvfrom(2048)
                    self.kinds.append(data[4])
                    self._back.send(data)
                elif address is not None:
                    with suppress(OSError):
                        self._front.sendto(self._back.recv(2048), address)
        self._front.close()
        self._back.close()


@pytest.fixture
def board() -> Iterator[tuple[CollectorEmulator, Relay, CollectorSettings]]:
    n = 3
    emulator = CollectorEmulator(SpringSide(n, n, 2), n, n, 2)
    with EmulatorThread([emulator]):
        relay = Relay(emulator.host, emulator.port)
        relay.start()
        settings = CollectorSettings(
            name="board",
            family="collector",
            host="127.0.0.1",
            port=relay.port,
            reply_timeout_us=100_000,
            watchdog_ms=500.0,
        )
        yield emulator, relay, settings
        relay.stopping.set()
        relay.join(5.0)


@pytest.mark.parametrize("readonly", [True, False])
def test_a_board_is_only_observed(board: Any, readonly: bool) -> None:
    """HELLO and OBSERVE change nothing and feed nothing; no command and no set-up is sent."""
    emulator, relay, settings = board
    statuses = whole_life(CollectorBus(settings, rigs.names(3, 2), readonly), 3)
    harmless = {int(Kind.HELLO), int(Kind.OBSERVE)}
    assert (set(relay.kinds) <= harmless) is readonly
    assert bool(emulator.commands) is not readonly
    if readonly:
        assert Kind.OBSERVE in relay.kinds and READ_ONLY in statuses


def test_a_board_that_was_away_is_seen_again_without_a_mark(board: Any) -> None:
    """Nobody has to be at rest before a watcher may look."""
    emulator, _, settings = board
    bus = CollectorBus(settings.model_copy(update={"lost_after": 2}), rigs.names(3, 2), readonly=True)
    command, measurement = new(COMMAND), new(MEASUREMENT)
    try:
        emulator.faults.deaf = True
        end, status = time.monotonic() + 20.0, 0
        while not status & BusStatus.LOST and time.monotonic() < end:
            status = bus.exchange(command, measurement, time.monotonic_ns())
        assert status & BusStatus.LOST
        emulator.faults.deaf = False
        while status != READ_ONLY and time.monotonic() < end:
            status = bus.exchange(command, measurement, time.monotonic_ns())
        assert status == READ_ONLY and not measurement["motor_status"][0, :3].any()
    finally:
        bus.close()


def test_servos_that_another_computer_asks_are_seen(tmp_path: Path) -> None:
    """Both ends of the talk are on the wires: plain and fast reads, blocks in longer ones, one servo."""
    n = 3
    line = rigs.servo_chain(tmp_path / "servos", n, SpringSide(n)).line
    bus = DynamixelBus(rigs.servo_settings(tmp_path / "servos", n), rigs.names(n), readonly=True)
    command, measurement = new(COMMAND), new(MEASUREMENT)
    ids = bytes(range(1, n + 1))

    def data(counts: int) -> bytes:
        block = b"".join(v.to_bytes(s, "little", signed=True) for v, s in ((100, 2), (0, 4), (counts, 4)))
        return b"\x55" * 4 + block + b"\x66" * 2  # registers 122 to 137

    def waiting() -> int:
        here = bus._port.serial._fd
        return int.from_bytes(fcntl.ioctl(here, termios.FIONREAD, bytes(4)), sys.byteorder)

    def talk(*packets: bytes) -> int:
        for packet in packets:
            os.write(line.descriptor, packet)
        end = time.monotonic() + 5.0  # the kernel carries bytes across a pty in its own time
        while waiting() < sum(map(len, packets)) and time.monotonic() < end:
            time.sleep(0.0005)
        return bus.exchange(command, measurement, time.monotonic_ns())

    def angles() -> Any:
        return measurement["motor_angle_rad"][0, :n] * 4096 / (2 * np.pi)

    try:
        assert talk() == READ_ONLY | BusStatus.TIMEOUT
        assert (measurement["motor_status"][0, :n] & ChannelStatus.MISSING).all()
        fast = servo_codec.fast_reply([(0, i, data(100 * i)) for i in ids])
        assert talk(servo_codec.sync_read(ids, 122, 16, fast=True), fast) == READ_ONLY
        assert angles() == pytest.approx([100, -200, 300])  # every second one counts backwards
        plain = [servo_codec.status(i, 0, data(200 * i)) for i in ids]
        assert talk(servo_codec.sync_read(ids, 122, 16, fast=False), *plain) == READ_ONLY
        assert angles() == pytest.approx([200, -400, 600])
        assert measurement["motor_current_a"][0, 0] == pytest.approx(100 * 2.69e-3)
        # an answer to another question, though as long, is no measurement
        talk(servo_codec.read(2, 100, 16), servo_codec.status(2, 0, data(4000)))
        talk(servo_codec.write(1, 116, bytes(4)), servo_codec.status(1, 0))
        talk(servo_codec.status(2, 0, data(4000)))
        assert angles() == pytest.approx([200, -400, 600])
        talk(servo_codec.read(2, 126, 10), servo_codec.status(2, 0, data(500)[4:14]))
        assert angles() == pytest.approx([200, -500, 600])
        time.sleep(0.11)
        assert talk() == READ_ONLY | BusStatus.TIMEOUT
        assert (measurement["motor_status"][0, :n] & ChannelStatus.STALE).all()
        assert not select.select([line.descriptor], [], [], 0)[0]
    finally:
        bus.close()
        line.close()


def test_a_bus_process_that_only_watches_sees_and_writes_nothing(tmp_path: Path) -> None:
    bridge = HallBridgeEmulator(SpringSide(2, 2), [0, 1], tmp_path / "hall", rate_hz=500.0)
    heard = _recorded(bridge.line)
    hand = rigs.names(2)
    settings = HallBridgeSettings(
        name="hall", family="hall-bridge", port=str(tmp_path / "hall"), channels=hand.tendons, lost_ms=1000.0
    )
    with EmulatorThread([bridge]):
        bus = RemoteBus(settings, hand, readonly=True, realtime=False)
        command, measurement = new(COMMAND), new(MEASUREMENT)
        try:
            end, status = time.monotonic() + 20.0, -1
            while status != READ_ONLY and time.monotonic() < end:
                status = bus.exchange(command, measurement, time.monotonic_ns())
                time.sleep(0.001)
            assert status == READ_ONLY and not measurement["hall_status"][0, :2].any()
            with pytest.raises(DriverError, match="read-only"):
                bus.activate()
        finally:
            bus.close()
    assert not heard


# --- flexor run --readonly --------------------------------------------------------------------------------


def _bus_file(folder: Path, server: CollectorEmulator | BusServer) -> Path:
    file = folder / "bus.toml"
    file.write_text(f'[[bus]]\nname = "board"\nfamily = "collector"\nport = {server.port}\n')
    file.write_text(file.read_text() + f'host = "{server.host}"\nreply_timeout_us = 100000\n')
    return file


def test_a_run_that_watches_needs_a_bus_and_no_motion() -> None:
    with pytest.raises(OptionError, match="--bus"):
        RunOptions(readonly=True)
    with pytest.raises(OptionError, match="--motion"):
        RunOptions(readonly=True, bus="b.toml", motion="open_close")
    assert RunOptions.from_json(RunOptions(readonly=True, bus="b.toml", seconds=1.0).to_json()).readonly
    assert not RunOptions(readonly=True, bus="b.toml", seconds=1.0).starts


def test_the_loop_watches_a_hand_and_commands_nothing_though_a_client_asks_for_torque(tmp_path: Path) -> None:
    side = SpringSide(8, 8)
    emulator = CollectorEmulator(side, 8, 8)
    with EmulatorThread([emulator]):
        options = RunOptions(
            hand="finger_bench", bus=str(_bus_file(tmp_path, emulator)), readonly=True, seconds=1.0
        )
        hand = read_hand(options)
        rig = build(options, hand, Ring.local(2), start=options.starts)
        try:
            prepare(rig, time.monotonic_ns())
            loop = Loop(rig.pipeline.tick, hand.rate_hz)
            for request in (Request.ARM, Request.ACTIVATE):
                loop.run(100, lambda: True)
                rig.goals.request(request)
            loop.run(300, lambda: True)
            z = rig.views["measurement"][0]
            assert (z["motor_time_ns"][:8] > 0).all() and not z["motor_status"][:8].any()
            assert np.isfinite(rig.views["state"]["joint_angle_rad"]).all()
            assert rig.bus.deactivate() is True
        finally:
            rig.bus.close()
    assert emulator.commands == 0 and not side.command["motor_mode"].any()
