"""The tick allocates nothing: numba's own allocation counters over every state of the machine.

A call from Python itself costs one counted header per array argument (15 for the three stages); whatever is
beyond that would come from the laws.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import numpy as np
from numba.core.runtime import rtsys
from signals.faults import Cause
from signals.modes import ChannelStatus, Mode, Request
from tests.rigs.desk import Desk, shift, slacken

desk = Desk("hasy")
desk.cycle(2)

def spent(count, act=None):
    if act:
        act()
    before = rtsys.get_allocation_stats()
    desk.cycle(count)
    after = rtsys.get_allocation_stats()
    return after.alloc - before.alloc - 15 * count

total = spent(20) + spent(20, lambda: desk.ask(Request.ARM)) + spent(20, lambda: desk.ask(Request.ACTIVATE))
total += spent(200)  # from now on its tendons were taut
lost, partner = (int(t) for t in desk.m["finger_tendon"][2, :2])
def break_a_tendon():
    slacken(desk, lost)
    shift(desk, partner, 300)
total += spent(11, break_a_tendon)
assert desk.keeper["look_tendon"][0] == lost and desk.keeper["look_done"][0] > 2
total += spent(9)
assert desk.state["finger_cause"][0, 2] == Cause.TENSION_LOST
for mode in Mode:
    desk.goal["finger_mode"][0, : desk.n_fingers] = int(mode)
    total += spent(20)
def break_a_motor():
    desk.measurement["motor_status"][0, 3] = int(ChannelStatus.MISSING)
total += spent(60, break_a_motor)
total += spent(20, lambda: desk.ask(Request.STOP))
assert desk.state["machine"][0] == 4
print("allocations", total)
"""


def test_no_cycle_of_estimate_control_and_guard_allocates() -> None:
    environment = {**os.environ, "NUMBA_NRT_STATS": "1"}
    root = Path(__file__).parents[2]
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["allocations", "0"]
