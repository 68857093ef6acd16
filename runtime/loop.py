"""The fixed-rate loop: absolute deadlines on a grid, in real time or in lockstep.

Slot k is due at ``start + k * period``. A cycle that ends after the next slot has begun skips slots: they
are counted as missed and the next cycle lands on the grid again. No cycle starts less than half a period
after the one before, none is made up for. Hence slots = cycles + missed, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from signals.clock import NS_S, new_timespec, now_ns, wait_until

LOCKSTEP_START_NS = NS_S
"""Simulated time of the first cycle: a constant, so that runs repeat bit by bit."""
DT_MIN_PERIODS = 0.5
DT_MAX_S = 0.1
"""Bounds of the dt that controllers get. It is the real one up to here, so that a speed after a stall is
true; what happened in a longer one is for the guard to find."""
_GRID = NS_S * 1000
"""Grid in 1/1000 Hz: slot k is due at ``k * _GRID // rate_mhz``, so a rate of 3000 Hz has no drift."""
STRETCH = 32
"""Cycles that a lockstep run makes at most before it asks whether to go on."""
SUSTAINED_SHARE = 0.5
"""Share of late cycles within the window (one second) above which the hand is not controlled any more."""


class Tick(Protocol):
    """What the loop calls every cycle (``Pipeline.tick``)."""

    def __call__(
        self, cycle: int, deadline_ns: int, woke_ns: int, dt_s: float, missed: int, late: int, /
    ) -> int:
        """One cycle; returns how many cycles of the window overran."""


class Ahead(Protocol):
    """Makes many cycles in one call (``runtime.stretch.Stretch``)."""

    def __call__(self, place: Callable[[], dict[str, Any]], cycles: int, /) -> int:
        """Cycles made, at most ``cycles``, perhaps none; ``place`` says where the first one lies."""


@dataclass(slots=True)
class Progress:
    """Where a loop stands."""

    cycles: int = 0
    missed: int = 0
    late: int = 0
    overruns: int = 0
    """Cycles of the window that overran."""
    sustained: bool = False
    """The overruns passed their limit at least once."""
    started_ns: int = 0
    ended_ns: int = 0

    @property
    def elapsed_s(self) -> float:
        """Time from the first slot to the end of the last cycle; times the rate it is slots, within one."""
        return (self.ended_ns - self.started_ns) / NS_S

    @property
    def slots(self) -> int:
        """Slots of the grid that have passed."""
        return self.cycles + self.missed


class Loop:
    """Runs a tick at a fixed rate.

    Args:
        tick: called every cycle; real-time safe.
        rate_hz: rate of the grid.
        window: cycles over which ``tick`` counts overruns; more than half of them is sustained.
        spin_ns: 0 for the plain wait, ``clock.SPIN_NS`` for the hybrid one.
        clock: monotonic clock [ns].
        wait: ``clock.wait_until`` or a test's replacement.
        ahead: makes cycles of a lockstep run that need no ``tick``; ``None``: every cycle is a tick.
    """

    def __init__(
        self,
        tick: Tick,
        rate_hz: float,
        *,
        window: int | None = None,
        spin_ns: int = 0,
        clock: Callable[[], int] = now_ns,
        wait: Callable[..., int] = wait_until,
        ahead: Ahead | None = None,
    ) -> None:
        if not 1.0 <= rate_hz <= 100_000.0:
            raise ValueError(f"rate is {rate_hz} Hz; legal are 1 to 100000 Hz")
        self.period_ns = round(NS_S / rate_hz)
        self._pace = round(rate_hz * 1000)
        self.progress = Progress()
        self._overrun_limit = SUSTAINED_SHARE * (window or round(rate_hz))
        self._tick, self._spin_ns, self._clock, self._wait = tick, spin_ns, clock, wait
        self._ahead = ahead

    def run(self, slots: int, proceed: Callable[[], bool]) -> Progress:
        """Real time, until ``slots`` more slots have passed or ``proceed`` says no.

        Args:
            slots: slots of the grid to serve or skip.
            proceed: asked before every cycle; must be as real-time safe as the tick.
        """
        period, half, progress = self.period_ns, self.period_ns // 2, self.progress
        dt_min, dt_max = DT_MIN_PERIODS * period / NS_S, max(DT_MAX_S, period / NS_S)
        tick, clock, wait = self._tick, self._clock, self._wait
        spin_ns, limit, pace = self._spin_ns, self._overrun_limit, self._pace
        timespec = new_timespec()
        cycle, missed, late = progress.cycles, progress.missed, progress.late
        start = progress.started_ns = progress.started_ns or clock() + 2 * period
        slot = max(cycle + missed, -((start - clock()) * pace // _GRID))
        missed, end = slot - cycle, cycle + missed + slots
        deadline = start + slot * _GRID // pace
        previous = deadline - period
        while slot < end and proceed():
            woke = wait(deadline, spin_ns, timespec)
            if woke - deadline >= period:
                late += 1
            dt_s = min(max((woke - previous) / NS_S, dt_min), dt_max)
            previous = woke
            overruns = tick(cycle, deadline, woke, dt_s, missed, late)
            cycle += 1
            free = max(clock(), woke + half)
            slot = max(slot + 1, -((start - free) * pace // _GRID))
            missed = slot - cycle
            deadline = start + slot * _GRID // pace
            progress.cycles, progress.missed, progress.late = cycle, missed, late
            progress.overruns = overruns
            if overruns > limit:
                progress.sustained = True
        progress.ended_ns = clock()
        return progress

    def run_lockstep(self, cycles: int, proceed: Callable[[], bool], most: int = STRETCH) -> Progress:
        """As fast as possible on simulated time; nothing is missed, late or dropped.

        Args:
            cycles: cycles to run.
            proceed: asked before every stretch; may wait for whoever reads the frames.
            most: cycles of a stretch at most.
        """
        progress, tick, ahead = self.progress, self._tick, self._ahead
        progress.started_ns = progress.started_ns or LOCKSTEP_START_NS
        dt_s = 1000 / self._pace
        end = progress.cycles + cycles
        while progress.cycles < end and proceed():
            cycle = progress.cycles
            made = ahead(self._place, min(most, end - cycle)) if ahead is not None else 0
            if made == 0:
                time_ns = LOCKSTEP_START_NS + cycle * _GRID // self._pace
                tick(cycle, time_ns, time_ns, dt_s, 0, 0)
                made = 1
            progress.cycles = cycle + made
        return progress

    def _place(self) -> dict[str, Any]:
        """Place of the next cycle on the grid of a lockstep run, and the step from it (``stretch.Grid``)."""
        cycle = self.progress.cycles
        time_ns, rest = divmod(cycle * _GRID, self._pace)
        step_ns, step_rest = divmod(_GRID, self._pace)
        return {
            "cycle": cycle,
            "time_ns": LOCKSTEP_START_NS + time_ns,
            "rest": rest,
            "step_ns": step_ns,
            "step_rest": step_rest,
            "pace": self._pace,
            "dt_s": 1000 / self._pace,
        }
