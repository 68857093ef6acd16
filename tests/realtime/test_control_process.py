"""The control process as it runs: its rights, one busy thread, no page fault, and every frame on the grid."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.runtime_loop import Process
from benchmarks.soak import Grid
from hand.options import RunOptions
from runtime.processes.phases import Phase, Stop
from runtime.realtime import PRIORITY, control_cpu
from signals.clock import now_ns
from telemetry.shm.segment import Segment

START_S = 120.0


class Running:
    """A control process in its loop; this process stands in for io."""

    def __init__(self, folder: Path) -> None:
        self.segment = Segment.create(3000.0)
        options = RunOptions(hand="finger_bench", motion="open_close")
        words = ["runtime.processes.control", self.segment.name, options.to_json(), str(os.getpid())]
        self.control = Process(words, folder, "control")
        self.reader = self.segment.reader(1024, start=0)
        self.grid = Grid(3000.0)
        self.segment.field("io_phase")[0], self.segment.field("watched")[0] = int(Phase.READY), 1

    @property
    def proc(self) -> Path:
        return Path(f"/proc/{self.control.process.pid}")

    def look(self, seconds: float) -> None:
        """Keep it alive for a while and look at its frames."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.control.running():
            self.segment.field("io_beat_ns")[0] = now_ns()
            self.grid.add(self.reader.read())
            time.sleep(0.01)

    def wait_until_running(self) -> None:
        until = time.monotonic() + START_S
        while self.segment.field("control_phase")[0] != Phase.RUNNING:
            self.look(0.05)
            assert self.control.running() and time.monotonic() < until, self.control.warnings()
        self.look(0.5)

    def faults(self) -> tuple[int, int]:
        """(minor, major) page faults so far."""
        words = (self.proc / "stat").read_text().rpartition(")")[2].split()
        return int(words[7]), int(words[9])

    def cpu_ticks(self) -> dict[str, int]:
        """Thread -> processor time used."""
        out = {}
        for task in (self.proc / "task").iterdir():
            words = (task / "stat").read_text().rpartition(")")[2].split()
            out[task.name] = int(words[11]) + int(words[12])
        return out


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    run = Running(tmp_path_factory.mktemp("control"))
    try:
        run.wait_until_running()
        yield run
        run.segment.field("stop")[0] = int(Stop.GENTLE)
        run.look(3.0)
        assert run.control.process.wait(5.0) == 0
        assert run.control.told()["confirmed"]
    finally:
        run.control.end()
        run.segment.unlink()


privileged = pytest.mark.skipif(os.geteuid() != 0, reason="needs the rights of the loop")


@privileged
def test_it_has_what_it_asked_for(running):
    pid = running.control.process.pid
    assert os.sched_getscheduler(pid) == os.SCHED_FIFO
    assert os.sched_getparam(pid).sched_priority == PRIORITY
    assert os.sched_getaffinity(pid) == {control_cpu()}
    status = (running.proc / "status").read_text()
    assert int(status.split("VmLck:")[1].split()[0]) > 0


@privileged
def test_the_loop_takes_no_page_fault(running):
    before = running.faults()
    running.look(0.7)
    assert running.faults() == before


def test_one_thread_does_all_the_work(running):
    before = running.cpu_ticks()
    running.look(0.7)
    after = running.cpu_ticks()
    assert after.keys() == before.keys()
    assert [task for task in after if after[task] > before[task]] == [str(running.control.process.pid)]


def test_every_frame_is_on_the_grid_and_none_is_missing(running):
    running.look(0.3)
    assert running.grid.frames > 300
    assert (running.grid.wrong, running.grid.gaps, running.reader.lost) == (0, 0, 0)
