"""What control asks before every cycle: heartbeats, stops, a lost io process, room for its frames."""

from __future__ import annotations

import time
from collections.abc import Callable

from runtime.loop import STRETCH, Loop
from runtime.processes.phases import BEAT_LOST_NS
from runtime.setup import Rig
from runtime.starting import StartWatch
from signals.clock import now_ns
from signals.faults import Cause
from telemetry.shm.segment import Segment

LOOK_EVERY = 32
"""Cycles between two looks at heartbeats; 10 ms at 3 kHz."""


class StopAsked(Exception):
    """A stop was asked for while the bus was being set up."""


class Backpressure:
    """In lockstep nothing is dropped: before a stretch control waits while io is half a ring behind."""

    def __init__(self, segment: Segment) -> None:
        self._head, self._reader = segment.field("head"), segment.field("reader")
        self._beat, self._io_beat = segment.field("control_beat_ns"), segment.field("io_beat_ns")
        self._room = min(len(segment.slots) // 2, len(segment.slots) - 1 - STRETCH)

    def wait(self, go_on: Callable[[], bool]) -> None:
        """Until there is room, io is dead, or ``go_on`` says no."""
        while int(self._head[0]) - int(self._reader[0]) > self._room:
            if not go_on() or now_ns() - int(self._io_beat[0]) > BEAT_LOST_NS:
                return
            time.sleep(0.0005)
            self._beat[0] = now_ns()


class Watch:
    """Asked before every cycle: go on? Keeps heartbeats, notices stops and a lost io process."""

    def __init__(self, segment: Segment, rig: Rig, loop: Loop) -> None:
        self.segment, self.rig, self._lockstep = segment, rig, rig.options.lockstep
        self._progress, self._blamed = loop.progress, False
        self._beat, self._io_beat = segment.field("control_beat_ns"), segment.field("io_beat_ns")
        self._stop, self._io_lost = segment.field("stop"), segment.field("io_lost_ns")
        self._backpressure = Backpressure(segment)
        self._count = 0
        self._start = StartWatch(rig, rig.options.starts)
        self.why, self.reason = "", ""

    def proceed(self) -> bool:
        """False: leave the loop."""
        if self._stop[0]:
            self.why = "stop"
            return False
        self._count += 1
        if self._count % LOOK_EVERY and not self._lockstep:
            return True
        return self._look()

    def _look(self) -> bool:
        now = now_ns()
        self._beat[0] = now
        if self._io_lost[0] or now - int(self._io_beat[0]) > BEAT_LOST_NS:
            self.why = "io lost"
            return False
        if self._start.failed():
            self.why, self.reason = "not started", self._start.reason()
            return False
        if self._progress.sustained and not self._blamed:
            self._blamed = True
            window = min(self._progress.cycles, self.rig.pipeline.channel.window)
            self.rig.pipeline.blame(Cause.SUSTAINED_OVERRUN, self._progress.overruns, window)
        if self._lockstep:
            self._backpressure.wait(lambda: not self._stop[0])
        return True

    def sign(self, stops: bool = True) -> None:
        """Heartbeat while the bus is set up.

        Raises:
            StopAsked: a stop was asked for, and ``stops``.
        """
        self._beat[0] = now_ns()
        if stops and self._stop[0]:
            raise StopAsked

    def at_end(self) -> None:
        """The time is up: a hand that never started is not a good run."""
        if not self.why and self._start.failed_at_end():
            self.why, self.reason = "not started", self._start.reason()
