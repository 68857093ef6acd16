"""What the recorder keeps of a trial: truth at full rate, and what the controller said about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from signals.layout import FloatArray, IntArray
from signals.modes import MachineState
from signals.records import RecordArray
from signals.table import TABLE
from trials import rules

FAULT: Final = int(MachineState.FAULT)
KEPT: Final = (
    ("truth", "joint_angle_rad"),
    ("truth", "joint_speed_rad_s"),
    ("truth", "tension_n"),
    ("truth", "contact_force_n"),
    ("truth", "motor_angle_rad"),
    ("truth", "motor_torque_nm"),
    ("state", "machine"),
    ("state", "hand_cause"),
    ("state", "hand_cause_part"),
    ("state", "finger_state"),
    ("state", "finger_cause"),
    ("state", "finger_cause_part"),
    ("state", "tension_n"),
    ("state", "ref_tension_n"),
    ("state", "finger_residual_m"),
    ("state", "wrist_error_rad"),
    ("timing", "bus_status"),
)
"""Signals of every frame that the judge, the figures and the picture of a trial use."""
_DIMS: Final = {(r, s.name): s.dims for r, signals in TABLE.items() for s in signals}


@dataclass(slots=True)
class Recording:
    """Frames of a trial, shape (n, ...) each, and the time of each since the fault [s]."""

    time_s: FloatArray
    columns: dict[tuple[str, str], NDArray[Any]]

    def of(self, record: str, name: str) -> NDArray[Any]:
        """One signal over all frames."""
        return self.columns[record, name]

    def since(self, time_s: float) -> Recording:
        """The same frames with times counted from another moment."""
        return Recording(self.time_s - time_s, self.columns) if time_s else self

    def until(self, time_s: float) -> Recording:
        """The frames up to a time since the fault."""
        n = self.after(time_s)
        return Recording(self.time_s[:n], {key: column[:n] for key, column in self.columns.items()})

    def after(self, time_s: float) -> int:
        """First frame later than a time since the fault."""
        return int(np.searchsorted(self.time_s, time_s + 1e-9))


class Recorder:
    """Collects frames.

    Args:
        counts: index space -> count of the hand (``telemetry.columns.counts_of``).
    """

    def __init__(self, counts: dict[str, int]) -> None:
        self._slices = {}
        for key in KEPT:
            self._slices[key] = tuple(slice(0, counts[d]) for d in _DIMS[key])
        self._times: list[IntArray] = []
        self._parts: dict[tuple[str, str], list[NDArray[Any]]] = {key: [] for key in KEPT}

    def add(self, frames: RecordArray) -> None:
        """Take over frames, shape (n,) of FRAME."""
        self._times.append(frames["state"]["time_ns"].copy())
        for key, parts in self._parts.items():
            parts.append(frames[key[0]][key[1]][(slice(None), *self._slices[key])].copy())

    def unwinds_since_ns(self, model: RecordArray) -> int:
        """When the newest finger in fault of which a motor unwinds was stopped; 0: none unwinds any more.

        Args:
            model: model record of the hand.
        """
        m, newest = model[0], 0
        states, torques = self._parts["state", "finger_state"], self._parts["truth", "motor_torque_nm"]
        for f in range(states[-1].shape[1]):
            own = m["tendon_motor"][m["finger_tendon"][f, : m["finger_n_tendons"][f]]]
            if states[-1][-1, f] == FAULT and (torques[-1][:, own] < -rules.TORQUE_MARGIN_NM).any():
                stopped = np.concatenate([part[:, f] == FAULT for part in states])
                newest = max(newest, int(np.concatenate(self._times)[int(stopped.argmax())]))
        return newest

    def recording(self, fault_ns: int) -> Recording:
        """All frames, times counted from the fault."""
        time_s: FloatArray = np.float64(1e-9) * (np.concatenate(self._times) - fault_ns)
        return Recording(time_s, {key: np.concatenate(parts) for key, parts in self._parts.items()})
