"""Collector board: watchdog, session, losses, position mode, clock - the emulated board and the driver."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest

from drivers.collector import codec
from drivers.collector.codec import Header, Kind, SampleFlag, SetupResult
from drivers.collector.device import PRIMING, CollectorBus
from drivers.collector.settings import CollectorSettings
from drivers.collector.wire import CommandWire
from drivers.contract import Bench
from drivers.errors import BusLost, ConfigureError, WrongDevice
from drivers.hal import MotorSetup
from signals.modes import BusStatus, ChannelStatus, MotorMode
from sim.emulators.collector import CollectorEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs


def test_the_boards_own_watchdog_lets_go_and_torque_does_not_return_by_itself() -> None:
    with rigs.collector(3, watchdog_ms=60.0) as (rig, board):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.2)
        assert board.armed
        time.sleep(0.3)
        assert not board.armed and board.trips == 1 and not board.side.command["motor_current_a"].any()
        bench.run(0.05)
        assert (bench.of_motors("motor_status") == ChannelStatus.HELD).all()
        assert not board.armed
        assert "watchdog" in rig.bus.report().reason  # type: ignore[attr-defined]
        bench.rest(0.05)
        assert not bench.of_motors("motor_status").any()
        bench.pull(0.3, 0.2)
        assert board.armed and bench.status == 0


def test_lost_late_and_damaged_samples_cost_their_own_cycle_only() -> None:
    with rigs.collector(3) as (rig, board):
        settings = rig.bus.settings.model_copy(update={"reply_timeout_us": 3000, "lost_after": 50})  # type: ignore[attr-defined]
        rig.bus.settings = settings  # type: ignore[attr-defined]
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.3)
        faults = board.faults
        faults.drop, faults.flip, faults.duplicate = 0.1, 0.1, 0.2
        seen = {0: 0, 1: 0}
        for _ in range(300):
            bench.status = bench.bus.exchange(bench.command, bench.measurement, time.monotonic_ns())
            seen[bool(bench.status)] += 1
            assert np.abs(bench.of_motors("motor_angle_rad") - 0.3).max() < 2e-3
            late = bool(bench.status & BusStatus.TIMEOUT)
            assert bool((bench.of_motors("motor_status") & ChannelStatus.STALE).all()) == late
        assert seen[0] > 100 and seen[1] > 20
        faults.drop = faults.flip = faults.duplicate = 0.0
        bench.rest(0.1)
        bench.pull(0.3, 0.2)
        assert bench.status == 0
        assert rig.bus.counts.crc > 0  # type: ignore[attr-defined]


def test_every_exchange_ends_at_its_deadline_whatever_the_board_does() -> None:
    """The wait is bounded by the reply time-out; CPU time by a fraction of it."""
    with rigs.collector(3) as (rig, board):
        rig.bus.settings = rig.bus.settings.model_copy(update={"reply_timeout_us": 500})  # type: ignore[attr-defined]
        bench = Bench(rig)
        bench.start()
        board.faults.deaf = True
        waits, costs = [], []
        for _ in range(100):
            begun, cpu = time.monotonic_ns(), time.thread_time_ns()
            assert bench.bus.exchange(bench.command, bench.measurement, begun) & BusStatus.TIMEOUT
            waits.append(time.monotonic_ns() - begun)
            costs.append(time.thread_time_ns() - cpu)
        assert np.median(waits) < 3_000_000
        assert np.median(costs) < 400_000


def test_position_mode_and_wrist_axes_are_closed_in_the_device() -> None:
    with rigs.collector(3) as (rig, board):
        bench = Bench(rig)
        bench.start()
        bench.command["motor_mode"][0, :3] = MotorMode.POSITION
        bench.command["motor_angle_rad"][0, :3] = 0.5, -0.25, 1.0
        bench.command["axis_enable"] = 1
        bench.command["axis_angle_rad"] = 0.2, -0.1
        bench.run(0.4)
        assert bench.of_motors("motor_angle_rad").tolist() == pytest.approx([0.5, -0.25, 1.0], abs=1e-3)
        assert bench.measurement["axis_angle_rad"][0].tolist() == pytest.approx([0.2, -0.1], abs=1e-3)


def test_a_stale_slot_keeps_value_and_time_and_marks_only_itself() -> None:
    with rigs.collector(3) as (rig, board):
        bench = Bench(rig)
        bench.start()
        bench.pull(0.3, 0.2)
        board.faults.stale_motors.add(1)
        bench.pull(0.1, 0.2)
        angle_rad, times = bench.of_motors("motor_angle_rad"), bench.of_motors("motor_time_ns")
        assert bench.of_motors("motor_status").tolist() == [0, ChannelStatus.STALE, 0]
        assert angle_rad.tolist() == pytest.approx([0.1, 0.3, 0.1], abs=2e-3)
        assert times[0] - times[1] > 100_000_000


def test_wrong_boards_and_wrong_settings_are_refused() -> None:
    with rigs.collector(3) as (rig, board):
        base = rig.bus.settings  # type: ignore[attr-defined]
        with pytest.raises(BusLost, match="no collector answers"):
            CollectorBus(base.model_copy(update={"port": _free_port()}), rigs.names(3, 2))
        rig.bus.close()
        with pytest.raises(WrongDevice, match="4 motors.*3 motors"):
            CollectorBus(base, rigs.names(4, 2))
        board.about = board.about.__class__(
            **{f: getattr(board.about, f) for f in board.about.__dataclass_fields__} | {"version": 2}
        )
        with pytest.raises(WrongDevice, match="protocol 2"):
            CollectorBus(base, rigs.names(3, 2))


def test_a_watchdog_time_that_the_board_does_not_offer_is_named() -> None:
    with rigs.collector(2) as (rig, board):
        rig.bus._session.watchdog_us = 5_000_000  # type: ignore[attr-defined]
        with pytest.raises(ConfigureError, match="watchdog_us is 1000000 after writing 5000000.*legal are"):
            Bench(rig).start()


# --- sentences of docs/collector_protocol.md --------------------------------------------------------------


class Guest:
    """Another computer at the board: sends one datagram, reads one answer."""

    def __init__(self, board: CollectorEmulator) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.connect((board.host, board.port))
        self.board = board

    def ask(self, datagram: bytes, wait_s: float = 5.0) -> tuple[Header, bytes] | None:
        """The answer; None: there is none."""
        self._socket.settimeout(wait_s)
        self._socket.send(datagram)
        try:
            return codec.opened(self._socket.recv(2048))
        except TimeoutError:
            return None

    def set_up(self, session: int, watchdog_us: int = 500_000, slots: int = 3) -> codec.SetupAnswer:
        """Result of a SETUP with limits of 1 A."""
        limits = np.zeros(slots, dtype=codec.LIMIT_SLOT)
        limits["current"] = 2048
        header = Header(kind=Kind.SETUP, slots=slots, session=session)
        found = self.ask(codec.setup(header, watchdog_us, limits))
        assert found is not None and found[0].slots == self.board.about.slots
        answer = codec.setup_answer(*found)
        assert answer is not None
        return answer

    def command(self, session: int, seq: int, slots: int = 3, wait_s: float = 5.0) -> tuple[int, int] | None:
        """(flags, echoed seq) of the sample that answers; None: nothing came."""
        wire = CommandWire(slots)
        wire.seal(0, session, seq, 0)
        found = self.ask(bytes(wire.datagram), wait_s)
        if found is None:
            return None
        assert found[0].kind == Kind.SAMPLE
        return found[0].flags, int.from_bytes(found[1][16:20], "little")


@pytest.fixture
def guest() -> Iterator[Guest]:
    board = CollectorEmulator(SpringSide(3, 3), 3, 3)
    with EmulatorThread([board]):
        yield Guest(board)


@pytest.mark.parametrize("first", [0, 1, 500, 2**31, 2**32 - 1])
def test_the_first_command_after_a_setup_may_have_any_seq(first: int, guest: Guest) -> None:
    for session in (7, 9):
        guest.board.on_time(2**62)  # the watchdog of whoever held it before has run out
        guest.board._fed_ns = -(2**62)
        assert guest.set_up(session).result == SetupResult.OK
        flags, echo = guest.command(session, first) or (-1, -1)
        assert echo == first and not flags & SampleFlag.COMMAND_GAP
        assert guest.command(session, first, wait_s=0.1) is None, "the same again is old"
        flags, echo = guest.command(session, (first + 3) % 2**32) or (-1, -1)
        assert flags & SampleFlag.COMMAND_GAP


def test_a_board_that_keeps_the_seq_over_a_setup_is_named() -> None:
    with rigs.collector(3, watchdog_ms=60.0) as (rig, board):
        bench = Bench(rig)
        bench.start()
        # the next computer's do not reach them, however slow this one is
        assert bench.comes(10.0, lambda: board.commands >= 2 * PRIMING), bench.tell()
        rig.bus.close()
        time.sleep(0.2)  # the first computer's watchdog runs out
        board.faults.keeps_seq = True
        second = CollectorBus(rig.bus.settings, rigs.names(3, 2))  # type: ignore[attr-defined]
        try:
            second.configure((MotorSetup(index=0, name="motor_0", current_limit_a=1.0),))
            second.settings = second.settings.model_copy(update={"reply_timeout_us": 2000})
            with pytest.raises(
                BusLost, match="answers HELLO, but none of 50 commands; .*seq with every SETUP"
            ):
                second.activate()
        finally:
            second.close()


def test_a_stranger_releases_nothing(guest: Guest) -> None:
    def release(session: int) -> Header:
        found = guest.ask(codec.plain(Header(kind=Kind.RELEASE, session=session)))
        assert found is not None
        if found[0].kind == Kind.REFUSED:
            assert codec.refused_by(found[1]) == guest.board._holder
        return found[0]

    assert release(8).kind == Kind.RELEASED, "a free board"
    assert guest.set_up(7).result == SetupResult.OK
    assert release(8).kind == Kind.REFUSED
    assert guest.command(7, 1) is not None
    assert release(7).kind == Kind.RELEASED
    assert guest.set_up(8).result == SetupResult.OK


def test_a_setup_that_fails_changes_nothing_and_shows_what_is_in_force(guest: Guest) -> None:
    before = guest.set_up(7, 250_000)
    assert guest.command(7, 1) is not None
    for answer, result in (
        (guest.set_up(8), SetupResult.HELD),
        (guest.set_up(7, 5_000_000), SetupResult.OUT_OF_RANGE),
        (guest.set_up(7, slots=2), SetupResult.SLOTS),
    ):
        assert (answer.result, answer.watchdog_us) == (result, 250_000)
        assert (answer.limits == before.limits).all()
    assert guest.command(7, 1, wait_s=0.1) is None, "the newest seq is as before"
    assert guest.command(7, 2) is not None


def test_a_command_with_another_number_of_slots_is_dropped_and_feeds_nothing(guest: Guest) -> None:
    guest.set_up(7)
    guest.command(7, 1)
    fed_ns = guest.board._fed_ns
    assert guest.command(7, 2, slots=2, wait_s=0.1) is None
    assert guest.board._fed_ns == fed_ns and guest.board.commands == 1


def test_the_flags_of_a_sample_are_part_of_the_protocol() -> None:
    assert [f.value for f in SampleFlag] == [1, 2, 4, 8, 16]
    assert CollectorSettings.model_fields["watchdog_ms"].default == 20.0


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
