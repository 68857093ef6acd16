"""Teleoperation over real processes: the hand follows, a silent sender loses it, nothing ends in a fault."""

from __future__ import annotations

import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import flexor

RATE_HZ, FREQUENCY = 60.0, 3.0
JOINT = "index_pip"


def _glove(t):
    return 0.5 - 0.3 * math.cos(FREQUENCY * t)


@pytest.mark.long
def test_a_hand_follows_a_stream_of_a_jittery_sender_on_another_clock(start, port_base):
    run = start("--for", "60")
    run.wait_until_running()
    dice = random.Random(3)
    with flexor.Hand(port_base=port_base, timeout_s=5.0) as hand, hand.control("glove") as control:
        hand.listen("raw")
        with control.stream(RATE_HZ, ramp_s=0.5) as stream:
            begun, sent = time.monotonic(), []
            while (t := time.monotonic() - begun) < 2.5:
                following = stream.send(t - 1e6, {JOINT: _glove(t)})
                sent.append(t)
                time.sleep((0.5 + dice.random()) / RATE_HZ)
            assert following.share == 1.0 and following.delay_s < 0.08
            time.sleep(0.3)  # longer than a goal lives: the hand holds
            with pytest.raises(flexor.Refused, match="no_stream.*came 0.1. s before.*begin"):
                stream.send(0.0, {JOINT: 0.4})
            assert hand.view().machine == "holding"
            where = hand.view().pos[JOINT]
            stream.engage()
            for _ in range(6):
                stream.send(None, {JOINT: where + 0.5})
                time.sleep(1.0 / RATE_HZ)
            assert hand.view().pos[JOINT] < where + 0.1  # by a ramp
            for _ in range(70):
                stream.send(None, {JOINT: where + 0.5})
                time.sleep(1.0 / RATE_HZ)
        control.sleep(0.3)  # where the stream ended
        assert hand.view().pos[JOINT] == pytest.approx(where + 0.5, abs=0.05)
        table = hand.to_table()
    assert hand_follows(table)
    text = (
        Path("examples/follow_stream.py")
        .read_text(encoding="utf-8")
        .replace('"127.0.0.1"', f"port_base={port_base}")
    )
    done = subprocess.run(
        [sys.executable, "-c", text.replace("< 6.0", "< 1.5")],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
    )
    assert done.returncode == 0 and "follows" in done.stdout, done.stderr
    os.kill(run.pid, signal.SIGINT)
    code, report, _ = run.end()
    assert code == 130 and {f["cause"] for f in report["faults"]} <= {"COMMAND_TOO_OLD"}, report["faults"]


def hand_follows(table):
    """After the ramp the wanted angle is the glove's wave: its middle, its size and its pace."""
    cmd, t = table[f"cmd/{JOINT}"].astype(float), table["timestamp"]
    part = (t > t[0] + 1.2) & (t < t[0] + 2.3)
    x = FREQUENCY * (t[part] - t[0])
    base = np.stack([np.ones_like(x), np.cos(x), np.sin(x)], axis=1)
    (middle, a, b), *_ = np.linalg.lstsq(base, cmd[part], rcond=None)
    rest = cmd[part] - base @ (middle, a, b)
    assert middle == pytest.approx(0.5, abs=0.02) and math.hypot(a, b) == pytest.approx(0.3, abs=0.02)
    assert rest.std() < 0.015
    return True
