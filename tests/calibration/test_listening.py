"""Tensions of a run in its own processes are seen while it goes on."""

from __future__ import annotations

import time

import numpy as np
import pytest

from calibration.listening import listening
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.rigs.runs import MOVING


@pytest.mark.realtime
def test_tensions_come_in_the_hands_order_as_soon_as_the_run_speaks(start, port_base):
    hand, seen = read_hand(RunOptions(hand="finger_bench")), []
    with listening(hand, port_base, lambda time_s, tensions: seen.append((time_s, tensions))):
        time.sleep(0.3)
        assert not seen
        run = start(*MOVING)
        run.wait_until_running()
        until = time.monotonic() + 20.0
        while len(seen) < 10 and time.monotonic() < until:
            time.sleep(0.05)
    count = len(seen)
    times, tensions = np.array([t for t, _ in seen]), np.array([f for _, f in seen])
    assert count >= 10 and np.all(np.diff(times) > 0.0) and tensions.shape == (count, 8)
    assert np.all(tensions[-1] > 1.0) and np.ptp(tensions, axis=0).min() > 0.1, "every tendon's own tension"
    time.sleep(0.5)
    assert len(seen) == count, "nobody listens any more"
