"""Many plants of one hand, advanced in compiled calls: for learning, sweeps and search.

Each plant is what one ``SimulatedBus`` is, bit by bit. Records of all plants stand side by side, so a policy
reads and writes whole arrays; threads share the plants, and none of them holds the GIL.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import TracebackType
from typing import Any, Final

import numpy as np
from numba import types

from signals.choices import WrongChoice
from signals.compiled import law
from signals.layout import IntArray
from signals.native import call_of, entry_of
from signals.pointers import address_of
from signals.records import COMMAND, MEASUREMENT, RecordArray
from signals.records import TRUTH as TRUTH_DTYPE
from sim.backend import SimulatedBus
from sim.cycle import PARTS, advance_at
from sim.options import SimOptions

_ADVANCE: Final = types.int64(types.int64, types.float64, types.int64, types.int64)
_advance: Any = call_of(_ADVANCE)


@law
def _advance_all(
    entry: int, parts: IntArray, diverged: IntArray, dt_s: float, substeps: int, first: int, cycles: int
) -> None:
    """Plant after plant, all its cycles at once: its records stay in the core's memory."""
    for n in range(len(parts)):
        for k in range(cycles):
            if diverged[n] == 0:
                time_ns = round((first + k + 1) * 1e9 * dt_s)
                diverged[n] = _advance(entry, (parts[n], dt_s, substeps, time_ns))


class Batch:
    """Simulated hands side by side; ``step`` is the ``exchange`` of all of them.

    Args:
        models: MODEL record of every plant, or of all, shape (n,) or (1,).
        options: sensors, guides, substeps; its seed is that of the first plant, the next has the next one.
            Neither real time nor faults: those are a single bus's.
        plants: how many; ``None``: as many as models.
        threads: of them at work at a time; ``None``: one for each core.

    Attributes:
        command: COMMAND records to fill, shape (n,).
        measurement: MEASUREMENT records, shape (n,).
        truth: TRUTH records, shape (n,).
        diverged: 0 for a sound plant, else a number of ``sim.finite``; such a plant stands still; shape (n,).

    Raises:
        ValueError: an option is refused.
    """

    def __init__(
        self,
        models: RecordArray,
        options: SimOptions,
        *,
        plants: int | None = None,
        threads: int | None = None,
    ) -> None:
        n = len(models) if plants is None else plants
        if n < 1 or len(models) not in (1, n):
            raise WrongChoice(f"{n} plants and {len(models)} models; legal are one or more, and 1 or {n}")
        if options.realtime or options.faults:
            raise WrongChoice("a batch has neither real time nor faults; a SimulatedBus has both")
        if threads is not None and threads < 1:
            raise WrongChoice(f"threads is {threads}; legal are one or more")
        self.options, self._dt_s, self._done = options, float(models["dt_s"][0]), 0
        self.command, self.measurement = np.zeros(n, dtype=COMMAND), np.zeros(n, dtype=MEASUREMENT)
        self.truth, self.diverged = np.zeros(n, dtype=TRUTH_DTYPE), np.zeros(n, dtype=np.int64)
        self._buses = [self._bus(models, k) for k in range(n)]
        self._parts = np.array([self._addresses(k) for k in range(n)], dtype=np.int64)
        self._tables = np.array([address_of(row) for row in self._parts], dtype=np.int64)
        self._entry = entry_of(advance_at, _ADVANCE)
        at_once = min(n, threads or len(os.sched_getaffinity(0)))
        self._slices = [slice(n * k // at_once, n * (k + 1) // at_once) for k in range(at_once)]
        self._pool = ThreadPoolExecutor(at_once, "plants")

    def _bus(self, models: RecordArray, k: int) -> SimulatedBus:
        own = models[k : k + 1] if len(models) > 1 else models
        bus = SimulatedBus(
            own.copy(), replace(self.options, seed=self.options.seed + k), self.truth[k : k + 1]
        )
        bus.activate()
        bus.exchange(self.command[k : k + 1], self.measurement[k : k + 1], 0)  # where it stands
        return bus

    def _addresses(self, k: int) -> list[int]:
        bus = self._buses[k]
        records = {
            "model": bus.model,
            "plant": bus.plant,
            "work": bus.work,
            "command": self.command[k : k + 1],
            "measurement": self.measurement[k : k + 1],
            "truth": self.truth[k : k + 1],
        }
        return [address_of(records[name]) for name in PARTS]

    def __len__(self) -> int:
        return len(self._buses)

    def __enter__(self) -> Batch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def plants(self) -> Sequence[SimulatedBus]:
        """The plants, to read their records, push a fingertip or break a part."""
        return tuple(self._buses)

    def step(self, cycles: int = 1) -> None:
        """Advance every plant by control periods; the command acts from the second one on, as on a bus.

        Args:
            cycles: periods in this call.
        """
        if cycles < 1:
            raise WrongChoice(f"cycles is {cycles}; legal are one or more")
        done = [self._pool.submit(self._advance, part, cycles) for part in self._slices]
        for future in done:
            future.result()
        self._done += cycles

    def _advance(self, part: slice, cycles: int) -> None:
        _advance_all(
            self._entry,
            self._tables[part],
            self.diverged[part],
            self._dt_s,
            self.options.substeps,
            self._done,
            cycles,
        )

    def close(self) -> None:
        """End the threads; safe to call twice."""
        self._pool.shutdown()
