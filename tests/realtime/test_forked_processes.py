"""``flexor run`` loads everything once: control and io are forks of it, and control is as undisturbed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from runtime.processes.child import COMM
from tests.rigs.runs import MOVING

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _status(pid: int, key: str) -> str:
    return Path(f"/proc/{pid}/status").read_text().split(f"{key}:")[1].split()[0]


def _faults(pid: int) -> tuple[int, int]:
    """(minor, major) page faults so far."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[7]), int(words[9])


def test_children_are_forks_with_names_sessions_and_signals_of_their_own(start):
    run = start(*MOVING)
    run.wait_until_running()
    children = run.children()
    assert set(children) == {"io", "control"}
    for name, pid in children.items():
        assert Path(f"/proc/{pid}/cmdline").read_bytes() == Path(f"/proc/{run.pid}/cmdline").read_bytes()
        assert _status(pid, "Name") == f"{COMM}{name}"
        assert os.getsid(pid) == pid  # Ctrl-C of the terminal is the supervisor's alone
        assert not int(_status(pid, "SigBlk"), 16) & sum(1 << (n - 1) for n in _STOPS)
        assert os.readlink(f"/proc/{pid}/fd/0") == os.devnull
        assert os.readlink(f"/proc/{pid}/fd/1") != os.readlink(f"/proc/{run.pid}/fd/1")
    os.kill(run.pid, signal.SIGINT)
    code, report, _ = run.end()
    assert code == 130 and report["cycles"] > 300


@pytest.mark.skipif(os.geteuid() != 0, reason="needs the rights of the loop")
def test_a_forked_loop_has_its_memory_to_itself(start):
    """Pages that it shared with its parent are its own before it runs: no page fault in a cycle."""
    run = start(*MOVING)
    run.wait_until_running()
    control = run.children()["control"]
    assert int(_status(control, "VmLck")) > 0
    time.sleep(0.5)
    before = _faults(control)
    time.sleep(0.7)
    assert _faults(control) == before
    os.kill(run.pid, signal.SIGINT)
    assert run.end()[0] == 130
