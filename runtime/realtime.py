"""Real-time rights of the control process: ask for each, say what was refused, what it costs, how to get it.

Nothing here is needed to run; everything lacking is named with the exact line to add.
"""

from __future__ import annotations

import ctypes
import gc
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

PRIORITY: Final = 80
"""SCHED_FIFO priority: below the kernel's own interrupt threads (50 is theirs by default on RT kernels,
migration and watchdog are at 99), above everything of a user."""
LIMITS_FILE: Final = "/etc/security/limits.d/flexor.conf"
_MCL_CURRENT, _MCL_FUTURE = 1, 2
_PR_SET_PDEATHSIG: Final = 1
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


@dataclass(frozen=True, slots=True)
class Lack:
    """One right that was refused."""

    what: str
    cost: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}: {self.cost}. To fix: {self.fix}"


@dataclass(slots=True)
class Granted:
    """What the control process got."""

    priority: int = 0
    cpu: int | None = None
    locked: bool = False
    latency: bool = False
    lacks: list[Lack] = field(default_factory=list)
    keep_open: list[int] = field(default_factory=list)
    """File descriptors that must stay open (cpu_dma_latency)."""

    def sentence(self) -> str:
        """One line: asked for and granted."""
        policy = f"SCHED_FIFO {self.priority}" if self.priority else "normal priority"
        cpu = "any core" if self.cpu is None else f"core {self.cpu}"
        memory = "memory locked" if self.locked else "memory not locked"
        return (
            f"control process: {policy}, {cpu}, {memory} (asked for SCHED_FIFO {PRIORITY}, one core, locked)"
        )


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def control_cpu() -> int | None:
    """Core for the control loop: an isolated one, else the last of ours; ``None`` with one core only."""
    ours = sorted(os.sched_getaffinity(0))
    for part in _read("/sys/devices/system/cpu/isolated").split(","):
        first = part.split("-")[0]
        if first.isdigit():
            return int(first)
    return ours[-1] if len(ours) > 1 else None


def _priority(granted: Granted) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_RTTIME)
    if soft != resource.RLIM_INFINITY:
        try:
            resource.setrlimit(resource.RLIMIT_RTTIME, (hard, hard))
        except (OSError, ValueError):
            pass
        if resource.getrlimit(resource.RLIMIT_RTTIME)[0] != resource.RLIM_INFINITY:
            granted.lacks.append(
                Lack(
                    f"real-time CPU limit of {soft / 1e6:g} s",
                    "the kernel kills a real-time process that uses more without sleeping",
                    "set LimitRTTIME=infinity in the service, or run outside of that service manager",
                )
            )
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        granted.priority = PRIORITY
    except OSError:
        limit = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
        granted.lacks.append(
            Lack(
                f"real-time priority refused (rtprio limit is {limit})",
                "any busy program can delay a cycle by milliseconds",
                f"add '{_user()} - rtprio 90' to {LIMITS_FILE} and log in again",
            )
        )


def _user() -> str:
    return os.environ.get("USER") or str(os.getuid())


def _pin(granted: Granted) -> None:
    cpu = control_cpu()
    if cpu is None:
        granted.lacks.append(
            Lack(
                "one core only",
                "recorder and publisher compete with the loop",
                "give the machine two cores or more",
            )
        )
        return
    try:
        os.sched_setaffinity(0, {cpu})
        granted.cpu = cpu
    except OSError as error:
        granted.lacks.append(
            Lack(f"core {cpu} refused ({error.strerror})", "the loop moves between cores", "check the cpuset")
        )


def _lock_memory(granted: Granted, libc: ctypes.CDLL) -> None:
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    privileged = os.geteuid() == 0
    # With a finite limit MCL_FUTURE makes later allocations fail: rather not locked than dead.
    if (limit == resource.RLIM_INFINITY or privileged) and not libc.mlockall(_MCL_CURRENT | _MCL_FUTURE):
        granted.locked = True
        return
    granted.lacks.append(
        Lack(
            f"memory not locked (memlock limit is {limit // 1024} kB)",
            "a page fault can delay a cycle by milliseconds",
            f"add '{_user()} - memlock unlimited' to {LIMITS_FILE} and log in again",
        )
    )


def _latency(granted: Granted) -> None:
    try:
        file = os.open("/dev/cpu_dma_latency", os.O_WRONLY)
        os.write(file, (0).to_bytes(4, "little"))
        granted.keep_open.append(file)
        granted.latency = True
    except OSError:
        granted.lacks.append(
            Lack(
                "/dev/cpu_dma_latency not writable",
                "the processor may sleep deeply between cycles (up to 100 us to wake)",
                "flexor doctor --fix writes a udev rule for group realtime",
            )
        )


def _kernel(granted: Granted) -> None:
    if _read("/sys/kernel/realtime") != "1":
        granted.lacks.append(
            Lack(
                "kernel without PREEMPT_RT",
                "rare cycles are late by milliseconds",
                "install a real-time kernel (linux-image-rt-amd64) or boot with preempt=full",
            )
        )


def request_rights() -> Granted:
    """Ask for priority, core, locked memory and a wakeful processor for this process."""
    granted = Granted()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)  # freed heap stays ours: no page faults later
    libc.mallopt(_M_MMAP_MAX, 0)
    _pin(granted)
    _lock_memory(granted, libc)
    _latency(granted)
    _kernel(granted)
    _priority(granted)
    return granted


def die_with_parent(parent: int, signal_number: int) -> bool:
    """Get ``signal_number`` when the parent dies; False if it is dead already."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    return os.getppid() == parent


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection inside: collect once, freeze what is there, switch the collector off."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()
