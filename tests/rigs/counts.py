"""Hall counts of one lever as its detectors see them, written by hand."""

from __future__ import annotations

from signals.faults import Cause
from tests.rigs.bare import COUNT, Bare


class Counts:
    """A finger whose Hall counts are set cycle by cycle."""

    def __init__(self) -> None:
        self.bench = Bare()
        self.bench.until(None, 100)

    def set(self, t: int, away: float, cycles: int = 1) -> bool:
        """Count ``away`` from rest; True once something is found."""
        self.bench.z["hall_count"][t] = COUNT + round(away)
        return self.bench.until(None, cycles) <= cycles

    @property
    def found(self) -> tuple[Cause, int, float, float] | None:
        return self.bench.found


class Contradicted:
    """A channel without noise that stands while the others of its finger change and lengths contradict."""

    def __init__(self, lever_rad: float = -0.01875) -> None:
        self.bench = Bare()
        self.bench.m["hall_noise_count"][:8] = 0.0
        self.bench.s["lever_angle_rad"][6] = lever_rad
        self.bench.s["ref_tension_n"][:8] = 0.0
        self.bench.mem["taut"][:8] = 0
        self.bench.until(None, 1)
        self.flips = 0

    def run(self, wound_m: float, contradiction_m: float, flips: int) -> bool:
        """True if it is found: wound by a way, lengths off by another, every other count changed so often."""
        s, mem, z = self.bench.s, self.bench.mem, self.bench.z
        s["motor_angle_rad"][6] = mem["last_angle_rad"][6] = wound_m / 0.01
        s["residual_m"][6] = contradiction_m
        for _ in range(flips):
            self.flips += 1
            for t in (0, 1, 2, 3, 4, 5, 7):
                z["hall_count"][t] = COUNT + self.flips % 2
            self.bench.detect()
            if self.bench.found:
                return True
        return False
