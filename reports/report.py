"""The report of a run: one JSON object whose keys are a contract (docs/running.md)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hand.hand import Hand
from hand.options import RunOptions
from reports.faults import FaultWatch, Latched
from reports.score import add_frames, figures, new_score
from signals.modes import JointSource
from signals.records import RecordArray
from telemetry.columns import Columns, FrameBuffer, counts_of
from telemetry.shm.stats import STAGES, summary_us

SCORE_AFTER_NS = 1_000_000_000
"""Figures count from the second second on."""


class Audience:
    """Everything that looks at the frames of a run: score, faults, memory for the picture, recorder.

    Args:
        hand: the hand.
        has_truth: the frames come from a simulation.
        keep: columns and rate of what is kept in memory; ``None``: nothing.
        record: called with every batch of frames (the recorder's ``add``).
    """

    def __init__(
        self,
        hand: Hand,
        *,
        has_truth: bool = True,
        keep: FrameBuffer | None = None,
        record: Callable[[RecordArray], None] | None = None,
    ) -> None:
        self.hand, self.has_truth, self.keep = hand, has_truth, keep
        self.score, self.faults = new_score(), FaultWatch(hand.names, hand.model)
        self._record = record
        self._from_ns: int | None = None
        self._source = np.zeros(len(hand.names.joints), dtype=np.int64)

    def see(self, frames: RecordArray) -> list[Latched]:
        """Look at new frames, shape (n,) of FRAME; returns new faults."""
        if not len(frames):
            return []
        if self._from_ns is None:
            self._from_ns = int(frames["state"]["time_ns"][0]) + SCORE_AFTER_NS
        add_frames(self.hand.model, frames, self._from_ns, self.score)
        self._source = frames["state"]["joint_source"][-1, : self._source.size]
        if self.keep is not None:
            self.keep.add(frames)
        if self._record is not None:
            self._record(frames)
        return self.faults.look(frames)

    def joint_sources(self) -> dict[str, str]:
        """What told the angle of every joint in the newest frame."""
        told = zip(self.hand.names.joints, self._source.tolist(), strict=True)
        return {joint: JointSource(source).name.lower() for joint, source in told}


def default_buffer(hand: Hand, every: int = 1, capacity: int | None = 4000) -> FrameBuffer:
    """FrameBuffer of all signals of a hand, floats exact."""
    columns = Columns(counts_of(hand.model))
    return FrameBuffer(columns, every, capacity)


def make_report(
    audience: Audience,
    options: RunOptions,
    stats: NDArray[Any],
    *,
    backend: str,
    cycles: int,
    missed: int,
    late: int,
    elapsed_s: float,
) -> dict[str, Any]:
    """The report's JSON object.

    Args:
        audience: who saw the frames.
        options: options of the run.
        stats: the loop's histograms.
        backend: what stood behind the HAL.
        cycles: cycles run.
        missed: slots skipped.
        late: wake-ups a period or more late.
        elapsed_s: wall time of the loop [s].
    """
    hand = audience.hand
    by_stage = {stage: summary_us(stats[k]) for k, stage in enumerate(STAGES)}
    worst = {stage: int(stats[k][1]) for k, stage in enumerate(STAGES)}
    simulated_s = (cycles + missed) / hand.rate_hz
    return {
        "hand": hand.name,
        "backend": backend,
        "motion": options.motion,
        "rate_hz": hand.rate_hz,
        "lockstep": options.lockstep,
        "sensors": options.sensors,
        "guides": options.guides,
        "mismatch": options.mismatch,
        "without": list(options.without),
        "seed": options.seed,
        "cycles": cycles,
        "missed": missed,
        "late": late,
        "elapsed_s": round(elapsed_s, 6),
        "real_time_factor": round(simulated_s / elapsed_s, 4) if elapsed_s > 0 else None,
        "wake_us": by_stage["wake"],
        "tick_us": by_stage["tick"],
        "stages_us": {k: by_stage[k] for k in STAGES if k not in ("wake", "tick")},
        "worst_cycle": worst,
        **figures(audience.score, hand.names.joints, audience.has_truth),
        "joint_source": audience.joint_sources(),
        "faults": [fault.as_dict() for fault in audience.faults.all],
        "left_out": [sensor.as_dict() for sensor in audience.faults.left_out],
        "notices": [],
        "hand_sha256": hand.sha256,
    }


def add_picture(report: dict[str, Any], draw: Callable[[], Path | None]) -> None:
    """Draw the picture of a run and name its file; a failure is a notice and costs the picture alone."""
    try:
        path = draw()
    except Exception as error:  # the report is worth more than its picture, whatever is wrong with that
        note(report, f"no picture: {type(error).__name__}: {error}")
        return
    if path is not None:
        report["picture"] = str(path)


def note(report: dict[str, Any], text: str) -> None:
    """A notice, in the report and on stderr."""
    report["notices"].append(text)
    print(f"notice: {text}", file=sys.stderr)
