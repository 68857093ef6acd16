"""Whether a hand that shall start by itself does: if not, the run ends soon and says what holds it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from runtime.backends import said_by
from signals.modes import ChannelStatus, MachineState, Request

if TYPE_CHECKING:
    from runtime.setup import Rig

START_NS: Final = 1_000_000_000
"""Time from the first cycle in which a hand has to become active; it takes some hundredths of a second."""
SHORT_NS: Final = 200_000_000
"""A run that ends before ``START_NS`` has failed to start only if it lasted this long."""
_SHOWN = 6


class StartWatch:
    """Looks at a hand from time to time.

    Args:
        rig: the hand.
        starts: it shall start by itself; if not there is nothing to watch.
    """

    def __init__(self, rig: Rig, starts: bool = True) -> None:
        self._rig, self._waiting = rig, starts
        self._time = rig.views["state"]["time_ns"]
        self._machine = rig.views["state"]["machine"]
        self._first_ns = 0

    def failed(self, limit_ns: int = START_NS) -> bool:
        """The hand should have been active by now; a latched fault speaks for itself and is no such case."""
        if not self._waiting:
            return False
        now = int(self._time[0])
        self._first_ns = self._first_ns or now
        if self._rig.goals.started_ns is not None or self._machine[0] in (
            MachineState.ACTIVE,
            MachineState.FAULT,
        ):
            self._waiting = False
            return False
        return now - self._first_ns >= limit_ns

    def failed_at_end(self) -> bool:
        """As ``failed``, for a run that is over."""
        return self.failed(SHORT_NS)

    def reason(self) -> str:
        """What holds the hand back."""
        if int(self._rig.views["goal"]["request"][0]) == Request.STOP:
            return "the hand was stopped before it started"
        state = MachineState(int(self._machine[0])).name.lower()
        waited_s = (int(self._time[0]) - self._first_ns) / 1e9
        silent = "; ".join((*silent_parts(self._rig), *said_by(self._rig.bus))) or "every channel answers now"
        return f"the hand did not start within {waited_s:.2g} s: {silent} (state {state})"


def silent_parts(rig: Rig) -> list[str]:
    """Motors, Hall sensors and axes without a good measurement, with what is wrong with them."""
    z, names = rig.views["measurement"][0], rig.hand.names
    found = []
    for what, field, parts in (
        ("motor", "motor_status", names.motors),
        ("Hall sensor", "hall_status", names.tendons),
        ("wrist axis", "axis_status", names.axes),
        ("sensor of joint", "joint_status", names.joints),
    ):
        bad = [(name, int(z[field][i])) for i, name in enumerate(parts) if z[field][i]]
        if bad:
            shown = ", ".join(f"{what} {name} {_word(bits)}" for name, bits in bad[:_SHOWN])
            found.append(shown + (f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""))
    return found


def _word(bits: int) -> str:
    words = [str(flag.name).lower().replace("_", " ") for flag in ChannelStatus if flag and bits & flag]
    silent = set(words) <= {"missing", "stale"}
    return "does not answer" if silent else f"gives no good value ({', '.join(words)})"
