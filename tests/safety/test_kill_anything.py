"""kill -9 of control, io and supervisor, one moment each. A hundred: ``benchmarks/kill_anything.py``."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from benchmarks.kill_anything import VICTIMS, killed
from runtime.processes.phases import Exit
from telemetry.shm.segment import parent_gone
from tests.rigs.runs import MOVING, Run, blocks, gone


@pytest.mark.long
@pytest.mark.realtime
def test_whoever_is_killed_the_drives_are_at_zero_torque_and_the_next_start_is_clean(port_base: int) -> None:
    trials, wrong = killed(3, seed=6, port_base=port_base, start_s=2.0)
    assert sorted(t.victim for t in trials) == sorted(VICTIMS)
    assert any(t.was_on for t in trials), "none of them was in motion"
    for trial in trials:
        assert not trial.broken, trial
    assert not wrong


def test_a_parent_counts_as_gone_while_its_remains_are_still_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """A supervisor whose main thread is dead keeps its number until the last of its threads is."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        monkeypatch.setattr(os, "getppid", lambda: child.pid)
        assert not parent_gone(child.pid)
        assert parent_gone(child.pid + 1)
        child.kill()
        until = time.monotonic() + 10.0
        while not parent_gone(child.pid):
            assert time.monotonic() < until, "nobody has waited for it: it is a zombie"
            time.sleep(0.01)
    finally:
        child.kill()
        child.wait()


@pytest.mark.sample(1)
@pytest.mark.realtime
@pytest.mark.parametrize(
    ("victim", "code", "why"),
    [("io", Exit.IO_LOST, "io lost"), ("control", Exit.CONTROL_LOST, "control lost")],
)
def test_who_dies_while_the_run_starts_is_named_and_nobody_waits_for_the_other(
    port_base: int, victim: str, code: int, why: str
) -> None:
    run = Run(port_base, *MOVING)
    try:
        children = run.wait_until_starting()
        os.kill(children[victim], signal.SIGKILL)
        found, report, err = run.end()
        assert found == code, err
        assert report["ended"]["why"] == why and "never switched on" in err
        assert gone(children.values(), within_s=1.0) and blocks(run.pid) == []
    finally:
        run.process.kill()
        run.process.wait()
