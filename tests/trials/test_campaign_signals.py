"""Signals to a campaign of fault trials: a real process, in a process group as a terminal makes it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

START_S = 240.0
"""A cold start compiles."""
END_S = 20.0
"""Far less than any job of these campaigns takes, far more than a busy computer needs to end one."""


@contextmanager
def campaign(*words: str, ignored: bool = False) -> Iterator[subprocess.Popen[str]]:
    """``flexor faults finger_bench`` in the background; ``ignored``: begun with Ctrl-C ignored."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tools.cli", "faults", "finger_bench", "--json", "--workers", "1", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        start_new_session=True,
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def wait_for(process: subprocess.Popen[str], what: Callable[[], bool]) -> None:
    until = time.monotonic() + START_S
    while not what():
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.02)


def workers(process: subprocess.Popen[str]) -> list[int]:
    """Process ids of the workers of a campaign."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    found = []
    for child in children:
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.append(int(child))
    return found


def workers_of(process: subprocess.Popen[str]) -> int:
    return len(workers(process))


def ended(process: subprocess.Popen[str], number: signal.Signals) -> tuple[str, str]:
    """Output of a campaign whose whole group gets a signal: it ends soon, and leaves nobody."""
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=END_S)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    until = time.monotonic() + END_S
    while _lives(process.pid):
        assert time.monotonic() < until, "somebody stays"
        time.sleep(0.02)
    return out, err


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.sample(1)
@pytest.mark.realtime
@pytest.mark.parametrize("ignored", [False, True])
def test_ctrl_c_ends_a_campaign_with_what_is_done(tmp_path: Path, ignored: bool) -> None:
    notes = tmp_path / "results.jsonl"
    words = ("--trials", "3000", "--motions", "hold", "--out", str(tmp_path))
    with campaign(*words, ignored=ignored) as process:
        wait_for(process, lambda: notes.exists() and notes.stat().st_size > 0)
        out, err = ended(process, signal.SIGINT)
    report = json.loads(out)
    noted = [json.loads(line) for line in notes.read_text().splitlines()]
    assert report["stopped"] and 0 < report["trials"] == len(noted) < 3000
    assert {v["seed"] for v in report["verdicts"]} == {v["seed"] for v in noted}
    assert f"trials: {len(noted)} of 3000" in err or "of 3000 in" in err


@pytest.mark.long
@pytest.mark.realtime
def test_jobs_that_take_for_ever_are_not_waited_for() -> None:
    """An hour of simulated time a job: nothing is done yet, and the worker is just being warmed."""
    with campaign("--none", "--minutes", "720", "--hands", "1") as process:
        wait_for(process, lambda: workers_of(process) == 1)
        out, _ = ended(process, signal.SIGTERM)
    assert out == "" or json.loads(out)["runs"] == []


@pytest.mark.realtime
def test_ctrl_c_before_the_first_worker_ends_it_too() -> None:
    with campaign("--trials", "3000") as process:
        maps = Path(f"/proc/{process.pid}/maps")
        wait_for(process, lambda: "numpy" in maps.read_text())
        out, _ = ended(process, signal.SIGINT)
    assert out == "" or json.loads(out)["trials"] == 0


@pytest.mark.sample(1)
@pytest.mark.realtime
@pytest.mark.parametrize("told", [False, True])
def test_killed_workers_are_told_apart_from_an_asked_stop(told: bool) -> None:
    """Workers die first: without a stop it is an error in a sentence, with one it is none."""
    with campaign("--none", "--minutes", "720", "--hands", "1") as process:
        wait_for(process, lambda: workers_of(process) == 1)
        for worker in workers(process):
            os.kill(worker, signal.SIGKILL)
        if told:
            process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=END_S)
    assert process.returncode == (130 if told else 1), err
    assert ("a worker process was killed" in err) is not told and "internal error" not in err
