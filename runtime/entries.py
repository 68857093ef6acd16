"""Entries by address: the laws of a tick, called from Python with integers instead of arrays.

How and why: ``signals.pointers``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.np.numpy_support import carray

from controllers.motion import MOTION, motion_goal
from controllers.tick import CONTROLLER_MEMORY, control
from estimators.tick import ESTIMATOR_MEMORY, estimate
from guard.guard import GUARD_MEMORY, guard
from signals.clock import clock_ns
from signals.compiled import law
from signals.pointers import address_of as address_of
from signals.pointers import pointer
from signals.records import COMMAND, GOAL, MEASUREMENT, MODEL, STATE, RecordArray
from telemetry.shm.ring import (
    BUS_STATUS,
    CONTROL,
    CYCLE,
    DEADLINE,
    ESTIMATE,
    EXCHANGE,
    GOAL_SEQ,
    GUARD,
    LATE,
    MISSED,
    TICK,
    WAKE,
    WORDS,
    leave,
)
from telemetry.shm.segment import take
from telemetry.shm.stats import ROW, STAGES

_STAGES = len(STAGES)
_GOAL_WORDS = GOAL.itemsize // 8
_PARTS = 17


PARTS = (
    "model", "measurement", "goal", "state", "command", "estimator_memory", "controller_memory",
    "guard_memory", "frame", "slots", "n_slots", "head", "stats", "overruns", "n_overruns", "timespec",
    "realtime",
)  # fmt: skip
"""Order of the table of addresses and sizes that ``tick_at`` gets."""


def parts_table(**values: Any) -> Any:
    """The table of ``tick_at``: arrays become addresses, numbers stay.

    Args:
        values: one value for every name in ``PARTS``.
    """
    row = [int(v) if isinstance(v, int) else address_of(v) for v in (values[name] for name in PARTS)]
    return np.array(row, dtype=np.int64)


@law
def leave_at(
    frame: int, slots: int, n_slots: int, head: int, stats: int, overruns: int, n_overruns: int
) -> int:
    """``telemetry.ring.leave`` by addresses and sizes."""
    return leave(
        carray(pointer(frame), (WORDS,), np.int64),
        carray(pointer(slots), (n_slots, WORDS + 1), np.uint64),
        carray(pointer(head), (1,), np.uint64),
        carray(pointer(stats), (_STAGES, ROW), np.int64),
        carray(pointer(overruns), (n_overruns,), np.int64),
    )


@law
def motion_at(
    motion: int, values: int, slopes: int, channels: int, nodes: int, model: int, time_s: float, goal: int
) -> None:
    """``controllers.motion.motion_goal`` by addresses and sizes."""
    motion_goal(
        carray(pointer(motion), (1,), MOTION),
        carray(pointer(values), (channels, nodes), np.float64),
        carray(pointer(slopes), (channels, nodes), np.float64),
        carray(pointer(model), (1,), MODEL),
        time_s,
        carray(pointer(goal), (1,), GOAL),
    )


@law
def take_at(lock: int, source: int, target: int, seen: int) -> int:
    """``telemetry.segment.take`` of a goal by addresses."""
    return take(
        carray(pointer(lock), (1,), np.uint64),
        carray(pointer(source), (_GOAL_WORDS,), np.uint64),
        carray(pointer(target), (_GOAL_WORDS,), np.uint64),
        seen,
    )


@law
def begin_at(state: int, cycle: int, time_ns: int, dt_s: float) -> None:
    """Number, time and dt of a cycle into the state."""
    s = carray(pointer(state), (1,), STATE)[0]
    s.tick = cycle
    s.time_ns = time_ns
    s.dt_s = dt_s


@law
def tick_at(
    parts: int,
    cycle: int,
    deadline_ns: int,
    woke_ns: int,
    dt_s: float,
    begun_ns: int,
    read_ns: int,
    missed: int,
    late: int,
    bus_status: int,
) -> int:
    """Estimate, control, guard and ring write in one call; returns the overruns in the window.

    Args:
        parts: address of a ``parts_table``.
        cycle: number of the cycle.
        deadline_ns: when it was due [ns].
        woke_ns: when it began [ns].
        dt_s: bounded time since the cycle before [s].
        begun_ns: when the exchange began [ns].
        read_ns: when it was complete [ns].
        missed: slots skipped so far.
        late: late wake-ups so far.
        bus_status: what the exchange returned.
    """
    p = carray(pointer(parts), (_PARTS,), np.int64)
    model, measurement, goal, state, command = p[0], p[1], p[2], p[3], p[4]
    timespec = carray(pointer(p[15]), (2,), np.int64)
    begun = clock_ns(timespec)
    begin_at(state, cycle, woke_ns, dt_s)
    estimate(
        carray(pointer(model), (1,), MODEL),
        carray(pointer(measurement), (1,), MEASUREMENT),
        carray(pointer(p[5]), (1,), ESTIMATOR_MEMORY),
        carray(pointer(state), (1,), STATE),
    )
    estimated = clock_ns(timespec)
    control(
        carray(pointer(model), (1,), MODEL),
        carray(pointer(goal), (1,), GOAL),
        carray(pointer(p[6]), (1,), CONTROLLER_MEMORY),
        carray(pointer(state), (1,), STATE),
        carray(pointer(command), (1,), COMMAND),
    )
    controlled = clock_ns(timespec)
    guard(
        carray(pointer(model), (1,), MODEL),
        carray(pointer(goal), (1,), GOAL),
        carray(pointer(measurement), (1,), MEASUREMENT),
        carray(pointer(p[7]), (1,), GUARD_MEMORY),
        carray(pointer(state), (1,), STATE),
        carray(pointer(command), (1,), COMMAND),
    )
    guarded = clock_ns(timespec)
    words = carray(pointer(p[8]), (WORDS,), np.int64)
    words[CYCLE], words[DEADLINE], words[WAKE] = cycle, deadline_ns, woke_ns - deadline_ns
    words[EXCHANGE], words[ESTIMATE] = read_ns - begun_ns, estimated - begun
    words[CONTROL], words[GUARD] = controlled - estimated, guarded - controlled
    steps = begun_ns - woke_ns if p[16] else 0  # in lockstep the wake-up is on another clock
    words[TICK], words[MISSED], words[LATE] = steps + guarded - read_ns, missed, late
    words[BUS_STATUS] = bus_status
    words[GOAL_SEQ] = carray(pointer(goal), (1,), GOAL)[0].seq
    return leave_at(p[8], p[9], p[10], p[11], p[12], p[13], p[14])


def new_parts(
    model: RecordArray,
    views: dict[str, RecordArray],
    stages: Any,
    frame: Any,
    channel: Any,
    timespec: Any,
    realtime: bool,
) -> Any:
    """Table of ``tick_at`` for one pipeline."""
    return parts_table(
        model=model,
        measurement=views["measurement"],
        goal=views["goal"],
        state=views["state"],
        command=views["command"],
        estimator_memory=stages.estimator_memory,
        controller_memory=stages.controller_memory,
        guard_memory=stages.guard_memory,
        frame=frame,
        slots=channel.slots,
        n_slots=len(channel.slots),
        head=channel.head,
        stats=channel.stats,
        overruns=channel.overruns,
        n_overruns=len(channel.overruns),
        timespec=timespec,
        realtime=realtime,
    )
