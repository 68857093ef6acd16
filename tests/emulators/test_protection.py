"""Protection that no missing key leaves out: watchdogs are proven, turns are known - or no torque."""

from __future__ import annotations

import re
import time
from pathlib import Path

import can
import pytest

from drivers.contract import Bench
from drivers.errors import ConfigureError
from drivers.family import BusSettings
from drivers.odrive.codec import AxisState, input_torque
from runtime.backends import unproven
from signals.modes import ChannelStatus
from signals.names import HandNames
from sim.emulators.side import SpringSide
from sim.emulators.wiring import WIRINGS, Site, wire
from tests.rigs import emulated as rigs
from tests.rigs.emulated import pulls_again
from tests.rigs.runs import nothing_starts
from tools.cli import main

ROOT = Path(__file__).parents[2]
WATCHDOG_MS = 400.0
SERVO_MODEL = re.compile(r"x[cl]330-\w+: ")
UNREAD = {"endpoints": {}, "watchdog_ms": WATCHDOG_MS}
"""Bus-file keys of axes whose watchdog cannot be read back."""


def _reason(bench: Bench) -> str:
    return str(bench.bus.report().reason)  # type: ignore[attr-defined]


def _stays_limp(bench: Bench, motor: int, rest_s: float = 1.0) -> None:
    """However long its command is at rest, the motor answers with a mark and pulls nothing."""
    bench.rest(rest_s)
    bench.pull(0.2, 0.3)
    assert bench.measurement["motor_status"][0, motor] & ChannelStatus.RESET, bench.tell()
    assert bench.rig.device_current_a is not None and bench.rig.device_current_a(motor) == 0.0


# --- axes: their own watchdog ---------------------------------------------------------------------------


def test_axes_whose_watchdog_is_off_are_refused_with_the_first_of_them() -> None:
    with rigs.odrive(2, **UNREAD) as (rig, _server, axes):
        with pytest.raises(ConfigureError, match=r"motor_0 \(node 1\): its own watchdog is 'off"):
            Bench(rig).start()
        assert [a.state for a in axes] == [AxisState.IDLE] * 2


def test_axes_whose_watchdog_works_are_believed_without_endpoints_and_let_go_alone() -> None:
    with rigs.odrive(2, watchdog_s=WATCHDOG_MS * 1e-3, **UNREAD) as (rig, _server, axes):
        bench = Bench(rig)
        bench.start()
        pulls_again(bench, 0.2)
        time.sleep(3e-3 * WATCHDOG_MS)  # the computer is gone
        assert [rig.device_current_a(i) for i in rig.motors] == [0.0, 0.0]  # type: ignore[misc]
        assert [a.state for a in axes] == [AxisState.IDLE] * 2


def test_axes_without_a_watchdog_are_driven_only_where_the_file_says_so_and_it_is_told() -> None:
    with rigs.odrive(1, without_watchdog=True, **UNREAD) as (rig, server, _axes):
        bench = Bench(rig)
        bench.start()
        pulls_again(bench, 0.2)
        hand = rigs.names(1)
        assert "without_watchdog" in rigs.axis_settings(server, 1, without_watchdog=True).unproven(hand)[0]
        assert rigs.axis_settings(server, 1).unproven(hand) == ()
        assert "leave one of them out" in rigs.axis_settings(server, 1, without_watchdog=True).conflicts()[0]


@pytest.fixture
def unproven_file(tmp_path: Path) -> str:
    """The shipped bus file of drives, told to do without their watchdog."""
    text = (ROOT / "configs/buses/finger_bench_drives.toml").read_text()
    path = tmp_path / "drives.toml"
    path.write_text(text.replace("watchdog_ms = 50.0\n", "watchdog_ms = 50.0\nwithout_watchdog = true\n", 1))
    return str(path)


def test_a_start_says_loudly_what_is_unproven(
    unproven_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing_starts(monkeypatch)
    for words, told in ([], True), (["--readonly"], False):
        with pytest.raises(SystemExit):
            main(["run", "finger_bench", "--bus", unproven_file, *words])
        said = capsys.readouterr().err
        assert ("warning: bus 'drives', unproven protection: without_watchdog" in said) == told


def test_health_and_report_say_what_is_unproven(unproven_file: str, port_base: int) -> None:
    from hand.options import RunOptions
    from runtime.processes.io import IoProcess
    from runtime.setup import read_hand
    from telemetry.shm.segment import Segment

    options = RunOptions(hand="finger_bench", bus=unproven_file, port_base=port_base)
    hand = read_hand(options)
    segment = Segment.create(hand.rate_hz)
    try:
        io = IoProcess(segment, options, hand)
        watchdog, limits = io._health()["unproven"]
        assert "'drives'" in watchdog and "without_watchdog" in watchdog and "limits" in limits
        assert io.finish()["notices"] == [watchdog, limits]
    finally:
        segment.unlink()


def test_a_family_that_says_nothing_of_a_watchdog_has_an_unproven_one() -> None:
    class Foreign(BusSettings):
        def identity(self) -> str:
            return "mine"

        def motors(self, names: HandNames) -> tuple[str, ...]:
            return names.motors

    assert "watchdog" in Foreign(name="mine", family="foreign").unproven(rigs.names(1))[0]


@pytest.mark.parametrize("kind", WIRINGS)
def test_emulations_leave_no_protection_out(kind: str, tmp_path: Path) -> None:
    hand = rigs.names(10, 2)
    wired = wire(kind, SpringSide(10, 10, 2), hand, Site(folder=tmp_path))
    try:
        (tmp_path / "bus.toml").write_text(wired.text)
        assert unproven(str(tmp_path / "bus.toml"), hand) == ()
    finally:
        for emulator in wired.emulators:
            emulator.close()


def test_shipped_bus_files_leave_no_watchdog_out() -> None:
    """What they say of a watchdog is said of a model of servo."""
    from hand.options import RunOptions
    from runtime.setup import read_hand

    for path in sorted((ROOT / "configs/buses").glob("*.toml")):
        hand = read_hand(RunOptions(hand=path.stem.rsplit("_", 1)[0]))
        told = unproven(str(path), hand.names)
        assert all(SERVO_MODEL.search(text) for text in told if "watchdog" in text)


def test_an_axis_without_a_watchdog_that_is_held_is_told_to_pull_nothing() -> None:
    with rigs.odrive(2, without_watchdog=True, **UNREAD) as (rig, server, _axes):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.2, 0.2)
        other = can.Bus(interface="socketcand", channel="can0", host=server.host, port=server.port)
        time.sleep(0.05)
        frame = input_torque(1, 0.4 * rigs.NM_A)
        other.send(can.Message(arbitration_id=frame.id, data=frame.data, is_extended_id=False))
        pulls = rig.device_current_a
        assert pulls is not None
        status = bench.measurement["motor_status"]
        assert bench.comes(0.5, lambda: bool(status[0, 0] & ChannelStatus.DEVICE_ERROR)), bench.tell()
        assert bench.comes(0.5, lambda: pulls(0) == 0.0), "held, fed by nobody, and still pulling"
        assert pulls(1) == pytest.approx(0.2)
        other.shutdown()


def test_an_axis_that_was_reset_gets_its_watchdog_back_before_it_pulls() -> None:
    with rigs.odrive(2) as (rig, _server, axes):
        bench = Bench(rig)
        bench.start()
        assert axes[0].values["enable_watchdog"]
        bench.pull(0.2, 0.2)
        rig.reset(0)  # type: ignore[misc]
        assert not axes[0].values["enable_watchdog"]
        assert bench.comes(1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.RESET))
        pulls_again(bench, 0.2)
        assert axes[0].values["enable_watchdog"] and axes[0].values["watchdog_timeout"] == 1.0


def test_an_axis_that_was_reset_shows_its_watchdog_again_where_it_cannot_be_read() -> None:
    with rigs.odrive(2, watchdog_s=WATCHDOG_MS * 1e-3, **UNREAD) as (rig, _server, axes):
        bench = Bench(rig)
        bench.start()
        for saved in (True, False):
            bench.pull(0.2, 0.2)
            axes[0]._saved["enable_watchdog"] = saved
            rig.reset(0)  # type: ignore[misc]
            assert bench.comes(
                1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.RESET)
            )
            if saved:
                pulls_again(bench, 0.2)
        _stays_limp(bench, 0)
        assert "watchdog is off" in _reason(bench) and axes[0].state == AxisState.IDLE


# --- axes: their whole turns ---------------------------------------------------------------------------


def test_an_axis_that_booted_a_turn_off_is_put_right_by_its_travel() -> None:
    with rigs.odrive(2) as (rig, _server, _axes):
        bench = Bench(rig)
        bench.start()
        for current_a in (0.9, -0.9):
            bench.pull(current_a, 0.3)
            rig.reset(0)  # type: ignore[misc]
            assert bench.comes(
                1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.RESET)
            )
            pulls_again(bench, current_a)


def test_an_axis_without_travel_that_was_reset_stays_limp_and_says_why() -> None:
    with rigs.odrive(2, travel_rad=None) as (rig, _server, _axes):
        bench = Bench(rig)
        bench.start()
        bench.pull(-0.5, 0.3)
        rig.reset(0)  # type: ignore[misc]
        assert bench.comes(1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.RESET))
        _stays_limp(bench, 0)
        assert "motor_0" in _reason(bench) and "re-home" in _reason(bench)
        assert bench.measurement["motor_status"][0, 1] == 0


def test_an_axis_that_only_was_silent_keeps_its_turns_without_travel() -> None:
    with rigs.odrive(2, travel_rad=None, watchdog_ms=WATCHDOG_MS) as (rig, _server, axes):
        bench = Bench(rig)
        bench.start()
        bench.pull(-0.5, 0.3)
        axes[0].silent = True
        assert bench.comes(1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.STALE))
        bench.run(2e-3 * WATCHDOG_MS)
        axes[0].silent = False
        assert bench.comes(1.0, lambda: bench.measurement["motor_status"][0, 0] == ChannelStatus.HELD), (
            "it was not reset"
        )
        pulls_again(bench, -0.5)


# --- servos: their whole turns, and one that only lost its voice ------------------------------------------


def test_a_geared_servo_that_browned_out_stays_limp_and_says_why(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2, travel_rad=None, gear_ratio=10.0) as (rig, _chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.5, 0.4)
        rig.reset(0)  # type: ignore[misc]
        assert bench.comes(1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.RESET))
        _stays_limp(bench, 0)
        assert "motor_0" in _reason(bench) and "re-home" in _reason(bench)
        assert bench.measurement["motor_status"][0, 1] == 0
        assert abs(bench.measurement["motor_angle_rad"][0, 1] - 0.2) < 3e-3


def test_a_line_that_was_pulled_costs_a_geared_servo_only_what_it_lost(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2, travel_rad=None, gear_ratio=10.0) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.5, 0.4)
        rig.unplug()  # type: ignore[misc]
        assert bench.comes(1.0, lambda: bool(bench.status))
        chain.servos[0].reboot()
        rig.plug()  # type: ignore[misc]
        rig.bus.recover()
        _stays_limp(bench, 0)
        assert "re-home" in _reason(bench) and bench.measurement["motor_status"][0, 1] == 0


def test_a_servo_that_was_silent_with_its_power_on_keeps_its_turns(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2, travel_rad=None, gear_ratio=10.0) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(-0.5, 0.4)
        chain.servos[0].silent = True
        assert bench.comes(1.0, lambda: bool(bench.measurement["motor_status"][0, 0] & ChannelStatus.STALE))
        bench.run(0.2)
        chain.servos[0].silent = False
        assert bench.comes(1.0, lambda: bench.measurement["motor_status"][0, 0] == ChannelStatus.HELD), (
            "it was not reset"
        )
        pulls_again(bench, -0.5)


def test_a_servo_that_lost_its_voice_is_told_to_pull_nothing(tmp_path: Path) -> None:
    """Packets for its neighbours feed its watchdog: without a goal of nothing it would pull for ever."""
    with rigs.dynamixel(tmp_path, 3) as (rig, chain):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.5, 0.3)
        chain.servos[1].mute = True
        current_a = rig.device_current_a
        assert current_a is not None
        assert bench.comes(1.0, lambda: current_a(1) == 0.0), bench.tell()
        assert [current_a(i) for i in (0, 2)] == pytest.approx([0.5, 0.5], abs=3e-3)
        chain.servos[1].mute = False
        pulls_again(bench, 0.5)


def test_a_servo_with_a_second_id_is_refused(tmp_path: Path) -> None:
    with rigs.dynamixel(tmp_path, 2) as (rig, chain):
        chain.servos[1].put("secondary_id", 1)
        with pytest.raises(ConfigureError, match=r"motor_1 \(id 2\): secondary_id is 1"):
            Bench(rig).start()
