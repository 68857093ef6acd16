"""What io keeps of a run: the log, the black box, and the keyframes that make both replayable."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from hand.hand import Hand
from hand.options import RunOptions
from runtime.backends import backend_of
from runtime.keyframes import Asking, attachment, room
from runtime.logs import open_log
from signals.faults import Cause
from telemetry.columns import Columns, counts_of
from telemetry.publish.heat import NEAR_K
from telemetry.record.black_box import BlackBox
from telemetry.record.recorder import Recorder
from telemetry.record.recordings import RecordingError, Recordings, state_folder
from telemetry.record.wear import Wear
from telemetry.shm.segment import Segment

KEYFRAME_NS: Final = 5_000_000_000
"""Time between two keyframes: what of a snapshot lies before its first one cannot be replayed."""


class Keeping:
    """The recordings of a run and what feeds them besides frames.

    Args:
        segment: shared memory of the run.
        options: options of the run.
        hand: the hand.
        offset_ns: Unix time minus monotonic time.
        event: publishes an event: kind, level, text, hint.
    """

    def __init__(
        self,
        segment: Segment,
        options: RunOptions,
        hand: Hand,
        offset_ns: int,
        event: Callable[..., None],
    ) -> None:
        self._event, self._options = event, options
        self._notices: list[str] = []
        self._asking = Asking(segment) if room(segment) else None
        self._asked_ns, self._begun = 0, 0
        columns, snapshots = Columns(counts_of(hand.model)), state_folder("snapshots")
        if options.out is not None:
            snapshots = Path(options.out)
        box = None
        if options.black_box_mb and not options.lockstep and snapshots is not None:
            box = BlackBox(columns, options.black_box_mb * 2**20)

        def make(path: Path) -> Recorder:
            return open_log(path, hand, options, offset_ns=offset_ns, notify=self._ended)

        stem = f"{hand.name}-{time.strftime('%Y%m%d-%H%M%S')}"
        folder = Path(options.out or ".")
        self.recordings = Recordings(
            columns, make, folder, stem, box=box, snapshots=snapshots, tell=self._kept
        )
        real = hand.mechanism is None
        self.wear = Wear(
            hand.names,
            hand.model if real else None,
            event,
            hot_degc=float(hand.model["winding_limit_degc"][0, 0]) - NEAR_K,
            simulated=backend_of(options)[1],
            life=hand.file.life if real else None,
        )
        if options.record:
            try:
                self.recordings.start()
            except RecordingError as error:
                self._ended(str(error))

    def _ended(self, text: str) -> None:
        self._notices.append(text)
        self._event("recording", "warning", text, "free space, then start a new run")
        print(f"warning: {text}", file=sys.stderr)

    def _kept(self, text: str) -> None:
        self._notices.append(text)
        self._event("recording", "info", text)

    def turn(self, now_ns: int) -> None:
        """Ask for a keyframe now and then, pass on what came; write a part of a snapshot, the odometer."""
        self.wear.turn(now_ns)
        recordings = self.recordings
        if self._asking is not None:
            kept, begun = recordings.recording or recordings.box is not None, len(recordings.logs)
            if kept and (now_ns - self._asked_ns >= KEYFRAME_NS or begun > self._begun):
                self._asked_ns, self._begun = now_ns, begun
                self._asking.ask()
            found = self._asking.take()
            if found is not None:
                recordings.keyframe(found[0], attachment(*found))
        recordings.work()

    def fault(self, cause: str) -> None:
        """A fault writes down what the black box holds; a stop that was asked for is none."""
        recordings = self.recordings
        if recordings.box is None or recordings.keeps_a_moment or cause == Cause.OPERATOR_STOP.name:
            return
        try:
            path = recordings.snapshot(asked=False)
        except RecordingError as error:
            self._event("recording", "warning", str(error))
        else:
            self._event("recording", "info", f"the moment of the fault goes into {path}")

    def close(self, report: dict[str, Any]) -> None:
        """Finish what is being written; what was kept goes into the report."""
        box, recordings = self.recordings.box, self.recordings
        recordings.close()
        report["notices"] += self._notices + self.wear.close()
        if box is not None and box.crowded:
            report["notices"].append(
                f"the black box held {box.kept_s:.0f} s, not {box.seconds:.0f} s: --black-box-mb is "
                f"{self._options.black_box_mb}"
            )
        if recordings.logs:
            report["log"] = str(recordings.logs[0])
        report["snapshots"] = [str(path) for path in recordings.snapshots]
