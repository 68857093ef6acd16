"""The probe of a tendon in doubt, cycle by cycle."""

from __future__ import annotations

import math
from typing import Any

from guard.latch import latch_probed
from signals.compiled import law
from signals.faults import Cause
from tests.rigs.faulted import Faulted

RADIUS_M = 0.01


LEVER_MAX, MARGIN = math.radians(15.0), math.radians(0.5)


@law
def _latch(memory: Any, state: Any, t: int, cause: int) -> None:
    latch_probed(memory[0], state[0], 0, t, cause, t, 1.0, 2.0)


class Probe(Faulted):
    """A probe of tendon 2, whose lever stands at its slack stop."""

    def __init__(self) -> None:
        super().__init__(Cause.TENSION_LOST, 2)
        self.s["motor_angle_rad"][2] = 0.4
        self.s["lever_angle_rad"][2] = LEVER_MAX
        self.begin()

    def at(self, wound_m: float, cycles: int = 1) -> Cause:
        self.s["motor_angle_rad"][2] = 0.4 + wound_m / RADIUS_M
        for _ in range(cycles):
            named = self.judge()
            if named is not Cause.TENSION_LOST:
                return named
        return Cause.TENSION_LOST

    def latch(self, t: int, cause: Cause) -> None:
        _latch(self.bench.records[0], self.bench.records[2], t, int(cause))

    @property
    def figures(self) -> tuple[int, float, float]:
        s = self.s
        return (
            int(s["finger_cause_part"][0]),
            float(s["finger_cause_value"][0]),
            float(s["finger_cause_limit"][0]),
        )
