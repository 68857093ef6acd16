"""Processor: number of cores, isolation, clock governor, siblings, sleep states."""

from __future__ import annotations

import os
from typing import Final

from reports.finding import Finding, boot_option, fail, good, warn
from runtime.host.machine import Machine, cpu_list, plural

CPU: Final = "/sys/devices/system/cpu"
LATENCY: Final = "/dev/cpu_dma_latency"


def cores(machine: Machine) -> Finding:
    """Is there a core for the loop alone?"""
    usable = machine.usable_cpus()
    online = cpu_list(machine.read(f"{CPU}/online") or "") or usable
    fact = f"{plural(len(usable), 'core')} usable of {len(online)}"
    if len(usable) < 2:
        limited = len(online) > 1
        return fail(
            "cores",
            fact,
            "publisher, recorder and plant compete with the loop for the one core",
            "widen the cpuset of this process (docker run --cpuset-cpus=0-1, systemd AllowedCPUs=)"
            if limited
            else "give the machine two cores or more",
        )
    return good("cores", f"{fact}; the loop takes core {machine.control_cpu()}")


def isolated_cores(machine: Machine) -> Finding:
    """Does the scheduler leave the control core alone?"""
    isolated, control = machine.isolated_cpus(), machine.control_cpu()
    if isolated:
        return good("isolated cores", f"{','.join(map(str, isolated))}; the loop takes core {control}")
    core = control if control is not None else 0
    option = f"isolcpus=managed_irq,domain,{core} nohz_full={core} rcu_nocbs={core}"
    return warn(
        "isolated cores",
        "none",
        f"other programs and interrupts run on core {core} between the cycles and leave its caches cold",
        boot_option(option),
    )


def governor(machine: Machine) -> Finding:
    """Does the control core keep its clock?"""
    core = machine.control_cpu() or 0
    file = f"{CPU}/cpu{core}/cpufreq/scaling_governor"
    chosen = machine.read(file)
    if chosen is None:
        return good("clock governor", "no frequency control (a virtual machine, or a fixed clock)")
    if chosen == "performance":
        return good("clock governor", f"performance on core {core}")
    return warn(
        "clock governor",
        f"{chosen} on core {core}",
        "the clock falls while the loop sleeps: a cycle takes up to three times as long",
        f"sudo cpupower frequency-set -g performance (or: echo performance | sudo tee {file})",
    )


def siblings(machine: Machine) -> Finding:
    """Does a second thread share the control core's pipeline?"""
    core = machine.control_cpu() or 0
    text = machine.read(f"{CPU}/cpu{core}/topology/thread_siblings_list")
    shared = [cpu for cpu in cpu_list(text or "") if cpu != core]
    online = cpu_list(machine.read(f"{CPU}/online") or "")
    awake = [cpu for cpu in shared if not online or cpu in online]
    if not awake:
        return good("SMT siblings", f"core {core} has none online")
    if all(cpu in machine.isolated_cpus() for cpu in awake):
        return good("SMT siblings", f"core {core} shares with {awake[0]}, which is isolated too")
    return warn(
        "SMT siblings",
        f"core {core} shares its pipeline with thread {', '.join(map(str, awake))}",
        "a busy sibling makes the tick up to twice as long",
        f"echo 0 | sudo tee {CPU}/cpu{awake[0]}/online; for good: {boot_option('nosmt')}",
    )


def sleep_states(machine: Machine) -> Finding:
    """Can the loop keep its core from sleeping deeply?"""
    name = "sleep states"
    driver = machine.read(f"{CPU}/cpuidle/current_driver")
    if driver in (None, "none"):
        return good(name, "the kernel has no idle driver")
    device = machine.path(LATENCY)
    if device.exists() and machine.access(device, os.W_OK):
        return good(name, f"{driver}; {LATENCY} is writable, the loop forbids deep sleep")
    return warn(
        name,
        f"{driver}; {LATENCY} is not writable",
        "the core sleeps deeply between cycles: up to 100 us more to wake",
        "flexor doctor --fix DIR writes a udev rule that gives it to group realtime",
    )
