"""Subscribers that stop or dawdle, beside a healthy one, on a real run (field report B55).

That a stopped one costs no memory is shown with 30 MB of messages in ``test_messages``.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

import flexor
from benchmarks.soak import resident_bytes
from tests.rigs.runs import MOVING

VIEWS = 150
"""Three seconds of views."""
EVERY = 10
"""The slow one reads one view in so many."""


@pytest.mark.long
@pytest.mark.realtime
def test_a_stopped_and_a_slow_subscriber_cost_the_healthy_one_nothing(start, port_base):
    run = start(*MOVING, "--black-box-mb", "0")  # its memory grows for 20 s, whoever listens
    run.wait_until_running()
    words = [sys.executable, "-m", "benchmarks.subscriber", str(port_base)]
    stopped = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    try:
        with flexor.Hand(port_base=port_base) as healthy, flexor.Hand(port_base=port_base) as slow:
            healthy.view(), slow.view()
            time.sleep(1.0)  # the other one has connected, and is stopped in the middle of its reading
            os.kill(stopped.pid, signal.SIGSTOP)
            healthy.view()
            before, lost, skipped, behind = resident_bytes(run.children()["io"]), 0, 0, []
            for k in range(VIEWS):
                view = healthy.view()
                lost += view.lost
                if k % EVERY == EVERY - 1:
                    seen = slow.view()
                    skipped += seen.skipped
                    behind.append(view["seq"] - seen["seq"])
            grown = resident_bytes(run.children()["io"]) - before
            assert healthy.health()["drop"] == {"pub": 0, "log": 0}
    finally:
        stopped.kill()
        stopped.wait()
    assert lost == 0, "the healthy one lost views"
    assert max(behind) < 50, "the slow one sees data older than a second"
    assert skipped > VIEWS - 2 * EVERY, "what the slow one passed over is counted"
    assert grown < 8 << 20
    os.kill(run.pid, signal.SIGINT)
    code, report, _ = run.end()
    assert code == 130 and report["cycles"] > 3000
