"""What is around the program: container, virtual machine, time synchronisation."""

from __future__ import annotations

import re
from typing import Final

from reports.finding import Finding, good, warn
from runtime.host.machine import CAP_SYS_NICE, Machine
from runtime.realtime import PRIORITY

_CONTAINER_GROUPS: Final = re.compile(r"docker|kubepods|containerd|libpod|/lxc")
_DOCKER: Final = (
    "docker run --ulimit rtprio=90 --ulimit memlock=-1 --cap-add SYS_NICE --cap-add IPC_LOCK "
    "--device /dev/cpu_dma_latency --shm-size 256m ..."
)


def container_kind(machine: Machine) -> str:
    """Name of the container technology, empty outside of one."""
    named = machine.read("/run/systemd/container")
    if named:
        return named
    if machine.path("/.dockerenv").exists():
        return "docker"
    if machine.path("/run/.containerenv").exists():
        return "podman"
    match = _CONTAINER_GROUPS.search(machine.read("/proc/1/cgroup") or "")
    return match[0].strip("/") if match else ""


def container(machine: Machine) -> Finding:
    """Does a container stand between the loop and its rights?"""
    kind = container_kind(machine)
    if not kind:
        return good("container", "none")
    if machine.capable(CAP_SYS_NICE) or machine.limit("Max realtime priority")[0] >= PRIORITY:
        return good("container", f"{kind}, with real-time priority")
    cost = "limits of the host do not reach inside: no real-time priority, no locked memory"
    return warn("container", f"{kind}, without real-time priority", cost, _DOCKER)


def virtual_machine(machine: Machine) -> Finding:
    """Can a host take the processor away?"""
    name = "virtual machine"
    if not re.search(r"^flags\s*:.*\bhypervisor\b", machine.read("/proc/cpuinfo") or "", re.MULTILINE):
        return good(name, "none")
    words = (machine.read("/proc/stat") or "").split("\n")[0].split()[1:]
    jiffies = [int(w) for w in words if w.isdigit()]
    total = sum(jiffies[:8])
    stolen = f", {100 * jiffies[7] / total:.2f} % stolen since boot" if len(jiffies) > 7 and total else ""
    return warn(
        name,
        f"yes{stolen}",
        "its host takes the processor away for milliseconds at a time; no setting in here prevents that",
        "drive a real hand from a real machine; here, compare by ratios only (flexor bench)",
    )


def time_sync(machine: Machine) -> Finding:
    """Do recordings of two machines fit together?"""
    name = "time synchronisation"
    synchronised = machine.synchronised()
    if synchronised:
        return good(name, "the kernel's wall clock follows a time source")
    fact = "the kernel's wall clock runs free" if synchronised is False else "the kernel does not tell"
    cost = "wall times of logs are off against other machines (control never looks at the wall clock)"
    return warn(name, fact, cost, "sudo timedatectl set-ntp true (or: sudo apt install chrony)")
