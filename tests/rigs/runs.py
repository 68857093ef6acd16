"""Runs of ``flexor run`` in the background, for tests of real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import flexor
from runtime.processes.child import COMM
from runtime.processes.phases import STOP_BUDGET_S, Phase
from runtime.processes.supervisor import Outcome, Supervisor
from telemetry.shm.segment import FOLDER, Segment, SegmentError

START_S = 90.0
"""A cold start compiles."""
CLIENT_PRIORITY = 10
"""Behind every loop."""
MOVING = ("--motion", "open_close", "--for", "60")


class Run:
    """A ``flexor run`` in the background."""

    def __init__(self, port_base: int, *words: str, cwd: Path | None = None, **environ: str) -> None:
        self.port_base = port_base
        environment = os.environ | {"PYTHONPATH": os.getcwd()} | environ
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "tools.cli",
                "run",
                "finger_bench",
                "--json",
                "--port-base",
                str(port_base),
            ]
            + list(words),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=cwd,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def children(self) -> dict[str, int]:
        """Name -> pid of the processes that the run is made of; not those that compile beside its start."""
        found = {}
        for line in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split():
            name = Path(f"/proc/{line}/comm").read_text().strip()
            if name.startswith(COMM):
                found[name.removeprefix(COMM)] = int(line)
        return found

    def wait_until_starting(self) -> dict[str, int]:
        """The children, before anything is switched on."""
        until = time.monotonic() + START_S
        while time.monotonic() < until and self.process.poll() is None:
            children = self.children()
            if set(children) == {"io", "control"}:
                return children
            time.sleep(0.01)
        raise AssertionError("no children came")

    def phase(self) -> str:
        """Where the control process stands; empty while there is no shared memory."""
        for name in blocks(self.pid):
            with suppress(SegmentError, ValueError, OSError):  # just being made, or just gone
                return Phase(int(Segment.attach(name).field("control_phase")[0])).name
        return ""

    def wait_until_warming(self) -> dict[str, int]:
        """The children, while control reads its files and loads what is compiled; nothing is switched on."""
        until = time.monotonic() + START_S
        while time.monotonic() < until and self.process.poll() is None:
            if self.phase() == Phase.WARMING.name:
                return self.children()
            time.sleep(0.005)
        raise AssertionError("control never warmed up")

    def wait_until_running(self) -> dict[str, Any]:
        """A view of the moving hand."""
        until = time.monotonic() + START_S
        with flexor.Hand(port_base=self.port_base, timeout_s=1.0) as hand:
            while time.monotonic() < until and self.process.poll() is None:
                try:
                    view = hand.view()
                    if view["tick"] > 300:
                        return view
                except flexor.HandSilent:
                    continue
        out, err = self.process.communicate(timeout=10)
        raise AssertionError(f"the run did not start: {out} {err}")

    def end(self, budget_s: float = 30.0) -> tuple[int, dict[str, Any], str]:
        """Exit code, report, stderr."""
        out, err = self.process.communicate(timeout=budget_s)
        return self.process.returncode, json.loads(out) if out.strip() else {}, err


@contextmanager
def on_time() -> Iterator[None]:
    """The caller, and threads that it begins meanwhile, go before ordinary work, where that is allowed.

    A hand waits 0.1 s for its client's next goal, a bus 20 ms for an emulator's answer; beside other
    tests a thread has waited 0.4 s for its turn.
    Start no process in here: it would go before others too.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    with suppress(OSError):  # without the right a witness sees such stalls, and the test is tried again
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(CLIENT_PRIORITY))
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)


def nothing_starts(patch: pytest.MonkeyPatch) -> None:
    """A ``flexor run`` of the test's own process says what there is to say before its children begin."""
    for name, done in {
        "__enter__": lambda self: self,
        "__exit__": lambda *_: None,
        "supervise": lambda _: Outcome(0, "", None, {}),
    }.items():
        patch.setattr(Supervisor, name, done)


def next_child(pid: int) -> int:
    """A child of a process, as soon as it has one."""
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if found:
            return int(found[0])
        time.sleep(0.01)
    raise AssertionError("no child came")


def alive(pid: int) -> bool:
    """It has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone(pids: Iterable[int], within_s: float = STOP_BUDGET_S + 1.0) -> bool:
    """All of them have ended within a time."""
    until = time.monotonic() + within_s
    while any(alive(p) for p in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def blocks(pid: int) -> list[str]:
    """Shared memory that a run has left."""
    return [p.name for p in FOLDER.glob(f"flexor-*-{pid}-*")]
