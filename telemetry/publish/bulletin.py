"""What the io process tells on its own account: changes of state, late cycles, clock steps, health."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from signals.clock import WallClock, now_ns
from signals.faults import Cause, row_of
from signals.modes import MachineState
from signals.names import HandNames
from signals.records import RecordArray
from telemetry.publish.publisher import loop_health

EVERY_NS: Final = 1_000_000_000
"""At most one warning a second about late cycles; the clock is looked at as often."""
Say = Callable[..., None]
"""Reporter of events: kind, level, text, hint."""


class Sparing:
    """Passes on what clients make happen, so many a second; the rest is counted and told once.

    Args:
        note: takes kind, text and hint.
        most: how many in a second.
    """

    def __init__(self, note: Callable[[str, str, str], None], most: int = 20) -> None:
        self._note, self._most = note, most
        self._second, self._count = 0, 0

    def __call__(self, kind: str, text: str, hint: str) -> None:
        """Tell it, or count it."""
        second = now_ns() // 1_000_000_000
        if second != self._second:
            left, self._second, self._count = self._count - self._most, second, 0
            if left > 0:
                self._note("request", f"{left} more events of clients within a second", "")
        self._count += 1
        if self._count <= self._most:
            self._note(kind, text, hint)


class Bulletin:
    """Looks at the newest frames and speaks when something changed.

    Args:
        say: reporter of events.
        wall: the publisher's wall clock.
        names: names of the hand.
    """

    def __init__(self, say: Say, wall: WallClock, names: HandNames) -> None:
        self._say, self._wall, self._names = say, wall, names
        self._left_out = [0] * len(names.joints)
        self.machine = -1
        self._troubles, self._warned_ns, self._looked_ns = 0, 0, 0

    def see(self, frames: RecordArray) -> None:
        """New frames, shape (n,) of FRAME, n > 0."""
        machine = int(frames["state"]["machine"][-1])
        if machine != self.machine:
            self.machine = machine
            self._say("machine", "info", f"hand is {MachineState(machine).name.lower()}", "")
        self._see_sensors(frames["state"][-1])
        timing, now = frames["timing"][-1], now_ns()
        missed, late = int(timing["missed"]), int(timing["late"])
        if missed + late > self._troubles and now - self._warned_ns > EVERY_NS:
            self._troubles, self._warned_ns = missed + late, now
            text = f"{missed} slots missed, {late} wake-ups late so far"
            self._say("overrun", "warning", text, "flexor doctor")

    def _see_sensors(self, state: Any) -> None:
        """Tell sensors of joints that are left out from now on."""
        causes = state["joint_sensor_cause"][: len(self._left_out)].tolist()
        if causes == self._left_out:
            return
        for j, (code, before) in enumerate(zip(causes, self._left_out, strict=True)):
            if code not in (before, Cause.NONE):
                row = row_of(Cause(code), self._names)
                error_deg = math.degrees(float(state["joint_sensor_error_rad"][j]))
                text = row.sentence.format(name=self._names.joints[j], value=error_deg, limit=0.0)
                self._say("sensor", "warning", text, row.hint)
        self._left_out = causes

    def look_at_clock(self, now: int) -> None:
        """Tell a step of the wall clock, once."""
        if now - self._looked_ns < EVERY_NS:
            return
        self._looked_ns = now
        step = self._wall.step_s()
        if step:
            text = f"the wall clock was stepped by {step:+.3f} s"
            self._say("clock", "warning", text, "time stamps go on unchanged")


def health_map(newest: Any, machine: int, stats: Any, rate_hz: float, n_motors: int) -> dict[str, Any]:
    """The loop's part of ``health``.

    Args:
        newest: newest frame (a FRAME scalar), or ``None``.
        machine: state of the hand.
        stats: the loop's histograms.
        rate_hz: rate of the loop.
        n_motors: motors in use.
    """
    if newest is None:
        cycles = missed = late = 0
        hottest, unknown = 0.0, 0
    else:
        timing = newest["timing"]
        cycles, missed, late = int(timing["cycle"]) + 1, int(timing["missed"]), int(timing["late"])
        hottest = float(newest["state"]["winding_temperature_degc"][:n_motors].max(initial=0.0))
        unknown = int((newest["state"]["ripple_unknown"][:n_motors] != 0).sum())
    return {
        "machine": machine,
        "cycles": cycles,
        "missed": missed,
        "late": late,
        "temp_max": hottest,
        "ripple_unknown": unknown,
        **loop_health(stats, rate_hz),
    }
