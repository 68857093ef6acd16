"""Bus processes: killed, frozen, pulled adapter (B09), stalled or dead control process."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from drivers.contract import Bench, Rig
from drivers.errors import BusLost
from runtime.busprocess import remote as remote_module
from runtime.busprocess.block import Block, Phase
from runtime.busprocess.guardian import HANG_LOOKS, LOOK_S, HangWatch
from runtime.busprocess.remote import RemoteBus
from runtime.busprocess.worker import Worker
from signals.modes import BusStatus, ChannelStatus
from signals.records import COMMAND, MEASUREMENT, new
from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import SpringSide
from tests.rigs import emulated as rigs
from tests.rigs.emulated import pulls_again

NOT_FRESH = int(ChannelStatus.STALE | ChannelStatus.MISSING)


# --- bus process: killed, frozen, pulled, another device node (B09) -------------------------------------


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[tuple[Bench, ChainEmulator, SpringSide]]:
    n, side = 2, SpringSide(2)
    chain = rigs.servo_chain(tmp_path / "servos", n, side)
    with EmulatorThread([chain]) as thread:
        settings = rigs.servo_settings(tmp_path / "servos", n)
        bus = RemoteBus(settings, rigs.names(n), realtime=False, command_age_s=1.5)
        rig = Rig(
            bus=bus,
            motors=(0, 1),
            device_current_a=rigs.device_current(side),
            unplug=lambda: thread.do(chain.unplug),
            plug=lambda: thread.do(chain.line.plug),
        )
        try:
            yield Bench(rig), chain, side
        finally:
            bus.close()


def test_a_loss_that_is_told_before_its_samples_arrive_leaves_none_fresh(
    remote: tuple[Bench, ChainEmulator, SpringSide],
) -> None:
    """The bus process writes its samples, then its status: control may read between the two."""
    bench, _, _ = remote
    bench.start()
    bus, told = bench.bus, 0
    assert isinstance(bus, RemoteBus)
    for _ in range(100):
        bus.block.field("status")[0] = int(BusStatus.LOST)
        bench.status = bus.exchange(bench.command, bench.measurement, time.monotonic_ns())
        if bench.status & BusStatus.LOST:
            told += 1
            assert (bench.of_motors("motor_status") & NOT_FRESH).all()
    assert told
    assert bench.comes(1.0, lambda: not (bench.of_motors("motor_status") & NOT_FRESH).any())


class Exchanges:
    """What exchanges did, so that no pre-emption by a busy computer can be taken for a wait of theirs.

    ``calls`` are the functions called, ours and builtin, by name; ``waits`` counts voluntary switches of this
    thread (it blocked in the kernel); pre-emption counts as an involuntary one. The emulators' thread in this
    process holds the interpreter's lock now and then, a wait that a control process does not have: a few
    are therefore legal, one per exchange is not.
    """

    def __init__(self) -> None:
        self.calls: set[str] = set()
        self.most_calls = self.waits = self.count = 0
        self.statuses: set[int] = set()

    def observe(self, bench: Bench, cycles: int) -> Exchanges:
        """Exchange ``cycles`` times at 1 kHz."""
        for _ in range(cycles):
            called: list[str] = []

            def note(_frame: Any, event: str, argument: Any, called: list[str] = called) -> None:
                if event == "call":
                    called.append(_frame.f_code.co_name)
                elif event == "c_call":
                    called.append(argument.__name__)

            now_ns, before = time.monotonic_ns(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
            sys.setprofile(note)
            try:
                bench.status = bench.bus.exchange(bench.command, bench.measurement, now_ns)
            finally:
                sys.setprofile(None)
            self.waits += resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before
            self.calls |= set(called)
            self.most_calls = max(self.most_calls, len(called))
            self.statuses.add(bench.status)
            self.count += 1
            time.sleep(0.001)
        return self


@pytest.mark.sample(1)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_bus_process_that_dies_or_freezes_costs_the_loop_no_cycle(remote: Any, how: signal.Signals) -> None:
    """No exchange waits for the process: it blocks no more often, and does nothing else, than before."""
    bench, _, side = remote
    bench.start()
    bench.pull(0.3, 0.4)
    usual = Exchanges().observe(bench, 100)
    assert usual.calls and usual.most_calls <= 40
    worker = int(bench.bus.block.field("worker_pid")[0])
    os.kill(worker, how)
    without = Exchanges().observe(bench, 300)
    assert any(status & BusStatus.LOST for status in without.statuses)
    assert without.calls <= usual.calls | {"mark", "mark_joints", "mark_stale"}
    assert without.most_calls <= usual.most_calls + 4
    assert without.waits <= 0.1 * without.count
    returned = bench.comes(
        2.0,
        lambda: (
            int(bench.bus.block.field("restarts")[0]) >= 1
            and not bench.status & BusStatus.LOST
            and not (bench.of_motors("motor_status") & NOT_FRESH).any()
        ),
    )
    assert returned and int(bench.bus.block.field("worker_pid")[0]) != worker
    assert (bench.of_motors("motor_status") == ChannelStatus.HELD).all()
    bench.run(0.3)
    assert not side.command["motor_current_a"].any()
    pulls_again(bench, 0.3)


@pytest.mark.parametrize("lock", ["measurement_lock", "command_lock"])
def test_a_process_that_died_inside_its_mailbox_keeps_nobody_waiting(lock: str) -> None:
    """The sequence lock is left odd, as by a kill in the middle: nothing new; the next post heals it."""
    block = Block.create()
    try:
        command, measurement = new(COMMAND), new(MEASUREMENT)
        block.post_command(command)
        block.post_measurement(measurement)
        block.field(lock)[0] += 1
        post, take, record = (
            (block.post_measurement, block.take_measurement, measurement)
            if lock == "measurement_lock"
            else (block.post_command, block.take_command, command)
        )
        record["seq"] = 7
        seen = record.copy()
        seen["seq"] = 3
        assert take(seen) is False and seen["seq"][0] == 3
        post(record)
        assert take(seen) is True and seen["seq"][0] == 7
    finally:
        block.close()


def test_an_adapter_that_comes_back_as_another_device_node_is_found_by_its_name(remote: Any) -> None:
    bench, chain, side = remote
    bench.start()
    bench.pull(0.3, 0.4)
    node = os.path.realpath(chain.line.link)
    bench.rig.unplug()
    assert bench.comes(1.0, lambda: bool(bench.status & BusStatus.LOST))
    begun, cpu = time.monotonic(), _cpu_s(int(bench.bus.block.field("worker_pid")[0]))
    bench.run(1.0)
    spent = _cpu_s(int(bench.bus.block.field("worker_pid")[0])) - cpu
    assert spent < 0.5 * (time.monotonic() - begun)
    others = [os.openpty() for _ in range(4)]
    bench.rig.plug()
    assert os.path.realpath(chain.line.link) != node
    assert bench.comes(2.0, lambda: not (bench.of_motors("motor_status") & NOT_FRESH).any())
    assert (bench.of_motors("motor_status") == ChannelStatus.HELD).all()
    assert not side.command["motor_mode"].any()
    for pair in others:
        for descriptor in pair:
            os.close(descriptor)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_control_process_that_stalls_lets_the_motors_go(remote: Any) -> None:
    """The bus process takes no command older than its limit, here 1.5 s."""
    bench, _, side = remote
    bench.start()
    bench.pull(0.3, 0.4)
    assert side.command["motor_mode"][0, :2].all()
    end = time.monotonic() + 10.0
    while side.command["motor_current_a"][0, :2].any() and time.monotonic() < end:
        time.sleep(0.05)
    assert not side.command["motor_current_a"][0, :2].any()
    bench.run(0.2)
    assert not side.command["motor_current_a"][0, :2].any()
    assert (bench.of_motors("motor_status") == ChannelStatus.HELD).all()
    pulls_again(bench, 0.3)


def test_a_computer_that_stood_still_hangs_no_bus_process() -> None:
    """A hang is a second without a heartbeat that the guardian itself has lived through, look by look."""
    look_ns = round(LOOK_S * 1e9)
    watch, now_ns = HangWatch(), 1_000_000_000
    assert not watch.hung(Phase.RUNNING, now_ns, now_ns)
    assert not watch.hung(Phase.RUNNING, now_ns, now_ns + 5_000_000_000)  # everything stood for 5 s
    beat_ns = now_ns + 5_000_000_000
    looks = [watch.hung(Phase.RUNNING, beat_ns, beat_ns + k * look_ns) for k in range(2 * HANG_LOOKS)]
    assert looks.index(True) in (HANG_LOOKS, HANG_LOOKS + 1)
    for phase in (Phase.STARTING, Phase.BUSY, Phase.LOST):
        watch = HangWatch()
        assert not any(watch.hung(phase, 1, k * look_ns) for k in range(3 * HANG_LOOKS))


def test_a_phase_that_is_watched_begins_with_a_fresh_heartbeat() -> None:
    """After a long call the guardian must not see the new phase beside the heartbeat from before it."""
    block, order = Block.create(), []

    class Noted:
        def __init__(self, name: str) -> None:
            self.name = name

        def __setitem__(self, _key: int, value: int) -> None:
            order.append((self.name, value))

    worker = object.__new__(Worker)
    worker.block, worker._running, worker._lost_since_ns = block, False, 0
    worker._phase, worker._beat = Noted("phase"), Noted("beat")
    worker.line = type("Line", (), {"send": lambda *_: None})()  # type: ignore[assignment]
    worker.bus = type("Bus", (), dict.fromkeys(("configure", "activate", "recover"), lambda *_: None))()
    try:
        for message in ({"call": "configure", "setups": "[]"}, {"call": "activate"}, {"call": "recover"}):
            order.clear()
            worker._answer(message)
            assert [name for name, _ in order] == ["phase", "beat", "phase"]
            watched = Phase.READY if message["call"] == "configure" else Phase.RUNNING
            assert (order[0][1], order[2][1]) == (Phase.BUSY, watched)
        worker._lost_since_ns = 1
        order.clear()
        worker._found()
        assert [name for name, _ in order] == ["beat", "phase"] and order[1][1] == Phase.RUNNING
    finally:
        block.close()


@pytest.mark.parametrize("ends", [BrokenPipeError, ZeroDivisionError])
def test_a_worker_lets_go_of_its_motors_whatever_ends_it(ends: type[Exception]) -> None:
    """Its control process is gone when it answers, or the driver has a bug in its cycle."""
    block, let_go = Block.create(), []

    def failing(*_: Any) -> Any:
        raise ends

    worker = object.__new__(Worker)
    worker.block, worker._running, worker._lost_since_ns, worker.readonly = block, False, 0, False
    worker._phase, worker._beat = block.field("phase"), block.field("beat_ns")
    send = failing if ends is BrokenPipeError else lambda *_: None
    line = {"send": send, "receive": lambda *_: {"call": "activate"}}
    worker.line = type("Line", (), line)()
    worker._cycle = failing if ends is ZeroDivisionError else lambda: None  # type: ignore[method-assign]
    worker.bus = type("Bus", (), {"activate": lambda *_: None, "deactivate": lambda *_: let_go.append(1)})()
    try:
        if ends is BrokenPipeError:
            worker.serve()
        else:
            with pytest.raises(ends):
                worker.serve()
        assert let_go == [1]
    finally:
        block.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize("after_the_call", [False, True])
def test_a_call_to_a_process_that_is_gone_is_a_lost_bus_at_once(remote: Any, after_the_call: bool) -> None:
    """Guardian and worker both dead: said with the bus' name, not after the whole time of a call."""
    bench, _, _ = remote
    bus = bench.bus
    if after_the_call:
        os.kill(int(bus.block.field("worker_pid")[0]), signal.SIGSTOP)  # it will not answer
        bus.begin_configure(())
    bus._process.kill()
    bus._process.wait()
    begun = time.thread_time()
    with pytest.raises(BusLost, match="servos.*ended before configure"):
        bus.end_configure() if after_the_call else bus.configure(())
    assert bus.deactivate() is False
    assert time.thread_time() - begun < 1.0
    worker = int(bus.block.field("worker_pid")[0])
    bus.close()
    end = time.monotonic() + 10.0
    while Path(f"/proc/{worker}").exists() and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{worker}").exists()  # though it was frozen


def test_the_driver_of_a_bus_process_that_cannot_open_says_why_here(tmp_path: Path) -> None:
    with pytest.raises(BusLost, match="no device"):
        RemoteBus(rigs.servo_settings(tmp_path / "nothing", 1), rigs.names(1), realtime=False)


def test_a_process_that_ends_leaves_no_child_and_no_torque(tmp_path: Path) -> None:
    """kill -9 of the control process: guardian and worker end, the servos' torque is off."""
    side = SpringSide(1)
    chain = rigs.servo_chain(tmp_path / "servos", 1, side)
    script = tmp_path / "control.py"
    script.write_text(CONTROL)
    with EmulatorThread([chain]):
        child = subprocess.Popen(
            [sys.executable, str(script), str(tmp_path / "servos")],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert child.stdout is not None
        pids = [int(w) for w in child.stdout.readline().split()]
        assert len(pids) == 2
        end = time.monotonic() + 10.0
        while time.monotonic() < end and not side.command["motor_current_a"].any():
            time.sleep(0.02)
        assert side.command["motor_current_a"].any()
        child.kill()
        child.wait()
        end = time.monotonic() + 10.0
        while time.monotonic() < end and any(Path(f"/proc/{p}").exists() for p in pids):
            time.sleep(0.02)
        assert not any(Path(f"/proc/{p}").exists() for p in pids)
        while time.monotonic() < end and side.command["motor_current_a"].any():
            time.sleep(0.02)  # by the last words of the worker, or by the servo's own watchdog
        assert not side.command["motor_current_a"].any()


CONTROL = """
import sys, time
from pathlib import Path
from drivers.hal import MotorSetup
from runtime.busprocess.block import Block, Phase
from runtime.busprocess.guardian import HANG_LOOKS, LOOK_S, HangWatch
from runtime.busprocess.remote import RemoteBus
from runtime.busprocess.worker import Worker
from signals.records import COMMAND, MEASUREMENT, new
from tests.rigs import emulated as rigs
from tests.rigs.emulated import pulls_again

settings = rigs.servo_settings(Path(sys.argv[1]), 1)
bus = RemoteBus(settings, rigs.names(1), realtime=False, command_age_s=2.0)
bus.configure((MotorSetup(index=0, name="motor_0", current_limit_a=1.0),))
bus.activate()
command, measurement = new(COMMAND), new(MEASUREMENT)
count = 0
while True:
    bus.exchange(command, measurement, time.monotonic_ns())
    pulls = count > 100 and not measurement["motor_status"][0, 0]
    command["motor_mode"], command["motor_current_a"] = 1, 0.3 if pulls else 0.0
    count += 1
    if count == 400:
        print(bus._process.pid, int(bus.block.field("worker_pid")[0]), flush=True)
    time.sleep(0.001)
"""


STARTING = """
import os, sys, time
from runtime.busprocess.block import Block, Phase
block = Block(int(sys.argv[1]))
block.field("worker_pid")[0] = os.getpid()
block.say("doing", "opening its devices")
begun = time.monotonic()
while time.monotonic() < begun + 3.0:
    if sys.argv[2] == "idle":
        time.sleep(0.1)
block.field("phase")[0] = Phase.READY
while not block.field("stop")[0]:
    time.sleep(0.01)
"""


@pytest.mark.sample(1)
@pytest.mark.realtime
@pytest.mark.parametrize("way", ["busy", "idle"])
def test_a_slow_start_is_waited_for_while_it_works_and_told_with_its_last_word(
    way: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def started(bus: RemoteBus, _line: object, _spec: object) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", STARTING, str(bus.block.descriptor), way]
        return subprocess.Popen(words, pass_fds=(bus.block.descriptor,))

    monkeypatch.setattr(remote_module, "IDLE_S", 1.5)
    monkeypatch.setattr(RemoteBus, "_started", started)
    settings = rigs.servo_settings(tmp_path / "servos", 1)
    if way == "busy":
        RemoteBus(settings, rigs.names(1), realtime=False).close()
        return
    with pytest.raises(BusLost, match="and did nothing for 2 s; its last word was 'opening its devices'"):
        RemoteBus(settings, rigs.names(1), realtime=False)
