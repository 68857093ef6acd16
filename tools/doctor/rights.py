"""Rights of the user: real-time priority, locked memory, real-time CPU limit."""

from __future__ import annotations

import os
from typing import Final

from reports.finding import Finding, fail, good, warn
from runtime.host.machine import CAP_IPC_LOCK, CAP_SYS_NICE, UNLIMITED, Machine
from runtime.realtime import IO_NICE, LIMITS_FILE, PRIORITY

_LOG_IN: Final = "then log in again (flexor doctor --fix DIR writes the file)"


def _user(machine: Machine) -> str:
    words = machine.status("Uid").split()
    named = os.environ.get("USER", "")
    return named or (words[1] if len(words) > 1 else "USER")


def priority(machine: Machine) -> Finding:
    """May the loop have its SCHED_FIFO priority?"""
    soft, _ = machine.limit("Max realtime priority")
    if machine.capable(CAP_SYS_NICE):
        return good("rtprio limit", f"priority {PRIORITY} is granted by CAP_SYS_NICE")
    if soft >= PRIORITY:
        return good("rtprio limit", f"{soft:.0f} (the loop asks for {PRIORITY})")
    return fail(
        "rtprio limit",
        f"{soft:.0f} (the loop asks for {PRIORITY})",
        "no real-time priority: any busy program holds a cycle up by milliseconds",
        f"add '{_user(machine)} - rtprio 90' to {LIMITS_FILE}, {_LOG_IN}",
    )


def niceness(machine: Machine) -> Finding:
    """May the io process go before other work?"""
    # the limit counts from nice 20 downwards: 30 allows nice -10
    lowest = 20 - min(machine.limit("Max nice priority")[0], 40)
    if machine.capable(CAP_SYS_NICE) or lowest <= IO_NICE:
        return good("nice limit", f"the io process may have its niceness of {IO_NICE}")
    return warn(
        "nice limit",
        f"{min(lowest, 19):.0f} (the io process asks for {IO_NICE})",
        "on a machine full of other work telemetry stalls, and io may miss its heartbeat",
        f"add '{_user(machine)} - nice {IO_NICE}' to {LIMITS_FILE}, {_LOG_IN}",
    )


def memory_lock(machine: Machine) -> Finding:
    """May the loop lock its memory?"""
    soft, _ = machine.limit("Max locked memory")
    if machine.capable(CAP_IPC_LOCK):
        return good("memlock limit", "all memory may be locked (CAP_IPC_LOCK)")
    if soft == UNLIMITED:
        return good("memlock limit", "unlimited")
    return fail(
        "memlock limit",
        f"{soft / 1024:.0f} kB",
        "memory stays unlocked: a page fault holds a cycle up by milliseconds",
        f"add '{_user(machine)} - memlock unlimited' to {LIMITS_FILE}, {_LOG_IN}",
    )


def realtime_limit(machine: Machine) -> Finding:
    """Does the kernel kill a real-time process that computes for long?"""
    soft, hard = machine.limit("Max realtime timeout")
    if hard == UNLIMITED:
        raised = "" if soft == UNLIMITED else f" (now {soft / 1e6:g} s; the loop raises it at its start)"
        return good("RTTIME limit", f"unlimited{raised}")
    text = f"{hard / 1e6:g} s"
    if hard < 1e6:
        text = f"{hard / 1e3:g} ms"
    return warn(
        "RTTIME limit",
        text,
        "the kernel kills a real-time process that computes longer than this without a sleep, silently",
        "set LimitRTTIME=infinity in the service, or start outside of the session manager that sets it",
    )
