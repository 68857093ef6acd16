"""Scheduling of bus processes: real-time below the control loop, and not on its core."""

from __future__ import annotations

import contextlib
import os
from typing import Final

from runtime.realtime import control_cpu

PRIORITY: Final = 40
"""Below the control process (80) and the kernel's interrupt threads (50)."""
NICE: Final = -10


def take_rights(realtime: bool) -> None:
    """Leave the control core; ask for priority, take what is granted.

    Args:
        realtime: False for emulated devices: their pty is served by an ordinary kernel worker that a
        real-time
            process would starve.
    """
    cpu, ours = control_cpu(), os.sched_getaffinity(0)
    others = ours - {cpu}
    with contextlib.suppress(OSError):
        if others:
            os.sched_setaffinity(0, others)
    if not realtime:
        return
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, NICE)
