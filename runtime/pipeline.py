"""One tick of the hand: read, estimate, control, guard, write.

    goal ----------------------------+----------+
                                     v          v
    bus --measurement--> estimate -> control -> guard --command--> bus
                            |  state   |  state  |
                            +----------+---------+--> frame --> ring --> io process

Five records of one frame are all that the parts share. Every call below is compiled or real-time safe by
contract; none allocates, raises or logs. The command that a cycle computes acts in the next exchange.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from controllers.latch import latch_hand
from drivers.hal import Bus
from runtime.clock import now_ns
from runtime.stages import Stages
from runtime.telemetry import ring
from runtime.telemetry.channel import Channel
from signals.compiled import law
from signals.faults import Cause
from signals.records import RecordArray


class Goals(Protocol):
    """Where goals come from: a motion, or the mailbox that clients write."""

    def bring(self, time_ns: int) -> None:
        """Bring the goal record up to date; real-time safe."""


class Pipeline:
    """The parts of one hand, tied to the views of one frame.

    Args:
        model: ``signals.records.MODEL``, shape (1,).
        bus: the hardware, or the plant.
        stages: estimator, controller and guard with their memories.
        goals: source of the goal record.
        views: views of ``frame`` as ``signals.records.new_frame`` made them.
        frame: the frame itself, shape (1,).
        channel: ring and statistics that the frame is left in.
        clock: clock of the stage durations.
    """

    def __init__(
        self,
        *,
        model: RecordArray,
        bus: Bus,
        stages: Stages,
        goals: Goals,
        frame: RecordArray,
        views: dict[str, RecordArray],
        channel: Channel,
        clock: Callable[[], int] = now_ns,
    ) -> None:
        self.model, self.bus, self.stages, self.goals, self.channel = model, bus, stages, goals, channel
        self.measurement, self.goal, self.state = views["measurement"], views["goal"], views["state"]
        self.command = views["command"]
        self.frame, self.words, self._clock = frame, frame.view("i8"), clock
        self._tick, self._time_ns, self._dt_s = (self.state[name] for name in ("tick", "time_ns", "dt_s"))
        self._goal_seq = self.goal["seq"]

    def tick(self, cycle: int, deadline_ns: int, woke_ns: int, dt_s: float, missed: int, late: int) -> int:
        """One cycle; returns how many of the last second's cycles overran.

        Args:
            cycle: number of the cycle.
            deadline_ns: monotonic time at which it was due [ns].
            woke_ns: monotonic time at which it began; in lockstep the deadline.
            dt_s: bounded time since the previous cycle [s].
            missed: slots skipped so far.
            late: wake-ups a period or more late so far.
        """
        clock, words, stages = self._clock, self.words, self.stages
        self._tick[0], self._time_ns[0], self._dt_s[0] = cycle, woke_ns, dt_s

        begun = clock()
        bus_status = self.bus.exchange(self.command, self.measurement, woke_ns)
        read = clock()
        self.goals.bring(woke_ns)
        stages.estimate(self.model, self.measurement, stages.estimator_memory, self.state)
        estimated = clock()
        stages.control(self.model, self.goal, stages.controller_memory, self.state, self.command)
        controlled = clock()
        stages.guard(self.model, self.goal, self.measurement, stages.guard_memory, self.state, self.command)
        guarded = clock()

        words[ring.CYCLE], words[ring.DEADLINE], words[ring.WAKE] = cycle, deadline_ns, woke_ns - deadline_ns
        words[ring.EXCHANGE], words[ring.ESTIMATE] = read - begun, estimated - read
        words[ring.CONTROL], words[ring.GUARD] = controlled - estimated, guarded - controlled
        words[ring.TICK], words[ring.MISSED], words[ring.LATE] = guarded - read, missed, late
        words[ring.BUS_STATUS], words[ring.GOAL_SEQ] = bus_status, self._goal_seq[0]
        return self.channel.leave(words)

    def blame(self, cause: Cause, value: float, limit: float) -> None:
        """Latch a cause of the runtime's own (overrun, lost io) for the whole hand."""
        blame_hand(self.model, self.state, int(cause), float(value), float(limit))


@law
def blame_hand(model: RecordArray, state: RecordArray, cause: int, value: float, limit: float) -> None:
    """Fault of the whole hand; the guard's next tick reacts."""
    latch_hand(model[0], state[0], cause, -1, value, limit)
