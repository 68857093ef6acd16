"""Bus processes: killed, frozen, pulled adapter (B09), stalled or dead control process."""

from __future__ import annotations

import os
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
from runtime.busprocess.remote import RemoteBus
from signals.modes import Bus as BusBit
from signals.modes import Channel
from sim.emulators.chain import ChainEmulator
from sim.emulators.loop import EmulatorThread
from sim.emulators.side import BenchSide
from tests.emulators import rigs
from tests.emulators.rigs import pulls_again

NOT_FRESH = int(Channel.STALE | Channel.MISSING)


# --- bus process: killed, frozen, pulled, another device node (B09) -------------------------------------


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[tuple[Bench, ChainEmulator, BenchSide]]:
    n, side = 2, BenchSide(2)
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


def _costs_ns(bench: Bench, cycles: int) -> list[int]:
    """CPU time of every exchange; it has nothing to wait for, so wall time is the scheduler's."""
    costs = []
    for _ in range(cycles):
        begun = time.thread_time_ns()
        bench.status = bench.bus.exchange(bench.command, bench.measurement, time.monotonic_ns())
        costs.append(time.thread_time_ns() - begun)
        time.sleep(0.001)
    return costs


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_bus_process_that_dies_or_freezes_costs_the_loop_no_cycle(remote: Any, how: signal.Signals) -> None:
    bench, _, side = remote
    bench.start()
    bench.pull(0.3, 0.4)
    usual = max(_costs_ns(bench, 100))
    worker = int(bench.bus.block.field("worker_pid")[0])
    os.kill(worker, how)
    costs = _costs_ns(bench, 300)
    assert bench.status & BusBit.LOST
    assert (bench.of_motors("motor_status") & NOT_FRESH).all()
    assert max(costs) <= 20 * usual
    returned = bench.comes(
        2.0,
        lambda: not bench.status & BusBit.LOST and not (bench.of_motors("motor_status") & NOT_FRESH).any(),
    )
    assert returned and int(bench.bus.block.field("restarts")[0]) >= 1
    assert int(bench.bus.block.field("worker_pid")[0]) != worker
    assert (bench.of_motors("motor_status") & Channel.RESET).all()
    bench.run(0.3)
    assert not side.command["motor_current_a"].any()
    pulls_again(bench, 0.3)


def test_an_adapter_that_comes_back_as_another_device_node_is_found_by_its_name(remote: Any) -> None:
    bench, chain, side = remote
    bench.start()
    bench.pull(0.3, 0.4)
    node = os.path.realpath(chain.line.link)
    bench.rig.unplug()
    assert bench.comes(1.0, lambda: bool(bench.status & BusBit.LOST))
    begun, cpu = time.monotonic(), _cpu_s(int(bench.bus.block.field("worker_pid")[0]))
    bench.run(1.0)
    spent = _cpu_s(int(bench.bus.block.field("worker_pid")[0])) - cpu
    assert spent < 0.5 * (time.monotonic() - begun)
    others = [os.openpty() for _ in range(4)]
    bench.rig.plug()
    assert os.path.realpath(chain.line.link) != node
    assert bench.comes(2.0, lambda: not (bench.of_motors("motor_status") & NOT_FRESH).any())
    assert (bench.of_motors("motor_status") & Channel.RESET).all()
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
    assert (bench.of_motors("motor_status") & Channel.RESET).all()
    pulls_again(bench, 0.3)


def test_the_driver_of_a_bus_process_that_cannot_open_says_why_here(tmp_path: Path) -> None:
    with pytest.raises(BusLost, match="no device"):
        RemoteBus(rigs.servo_settings(tmp_path / "nothing", 1), rigs.names(1), realtime=False)


def test_a_process_that_ends_leaves_no_child_and_no_torque(tmp_path: Path) -> None:
    """kill -9 of the control process: guardian and worker end, the servos' torque is off."""
    side = BenchSide(1)
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
from runtime.busprocess.remote import RemoteBus
from signals.records import COMMAND, MEASUREMENT, new
from tests.emulators import rigs
from tests.emulators.rigs import pulls_again

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
