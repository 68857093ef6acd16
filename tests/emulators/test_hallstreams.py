"""Hall bridge and ORCA stream: drivers on emulators, with losses, bad channels, drift, a pulled cable."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drivers.errors import BusLost, WrongDevice
from drivers.hallbridge.device import HallBridgeBus
from drivers.hallbridge.orca_device import OrcaBus
from drivers.hallbridge.settings import AxisChannel, HallBridgeSettings, OrcaSettings
from signals.modes import BusStatus, ChannelStatus
from signals.records import COMMAND, MEASUREMENT, new
from sim.emulators.hallstream import HallBridgeEmulator, OrcaEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs.emulated import names

N = 6
HAND = names(N, 2)


def _bent_side() -> SpringSide:
    side = SpringSide(N, N, 2)
    side.command["motor_mode"][0, :N] = 1
    side.command["motor_current_a"][0, :N] = np.linspace(-1.0, 1.0, N)
    side.command["axis_enable"], side.command["axis_angle_rad"] = 1, (0.3, -0.2)
    side.advance(1)
    side.advance(10**9)
    return side


def _settings(link: Path, **changes: Any) -> HallBridgeSettings:
    values: dict[str, Any] = {"lost_ms": 500.0} | changes
    return HallBridgeSettings(
        name="hall",
        family="hall-bridge",
        port=str(link),
        channels=(*HAND.tendons, "", ""),
        axis=(
            AxisChannel(name="flexion", channel=N, zero_count=2000.0, rad_count=0.001),
            AxisChannel(name="abduction", channel=N + 1, zero_count=2000.0, rad_count=-0.001),
        ),
        **values,
    )


POTS = ((N, 0, 2000.0, 0.001), (N + 1, 1, 2000.0, -0.001))


@pytest.fixture(params=[1, 8])
def bridge(request: Any, tmp_path: Path) -> Iterator[tuple[HallBridgeBus, HallBridgeEmulator, SpringSide]]:
    side = _bent_side()
    emulator = HallBridgeEmulator(
        side,
        [*range(N), -1, -1],
        tmp_path / "hall",
        rate_hz=1000.0,
        samples=request.param,
        axes=POTS,
        drift=100e-6,
    )
    with EmulatorThread([emulator]) as thread:
        emulator.thread = thread  # type: ignore[attr-defined]
        bus = HallBridgeBus(_settings(tmp_path / "hall", rate_hz=1000.0), HAND)
        bus.configure(())
        bus.activate()
        yield bus, emulator, side
        bus.close()


def test_what_came_before_activate_is_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernel buffers hold seconds of a stream that nobody read, and hand them out in pieces."""
    monkeypatch.setattr("drivers.hallbridge.stream.OLD_NS", 300_000_000)  # for a computer that is busy
    side = _bent_side()
    emulator = HallBridgeEmulator(side, [*range(N), -1, -1], tmp_path / "hall", rate_hz=3000.0, axes=POTS)
    with EmulatorThread([emulator]) as thread:
        bus = HallBridgeBus(_settings(tmp_path / "hall"), HAND)
        end = time.monotonic() + 5.0
        while not emulator.line.overflows and time.monotonic() < end:
            time.sleep(0.01)

        def straighten() -> None:
            side.command["motor_mode"][0, :N] = 0
            side.angle_rad[:] = 0.0

        thread.do(straighten)
        bus.activate()
        measurement, command = new(MEASUREMENT), new(COMMAND)
        for _ in range(5):
            bus.exchange(command, measurement, time.monotonic_ns())
            assert (measurement["hall_count"][0, :N] == round(side.HALL_ZERO_COUNT)).all()
        assert bus.counts.lost == 0 or emulator.skipped
        bus.close()


def test_silence_counts_from_activate_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody listened to is no silence: between two long batches a stream that begins is not lost."""
    monkeypatch.setattr("drivers.hallbridge.stream.OLD_NS", 600_000_000)
    emulator = HallBridgeEmulator(_bent_side(), [*range(N), -1, -1], tmp_path / "hall", axes=POTS)
    with EmulatorThread([emulator]):
        bus = HallBridgeBus(_settings(tmp_path / "hall", lost_ms=500.0), HAND)
        emulator.faults.silent = True
        bus.activate()
        measurement, command = new(MEASUREMENT), new(COMMAND)
        assert bus.exchange(command, measurement, time.monotonic_ns()) == BusStatus.TIMEOUT
        assert _until(bus, measurement, lambda status: status & BusStatus.LOST)
        bus.close()


@pytest.mark.parametrize(("look_us", "frames"), [(0, 1), (2000, 6)])
def test_frames_gather_for_a_look_and_none_is_lost(look_us: int, frames: int, tmp_path: Path) -> None:
    emulator = HallBridgeEmulator(_bent_side(), [*range(N), -1, -1], tmp_path / "hall", rate_hz=3000.0)
    with EmulatorThread([emulator]):
        bus = HallBridgeBus(_settings(tmp_path / "hall", look_us=look_us), HAND)
        bus.activate()
        measurement, command = new(MEASUREMENT), new(COMMAND)
        bus.exchange(command, measurement, time.monotonic_ns())
        counted, looks = bus.counts.frames, 0
        for _ in range(100):
            looks += bus.exchange(command, measurement, time.monotonic_ns()) == 0
        assert looks and bus.counts.frames - counted + emulator.skipped >= 0.8 * looks * frames
        assert bus.counts.lost <= emulator.skipped + emulator.line.overflows
        bus.close()


def _until(bus: Any, measurement: Any, holds: Any, seconds: float = 3.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds(bus.exchange(new(COMMAND), measurement, time.monotonic_ns())):
            return True
    return False


def test_counts_axes_and_ages_come_through(bridge: Any) -> None:
    bus, emulator, side = bridge
    m = new(MEASUREMENT)
    assert _until(bus, m, lambda status: status == 0)
    wanted = np.rint(2048 + 400 * np.linspace(-1.0, 1.0, N))
    for _ in range(50):
        bus.exchange(new(COMMAND), m, time.monotonic_ns())
        assert (m["hall_count"][0, :N] == wanted).all() and (m["hall_fine_count"][0, :N] == wanted).all()
        assert m["hall_time_ns"][0, 0] <= time.monotonic_ns()
        assert time.monotonic_ns() - m["hall_time_ns"][0, 0] < 1_000_000_000
    assert m["axis_angle_rad"][0].tolist() == pytest.approx([0.3, -0.2], abs=1e-3)
    assert bus.info.channels == N + 2 and bus.info.serial == "EMULATED"


def test_the_next_frame_is_waited_for_however_many_samples_it_holds(bridge: Any) -> None:
    bus, _, _ = bridge
    command, measurement = new(COMMAND), new(MEASUREMENT)
    late = [
        bool(bus.exchange(command, measurement, time.monotonic_ns()) & int(BusStatus.TIMEOUT))
        for _ in range(24)
    ]
    assert sum(late) < 8, "a stall may cost some, a short wait costs three of four"


def test_bad_channels_are_marked_and_keep_their_last_value(bridge: Any) -> None:
    bus, emulator, side = bridge
    m = new(MEASUREMENT)
    assert _until(bus, m, lambda status: status == 0)
    before = m["hall_count"][0, :N].copy()
    emulator.faults.stale_channels.add(2)
    emulator.faults.error_channels.update((3, N))
    side.command["motor_current_a"][0, :N] = 0.0
    assert _until(bus, m, lambda _s: m["hall_status"][0, 2] == ChannelStatus.STALE)
    time.sleep(0.2)
    assert _until(bus, m, lambda _s: m["hall_count"][0, 0] == 2048)
    assert m["hall_count"][0, 2] == before[2]
    assert m["hall_status"][0, :N].tolist() == [0, 0, ChannelStatus.STALE, ChannelStatus.DEVICE_ERROR, 0, 0]
    assert m["axis_status"][0].tolist() == [ChannelStatus.DEVICE_ERROR, 0]


def test_damage_loses_frames_but_never_shows_a_wrong_count(bridge: Any) -> None:
    bus, emulator, _ = bridge
    m = new(MEASUREMENT)
    assert _until(bus, m, lambda status: status == 0)
    wanted = m["hall_count"][0, :N].copy()
    faults = emulator.faults
    faults.drop, faults.flip, faults.truncate, faults.junk = 0.1, 0.1, 0.1, 0.1
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        bus.exchange(new(COMMAND), m, time.monotonic_ns())
        assert (m["hall_count"][0, :N] == wanted).all()
    assert bus.counts.errors() > 0 and bus.counts.lost > 0


def test_silence_is_told_and_ends_by_itself_a_pulled_cable_needs_recover(bridge: Any) -> None:
    bus, emulator, _ = bridge
    m = new(MEASUREMENT)
    assert _until(bus, m, lambda status: status == 0)
    emulator.faults.silent = True
    assert _until(bus, m, lambda status: bool(status & BusStatus.LOST))
    assert (m["hall_status"][0, :N] & ChannelStatus.STALE).all() and "silent" in bus.report().reason
    emulator.faults.silent = False
    assert _until(bus, m, lambda status: status == 0)
    emulator.thread.do(emulator.unplug)
    assert _until(bus, m, lambda status: bool(status & BusStatus.LOST))
    with pytest.raises(BusLost):
        bus.recover()
    emulator.thread.do(emulator.line.plug)
    bus.recover()
    assert _until(bus, m, lambda status: status == 0)


def test_another_bridge_than_the_files_is_refused(tmp_path: Path) -> None:
    side = SpringSide(N, N, 2)
    with EmulatorThread([HallBridgeEmulator(side, list(range(N)), tmp_path / "hall", rate_hz=500.0)]):
        with pytest.raises(WrongDevice, match="8 channels.*6 channels"):
            HallBridgeBus(_settings(tmp_path / "hall"), HAND)
    with EmulatorThread([HallBridgeEmulator(side, [*range(N), -1, -1], tmp_path / "two", rate_hz=500.0)]):
        with pytest.raises(WrongDevice, match="serial X9"):
            HallBridgeBus(_settings(tmp_path / "two", serial="X9"), HAND)


def test_orca_stream_comes_through_with_its_sensor_errors(tmp_path: Path) -> None:
    side = _bent_side()
    emulator = OrcaEmulator(side, [*range(N), *([-1] * (17 - N))], tmp_path / "orca", rate_hz=500.0)
    settings = OrcaSettings(
        name="orca",
        family="orca-encoders",
        port=str(tmp_path / "orca"),
        channels=(*HAND.tendons, *([""] * (17 - N))),
        rate_hz=500.0,
        lost_ms=500.0,
    )
    with EmulatorThread([emulator]):
        bus = OrcaBus(settings, HAND)
        bus.activate()
        m = new(MEASUREMENT)
        assert _until(bus, m, lambda status: status == 0)
        wanted = np.rint(2048 + 400 * np.linspace(-1.0, 1.0, N))
        assert (m["hall_count"][0, :N] == wanted).all()
        emulator.faults.error_channels.add(1)
        assert _until(bus, m, lambda _s: m["hall_status"][0, 1] == ChannelStatus.DEVICE_ERROR)
        emulator.faults.flip = emulator.faults.truncate = 0.1
        end = time.monotonic() + 0.5
        while time.monotonic() < end:
            bus.exchange(new(COMMAND), m, time.monotonic_ns())
            assert (m["hall_count"][0, :N] == wanted).all()
        bus.close()
