"""Measurements that nobody should believe: every field, every kind of absurd value, in every state.

``python -m tests.safety.absurd [--every N]`` runs the whole sweep (or every N-th case) and prints counts; the
suite runs a fixed sample of it (``test_absurd_measurements``). Each case goes back to an exact state, changes
the measurement between the plant and the tick, and is compared with the same run without it.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

from signals.modes import ChannelStatus, MachineState, Mode, Request
from signals.records import RecordArray
from tests.rigs.driven import Driven
from trials import rules

INT64: Final = 2**63
VALUES: Final = (
    *(s * v for v in (1e-310, 1e3, 2.0**15, 2.0**20, 2.0**31, 3.4028235e38, 1e308) for s in (1.0, -1.0)),
    0.0,
    math.nan,
    math.inf,
    -math.inf,
    2.0**15 - 1,
    2.0**16 - 1,
    2.0**20 - 1,
    2.0**31 - 1,
)
"""Denormal, large, infinite, no number, and the ends of int16, uint16, 20-bit encoders, int32, float32."""
COUNTS: Final = (-(2**31), -(2**15), -1, 0, 1, 2**12 - 1, 2**12, 2**15, 2**16 - 1, 2**31 - 1)
TIMES: Final = (-INT64, -1, 0, 1, 2**31 - 1, 2**32, 2**53, INT64 - 1)
SHIFTS_NS: Final = (-10_000_000_000, -50_000_000, -333_333, 333_333, 50_000_000, 10_000_000_000)
"""Steps of a clock, added to the right time."""
STATUSES: Final = (1 << 7, 1 << 20, 1 << 31, 2**32 - 1, *(int(bit) for bit in ChannelStatus if bit))
FIELDS: Final = {
    "motor_angle_rad": VALUES,
    "motor_speed_rad_s": VALUES,
    "motor_current_a": VALUES,
    "motor_temperature_degc": VALUES,
    "hall_fine_count": VALUES,
    "hall_count": COUNTS,
    "motor_time_ns": TIMES,
    "hall_time_ns": TIMES,
    "time_ns": TIMES,
    "motor_status": STATUSES,
    "hall_status": STATUSES,
}
CYCLES: Final = (1, 60)
STATES: Final = (*(f"active {mode.name.lower()}" for mode in Mode), "holding", "fault")
BEFORE_CYCLES: Final = 4
"""Cycles between the state gone back to and the first absurd sample."""
AFTER_CYCLES: Final = 150
MARGIN_NM: Final = 0.1
"""A pull may be larger than without the sample by this: noise, and the damping of what seems to rest."""
NEAR_RAD: Final = 0.05


@dataclass(frozen=True)
class Case:
    """One case: where the hand is, and what is measured instead."""

    state: str
    field: str
    value: float
    cycles: int
    everywhere: bool
    shift: bool = False

    def believable(self, model: np.void) -> bool:
        """True if no one can tell the value from a true one at once: then only the tensions are judged.

        A tendon that breaks shows any count of the lever's way; a motor at rest is near zero.
        """
        if self.field == "motor_angle_rad":
            return abs(self.value) < NEAR_RAD
        return self.field == "hall_fine_count" and 0.0 < self.value < model["hall_count_max"][0]


class Absurd:
    """Between the plant and the tick: the case's value, for its cycles."""

    def __init__(self, bus: Any) -> None:
        self._bus, self.case, self.left, self.wait = bus, None, 0, 0

    def exchange(self, command: RecordArray, measurement: RecordArray, now_ns: int) -> int:
        """As the bus, with the case's value."""
        status = int(self._bus.exchange(command, measurement, now_ns))
        self.wait -= 1
        case = self.case
        if case is not None and self.wait < 0 and self.left > 0:
            self.left -= 1
            values = measurement[case.field]
            values = values[0] if values.ndim > 1 else values
            part = slice(None) if case.everywhere or values.size == 1 else slice(0, 1)
            values[part] = values[part] + int(case.value) if case.shift else case.value
        return status


class Bench:
    """A hand in each of the states, kept; ``run`` goes back to one and says what truly happened."""

    def __init__(self, hand: str = "finger_bench") -> None:
        self.driven = Driven(hand)
        rig, stages = self.driven.rig, self.driven.rig.stages
        self.records = [
            rig.frame,
            self.driven.model,
            self.driven.bus.plant,
            self.driven.bus.work,
            self.driven.bus.model,
            stages.estimator_memory,
            stages.controller_memory,
            stages.guard_memory,
        ]
        self.between = Absurd(rig.bus)
        rig.pipeline.bus = self.between  # type: ignore[assignment]
        self._kept: dict[str, tuple[int, list[RecordArray]]] = {}
        self._quiet: dict[str, RecordArray] = {}
        self.driven.start(0.5)
        self._keep_states()

    def _keep_states(self) -> None:
        driven, goal = self.driven, self.driven.goal
        start = (driven.session.loop.progress.cycles, [r.copy() for r in self.records])
        n = len(driven.names.motors)
        for mode in Mode:
            self._restore(start)
            goal("motor_angle_rad")[:n] = driven.state("motor_angle_rad")[:n]
            goal("motor_torque_nm")[:n] = driven.state("motor_torque_nm")[:n]
            goal("tendon_force_n")[:n] = driven.state("tension_n")[:n]
            goal("finger_mode")[:] = int(mode)
            driven.run(0.3)
            assert driven.machine is MachineState.ACTIVE, driven.causes
            self._keep(f"active {mode.name.lower()}")
        for name, request in (("holding", Request.ARM), ("fault", Request.STOP)):
            self._restore(start)
            driven.ask(request)
            driven.run(0.02)
            self._keep(name)

    def _keep(self, name: str) -> None:
        self._kept[name] = (self.driven.session.loop.progress.cycles, [r.copy() for r in self.records])

    def _restore(self, kept: tuple[int, list[RecordArray]]) -> None:
        self.driven.session.loop.progress.cycles = kept[0]
        for record, copy in zip(self.records, kept[1], strict=True):
            record[...] = copy

    def run(self, state: str, case: Case | None) -> RecordArray:
        """Frames from a kept state on, with a case or without."""
        self._restore(self._kept[state])
        self.between.case, self.between.wait = case, BEFORE_CYCLES
        self.between.left = 0 if case is None else case.cycles
        cycles = BEFORE_CYCLES + AFTER_CYCLES + (60 if case is None else case.cycles)
        return self.driven.run(cycles * self.driven.rig.pipeline.model["dt_s"][0])

    def quiet(self, state: str) -> RecordArray:
        """The same without a case, once for all."""
        if state not in self._quiet:
            self._quiet[state] = self.run(state, None)
        return self._quiet[state]

    def broken(self, case: Case) -> list[str]:
        """What the case broke, by the plant's truth."""
        n = len(self.driven.names.motors)
        frames, quiet = self.run(case.state, case), self.quiet(case.state)
        length = min(len(frames), len(quiet))
        torque = frames["truth"]["motor_torque_nm"][:, :n]
        usual = quiet["truth"]["motor_torque_nm"][:length, :n]
        pull = float((torque - np.maximum(usual.max(axis=0), 0.0)).max())
        tension = frames["truth"]["tension_n"][:, :n]
        found = []
        if not np.isfinite(frames["command"]["motor_current_a"]).all():
            found.append("a command that is no number")
        if pull > MARGIN_NM and not case.believable(self.driven.model[0]):
            found.append(f"pulls {pull:.3f} N m more")
        if tension.max() > 160.0:
            found.append(f"{tension.max():.0f} N")
        if longest_s(tension > rules.TENSION_LATER_N, float(self.driven.model["dt_s"][0])) > 0.020:
            found.append("too tight for more than 20 ms")
        return found


def longest_s(over: Any, dt_s: float) -> float:
    """Longest time in a row [s] for which any column is true."""
    count, most = np.zeros(over.shape[1]), 0.0
    for row in over:
        count = (count + 1) * row
        most = max(most, float(count.max()))
    return most * dt_s


def cases() -> Iterator[Case]:
    """All cases, in a fixed order."""
    for field, values in FIELDS.items():
        kinds = [(v, False) for v in values]
        if field.endswith("_ns"):
            kinds += [(v, True) for v in SHIFTS_NS]
        for value, shift in kinds:
            for state in STATES:
                for cycles in CYCLES:
                    for everywhere in (False, True):
                        yield Case(state, field, value, cycles, everywhere, shift)


@cache
def bench(hand: str = "finger_bench") -> Bench:
    """The bench of a hand, made once."""
    return Bench(hand)


def main() -> int:
    """Run the sweep; exit code 1 if a case broke something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    every = parser.parse_args().every
    count: dict[str, list[int]] = {}
    for case in list(cases())[::every]:
        found = bench().broken(case)
        tally = count.setdefault(case.field, [0, 0])
        tally[0] += 1
        tally[1] += bool(found)
        if found:
            print(case, "; ".join(found), flush=True)
    for field, (tried, broken) in count.items():
        print(f"{field:24} {tried:5} cases  {broken:4} broken")
    return int(any(broken for _, broken in count.values()))


if __name__ == "__main__":
    raise SystemExit(main())
