"""One rig per family for the contract: our driver against our emulated device on a spring bench."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from drivers.collector.device import CollectorBus
from drivers.collector.settings import CollectorSettings
from drivers.contract import Bench, Rig
from drivers.dynamixel.device import DynamixelBus
from drivers.dynamixel.models import BAUD_CODES, servo_model
from drivers.dynamixel.settings import DynamixelDevice, DynamixelSettings
from drivers.odrive.device import OdriveBus
from drivers.odrive.settings import OdriveDevice, OdriveSettings
from signals.names import HandNames
from sim.emulators.canbus import CanBus
from sim.emulators.chain import ChainEmulator
from sim.emulators.collector import CollectorEmulator
from sim.emulators.loop import Emulator, EmulatorThread
from sim.emulators.odrive import ENDPOINTS, EmulatedAxis
from sim.emulators.servo import EmulatedServo
from sim.emulators.side import SpringSide
from sim.emulators.socketcand import BusServer

BAUD = 1_000_000
MODEL = "xm430-w210"
TRAVEL_RAD = (-3.1, 3.1)
NM_A = 0.05
ENDPOINT_NUMBERS = {name: number for number, (name, _) in ENDPOINTS.items()}


def names(n: int, axes: int = 0) -> HandNames:
    """A hand of n motors and n tendons."""
    motors = tuple(f"motor_{i}" for i in range(n))
    tendons = tuple(f"tendon_{i}" for i in range(n))
    return HandNames(
        hand="bench",
        motors=motors,
        tendons=tendons,
        joints=(),
        fingers=(),
        axes=("flexion", "abduction")[:axes],
    )


def hall_count(angle_rad: float) -> float:
    """Hall channel of the bench."""
    return SpringSide.HALL_ZERO_COUNT + SpringSide.HALL_COUNTS_RAD * angle_rad


def device_current(side: SpringSide) -> Any:
    """What the bench's motors are really told."""

    def current_a(i: int) -> float:
        command = side.command[0]
        return float(command["motor_current_a"][i]) if command["motor_mode"][i] == 1 else 0.0

    return current_a


@contextmanager
def collector(n: int = 6, **changes: Any) -> Iterator[tuple[Rig, CollectorEmulator]]:
    """A board on the loopback interface."""
    side = SpringSide(n, n, 2)
    board = CollectorEmulator(side, n, n, 2)
    values: dict[str, Any] = {"reply_timeout_us": 20_000, "watchdog_ms": 500.0} | changes
    settings = CollectorSettings(name="board", family="collector", host=board.host, port=board.port, **values)
    with EmulatorThread([board]) as thread:
        board.thread = thread  # type: ignore[attr-defined]
        bus = CollectorBus(settings, names(n, 2))

        def silence(i: int, on: bool) -> None:
            (board.faults.stale_motors.add if on else board.faults.stale_motors.discard)(i)
            if not on:
                side.measurement["motor_status"][0, i] = 0

        def unplug() -> None:
            board.faults.deaf = True

        def plug() -> None:
            board.faults.deaf = False

        rig = Rig(
            bus=bus,
            motors=tuple(range(n)),
            halls=tuple(range(n)),
            hall_count=hall_count,
            device_current_a=device_current(side),
            reset=lambda _i: thread.do(board.restart),
            unplug=unplug,
            plug=plug,
            comes_back_by_itself=True,
        )
        rig.silence = None  # a stale slot is not a motor that comes back; see test_collector
        try:
            yield rig, board
        finally:
            bus.close()


def servo_settings(
    link: Path,
    n: int,
    travel_rad: tuple[float, float] | None = TRAVEL_RAD,
    gear_ratio: float = 1.0,
    models: tuple[str, ...] = (MODEL,),
    **changes: Any,
) -> DynamixelSettings:
    """Bus-file table of n servos, every second one counting backwards; models in turn."""
    devices = tuple(
        DynamixelDevice(
            id=i + 1,
            model=models[i % len(models)],
            motor=f"motor_{i}",
            direction=-1 if i % 2 else 1,
            travel_rad=travel_rad,
            gear_ratio=gear_ratio,
        )
        for i in range(n)
    )
    values: dict[str, Any] = {
        "baud": BAUD,
        "adapter_latency_us": 0,
        "reply_margin_us": 100_000,  # a busy computer is not a silent servo
        "watchdog_ms": 2000,
    } | changes
    return DynamixelSettings(name="servos", family="dynamixel", port=str(link), device=devices, **values)


def servo_chain(
    link: Path,
    n: int,
    side: SpringSide,
    gear_ratio: float = 1.0,
    models: tuple[str, ...] = (MODEL,),
    firmware: tuple[int, ...] = (50,),
) -> ChainEmulator:
    """n emulated servos that fit ``servo_settings``; models and firmwares in turn."""
    servos = [
        EmulatedServo(
            i + 1,
            servo_model(models[i % len(models)]),
            side,
            i,
            direction=-1 if i % 2 else 1,
            gear_ratio=gear_ratio,
            firmware=firmware[i % len(firmware)],
        )
        for i in range(n)
    ]
    for servo in servos:
        servo.put("baud", BAUD_CODES[BAUD])
    return ChainEmulator(servos, side, link)


@contextmanager
def dynamixel(
    folder: Path,
    n: int = 4,
    *,
    gear_ratio: float = 1.0,
    models: tuple[str, ...] = (MODEL,),
    firmware: tuple[int, ...] = (50,),
    status_level: int = 2,
    **changes: Any,
) -> Iterator[tuple[Rig, ChainEmulator]]:
    """A chain of servos on a pty."""
    side = SpringSide(n)
    chain = servo_chain(folder / "servos", n, side, gear_ratio, models, firmware)
    for servo in chain.servos:
        servo.put("status_return_level", status_level)
    with EmulatorThread([chain]) as thread:
        chain.thread = thread  # type: ignore[attr-defined]
        settings = servo_settings(folder / "servos", n, gear_ratio=gear_ratio, models=models, **changes)
        bus = DynamixelBus(settings, names(n))
        rig = Rig(
            bus=bus,
            motors=tuple(range(n)),
            device_current_a=device_current(side),
            silence=lambda i, on: setattr(chain.servos[i], "silent", on),
            reset=lambda i: thread.do(chain.servos[i].reboot),
            unplug=lambda: thread.do(chain.unplug),
            plug=lambda: thread.do(chain.line.plug),
        )
        try:
            yield rig, chain
        finally:
            bus.close()


def axis_settings(
    server: BusServer, n: int, travel_rad: tuple[float, float] | None = TRAVEL_RAD, **changes: Any
) -> OdriveSettings:
    """Bus-file table of n axes."""
    devices = tuple(
        OdriveDevice(
            node=i + 1,
            motor=f"motor_{i}",
            torque_constant_nm_a=NM_A,
            direction=-1 if i % 2 else 1,
            travel_rad=travel_rad,
        )
        for i in range(n)
    )
    values: dict[str, Any] = {
        "heartbeat_ms": 50,
        "feedback_ms": 5,
        "watchdog_ms": 1000.0,
        "endpoints": ENDPOINT_NUMBERS,
    } | changes
    return OdriveSettings(
        name="drives",
        family="odrive",
        interface="socketcand",
        channel="can0",
        host=server.host,
        port=server.port,
        device=devices,
        **values,
    )


def axis_bus(n: int, side: SpringSide, watchdog_s: float = 0.0) -> tuple[BusServer, list[EmulatedAxis]]:
    """n emulated axes that fit ``axis_settings``, with a watchdog that is saved in them."""
    start_ns = time.monotonic_ns()
    axes = [
        EmulatedAxis(
            i + 1,
            side,
            i,
            torque_constant_nm_a=NM_A,
            direction=-1 if i % 2 else 1,
            heartbeat_ms=50,
            feedback_ms=5,
            slow_ms=20,
            start_ns=start_ns + i * 1_000_000,
            watchdog_s=watchdog_s,
        )
        for i in range(n)
    ]
    return BusServer({"can0": CanBus(nodes=list(axes))}), axes


@contextmanager
def odrive(
    n: int = 4, watchdog_s: float = 0.0, **changes: Any
) -> Iterator[tuple[Rig, BusServer, list[EmulatedAxis]]]:
    """Axes on an emulated CAN bus behind the bus server."""
    side = SpringSide(n)
    server, axes = axis_bus(n, side, watchdog_s)
    emulators: list[Emulator] = [server]
    with EmulatorThread(emulators) as thread:
        server.thread = thread  # type: ignore[attr-defined]
        bus = OdriveBus(axis_settings(server, n, **changes), names(n))

        def back_on() -> None:
            server.buses["can0"].faults.bus_off = False

        rig = Rig(
            bus=bus,
            motors=tuple(range(n)),
            device_current_a=device_current(side),
            silence=lambda i, on: setattr(axes[i], "silent", on),
            reset=lambda i: thread.do(axes[i].reboot),
            unplug=lambda: thread.do(lambda: server.bus_off("can0")),
            plug=back_on,
        )
        try:
            yield rig, server, axes
        finally:
            bus.close()


def pulls_again(bench: Bench, current_a: float) -> None:
    """At rest the marks clear; then the motors follow their command."""
    bench.rest(0.1)
    assert bench.comes(1.0, lambda: not bench.of_motors("motor_status").any()), bench.tell()
    bench.rest(0.3)
    bench.pull(current_a, 0.2)

    def there() -> bool:
        return bool(np.abs(bench.of_motors("motor_angle_rad") - current_a).max() < 3e-3)

    assert bench.comes(0.3, there), bench.tell()
