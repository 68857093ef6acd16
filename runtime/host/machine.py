"""The machine as files: /proc, /sys and /dev under a root that a test may replace by a tree of its own.

What is no file (free space, synchronisation, holders of locks) comes through callables, replaceable too.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from drivers.locks import holder_of

UNLIMITED = float("inf")
CAP_IPC_LOCK = 14
CAP_SYS_NICE = 23
_STA_UNSYNC = 0x0040


def kernel_clock_synchronised() -> bool | None:
    """Does the kernel's wall clock follow a time source? ``None``: it does not say."""
    libc = ctypes.CDLL(None, use_errno=True)
    timex = (ctypes.c_ubyte * 512)()  # struct timex is 208 bytes; modes = 0 only reads
    if not hasattr(libc, "adjtimex") or libc.adjtimex(ctypes.byref(timex)) < 0:
        return None
    long_size = ctypes.sizeof(ctypes.c_long)
    # modes (int, padded), offset, freq, maxerror, esterror (long), status (int)
    status = int.from_bytes(bytes(timex[5 * long_size : 5 * long_size + 4]), "little", signed=True)
    return not status & _STA_UNSYNC


def _space(path: Path) -> tuple[int, int]:
    usage = shutil.disk_usage(path)
    return usage.free, usage.total


def _here() -> Path:
    """The current folder; the root where somebody has removed it."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path("/")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where the checks look.

    Attributes:
        root: ``/``, or a test's tree with ``proc``, ``sys``, ``dev``, ``run``, ``boot``, ``etc`` in it.
        folder: where recordings go.
        cache: folder of the compile cache; ``None``: the one in use.
        space: path -> (free, total) bytes of its file system.
        access: ``os.access``.
        synchronised: does the wall clock follow a time source? ``None``: unknown.
        holder: identity of a bus -> process that holds its lock.
        pid: whose limits are looked at.
    """

    root: Path = Path("/")
    folder: Path = field(default_factory=_here)
    cache: Path | None = None
    space: Callable[[Path], tuple[int, int]] = _space
    access: Callable[[Path, int], bool] = os.access
    synchronised: Callable[[], bool | None] = kernel_clock_synchronised
    holder: Callable[[str], int | None] = holder_of
    pid: str = "self"

    def path(self, name: str) -> Path:
        """A file of the machine by its absolute name."""
        return self.root / name.lstrip("/")

    def read(self, name: str) -> str | None:
        """Text of a file without its last newline; ``None`` if it cannot be read."""
        try:
            return self.path(name).read_text(errors="replace").strip()
        except OSError:
            return None

    def glob(self, pattern: str) -> list[Path]:
        """Files of the machine that match an absolute pattern, sorted."""
        return sorted(self.root.glob(pattern.lstrip("/")))

    def shown(self, path: Path) -> str:
        """Absolute name of a file as the user knows it."""
        return "/" + str(path.relative_to(self.root))

    def status(self, key: str) -> str:
        """A field of /proc/self/status, empty if there is none."""
        match = re.search(rf"^{key}:\s*(.*)$", self.read(f"/proc/{self.pid}/status") or "", re.MULTILINE)
        return match[1].strip() if match else ""

    def limit(self, name: str) -> tuple[float, float]:
        """(soft, hard) limit by its name in /proc/self/limits; unlimited where the kernel has none."""
        text = self.read(f"/proc/{self.pid}/limits") or ""
        match = re.search(rf"^{re.escape(name)}\s+(\S+)\s+(\S+)", text, re.MULTILINE)
        if match is None:
            return UNLIMITED, UNLIMITED
        soft, hard = (UNLIMITED if word == "unlimited" else float(word) for word in match.groups())
        return soft, hard

    def capable(self, bit: int) -> bool:
        """Has this process a capability of the machine? One of a user namespace counts inside it only."""
        inside = self.read(f"/proc/{self.pid}/uid_map")
        if inside is not None and inside.split() != ["0", "0", "4294967295"]:
            return False
        text = self.status("CapEff")
        return bool(int(text, 16) >> bit & 1) if re.fullmatch(r"[0-9a-fA-F]+", text) else False

    def usable_cpus(self) -> list[int]:
        """Cores that this process may use and that are online."""
        allowed = cpu_list(self.status("Cpus_allowed_list"))
        online = cpu_list(self.read("/sys/devices/system/cpu/online") or "")
        return [cpu for cpu in allowed if cpu in online] if online else allowed

    def isolated_cpus(self) -> list[int]:
        """Cores that the scheduler leaves alone."""
        return cpu_list(self.read("/sys/devices/system/cpu/isolated") or "")

    def control_cpu(self) -> int | None:
        """Core that ``runtime.realtime`` takes: an isolated one, else the last; ``None`` with one core."""
        isolated, usable = self.isolated_cpus(), self.usable_cpus()
        if isolated:
            return isolated[0]
        return usable[-1] if len(usable) > 1 else None

    def distribution(self) -> str:
        """``ID`` of /etc/os-release, empty if unknown."""
        match = re.search(r'^ID="?([\w.-]+)', self.read("/etc/os-release") or "", re.MULTILINE)
        return match[1] if match else ""


def cpu_list(text: str) -> list[int]:
    """Numbers of a kernel list such as ``0-2,5``; parts that are none are left out."""
    cpus: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is not None:
            first, last = int(match[1]), int(match[2] or match[1])
            cpus.extend(range(first, last + 1))
    return sorted(set(cpus))


def plural(count: int, noun: str) -> str:
    """``1 core``, ``2 cores``."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
