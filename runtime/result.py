"""What a lockstep run leaves behind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hand.hand import Hand
from runtime.loop import LOCKSTEP_START_NS
from runtime.setup import Rig
from signals.records import RecordArray


@dataclass(slots=True)
class RunResult:
    """What a run left behind.

    Attributes:
        report: the report's JSON object.
        frames: kept frames, shape (n,), fields by record and signal with the hand's counts; state and
            truth as float32 unless ``exact``.
        rig: the parts, for a closer look (``rig.bus.truth``, ``rig.stages.guard_memory``).
        in_fault: the run ended with a finger or the whole hand in fault.
        seconds: time of the kept frames since the first cycle [s].
    """

    report: dict[str, Any]
    frames: RecordArray
    rig: Rig
    in_fault: bool

    @property
    def seconds(self) -> Any:
        """Time of the kept frames [s], shape (n,)."""
        return (self.frames["state"]["time_ns"] - LOCKSTEP_START_NS) / 1e9

    @property
    def hand(self) -> Hand:
        """The hand that ran."""
        return self.rig.hand
