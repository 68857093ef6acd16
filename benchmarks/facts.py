"""Machine and versions beside every figure: a figure without them cannot be compared with anything."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from benchmarks.native import FAST, FLAGS, compiler_version
from runtime.host.kernel import preemption_mode
from runtime.host.machine import Machine

BUSY_LOAD: Final = 0.5
"""Runnable programs beside ours above which the figures say little."""
_PACKAGES: Final = ("numpy", "numba", "llvmlite", "pyzmq", "msgpack")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _cyclictest_version() -> str:
    try:
        out = subprocess.run(["cyclictest", "--help"], capture_output=True, text=True, check=False)
    except OSError:
        return "missing"
    match = re.search(r"V\s*([\d.]+)", out.stdout + out.stderr)
    return match[1] if match else "unknown"


def _processor(machine: Machine) -> str:
    match = re.search(r"^model name\s*:\s*(.*)$", machine.read("/proc/cpuinfo") or "", re.MULTILINE)
    return match[1] if match else platform.machine()


def facts(machine: Machine | None = None) -> dict[str, Any]:
    """What a reader needs to judge the figures."""
    machine = machine or Machine()
    mode, source = preemption_mode(machine)
    flags = machine.read("/proc/cpuinfo") or ""
    return {
        "machine": {
            "processor": _processor(machine),
            "cores": machine.usable_cpus(),
            "isolated": machine.isolated_cpus(),
            "virtual": " hypervisor" in flags,
            "kernel": platform.release(),
            "preemption": f"{mode} ({source})",
            "clock": machine.read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            "load": round(os.getloadavg()[0], 2),
        },
        "versions": {
            "flexor": _version("flexor"),
            "python": platform.python_version(),
            **{package: _version(package) for package in _PACKAGES},
            "cc": compiler_version() or "missing",
            "cc_flags": " ".join((*FLAGS, *FAST)),
            "cyclictest": _cyclictest_version(),
        },
    }


def busy_notice() -> str | None:
    """A sentence when other programs are running, so that nobody trusts the figures."""
    load = os.getloadavg()[0]
    if load <= BUSY_LOAD:
        return None
    return f"the machine is busy (load {load:.1f}): ratios scatter; repeat on a quiet machine"
