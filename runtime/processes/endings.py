"""How a run ended, in words and in the figures that shared memory has."""

from __future__ import annotations

import signal
from typing import Any

from hand.options import RunOptions
from reports.bare import bare_report
from runtime.processes.phases import Released
from telemetry.shm.segment import Segment
from telemetry.shm.stats import STAGES, summary_us


def bare(segment: Segment, options: RunOptions, rate_hz: float) -> dict[str, Any]:
    """The report of a run whose io process has left none: what the shared memory says."""
    cycles = int(segment.field("run_end")[0]) or int(segment.field("head")[0])
    keys = ("missed", "late", "elapsed_ns")
    run: dict[str, Any] = {key: int(segment.field(f"run_{key}")[0]) for key in keys}
    elapsed_s = run.pop("elapsed_ns") / 1e9
    stats = segment.field("stats")
    for stage in ("wake", "tick"):
        run[f"{stage}_us"] = summary_us(stats[STAGES.index(stage)])
    return bare_report(options, rate_hz, cycles=cycles, elapsed_s=elapsed_s, **run)


def exit_words(code: int | None) -> str:
    """An exit code in words."""
    if code is None:
        return "no exit code"
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def released_words(released: int) -> str:
    """What is known of the motors' torque."""
    return {
        Released.NEVER_ON: "the motors were never switched on",
        Released.CONFIRMED: "zero torque confirmed by the devices",
        Released.NO: "zero torque was sent but NOT confirmed by the devices: switch the hand's power off",
    }.get(
        Released(released),
        "zero torque could NOT be sent: the devices' own watchdogs must do it; switch the power off",
    )
