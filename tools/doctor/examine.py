"""All checks in the order of the report; a check that breaks becomes a finding of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reports.finding import Finding, Level, warn
from runtime.host import kernel
from runtime.host.machine import Machine
from tools.doctor import cores, packages, ports, rights, storage, surroundings

Check = Callable[[Machine], Finding | list[Finding]]

CHECKS: Final[tuple[Check, ...]] = (
    kernel.preemption,
    kernel.throttling,
    kernel.clock_source,
    cores.cores,
    cores.isolated_cores,
    cores.governor,
    cores.siblings,
    cores.sleep_states,
    rights.priority,
    rights.memory_lock,
    rights.niceness,
    rights.realtime_limit,
    surroundings.container,
    surroundings.virtual_machine,
    surroundings.time_sync,
    ports.latency_timer,
    ports.permissions,
    ports.holders,
    ports.probers,
    ports.can_interfaces,
    storage.disk,
    storage.shared_memory,
    storage.black_box,
    storage.compile_cache,
    packages.packages,
)


def examine(machine: Machine, checks: tuple[Check, ...] = CHECKS) -> list[Finding]:
    """Run the checks; never raises, whatever the machine's files hold."""
    findings: list[Finding] = []
    for check in checks:
        try:
            found = check(machine)
        except Exception as error:  # one odd file must not hide what the other checks have to say
            name = check.__name__.replace("_", " ")
            fact = f"could not be checked ({type(error).__name__}: {error})"
            found = warn(name, fact, "unknown", "report this line and the output of uname -a")
        findings.extend(found if isinstance(found, list) else [found])
    return findings


def worst(findings: list[Finding]) -> Level:
    """Level of the whole machine."""
    return max((f.level for f in findings), default=Level.PASS)
