"""Where a page's views come from: a running hand, or a log that is played."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from signals.records import FRAME
from tools.monitor.watched import STALE_S, Watched
from tools.view.banner import Told, told
from tools.view.tape import Tape


class Source(Protocol):
    """What a page asks of a hand or a log."""

    meta: dict[str, Any]

    def take(self) -> None:
        """Bring it up to date."""

    @property
    def view(self) -> Any:
        """A view message; ``None``: none has come."""

    @property
    def faults(self) -> list[dict[str, Any]]:
        """Latched faults."""

    @property
    def told(self) -> Told:
        """How the hand is."""


class LiveSource:
    """A running hand.

    Args:
        hand: ``flexor.Hand``, for this source alone.
    """

    def __init__(self, hand: Any) -> None:
        hand.listen("view", "health", "event")
        self._hand, self.watched = hand, Watched()
        self.meta: dict[str, Any] = hand.meta

    def take(self) -> None:
        """Drain what has come."""
        self.watched.take(self._hand)

    @property
    def view(self) -> Any:
        """The newest view."""
        return self.watched.view

    @property
    def faults(self) -> list[dict[str, Any]]:
        """Latched now."""
        return self.watched.faults

    @property
    def told(self) -> Told:
        """How the hand is now."""
        watched = self.watched
        return told(watched.view, watched.health, watched.age_s, STALE_S)


class LogSource(Tape):
    """A log that is played.

    Args:
        path: an MCAP log.
    """

    def __init__(self, path: Path) -> None:
        from reports.faults import FaultWatch
        from telemetry.publish.messages import ViewMessage
        from telemetry.record.reader import LogError, read_log
        from trials.recorded import recorded_hand

        log = read_log(path)
        if not len(log.frames):
            raise LogError(f"{path}: no frames inside, nothing to play")
        hand = recorded_hand(path, log)
        self.meta = _meta(hand, log.frames, path.parent)
        self._frames, self._watch = log.frames, FaultWatch(hand.names)
        self._build = ViewMessage(hand.names, "truth" in (log.frames.dtype.names or ())).build
        self._times = (log.frames["state"]["time_ns"] - log.frames["state"]["time_ns"][0]) * 1e-9
        super().__init__(path.name, float(self._times[-1]))
        self.marks, self.lacks = self._marks(log), [str(part) for part in log.damage]
        self._k = -1
        self._view: Any = None
        self.faults: list[dict[str, Any]] = []

    def _marks(self, log: Any) -> list[tuple[float, str]]:
        """Latched causes by their frames, other events by their time stamps."""
        found = [(fault.time_s, f"{fault.cause} {fault.text}") for fault in self._watch.look(self._frames)]
        machine = self._frames["state"]["machine"]
        from signals.modes import MachineState

        for k in np.flatnonzero(np.diff(machine)) + 1:
            found.append((float(self._times[k]), f"hand is {MachineState(int(machine[k])).name.lower()}"))
        return sorted(found)

    def take(self) -> None:
        """Go on, if it is playing; at the end it stands."""
        self.advance()
        k = int(np.searchsorted(self._times, self.at_s, side="right")) - 1
        if k != self._k:
            self._k = k
            self._view = self._build(_whole(self._frames[k]), float(self._times[k]), {}, {})
            self._watch.look(self._frames[k : k + 1])
            self.faults = [fault.as_dict() for fault in self._watch.standing()]

    @property
    def view(self) -> Any:
        """The view of the moment."""
        return self._view

    @property
    def told(self) -> Told:
        """How the hand was at the moment."""
        state = told(self._view, {"latched": self.faults}, 0.0, 1.0)
        kind = state.kind if state.kind == "fault" else "log"
        hint = state.hint if kind == "fault" else ""
        return Told(kind, state.head, state.text, hint, state.more)


def _meta(hand: Any, frames: Any, folder: Path) -> dict[str, Any]:
    """What a page asks of ``meta``, as a running hand would publish it; of a mechanism some poses too."""
    from hand.drawing import drawing_of
    from telemetry.publish.messages import meta_codes, meta_names, meta_units

    names, found = hand.names, drawing_of(hand, folder)
    if hand.mechanism is not None:
        from tools.view.mechanism import some

        angles = frames["state"]["joint_angle_rad"][:, : len(names.joints)].astype(float)
        axes = np.zeros((len(angles), 0))
        if names.axes:  # a log keeps only the columns that the hand uses
            axes = frames["state"]["axis_angle_rad"][:, : len(names.axes)].astype(float)
        poses = some(hand.mechanism.coordinates(angles, axes))
        found["mechanism"]["poses_rad"] = poses
    return found | {
        "hand": hand.name, "names": meta_names(names), "codes": meta_codes(names.foreign),
        "keys": meta_units(False),
    }  # fmt: skip


def _whole(row: Any) -> Any:
    """A frame with all its columns: a log keeps only those that the hand uses."""
    frame = np.zeros(1, dtype=FRAME)
    for record in row.dtype.names:
        for name in row[record].dtype.names:
            values = row[record][name]
            frame[record][name][(0, *(slice(0, n) for n in np.shape(values)))] = values
    return frame[0]
