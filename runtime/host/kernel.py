"""Kernel: preemption in force, real-time throttling, clock source."""

from __future__ import annotations

import gzip
import re
from typing import Final

from reports.finding import Finding, boot_option, fail, good, warn
from runtime.host.machine import Machine

LIVE: Final = "/sys/kernel/debug/sched/preempt"
_MODES: Final = ("none", "voluntary", "full", "lazy")
_PACKAGE: Final = {
    "debian": "sudo apt install linux-image-rt-amd64, then reboot into it",
    "ubuntu": "sudo pro enable realtime-kernel, then reboot",
    "fedora": "sudo dnf install kernel-rt (from the copr of choice), then reboot into it",
    "arch": "sudo pacman -S linux-rt, then reboot into it",
}
SPIN_SHARE: Final = 0.5
"""Largest share of a core that a loop with the hybrid wait takes; throttling below it stops the loop."""
_GOOD_CLOCKS: Final = ("tsc", "arch_sys_counter", "riscv_clocksource")
_VIRTUAL_CLOCKS: Final = ("kvm-clock", "hyperv_clocksource_tsc_page", "xen")


def _config(machine: Machine) -> str:
    """Build configuration of the running kernel, empty if it is not at hand."""
    try:
        return gzip.decompress(machine.path("/proc/config.gz").read_bytes()).decode(errors="replace")
    except (OSError, EOFError):
        release = (machine.read("/proc/sys/kernel/osrelease") or "").split()
        return machine.read(f"/boot/config-{release[0]}") or "" if release else ""


def preemption_mode(machine: Machine) -> tuple[str, str]:
    """(mode, where it was read): rt, full, lazy, voluntary, none or unknown.

    The live switch comes first, then the boot option, then the default that the kernel was built with.
    """
    version = machine.read("/proc/version") or ""
    if machine.read("/sys/kernel/realtime") == "1" or re.search(r"PREEMPT[_ ]RT\b", version):
        return "rt", "kernel build"
    live = re.search(r"\((\w+)\)", machine.read(LIVE) or "")
    if live is not None and live[1] in _MODES:
        return live[1], "live"
    if re.search(r"\bPREEMPT\b", version):
        return "full", "kernel build"
    dynamic = "PREEMPT_DYNAMIC" in version
    chosen = re.findall(r"(?:^|\s)preempt=(\w+)", machine.read("/proc/cmdline") or "")
    if dynamic and chosen and chosen[-1] in _MODES:
        return chosen[-1], "boot option; the live mode cannot be read"
    config = _config(machine)
    for mode, key in (("full", ""), ("lazy", "_LAZY"), ("voluntary", "_VOLUNTARY"), ("none", "_NONE")):
        if re.search(rf"^CONFIG_PREEMPT{key}=y", config, re.MULTILINE):
            return mode, "kernel's default; the live mode cannot be read" if dynamic else "kernel build"
    return "unknown", "no live mode, no boot option, no kernel configuration readable"


def advice(machine: Machine, mode: str) -> str:
    """What to do about a preemption mode that is not ``rt``, steps apart by ``; ``."""
    package = _PACKAGE.get(machine.distribution(), "install your distribution's PREEMPT_RT kernel")
    if mode in ("full", "lazy"):
        return package
    if mode == "unknown":
        return f"run as root: mount -t debugfs none /sys/kernel/debug && cat {LIVE}; best: {package}"
    now = ""
    if machine.read(LIVE) is not None:
        now = f"at once: echo full | sudo tee {LIVE}; "
    dynamic = "PREEMPT_DYNAMIC" in (machine.read("/proc/version") or "")
    boot = f"{boot_option('preempt=full')}; best: " if dynamic else ""
    return f"{now}{boot}{package}"


def preemption(machine: Machine) -> Finding:
    """Which preemption model is in force?"""
    name = "kernel preemption"
    mode, source = preemption_mode(machine)
    if mode == "rt":
        return good(name, "PREEMPT_RT")
    fix = advice(machine, mode)
    if mode in ("full", "lazy"):
        cost = "sections of the kernel still hold a rare cycle up, by milliseconds under load"
        return warn(name, f"{mode} ({source})", cost, fix)
    if mode == "unknown":
        return warn(name, f"unknown ({source})", "how late a cycle may be is unknown too", fix)
    cost = "a system call of any other program on the control core holds cycles up by milliseconds"
    return fail(name, f"{mode} ({source})", cost, fix)


def _group_runtime(machine: Machine) -> tuple[str, str] | None:
    """(file, value) of the real-time budget of our control group, where the kernel has one."""
    for line in (machine.read(f"/proc/{machine.pid}/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if "cpu" in controllers.split(","):
            for folder in (controllers, "cpu"):
                file = f"/sys/fs/cgroup/{folder}/{group.strip('/')}/cpu.rt_runtime_us".replace("//", "/")
                value = machine.read(file)
                if value is not None:
                    return file, value
    return None


def throttling(machine: Machine) -> Finding:
    """May a real-time thread use enough of its core, and is a runaway one cut off?"""
    name = "real-time throttling"
    group = _group_runtime(machine)
    if group is not None and group[1] == "0":
        return fail(
            name,
            f"{group[0]} is 0",
            "this control group gets no real-time time: every priority is refused, even to root",
            f"echo 950000 | sudo tee {group[0]}",
        )
    runtime = machine.read("/proc/sys/kernel/sched_rt_runtime_us")
    period = machine.read("/proc/sys/kernel/sched_rt_period_us")
    try:
        runtime_us, period_us = int(runtime or ""), int(period or "")
    except ValueError:
        return good(name, "this kernel has none")
    default = (
        "sudo sysctl -w kernel.sched_rt_runtime_us=950000 (for good: a line in /etc/sysctl.d/flexor.conf)"
    )
    if runtime_us < 0:
        cost = "a runaway callback at real-time priority freezes its core for good"
        return warn(name, "switched off", cost, default)
    share = runtime_us / max(period_us, 1)
    fact = f"{100 * share:.0f} % of {period_us / 1e6:g} s"
    if share < SPIN_SHARE:
        cost = f"a loop with the hybrid wait needs up to {100 * SPIN_SHARE:.0f} % and is stopped for the rest"
        return fail(name, fact, cost, default)
    return good(name, f"{fact}; the loop sleeps more than that, a runaway one is cut off")


def clock_source(machine: Machine) -> Finding:
    """How dear is a look at the clock?"""
    name = "clock source"
    folder = "/sys/devices/system/clocksource/clocksource0"
    current = machine.read(f"{folder}/current_clocksource")
    available = (machine.read(f"{folder}/available_clocksource") or "").split()
    if current is None:
        return good(name, "not told by this kernel")
    if current in _GOOD_CLOCKS or current in _VIRTUAL_CLOCKS:
        return good(name, current)
    better = next((c for c in (*_GOOD_CLOCKS, *_VIRTUAL_CLOCKS) if c in available), None)
    if better is not None:
        for_good = boot_option(f"clocksource={better}")
        fix = f"echo {better} | sudo tee {folder}/current_clocksource; for good: {for_good}"
    else:
        fix = f"sudo dmesg | grep -i tsc says why; if the tsc is sound: {boot_option('tsc=reliable')}"
    if current in ("jiffies", "refined-jiffies"):
        return fail(name, current, "time has the resolution of the kernel tick: milliseconds", fix)
    cost = "every look at the clock is a system call of about a microsecond; a cycle takes a dozen"
    return warn(name, f"{current} (available: {', '.join(available) or 'nothing else'})", cost, fix)
