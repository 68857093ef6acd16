"""Every optional key left out in turn: the computer goes, and the motors are let go, or it was told."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from drivers.collector.device import CollectorBus
from drivers.collector.settings import CollectorSettings
from drivers.contract import Bench, Rig
from drivers.dynamixel.device import DynamixelBus
from drivers.dynamixel.settings import DynamixelDevice, DynamixelSettings
from drivers.errors import DriverError
from drivers.family import BusSettings
from drivers.odrive.device import OdriveBus
from drivers.odrive.settings import OdriveDevice, OdriveSettings
from sim.emulators.collector import CollectorEmulator
from sim.emulators.loop import Emulator, EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs

N = 2
CURRENT_A = 0.2
GONE_S = 20.0
"""Longest time to wait for the devices' own watchdogs."""
WAY = {"interface", "host", "port", "channel"}
"""Keys that say where the emulated device is."""


def _optional(settings: type[BaseModel], device: type[BaseModel] | None = None) -> list[tuple[str, str]]:
    """(table, key) of every key that may be left out."""
    found = [("bus", k) for k, f in settings.model_fields.items() if not f.is_required() and k not in WAY]
    if device is not None:
        found += [("device", k) for k, f in device.model_fields.items() if not f.is_required()]
    return found


def _without(settings: BusSettings, table: str, key: str) -> Any:
    """The same bus file without a key, in every device."""
    raw = settings.model_dump()
    for part in [raw] if table == "bus" else raw["device"]:
        part.pop(key, None)
    return type(settings).model_validate(raw)


@dataclass
class Bus:
    """Emulated devices that fit a complete table, driven with a key of it left out."""

    bench: Bench
    settings: BusSettings
    reset: Callable[[], None]
    """Takes the power of the first motor's device for a moment."""

    def driven_a(self) -> list[float]:
        """What the devices really drive."""
        assert self.bench.rig.device_current_a is not None
        return [self.bench.rig.device_current_a(i) for i in self.bench.rig.motors]

    def pulls(self, current_a: float, seconds: float = 0.05) -> None:
        """Short watchdogs trip on a busy computer; at rest they are put right, and it is tried again."""
        for _ in range(20):
            self.bench.pull(current_a, seconds)
            if min(map(abs, self.driven_a())) > 0.5 * abs(current_a):
                return
            self.bench.rest(0.3)
        raise AssertionError(self.bench.tell())


@contextmanager
def _driven(family: str, table: str, key: str, folder: Path) -> Iterator[Bus]:
    side, hand = SpringSide(N, N, 2), rigs.names(N, 2)
    emulator: Emulator
    complete: BusSettings
    reset: Callable[[], None]
    open_bus: Any
    if family == "dynamixel":
        emulator = chain = rigs.servo_chain(folder / "servos", N, side)
        complete, open_bus = rigs.servo_settings(folder / "servos", N, watchdog_ms=400), DynamixelBus
        reset = chain.servos[0].reboot
    elif family == "odrive":
        emulator, axes = rigs.axis_bus(N, side)
        complete, open_bus = rigs.axis_settings(emulator, N, watchdog_ms=400.0), OdriveBus
        reset = axes[0].reboot
    else:
        emulator = board = CollectorEmulator(side, N, N, 2)
        where: dict[str, Any] = {"host": board.host, "port": board.port}
        times: dict[str, Any] = {"reply_timeout_us": 20_000, "watchdog_ms": 400.0}
        complete = CollectorSettings(name="board", family="collector", **where, **times)
        open_bus, reset = CollectorBus, board.restart
    settings = _without(complete, table, key).fitted(hand)  # as whoever opens a bus does
    with EmulatorThread([emulator]) as thread:
        bus = open_bus(settings, hand)
        try:
            rig = Rig(bus=bus, motors=tuple(range(N)), device_current_a=rigs.device_current(side))
            yield Bus(Bench(rig), settings, lambda: thread.do(reset))
        finally:
            bus.close()


CASES = [
    *(("dynamixel", *found) for found in _optional(DynamixelSettings, DynamixelDevice)),
    *(("odrive", *found) for found in _optional(OdriveSettings, OdriveDevice)),
    *(("collector", *found) for found in _optional(CollectorSettings)),
]


MAY_REFUSE = ("endpoints", "reply_margin_us", "heartbeat_ms")
"""Keys without which a bus may be refused: a watchdog not proven, devices that seem silent or doubled."""


@pytest.mark.sample(5)
@pytest.mark.parametrize(("family", "table", "key"), CASES, ids=str)
def test_a_missing_key_leaves_no_motor_pulling_in_silence(
    family: str, table: str, key: str, tmp_path: Path
) -> None:
    try:
        with _driven(family, table, key, tmp_path) as bus:
            bus.bench.start()
            bus.pulls(CURRENT_A)
            end = time.monotonic() + GONE_S  # the computer is gone
            while any(bus.driven_a()) and time.monotonic() < end:
                time.sleep(0.01)
            told = any("watchdog" in text for text in bus.settings.unproven(rigs.names(N, 2)))
            assert told or bus.driven_a() == [0.0] * N
    except DriverError as refused:
        assert key in MAY_REFUSE, refused


@pytest.mark.sample(5)
@pytest.mark.parametrize(("family", "table", "key"), CASES, ids=str)
def test_a_missing_key_leaves_no_reset_motor_wrong_with_a_clean_status(
    family: str, table: str, key: str, tmp_path: Path
) -> None:
    """At rest the spring brings the motor back to where it began: its angle is as before, or it is marked."""
    try:
        with _driven(family, table, key, tmp_path) as bus:
            bench = bus.bench
            bench.start()
            before = bench.of_motors("motor_angle_rad")
            bus.pulls(-0.9, 0.15)  # behind zero: a device that forgets its turns begins one turn off
            bus.reset()
            assert bench.comes(0.5, lambda: bool(bench.of_motors("motor_status")[0])), bench.tell()
            bench.rest(0.15)
            if key == "travel_rad":
                bench.run(0.5)
                assert bench.of_motors("motor_status")[0]
                bench.pull(CURRENT_A, 0.1)
                assert bus.driven_a()[0] == 0.0
                return
            assert bench.comes(1.0, lambda: not bench.of_motors("motor_status").any()), bench.tell()
            back = lambda: bench.of_motors("motor_angle_rad") == pytest.approx(before, abs=5e-3)  # noqa: E731
            assert bench.comes(0.3, back), bench.tell()
    except DriverError as refused:
        assert key in MAY_REFUSE, refused


def test_the_sweep_covers_every_family_that_moves_motors() -> None:
    from drivers.registry import TABLE, family

    moving = {name for name in TABLE if "device" in family(name).settings.model_fields or name == "collector"}
    assert moving == {case[0] for case in CASES}
