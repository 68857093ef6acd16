"""Locks, bus files, turns, clocks, serial lines: what every driver stands on."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
import tty
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.clocks import DRIFT_MAX, DeviceClock
from drivers.errors import BusBusy, BusLost, ReadOnly, TurnsUnknown
from drivers.handshake import Handshake
from drivers.locks import BusLock, holder_of, serial_identity
from drivers.motors import TURN_RAD, MotorDevice, MotorMap, turn_of
from drivers.registry import UnknownFamily, family, family_names
from drivers.serialport import SerialPort
from hand.file.busfile import BusFileError, load_bus_file
from signals.modes import MotorMode
from signals.names import HandNames
from signals.records import COMMAND, new
from tests.rigs.emulated import names

# --- locks (B51) ------------------------------------------------------------------------------------


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXOR_LOCK_DIR", str(tmp_path))


@pytest.mark.usefixtures("locks")
def test_a_second_owner_is_told_the_first_ones_process_id() -> None:
    with BusLock("tty-1-2", "palm"):
        assert holder_of("tty-1-2") == os.getpid()
        with pytest.raises(BusBusy, match=f"palm is in use by process {os.getpid()}") as caught:
            BusLock("tty-1-2", "palm")
        assert caught.value.pid == os.getpid()
        BusLock("tty-1-3").release()
    assert holder_of("tty-1-2") is None
    BusLock("tty-1-2").release()


HOLDER = """
import time
from drivers.locks import BusLock
lock = BusLock("x")
print("held", flush=True)
time.sleep(60)
"""


@pytest.mark.usefixtures("locks")
def test_a_lock_dies_with_its_process() -> None:
    child = subprocess.Popen([sys.executable, "-c", HOLDER], stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"held\n"
    with pytest.raises(BusBusy) as caught:
        BusLock("x")
    assert caught.value.pid == child.pid
    child.kill()
    child.wait()
    BusLock("x").release()


def test_one_line_has_one_identity_through_every_name(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        node = os.ttyname(slave)
        (tmp_path / "by-id").symlink_to(node)
        (tmp_path / "again").symlink_to(tmp_path / "by-id")
        assert serial_identity(str(tmp_path / "again")) == serial_identity(node)
        assert serial_identity(node).startswith("tty-")
    finally:
        os.close(master)
        os.close(slave)


# --- serial line --------------------------------------------------------------------------------------


@pytest.fixture
def line() -> tuple[int, str]:
    master, slave = pty.openpty()
    tty.setraw(slave)
    return master, os.ttyname(slave)


def test_a_line_that_is_pulled_raises_one_kind_of_error_everywhere(line: tuple[int, str]) -> None:
    master, path = line
    port = SerialPort(path, 115200, "x")
    port.write(b"abc")
    assert os.read(master, 10) == b"abc"
    os.write(master, b"def")
    assert port.read(time.monotonic_ns() + 10**9) == b"def"
    os.close(master)
    with pytest.raises(BusLost, match="x"):
        port.read(0)
    with pytest.raises(BusLost):
        for _ in range(3):
            port.write(b"abc")
    port.close()
    with pytest.raises(BusLost):
        port.write(b"abc")
    port.close()


def test_a_line_that_takes_nothing_ends_within_its_time(line: tuple[int, str]) -> None:
    _, path = line
    port = SerialPort(path, 115200, "x", write_timeout_s=0.05)
    begun = time.monotonic()
    with pytest.raises(BusLost, match="does not take bytes"):
        for _ in range(200):
            port.write(bytes(4096))
    assert time.monotonic() - begun < 5.0
    port.close()


def test_a_read_waits_no_longer_than_asked_and_readonly_writes_nothing(line: tuple[int, str]) -> None:
    _, path = line
    port = SerialPort(path, 115200, "x", readonly=True)
    begun = time.monotonic()
    assert port.read(time.monotonic_ns() + 20_000_000) == b""
    assert 0.015 < time.monotonic() - begun < 1.0
    with pytest.raises(ReadOnly):
        port.write(b"a")
    port.close()
    with pytest.raises(BusLost, match="no device"):
        SerialPort("/dev/no-such-line", 115200, "x")


# --- turns (B29) --------------------------------------------------------------------------------------


@given(
    st.floats(-6.0, 6.0),
    st.floats(0.3, 0.99),
    st.integers(-2, 2),
    st.floats(0.0, 1.0),
    st.sampled_from((1.0, 3.0, 50.0)),
    st.sampled_from((1, -1)),
)
def test_a_lost_turn_count_is_found_again_where_the_travel_is_shorter_than_a_turn(
    low: float, share: float, turns_off: int, place: float, ratio: float, direction: int
) -> None:
    turn_rad = TURN_RAD / ratio
    travel = (low, low + share * turn_rad)
    true_rad = low + place * share * turn_rad
    device = MotorDevice(motor="m", travel_rad=travel, gear_ratio=ratio, direction=direction)  # type: ignore[arg-type]
    motors = MotorMap([device], np.array([0]))
    shown = float(motors.turns(np.array([true_rad]))[0]) + turns_off
    motors.resolve(0, shown)
    assert motors.angle_rad(np.array([shown]))[0] == pytest.approx(true_rad, abs=1e-6)
    assert motors.turns(motors.angle_rad(np.array([shown])))[0] == pytest.approx(shown, abs=1e-9)


def test_an_ambiguous_or_impossible_turn_asks_for_homing() -> None:
    wide = MotorMap([MotorDevice(motor="wide", travel_rad=(-4.0, 4.0))], np.array([0]))
    with pytest.raises(TurnsUnknown, match="2 turns fit its travel.*re-home"):
        wide.resolve(0, 0.5)
    narrow = MotorMap([MotorDevice(motor="narrow", travel_rad=(0.0, 1.0))], np.array([0]))
    with pytest.raises(TurnsUnknown, match="no turn fits"):
        narrow.resolve(0, 0.5)
    assert turn_of(0.0, TURN_RAD, (-0.1, 0.1)) == [0]


# --- clocks -------------------------------------------------------------------------------------------


@given(
    st.integers(0, 2**32 - 1),
    st.floats(-0.9 * DRIFT_MAX, 0.9 * DRIFT_MAX),
    st.lists(st.integers(0, 3_000_000), min_size=50, max_size=200),
)
def test_a_samples_time_is_never_after_its_arrival_and_as_good_as_the_best_delay(
    start_us: int, drift: float, delays_ns: list[int]
) -> None:
    clock = DeviceClock(tick_ns=1000, bits=32)
    base_ns = 10**12
    for k, delay_ns in enumerate(delays_ns):
        true_ns = base_ns + k * 333_000
        counter = (start_us + int(k * 333_000 * (1 + drift)) // 1000) & 0xFFFFFFFF
        mapped_ns = clock.host_ns(counter, true_ns + delay_ns)
        assert mapped_ns <= true_ns + delay_ns
        since_ns = k * 333_000
        assert mapped_ns >= true_ns - since_ns * 2 * DRIFT_MAX - 2000
        best_ns = min(delays_ns[: k + 1])
        assert mapped_ns <= true_ns + best_ns + since_ns * 2 * DRIFT_MAX + 2000


def test_a_device_that_begins_anew_is_noticed() -> None:
    clock = DeviceClock(tick_ns=1000, bits=32)
    for k in range(100):
        clock.host_ns(5_000_000 + 1000 * k, 10**9 + 10**6 * k)
    assert clock.resets == 0
    arrived_ns = 10**9 + 10**8 + 10**6
    assert clock.host_ns(10, arrived_ns) == arrived_ns
    assert clock.resets == 1


# --- hand-shake ---------------------------------------------------------------------------------------


def test_a_held_motor_pulls_only_after_its_command_was_at_rest() -> None:
    shake, command = Handshake(np.array([0, 1, 2])), new(COMMAND)
    command["motor_mode"][0, :3] = MotorMode.CURRENT
    command["motor_current_a"][0, :3] = 0.0, 0.5, np.nan
    shake.hold(0, 32, checked=True)
    assert shake.released(command) == [0]
    assert shake.held.tolist() == [False, True, True]
    command["motor_mode"][0, 1] = MotorMode.OFF
    shake.hold(1, 4, checked=False)
    assert shake.released(command) == [] and shake.bits[1] == 4
    shake.checked[1] = True
    assert shake.released(command) == [1] and shake.bits[1] == 0


# --- families and bus files ---------------------------------------------------------------------------


def test_every_family_of_the_table_loads_and_an_unknown_one_names_its_neighbours() -> None:
    assert {family(n).name for n in family_names()} == set(family_names())
    with pytest.raises(UnknownFamily, match="did you mean 'dynamixel'"):
        family("dinamixel")


GOOD = """
[[bus]]
name = "servos"
family = "dynamixel"
port = "/dev/ttyUSB0"
baud = 3000000
[[bus.device]]
id = 1
model = "xc330-t288"
motor = "motor_0"
[[bus.device]]
id = 2
model = "xc330-t288"
motor = "motor_1"
travel_rad = [-1, 2.5]
[[bus]]
name = "hall"
family = "hall-bridge"
port = "/dev/ttyACM0"
channels = ["tendon_0", "tendon_1", ""]
[[bus.axis]]
name = "flexion"
channel = 2
zero_count = 2000.0
rad_count = 0.001
"""


def _refusal(tmp_path: Path, text: str, hand: HandNames | None = None) -> str:
    path = tmp_path / "bus.toml"
    path.write_text(text)
    with pytest.raises(BusFileError) as caught:
        file = load_bus_file(str(path))
        file.fitted_to(hand or names(2, 1))
    return str(caught.value)


def test_a_good_file_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "bus.toml"
    path.write_text(GOOD)
    file = load_bus_file(str(path))
    file.fitted_to(names(2, 1))
    assert [e.settings.name for e in file.entries] == ["servos", "hall"]
    assert file.entries[0].settings.motors(names(2)) == ("motor_0", "motor_1")


@pytest.mark.parametrize(
    ("old", "new_text", "told"),
    [
        ("baud = 3000000", "bauds = 3000000", "bus.toml:6: bus[0].bauds: found an unknown key"),
        ("baud = 3000000", "baud = 3100000", "baud 3100000 (legal: 9600"),
        ("baud = 3000000", 'baud = "fast"', 'found "fast"'),
        ("id = 2", "id = 1", "id 1 is given to 'motor_0' and to 'motor_1'"),
        ("id = 2", "id = 253", "id"),
        ('motor = "motor_1"', 'motor = "motor_0"', "claimed by 'servos' and by 'servos'"),
        ('motor = "motor_1"', 'motor = "motor_7"', "no motor 'motor_7'"),
        (
            'model = "xc330-t288"\nmotor = "motor_1"',
            'model = "xc999"\nmotor = "motor_1"',
            "no servo model 'xc999'",
        ),
        ("travel_rad = [-1, 2.5]", "travel_rad = [2.5, -1]", "legal is [lower, upper]"),
        ('family = "hall-bridge"', 'family = "hall-brigde"', "did you mean 'hall-bridge'"),
        ('name = "hall"', 'name = "servos"', "two buses are named 'servos'"),
        ('port = "/dev/ttyACM0"', 'port = "/dev/ttyUSB0"', "same physical bus"),
        ('"tendon_0", "tendon_1"', '"tendon_0", "tendon_0"', "'tendon_0' is named twice"),
        ("channel = 2", "channel = 1", "channel 1 belongs to 'tendon_1'"),
        ("channel = 2", "channel = 9", "channel 9, there are 3"),
        ('name = "flexion"', 'name = "flex"', "did you mean 'flexion'"),
        ("[[bus]]", "[[busses]]", "busses: found an unknown key"),
        (GOOD, "", "an empty file"),
        (GOOD, "bus = []", "no [[bus]] table"),
        (GOOD, "realtime = 1\n" + GOOD, "bus.toml:1: realtime: found 1; legal: true or false"),
        ("rad_count = 0.001", "rad_count = nan", "rad_count"),
    ],
)
def test_every_mistake_in_a_bus_file_is_named(tmp_path: Path, old: str, new_text: str, told: str) -> None:
    """B43 (duplicates) and B42 (nothing ignored) for bus files."""
    assert old in GOOD or old == GOOD
    assert told.lower() in _refusal(tmp_path, GOOD.replace(old, new_text)).lower()


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = _refusal(tmp_path, GOOD.replace("id = 2", "id = 1").replace("channel = 2", "channel = 9"))
    assert "id 1 is given" in text and "channel 9" in text


def test_motors_without_a_bus_are_named(tmp_path: Path) -> None:
    assert "no bus for motor motor_2, motor_3" in _refusal(tmp_path, GOOD, names(4, 1))
    assert "found 'no_such'; legal: a path, or one of finger_bench_drives" in str(
        pytest.raises(BusFileError, load_bus_file, "no_such").value
    )
