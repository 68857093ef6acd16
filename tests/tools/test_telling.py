"""What stands on the terminal while a hand runs: nothing that was said is lost."""

from __future__ import annotations

import os
import re
import signal
import sys
import time

import pytest

from tests.rigs.terminal import Terminal

SAID = """
import os, sys
from tools.commands.telling import gathered, shown
before = len(os.listdir("/proc/self/fd"))
try:
    with gathered("run") as lines:
        os.write(2, b"said while it started\\n")
        if {bar}:
            with shown(lines, "run"):
                os.write(2, b"said above the bar\\n")
        raise OSError
except OSError:
    print("descriptors left:", len(os.listdir("/proc/self/fd")) - before)
"""


def _lines(bar):
    terminal = Terminal([sys.executable, "-c", SAID.format(bar=bar)], 80, 24)
    try:
        return terminal.wait_for(lambda lines: any("descriptors" in line for line in lines))
    finally:
        terminal.close()


def test_what_was_said_before_a_start_that_fails_is_not_lost():
    lines = _lines(bar=False)
    assert "said while it started" in lines and "descriptors left: 0" in lines


def test_what_was_said_stands_above_the_bar_once():
    lines = _lines(bar=True)
    assert [line for line in lines if "said" in line] == ["said while it started", "said above the bar"]
    assert "descriptors left: 0" in lines


BAR = """
import signal, time
from tools.commands.telling import progress
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
with progress("run") as told:
    told.phase("homing")
    signal.sigwait([signal.SIGUSR1])
    told.share(0.25)
    time.sleep(60)
"""


def test_before_a_share_is_known_there_is_a_phase_with_its_seconds_and_no_bar():
    terminal = Terminal([sys.executable, "-c", BAR], 80, 24)
    try:
        seconds = re.compile(r"run: homing, [1-9][0-9]* s")
        lines = terminal.wait_for(lambda lines: any(seconds.fullmatch(line) for line in lines))
        assert not any("%" in line for line in lines)
        terminal.process.send_signal(signal.SIGUSR1)
        lines = terminal.wait_for(lambda lines: any("25%" in line for line in lines))
        assert not any("homing" in line for line in lines)
    finally:
        terminal.close()


@pytest.mark.realtime
def test_a_run_without_end_tells_its_phases_and_a_fault_in_red_with_the_reports_time(port_base):
    words = [
        "-m",
        "tools.cli",
        "run",
        "finger_bench",
        "--motion",
        "open_close",
        "--port-base",
        str(port_base),
    ]
    terminal = Terminal([sys.executable, *words, "--fault", "tendon-break:index_4@1"], 160, 40)
    try:
        assert terminal.wait_for(lambda lines: lines[0] != "")[0] == "finger_bench: loading"
        lines = terminal.wait_for(lambda lines: any("TENDON_BROKEN" in line for line in lines), 120.0)
        phases = [line for line in lines if line.startswith("finger_bench: ") and "compiling" not in line]
        told = [line.removeprefix("finger_bench: ") for line in dict.fromkeys(phases)]
        homed = [phase for phase in told if phase != "homing"]  # a simulated hand is homed in an instant
        assert homed == ["loading", "playing open_close"] and told[-1] == homed[-1]
        assert terminal.colour("TENDON_BROKEN")[0] == "red"
        said = re.findall(r"([0-9.]+) s  FAULT  index, (\w+): ", "\n".join(lines))
        time.sleep(0.2)
        os.kill(terminal.process.pid, signal.SIGINT)
        lines = terminal.wait_for(lambda lines: any("FAULT at" in line for line in lines), 30.0)
        reported = re.findall(r"FAULT at ([0-9.]+) s  (\w+)", "\n".join(lines))
        assert [cause for _, cause in said] == [cause for _, cause in reported]
        for (at, _), (at_report, _) in zip(said, reported, strict=True):
            assert float(at) == pytest.approx(float(at_report), abs=0.051)
    finally:
        terminal.close()
