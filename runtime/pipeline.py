"""One tick of the hand: read, estimate, control, guard, write.

    goal ----------------------------+----------+
                                     v          v
    bus --measurement--> estimate -> control -> guard --command--> bus
                            |  state   |  state  |
                            +----------+---------+--> frame --> ring --> io process

Five records of one frame are all that the parts share. Every call is compiled or real-time safe by contract;
none allocates, raises or logs. The command that a cycle computes acts in the next exchange; a bus with a pace
of its own takes it at once. Our own stages are one compiled call; with a foreign estimator, controller or
detector the same stages are called one by one, and foreign detectors after the guard.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from drivers.hal import Bus, Forwarding
from guard.latch import latch_hand
from hand.stages import Stages
from runtime.entries import address_of, begin_at, new_parts, tick_at
from runtime.keyframes import Keyframes
from signals.clock import new_timespec, now_ns
from signals.compiled import law
from signals.faults import Cause
from signals.layout import Records
from signals.records import RecordArray
from signals.typed import Model, State
from telemetry.shm import ring
from telemetry.shm.channel import Channel


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
        realtime: cycles begin on that clock too; in lockstep they begin in simulated time.
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
        realtime: bool = True,
    ) -> None:
        self.model, self.bus, self.stages, self.goals, self.channel = model, bus, stages, goals, channel
        self.measurement, self.goal, self.state = views["measurement"], views["goal"], views["state"]
        self.command, self.frame, self.words = views["command"], frame, frame.view("i8")
        self.clock, self.timespec, self._realtime = clock, new_timespec(), realtime
        self._parts = new_parts(model, views, stages, frame, channel, self.timespec, realtime)
        self.parts_at, self._state_at = address_of(self._parts), address_of(self.state)
        self._goal_seq = self.goal["seq"]
        self._forwarding = bus if isinstance(bus, Forwarding) else None
        self.keyframes: Keyframes | None = None

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
        begun = self.clock()
        status = self.bus.exchange(self.command, self.measurement, woke_ns)
        read = self.clock()
        self.goals.bring(woke_ns)
        if self.stages.foreign:
            begin_at(self._state_at, cycle, woke_ns, dt_s)
            overruns = self._with_foreign(cycle, deadline_ns, woke_ns, begun, read, missed, late, status)
        else:
            overruns = tick_at(  # estimate, control, guard, ring write: the four calls below, compiled as one
                self.parts_at, cycle, deadline_ns, woke_ns, dt_s, begun, read, missed, late, status
            )
        if self._forwarding is not None:
            self._forwarding.forward(self.command)
        if self.keyframes is not None and self.keyframes.wanted:
            self.keyframes.leave(cycle)
        return overruns

    def _with_foreign(
        self, cycle: int, deadline: int, woke: int, begun: int, read: int, missed: int, late: int, status: int
    ) -> int:
        clock, words, stages = self.clock, self.words, self.stages
        start = clock()
        stages.estimate(self.model, self.measurement, stages.estimator_memory, self.state)
        estimated = clock()
        stages.control(self.model, self.goal, stages.controller_memory, self.state, self.command)
        controlled = clock()
        stages.guard(self.model, self.goal, self.measurement, stages.guard_memory, self.state, self.command)
        stages.detectors.look(self.model, self.measurement, self.state, self.command)
        guarded = clock()
        words[ring.CYCLE], words[ring.DEADLINE], words[ring.WAKE] = cycle, deadline, woke - deadline
        words[ring.EXCHANGE], words[ring.ESTIMATE] = read - begun, estimated - start
        words[ring.CONTROL], words[ring.GUARD] = controlled - estimated, guarded - controlled
        steps = begun - woke if self._realtime else 0
        words[ring.TICK], words[ring.MISSED], words[ring.LATE] = steps + guarded - read, missed, late
        words[ring.BUS_STATUS], words[ring.GOAL_SEQ] = status, self._goal_seq[0]
        return self.channel.leave(words)

    def blame(self, cause: Cause, value: float, limit: float) -> None:
        """Latch a cause of the runtime's own (overrun, lost io) for the whole hand."""
        blame_hand(self.model, self.state, int(cause), float(value), float(limit))


@law
def blame_hand(model: Records[Model], state: Records[State], cause: int, value: float, limit: float) -> None:
    """Fault of the whole hand; the guard's next tick reacts."""
    latch_hand(model[0], state[0], cause, -1, value, limit)
