"""Which hand? Runs and emulations are listed, stop finds the one that is meant, asks when several run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from flexor import runs
from flexor.runs import RUN, WhichHand, announced, chosen, running
from runtime.processes.phases import Exit
from tests.rigs.runs import MOVING
from tools.commands.stop import stop

FLEXOR = [sys.executable, "-m", "tools.cli"]


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Runs of other tests are not ours; a folder of this user's own as the client wants it."""
    home = tmp_path / "runtime"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))


def test_what_runs_is_listed_and_what_is_dead_is_not():
    assert running() == [] and chosen(None, None) == (5600, None)
    with announced(RUN, "mine", port_base=6000, transport="tcp"):
        (entry,) = running()
        assert (entry.hand, entry.pid, entry.port_base) == ("mine", os.getpid(), 6000)
        assert abs(entry.since - time.time()) < 5.0
        assert chosen(None, None) == (6000, entry) and chosen(None, "mine") == (6000, entry)
        assert chosen(5600, None) == (5600, None)
        with pytest.raises(WhichHand, match=r"no hand 'yours' runs; running: mine \(--port-base 6000"):
            chosen(None, "yours")
    assert running() == []
    dead = subprocess.run(
        [sys.executable, "-c", "from flexor.runs import announced; import os\n"
         "with announced('run', 'dead'): os._exit(9)"], check=False, cwd=os.getcwd(),
    )  # fmt: skip
    assert dead.returncode == 9
    assert len(list(runs.folder().glob("running-*.json"))) == 1
    assert running() == [] and not list(runs.folder().glob("running-*.json"))


def test_files_that_are_none_of_ours_harm_nobody():
    with announced(RUN, "mine", port_base=6000):
        for name, text in (("a", "{"), ("b", "[]"), ("c", '{"what": "run"}'), ("d", "\x00")):
            (runs.folder() / f"running-{name}.json").write_text(text)
        assert [entry.hand for entry in running()] == ["mine"]


def test_of_several_hands_the_user_says_which(monkeypatch, capsys):
    first = runs.Running(what=RUN, hand="left", pid=os.getpid(), started=1, since=1.0, port_base=6000)
    second = runs.Running(what=RUN, hand="right", pid=os.getpid(), started=1, since=2.0, port_base=6100)
    monkeypatch.setattr(runs, "running", lambda what=None: [first, second])
    with pytest.raises(WhichHand, match="several hands run: left .*6000.*right .*6100.*--hand"):
        chosen(None, None)
    assert chosen(None, "right") == (6100, second) and chosen(6000, None) == (6000, first)
    assert stop([]) == 2 and "say which with --port-base or --hand" in capsys.readouterr().err


@pytest.mark.realtime
def test_ps_sees_a_run_from_its_start_and_stop_ends_it_while_it_starts(start, port_base):
    run = start(*MOVING)
    until = time.monotonic() + 20.0
    while not (rows := running()) and time.monotonic() < until:
        time.sleep(0.01)
    assert [row.pid for row in rows] == [run.pid] and rows[0].port_base == port_base
    stopped = subprocess.run([*FLEXOR, "stop"], capture_output=True, text=True, timeout=30.0)
    assert stopped.returncode == 0 and "finger_bench" in stopped.stdout
    code, report, err = run.end()
    assert code in (Exit.FAULT, Exit.NOT_STARTED, 130), "in fault by the stop, or ended before it began"
    assert code != Exit.NOT_STARTED or "the hand was stopped before it started" in err
    assert report["ended"]["why"] in ("fault", "not started", "signal")
    assert running() == []


@pytest.mark.realtime
def test_ps_tells_hand_state_ports_and_process(start, port_base):
    run = start("--for", "60")
    run.wait_until_running()
    rows = json.loads(subprocess.run([*FLEXOR, "ps", "--json"], capture_output=True, text=True).stdout)
    assert [(r["hand"], r["pid"], r["port_base"], r["what"]) for r in rows] == [
        ("finger_bench", run.pid, port_base, "run")
    ]
    assert rows[0]["state"] in ("active", "holding")
    text = subprocess.run([*FLEXOR, "ps"], capture_output=True, text=True).stdout
    assert "finger_bench" in text and str(run.pid) in text and f"{port_base}, {port_base + 1}" in text
