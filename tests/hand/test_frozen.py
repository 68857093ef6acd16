"""Frozen processes, slow and dead buses (field report B47): told by name, and the motors are let go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from benchmarks.soak import children_of
from hand.file.busfile import load_bus_file
from hand.options import RunOptions
from runtime.busprocess.truth import TruthShare
from runtime.processes.phases import BEAT_LOST_NS, CONTROL_SILENT_S, STOP_BUDGET_S, Exit
from runtime.processes.supervisor import Supervisor
from signals.records import TRUTH, new
from tests.rigs.runs import MOVING, START_S, Run, blocks, gone

pytestmark = pytest.mark.realtime
MOTORS = 8
"""Of the finger bench."""


class Servos:
    """``flexor emulate`` with servos on a serial line: a process of its own, whose torque can be seen."""

    def __init__(self, folder: Path) -> None:
        self.bus_file = folder / "servos.toml"
        words = ["emulate", "finger_bench", "--wiring", "dynamixel", "--bus-file", str(self.bus_file)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.cli", *words, "--for", "300"], stdout=subprocess.DEVNULL
        )
        until = time.monotonic() + START_S
        while not self.bus_file.exists():
            assert self.process.poll() is None and time.monotonic() < until
            time.sleep(0.05)
        if os.geteuid() == 0:  # servos do not wait for a busy computer
            for words in (["chrt", "-a", "-f", "-p", "60"], ["taskset", "-a", "-c", "-p", "0"]):
                subprocess.run([*words, str(self.process.pid)], check=True, capture_output=True)
        self._share, self._truth = TruthShare.attach(load_bus_file(str(self.bus_file)).truth), new(TRUTH)

    def torque_nm(self) -> float:
        """Largest torque that a motor gives now."""
        self._share.take(self._truth)
        return float(np.abs(self._truth["motor_torque_nm"][0, :MOTORS]).max())

    def comes(self, condition: Callable[[float], bool], within_s: float) -> bool:
        """Whether the torque meets a condition in time."""
        until = time.monotonic() + within_s
        while not condition(self.torque_nm()):
            if time.monotonic() > until:
                return False
            time.sleep(0.02)
        return True

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def servos(folder: Path) -> Iterator[Servos]:
    line = Servos(folder)
    try:
        yield line
    finally:
        line.kill()


class Meanwhile(threading.Thread):
    """What is done to a run of this process, until the run is over.

    Args:
        line: the servos of the run.
    """

    def __init__(self, line: Servos) -> None:
        super().__init__(daemon=True)
        self.line, self.over = line, threading.Event()
        self.let_go_s: float | None = None

    def run(self) -> None:
        """Freeze the control process when the hand pulls, and look whether the servos let go."""
        while self.line.torque_nm() <= 0.01:
            if self.over.wait(0.02):
                return
        (control,) = [pid for pid, name in children_of(os.getpid()).items() if name == "control"]
        os.kill(control, signal.SIGSTOP)
        begun = time.monotonic()
        if self.line.comes(lambda torque: torque == 0.0, 10.0):
            self.let_go_s = time.monotonic() - begun


def test_a_frozen_control_process_is_let_go_by_its_drives_and_killed_by_name(tmp_path, port_base):
    with servos(tmp_path) as line:
        bus = str(line.bus_file)
        options = RunOptions(
            hand="finger_bench", motion="open_close", seconds=60.0, bus=bus, port_base=port_base
        )
        meanwhile = Meanwhile(line)
        meanwhile.start()
        try:
            outcome = Supervisor(options, 3000.0, lambda _: None, silent_s=1.5).run()
        finally:
            meanwhile.over.set()
            meanwhile.join()
        assert outcome.code == Exit.CONTROL_LOST, outcome.message
        assert meanwhile.let_go_s is not None, "the servos still pull"
        assert line.torque_nm() == 0.0
    assert "the control process was killed: running, it gave no sign of life for 1.5" in outcome.message
    assert "watchdogs" in outcome.message
    assert outcome.report is not None and outcome.report["ended"]["why"] == "control lost"
    assert blocks(os.getpid()) == []


def test_a_frozen_io_process_ends_the_run_with_its_name_and_a_safe_hand(start: Callable[..., Run]):
    run = start(*MOVING)
    run.wait_until_running()
    children = run.children()
    os.kill(children["io"], signal.SIGSTOP)
    code, report, err = run.end()
    assert code == Exit.IO_LOST
    assert report["ended"]["why"] == "io lost"
    assert f"the io process was lost (no sign of life for {BEAT_LOST_NS / 1e9:g} s; killed)" in err
    assert "zero torque confirmed" in err
    assert gone(children.values()) and blocks(run.pid) == []


SLOW = """
import time
import sim.backend

quick = sim.backend.SimulatedBus.activate
calls = []

def activate(self):
    calls.append(self)
    if len(calls) > 1:  # the first one is the warm-up's
        time.sleep({seconds})
    quick(self)

sim.backend.SimulatedBus.activate = activate

def control(model, goal, memory, state, command):
    pass
"""


@pytest.mark.long
def test_a_slow_bus_is_told_and_not_killed_and_a_stop_lets_go_at_its_next_step(start, tmp_path):
    (tmp_path / "slow.py").write_text(SLOW.format(seconds=CONTROL_SILENT_S + 1.5))
    run = start("--for", "60", "--set", "controller=slow:control", cwd=tmp_path)
    control = run.wait_until_starting()["control"]
    until = time.monotonic() + START_S
    while run.phase() != "PREPARING":
        assert time.monotonic() < until and run.process.poll() is None
        time.sleep(0.01)
    time.sleep(CONTROL_SILENT_S + 0.2)  # a loop that runs would be killed by now
    os.kill(run.pid, signal.SIGINT)
    code, report, err = run.end()
    assert "setting up the bus: 3 s so far, last sign of life" in err, err
    assert code == 130 and "zero torque confirmed by the devices" in err, err
    assert report["cycles"] == 0
    assert gone([control]) and blocks(run.pid) == []


def test_ctrl_c_with_a_dead_bus_says_that_nothing_is_confirmed(start, tmp_path):
    with servos(tmp_path) as line:
        run = start("--motion", "open_close", "--for", "60", "--bus", str(line.bus_file))
        assert line.comes(lambda torque: torque > 0.01, START_S)
        line.kill()
        time.sleep(0.5)
        begun = time.monotonic()
        with suppress(ProcessLookupError):
            os.kill(run.pid, signal.SIGINT)
        code, report, err = run.end()
    assert code == Exit.NOT_RELEASED, err
    assert "NOT confirmed by the devices: switch the hand's power off" in err
    assert report["ended"]["why"] == "not released"
    assert time.monotonic() - begun < STOP_BUDGET_S + 5.0
    assert blocks(run.pid) == []


def test_a_stage_that_calls_exit_is_no_good_end_and_one_in_a_thread_changes_nothing(start, tmp_path):
    (tmp_path / "exits.py").write_text(
        "import sys, threading\n"
        "count = 0\n"
        "def control(model, goal, memory, state, command):\n"
        "    global count\n"
        "    count += 1\n"
        "    if count == 300:\n"
        "        threading.Thread(target=sys.exit, args=(3,)).start()\n"
        "    if count > 1500:\n"
        "        sys.exit(0)\n"
    )
    run = start(*MOVING, "--set", "controller=exits:control", cwd=tmp_path)
    code, report, err = run.end(START_S)
    assert code == Exit.FAILED and report["ended"]["why"] == "failed" and report["cycles"] > 1000
    assert "SystemExit" in err and "zero torque confirmed" in err and "Traceback" not in err
    assert blocks(run.pid) == []
