"""Many cycles of a lockstep run in one compiled call, where no cycle needs Python.

A cycle needs Python while the hand is being started, where a fault is due, where a client has posted a goal,
with a foreign stage, and with any bus but the simulated hand alone. A stretch ends before such a cycle; the
loop makes that one by ``Pipeline.tick`` and asks again. Plant, motion and tick are called by the address of
their machine code: frames are those of single cycles bit by bit. A stretch is made without the GIL, so that
hands can run side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import numpy as np
from numba.core import types
from numba.np.numpy_support import carray

from runtime.entries import address_of, motion_at, tick_at
from runtime.goals import GoalSource
from runtime.pipeline import Pipeline
from signals.atomics import load_acquire
from signals.clock import clock_ns, now_ns
from signals.compiled import law
from signals.layout import Records, dtype_of
from signals.modes import BusStatus
from signals.native import call_of, entry_of
from signals.pointers import pointer
from signals.records import new
from sim.backend import SimulatedBus
from sim.cycle import advance_at

LEAST: Final = 4
"""Cycles below which the preparation costs more than it saves."""
_LOST: Final = int(BusStatus.LOST)
_INT, _FLOAT = types.int64, types.float64
_ADVANCE: Final = _INT(_INT, _FLOAT, _INT, _INT)
_MOTION: Final = types.none(_INT, _INT, _INT, _INT, _INT, _INT, _FLOAT, _INT)
_TICK: Final = _INT(_INT, _INT, _INT, _INT, _FLOAT, _INT, _INT, _INT, _INT, _INT)
_call_advance, _call_motion, _call_tick = call_of(_ADVANCE), call_of(_MOTION), call_of(_TICK)


class Grid(Protocol):
    """Where the next cycle lies on the loop's grid: its number, its time and the grid's remainder."""

    cycle: int
    time_ns: int
    rest: int
    step_ns: int
    step_rest: int
    pace: int
    dt_s: float


class Plan(Grid, Protocol):
    """What a stretch needs, and where it stands; what names no unit is an address."""

    advance: int
    motion: int
    tick: int
    plant_parts: int
    tick_parts: int
    head: int
    values: int
    slopes: int
    channels: int
    nodes: int
    model: int
    goal: int
    timespec: int
    lock: int
    seen: int
    started_ns: int
    elapsed_s: float
    clock_s: float
    until_s: float
    substeps: int
    last_ns: int
    diverged: int


PLAN: Final = dtype_of(Plan)


@law
def stretch(plan: Records[Plan], cycles: int) -> int:
    """Run cycles until their number is reached, or Python is needed; returns how many.

    Args:
        plan: shape (1,).
        cycles: cycles at most.
    """
    p = plan[0]
    timespec = carray(pointer(p.timespec), (2,), np.int64)
    for done in range(cycles):
        clock_s = p.clock_s + p.elapsed_s
        if clock_s >= p.until_s or (p.lock != 0 and int(load_acquire(p.lock)) != p.seen):
            return done
        p.clock_s = clock_s
        time_ns = p.time_ns
        begun = clock_ns(timespec)
        p.diverged = _call_advance(p.advance, (p.plant_parts, p.elapsed_s, p.substeps, time_ns))
        read = clock_ns(timespec)
        if p.motion != 0:
            since_s = (time_ns - p.started_ns) * 1e-9
            _call_motion(
                p.motion, (p.head, p.values, p.slopes, p.channels, p.nodes, p.model, since_s, p.goal)
            )
        status = _LOST if p.diverged != 0 else 0
        _call_tick(p.tick, (p.tick_parts, p.cycle, time_ns, time_ns, p.dt_s, begun, read, 0, 0, status))
        p.last_ns = time_ns
        p.cycle += 1
        p.time_ns += p.step_ns
        p.rest += p.step_rest
        if p.rest >= p.pace:
            p.rest -= p.pace
            p.time_ns += 1
        if p.diverged != 0:
            return done + 1
    return cycles


def load() -> None:
    """Compile or load what a stretch calls, so that no run waits for it."""
    for entry, signature in ((advance_at, _ADVANCE), (motion_at, _MOTION), (tick_at, _TICK)):
        entry_of(entry, signature)
    stretch(new(PLAN), 0)


class Stretch:
    """Stretches of one pipeline's cycles.

    Args:
        pipeline: its bus and goals are looked at before every stretch: both may be replaced in between.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline, self._plan = pipeline, new(PLAN)
        self._made_for: tuple[Any, ...] = ()

    def __call__(self, place: Callable[[], dict[str, Any]], cycles: int) -> int:
        """Cycles made, perhaps none.

        Args:
            place: says where the first one lies, by the fields of ``Grid``.
            cycles: cycles at most.
        """
        pipeline, plan = self._pipeline, self._plan
        bus, goals = pipeline.bus, pipeline.goals
        if cycles < LEAST or type(bus) is not SimulatedBus or type(goals) is not GoalSource:
            return 0
        if pipeline.stages.foreign or pipeline.clock is not now_ns:
            return 0
        if pipeline.keyframes is not None and pipeline.keyframes.wanted:
            return 0
        course, quiet = bus.course(pipeline.command, pipeline.measurement), goals.by_itself()
        if course is None or quiet is None:
            return 0
        if self._made_for != (bus, goals):
            self._lay_out(bus, goals)
        for name, value in {**place(), **course._asdict(), **quiet}.items():
            plan[name] = value
        done = stretch(plan, cycles)
        if done:
            at = plan[0]
            bus.came(float(at["clock_s"]), int(at["last_ns"]), int(at["diverged"]))
        return int(done)

    def _lay_out(self, bus: SimulatedBus, goals: GoalSource) -> None:
        """What stays as long as bus and goals do."""
        plan, pipeline = self._plan, self._pipeline
        self._made_for = (bus, goals)
        plan["advance"], plan["tick"] = entry_of(advance_at, _ADVANCE), entry_of(tick_at, _TICK)
        plan["tick_parts"], plan["timespec"] = pipeline.parts_at, address_of(pipeline.timespec)
        plan["motion"], motion = 0, goals.motion_parts()
        if motion is not None:
            plan["motion"] = entry_of(motion_at, _MOTION)
            for name, value in motion.items():
                plan[name] = value
