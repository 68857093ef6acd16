"""Ways to the hand: latency of serial adapters, permissions, who else uses a port, CAN interfaces."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from reports.finding import Finding, fail, good, warn
from runtime.host.machine import Machine, plural

PATTERNS: Final = ("/dev/ttyUSB*", "/dev/ttyACM*")
_PROBERS: Final = {"ModemManager": "modem-manager", "brltty": "brltty"}
"""Services that write into fresh serial ports to find out what is there -> their unit."""
_UDEV: Final = "flexor doctor --fix DIR writes the udev rule"


def serial_ports(machine: Machine) -> list[Path]:
    """USB serial ports of this machine."""
    return [path for pattern in PATTERNS for path in machine.glob(pattern)]


def latency_timer(machine: Machine) -> list[Finding]:
    """How long do serial adapters hold bytes back?"""
    name = "adapter latency"
    found = []
    for file in machine.glob("/sys/bus/usb-serial/devices/*/latency_timer"):
        shown, port = machine.shown(file), file.parent.name
        text = (machine.read(shown) or "").split()
        if not text or not text[0].isdigit():
            continue
        value_ms = int(text[0])
        if value_ms <= 1:
            found.append(good(name, f"{port}: {value_ms} ms"))
            continue
        cost = f"every reply waits up to {value_ms} ms: about {1000 // value_ms} exchanges a second at most"
        fix = f"echo 1 | sudo tee {shown}; for good: {_UDEV}"
        found.append(warn(name, f"{port}: {value_ms} ms", cost, fix))
    return found or [good(name, "no adapter with a latency timer is plugged in")]


def _group_of(machine: Machine, path: Path) -> str:
    gid = str(path.stat().st_gid)
    for line in (machine.read("/etc/group") or "").splitlines():
        words = line.split(":")
        if len(words) > 2 and words[2] == gid:
            return words[0]
    return gid


def permissions(machine: Machine) -> list[Finding]:
    """May this user open the ports?"""
    name = "port permissions"
    found = []
    for path in serial_ports(machine):
        shown = machine.shown(path)
        if machine.access(path, os.R_OK | os.W_OK):
            found.append(good(name, f"{shown} may be opened"))
            continue
        group = _group_of(machine, path)
        cost = "the hand on this port cannot be reached"
        join = f"sudo usermod -aG {group} $USER, then log in again; or {_UDEV}"
        fix = _UDEV if group in ("root", "0") else join
        found.append(fail(name, f"{shown} belongs to group {group}, not to you", cost, fix))
    return found or [good(name, f"no serial port ({', '.join(PATTERNS)})")]


def _identity(path: Path, shown: str) -> str:
    """Lock name of a port: as ``drivers.locks.serial_identity``, for a tree of files too."""
    device = path.stat().st_rdev
    if device:
        return f"tty-{os.major(device)}-{os.minor(device)}"
    return "tty-" + re.sub(r"\W+", "-", shown)


def _openers(machine: Machine) -> dict[str, int]:
    """Device -> one process that holds it open, as far as this user may see."""
    seen: dict[str, int] = {}
    for folder in machine.glob("/proc/[0-9]*/fd"):
        try:
            targets = [os.readlink(entry) for entry in folder.iterdir()]
        except OSError:
            continue
        seen.update({t: int(folder.parent.name) for t in targets if t.startswith("/dev/tty")})
    return seen


def holders(machine: Machine) -> list[Finding]:
    """Does anybody else use the ports?"""
    name = "port locks"
    ports = serial_ports(machine)
    if not ports:
        return [good(name, "no serial port")]
    found, openers = [], _openers(machine)
    for path in ports:
        shown = machine.shown(path)
        locked = machine.holder(_identity(path, shown))
        pid = locked if locked is not None else openers.get(shown)
        if pid is None:
            continue
        program = machine.read(f"/proc/{pid}/comm") or "unknown program"
        how = "is locked by" if locked is not None else "is open, without a lock, in"
        cost = "two programs on one port steal each other's bytes; a run on it is refused or disturbed"
        fix = f"end that program first: kill {pid}"
        found.append(fail(name, f"{shown} {how} process {pid} ({program})", cost, fix))
    return found or [good(name, f"{plural(len(ports), 'port')} free")]


def probers(machine: Machine) -> list[Finding]:
    """Does a service probe fresh ports?"""
    name = "port probing"
    running = {machine.read(machine.shown(file)) for file in machine.glob("/proc/[0-9]*/comm")}
    found = []
    for program, unit in _PROBERS.items():
        if program in running:
            cost = "it writes into every fresh serial port for half a minute: the hand's bus sees its bytes"
            fix = f"sudo systemctl disable --now {unit}; or {_UDEV} that keeps it away"
            found.append(warn(name, f"{program} is running", cost, fix))
    return found or [good(name, "no service that writes into fresh ports")]


def can_interfaces(machine: Machine) -> list[Finding]:
    """Are the CAN interfaces up?"""
    name = "CAN interfaces"
    found = []
    for folder in machine.glob("/sys/class/net/*"):
        base = machine.shown(folder)
        if machine.read(f"{base}/type") != "280":  # ARPHRD_CAN
            continue
        flags = machine.read(f"{base}/flags") or "0"
        if int(flags, 0) & 1:
            found.append(good(name, f"{folder.name} is up"))
            continue
        fix = f"sudo ip link set {folder.name} up type can bitrate 1000000 restart-ms 100"
        found.append(fail(name, f"{folder.name} is down", "the drives on it cannot be reached", fix))
    return found or [good(name, "none")]
