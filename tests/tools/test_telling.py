"""What stands on the terminal while a hand runs: nothing that was said is lost."""

from __future__ import annotations

import sys

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
