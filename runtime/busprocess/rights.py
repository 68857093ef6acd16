"""Scheduling of bus processes: real-time below the control loop, off its core where there are enough."""

from __future__ import annotations

import contextlib
import os
from typing import Final

from runtime.realtime import go_before_others, leave_loop_core

PRIORITY: Final = 40
"""Below the control process (80) and the kernel's interrupt threads (50)."""
NICE: Final = -10
FEW_CORES: Final = 2
"""Cores of which emulated devices and all their bus processes would fill one."""


def take_rights(realtime: bool) -> None:
    """Leave the control core; ask for priority, take what is granted.

    Args:
        realtime: False for emulated devices: their pty is served by an ordinary kernel worker that a
            real-time process would starve; they go before other work without it.
    """
    if realtime or len(os.sched_getaffinity(0)) > FEW_CORES:
        leave_loop_core()
    if realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
            return
        except OSError:
            pass
    with contextlib.suppress(OSError):
        go_before_others(NICE)
