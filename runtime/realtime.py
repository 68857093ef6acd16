"""Real-time rights of the control process: ask for each, say what was refused, what it costs, how to get it.

Nothing here is needed to run; everything lacking is named with the exact line to add.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import mmap
import os
import resource
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from signals.atomics import touch_stack

PRIORITY: Final = 80
"""SCHED_FIFO priority: below the kernel's own interrupt threads (50 is theirs by default on RT kernels,
migration and watchdog are at 99), above everything of a user."""
LIMITS_FILE: Final = "/etc/security/limits.d/flexor.conf"
_MCL_CURRENT, _MCL_FUTURE = 1, 2
_MLOCK_ONFAULT: Final = 1
_RESERVED: Final = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000
"""A mapping that costs nothing until it is touched (MAP_NORESERVE)."""
AUTOGROUP: Final = "/proc/self/autogroup"
IO_NICE: Final = -10
"""Niceness of the io process: after control, which is real-time, and before all other work."""
STACK_BYTES: Final = 256 * 1024
"""Stack that is there before the loop starts; a cycle needs some tens of kB of it."""
_PR_SET_PDEATHSIG: Final = 1
_SCHED_SETATTR: Final = {"x86_64": 314, "aarch64": 274}
TURN_NS: Final = 100_000
"""Shortest turn that Linux grants an ordinary process."""
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


@dataclass(frozen=True, slots=True)
class Lack:
    """One right that was refused."""

    what: str
    cost: str
    fix: str

    def __str__(self) -> str:
        return f"{self.what}: {self.cost}. To fix: {self.fix}"


class RightsRefused(RuntimeError):
    """A run that requires its real-time rights did not get them; says which, and how to get them."""


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

    def require(self) -> None:
        """Insist on priority and locked memory.

        Raises:
            RightsRefused: one of them was refused.
        """
        if not self.priority or not self.locked:
            raise RightsRefused("; ".join(str(lack) for lack in self.lacks))

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
                _grant("rtprio 90", "--ulimit rtprio=90 --cap-add SYS_NICE"),
            )
        )


def _user() -> str:
    return os.environ.get("USER") or str(os.getuid())


def _grant(limit: str, container: str) -> str:
    """How to get a right: by a limit; root that was refused sits in a container, which has to give it."""
    inside = f"; in a container: docker run {container}" if os.geteuid() == 0 else ""
    return f"add '{_user()} - {limit}' to {LIMITS_FILE} and log in again{inside}"


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


def _lift_memory_limit() -> int:
    """Raise the memlock limit as far as it goes; returns what is in force then [bytes]."""
    hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    for wanted in (resource.RLIM_INFINITY, hard):
        try:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (wanted, wanted))
            break
        except (OSError, ValueError):
            continue
    return resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]


def _is_above_limit(libc: ctypes.CDLL, limit: int) -> bool:
    """Whether the kernel lets this process lock more than its limit: asked with empty pages, none is used.

    The user's number does not tell: root of a container has it and not the right.
    """
    try:
        room = mmap.mmap(-1, limit + mmap.PAGESIZE, flags=_RESERVED)
    except (OSError, OverflowError, ValueError):
        return False
    first = ctypes.c_char.from_buffer(room)
    where, size = ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(len(room))
    del first
    allowed = libc.mlock2(where, size, _MLOCK_ONFAULT) == 0
    room.close()
    return bool(allowed)


def _lock_memory(granted: Granted, libc: ctypes.CDLL) -> None:
    limit = _lift_memory_limit()
    text = "unlimited" if limit == resource.RLIM_INFINITY else f"{limit // 1024} kB"
    why = f"memlock limit is {text}"
    # Under a limit in force MCL_FUTURE makes later allocations fail: rather not locked than dead.
    if limit == resource.RLIM_INFINITY or _is_above_limit(libc, limit):
        if not libc.mlockall(_MCL_CURRENT | _MCL_FUTURE):
            granted.locked = True
            touch_stack(STACK_BYTES)
            return
        number = ctypes.get_errno()
        why = f"{errno.errorcode.get(number, number)} from mlockall, {why}"
    granted.lacks.append(
        Lack(
            f"memory not locked ({why})",
            "a page fault can delay a cycle by milliseconds",
            _grant("memlock unlimited", "--ulimit memlock=-1 --cap-add IPC_LOCK"),
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
    from runtime.host.kernel import advice, preemption_mode
    from runtime.host.machine import Machine

    machine = Machine()
    mode, source = preemption_mode(machine)
    if mode != "rt":
        what, cost = f"kernel without PREEMPT_RT ({mode}, {source})", "rare cycles are late by milliseconds"
        granted.lacks.append(Lack(what, cost, advice(machine, mode)))


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


def leave_loop_core() -> None:
    """Keep this process off the core of the loop, whose caches it would fill between the cycles."""
    ours, taken = os.sched_getaffinity(0), control_cpu()
    if taken in ours and len(ours) > 1:
        with suppress(OSError):
            os.sched_setaffinity(0, ours - {taken})


def go_before_others(niceness: int) -> None:
    """Before other work, but not in real time: niceness, of the session too, and short turns.

    A turn of 0.1 ms in the place of some milliseconds lets the scheduler put whoever asks for it before a
    longer turn that has begun (Linux 6.12; older ones ignore it).

    Raises:
        OSError: the niceness was refused; the rest may have been granted.
    """
    number = _SCHED_SETATTR.get(os.uname().machine)
    if number is not None and os.sched_getscheduler(0) == os.SCHED_OTHER:  # else it would leave its class
        own = os.getpriority(os.PRIO_PROCESS, 0)  # a lower one may be refused, and the turn with it
        attributes = struct.pack("<IIQiIQQQ", 48, 0, 0, own, 0, TURN_NS, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, attributes, 0)
    try:
        os.setpriority(os.PRIO_PROCESS, 0, niceness)
    finally:
        with suppress(OSError):  # where sessions share the processor, niceness counts inside a session only
            Path(AUTOGROUP).write_text(str(niceness))


def prefer_io() -> Lack | None:
    """Place and niceness of the io process; what was refused.

    Off the core of the loop, and before other work, so that it keeps its heartbeat on a full machine.
    """
    leave_loop_core()
    try:
        go_before_others(IO_NICE)
    except OSError:
        return Lack(
            f"niceness {IO_NICE} of the io process refused",
            "on a machine full of other work, telemetry stalls and io may miss its heartbeat",
            _grant(f"nice {IO_NICE}", "--cap-add SYS_NICE"),
        )
    return None


def die_with_parent(parent: int, signal_number: int) -> bool:
    """Get ``signal_number`` when the parent dies; False if it is dead already."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
    return os.getppid() == parent


@contextmanager
def quiet(collect: bool = True) -> Iterator[None]:
    """No garbage collection inside; ``collect`` once before, which no stretch in lockstep has a use for."""
    was_enabled = gc.isenabled()
    if collect:
        gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if was_enabled:
            gc.enable()
