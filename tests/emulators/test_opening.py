"""A bus file as a whole: several buses as one, what a hand may ask for, the truth beside the wire."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from drivers.composite import CompositeBus
from drivers.errors import BusLost, ConfigureError
from drivers.hal import Capabilities, MotorSetup
from hand.file.busfile import BusFileError, load_bus_file
from runtime.busprocess.hardware import hardware_bus
from runtime.busprocess.opening import check_capable, open_buses
from runtime.busprocess.truth import TruthShare, TruthTap
from signals.modes import MotorMode
from signals.records import COMMAND, MEASUREMENT, TRUTH, new
from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from sim.emulators.wiring import PER_BUS, Site, wire
from tests.rigs import emulated as rigs

N = 3
HAND = rigs.names(N, 2)
SETUPS = tuple(MotorSetup(index=i, name=m, current_limit_a=1.0) for i, m in enumerate(HAND.motors))


def test_servos_and_a_hall_bridge_are_one_bus(tmp_path: Path) -> None:
    side = SpringSide(N, N, 2)
    wired = wire("dynamixel", side, HAND, Site(folder=tmp_path))
    (tmp_path / "bus.toml").write_text("realtime = false\n" + wired.text)
    with EmulatorThread(wired.emulators):
        bus = open_buses(load_bus_file(str(tmp_path / "bus.toml")), HAND)
        assert isinstance(bus, CompositeBus)
        able = bus.capabilities
        assert (able.n_motors, able.n_halls, able.n_axes) == (N, N, 2)
        command, measurement = new(COMMAND), new(MEASUREMENT)
        try:
            bus.configure(SETUPS)
            bus.activate()
            side.command["axis_enable"], side.command["axis_angle_rad"] = 1, (0.1, -0.1)
            end = time.monotonic() + 20.0
            good = False
            while not good and time.monotonic() < end:
                pulls = time.monotonic() > end - 19.5
                command["motor_mode"][0, :N] = MotorMode.CURRENT if pulls else MotorMode.OFF
                command["motor_current_a"][0, :N] = 0.3 if pulls else 0.0
                status = bus.exchange(command, measurement, time.monotonic_ns())
                x = measurement[0]
                arrived = np.abs(x["motor_angle_rad"][:N] - 0.3).max() < 5e-3
                bent = np.abs(x["hall_count"][:N] - rigs.hall_count(0.3)).max() <= 2
                turned = np.abs(x["axis_angle_rad"] - (0.1, -0.1)).max() < 1e-3
                good = bool(status == 0 and arrived and bent and turned)
                time.sleep(0.001)
            assert good, (status, measurement["motor_angle_rad"][0, :N], bus.reports())
            assert [r.name for r in bus.reports()] == ["servos0", "hall"]
            assert bus.deactivate() is True
        finally:
            bus.close()


def test_one_bus_that_does_not_open_closes_those_before_it(tmp_path: Path) -> None:
    side = SpringSide(N, N, 2)
    wired = wire("dynamixel", side, HAND, Site(folder=tmp_path))
    (tmp_path / "bus.toml").write_text("realtime = false\n" + wired.text)
    wired.emulators[1].close()
    with EmulatorThread(wired.emulators[:1]):
        with pytest.raises(BusLost, match="hall"):
            open_buses(load_bus_file(str(tmp_path / "bus.toml")), HAND)
        from drivers.locks import holder_of, serial_identity

        end = time.monotonic() + 10.0
        while holder_of(serial_identity(str(tmp_path / "servos0"))) is not None and time.monotonic() < end:
            time.sleep(0.05)
        assert holder_of(serial_identity(str(tmp_path / "servos0"))) is None


def test_buses_that_all_refuse_name_the_first_and_still_confirm_zero_torque(tmp_path: Path) -> None:
    """They work on their set-ups at the same time: an answer that nobody waited for answers no later call."""
    n = PER_BUS["dynamixel"] + 1
    hand = replace(rigs.names(n), tendons=(), hall_channels=())
    wired = wire("dynamixel", SpringSide(n), hand, Site(folder=tmp_path))
    chains = [e for e in wired.emulators if isinstance(e, ChainEmulator)]
    assert len(chains) == 2
    for chain in chains:
        chain.servos[0].put("secondary_id", 1)  # refused when it is set up
    (tmp_path / "bus.toml").write_text("realtime = false\n" + wired.text)
    setups = tuple(MotorSetup(index=i, name=m, current_limit_a=1.0) for i, m in enumerate(hand.motors))
    with EmulatorThread(wired.emulators):
        bus = open_buses(load_bus_file(str(tmp_path / "bus.toml")), hand)
        try:
            with pytest.raises(ConfigureError, match="motor_0"):
                bus.configure(setups)
            assert bus.deactivate() is True
        finally:
            bus.close()


def test_a_hand_that_asks_for_too_much_is_refused_with_what_there_is() -> None:
    class Slow:
        capabilities = Capabilities(
            family="slow",
            n_motors=1,
            n_halls=0,
            n_axes=0,
            motor_modes=frozenset({MotorMode.OFF, MotorMode.CURRENT}),
            rate_max_hz=500.0,
            in_control_process=True,
            device_watchdog_s=None,
            current_max_a=0.5,
        )

    def setup(**changes: object) -> tuple[MotorSetup, ...]:
        values: dict[str, object] = {"index": 0, "name": "m", "current_limit_a": 0.4} | changes
        return (MotorSetup(**values),)  # type: ignore[arg-type]

    bus = Slow()
    check_capable(bus, setup(), 500.0)  # type: ignore[arg-type]
    for setups, rate, told in (
        (setup(mode=MotorMode.POSITION), 100.0, "legal: .*CURRENT"),
        (setup(current_limit_a=0.6), 100.0, "current limit"),
        (setup(), 501.0, "--rate"),
    ):
        with pytest.raises(ConfigureError, match=told):
            check_capable(bus, setups, rate)  # type: ignore[arg-type]


def test_the_truth_of_an_emulated_hand_arrives_whole_and_its_block_is_removed() -> None:
    share = TruthShare.create()
    try:
        other = TruthShare.attach(share.name)
        shown, seen = new(TRUTH), new(TRUTH)
        other.take(seen)
        assert seen.tobytes() == new(TRUTH).tobytes()
        for k in range(100):
            shown["joint_angle_rad"], shown["time_s"] = k, k
            share.post(shown)
            other.take(seen)
            assert seen.tobytes() == shown.tobytes()
        with rigs.collector(2) as (rig, _board):
            tap = TruthTap(rig.bus, other, seen)
            tap.configure(SETUPS[:2])
            tap.activate()
            shown["time_s"] = 7.0
            share.post(shown)
            assert tap.exchange(new(COMMAND), new(MEASUREMENT), time.monotonic_ns()) == 0
            assert seen["time_s"][0] == 7.0 and tap.capabilities == rig.bus.capabilities
            assert tap.deactivate() is True
    finally:
        share.unlink()
    with pytest.raises(OSError):
        TruthShare.attach(share.name)


def test_a_bus_file_of_an_emulation_that_is_over_says_so(tmp_path: Path) -> None:
    with rigs.collector(N) as (rig, board):
        rig.bus.close()
        text = f'[[bus]]\nname = "b"\nfamily = "collector"\nhost = "127.0.0.1"\nport = {board.port}\n'
        (tmp_path / "bus.toml").write_text('truth = "flexor-truth-1-1"\n' + text)
        with pytest.raises(BusFileError, match="is flexor emulate still running"):
            hardware_bus(str(tmp_path / "bus.toml"), HAND, SETUPS, 1000.0, new(TRUTH))
        with pytest.raises(ConfigureError, match="rate"):
            hardware_bus(str(tmp_path / "bus.toml"), HAND, SETUPS, 1e6, new(TRUTH))
