"""Curves of the Hall sensors in a recorded run: what each read over what the rest of its finger says.

The expected count of a tendon comes from the estimator itself with that sensor left out: the joint angles by
the finger's other tendons, its motor, the wrist and the offset of the run's homing give its elongation, the
spring its lever. A sound sensor is a line of slope 1 there, a flat or clipped one is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from estimators.memory import new_memory
from estimators.tick import estimate
from signals.layout import FloatArray
from signals.modes import ChannelStatus
from signals.records import MEASUREMENT, STATE, RecordArray, new

MOST_FRAMES: Final = 1500
"""Frames that the estimator is run over; a longer log is thinned evenly."""
REST_S: Final = 0.1
"""Length of the windows in which noise is measured."""
REST_M: Final = 0.00005
"""Tendon that the motors of a finger at rest wind within a window at most: some counts, and steadily."""
LEAST_WINDOWS: Final = 3
HOMED_FRAMES: Final = 100


@dataclass(frozen=True, slots=True)
class Curve:
    """What one sensor read; arrays have one entry per frame looked at, shape (n,)."""

    expected_count: FloatArray
    count: FloatArray
    noise_count: float | None
    """Rms around a straight line within windows of rest, the median of all; ``None``: it never rested."""
    saturated_frac: float
    lost_frac: float


def take_homing(model: RecordArray, frames: RecordArray) -> None:
    """Offsets e0 [m] of the run's homing into the model: the estimator's own sums, solved for e0."""
    m, s = model[0], frames["state"][:HOMED_FRAMES]
    n = int(m["n_tendons"])
    wound = m["spool_radius_m"][:n] * s["motor_angle_rad"][:, m["tendon_motor"][:n]].astype(float)
    parts = (s[name][:, :n].astype(float) for name in ("elongation_m", "wrist_length_m", "tendon_length_m"))
    elongation, through_wrist, in_finger = parts
    offset = elongation - wound - through_wrist - in_finger
    m["elongation_offset_m"][:n] = np.median(offset, axis=0)


def curves(model: RecordArray, frames: RecordArray, unused: frozenset[int] = frozenset()) -> list[Curve]:
    """The curve of every tendon's sensor.

    Args:
        model: the hand with the run's offsets, shape (1,).
        frames: all frames of a log, shape (n,).
        unused: tendons whose sensors are left out for all others too.
    """
    step = max(1, -(-len(frames) // MOST_FRAMES))
    kept = _measurements(frames[::step])
    return [
        Curve(
            _expected(model, kept, t, unused),
            kept["hall_fine_count"][:, t].copy(),
            _noise_count(model, frames["measurement"], t),
            _share(_at_rail(model, frames["measurement"], t)),
            _share(_lost(model, frames, t)),
        )
        for t in range(int(model["n_tendons"][0]))
    ]


def _share(mask: Any) -> float:
    return float(mask.mean()) if len(mask) else 0.0


def _measurements(frames: RecordArray) -> RecordArray:
    """Measurements of a log in records of full capacity, shape (n,)."""
    out = np.zeros(len(frames), dtype=MEASUREMENT)
    for name in frames["measurement"].dtype.names or ():
        values = frames["measurement"][name]
        out[name][tuple(slice(0, k) for k in values.shape)] = values
    return out


def _expected(model: RecordArray, kept: RecordArray, t: int, unused: frozenset[int]) -> FloatArray:
    """Counts [1], shape (n,), that tendon ``t``'s sensor should show by the others."""
    own, memory, state = model.copy(), new_memory(), new(STATE)
    for weight in ("hall_weight", "length_weight"):  # joints by the other tendons alone
        own[weight][0, sorted(unused | {t})] = 0.0
    own["use_lever"] = 0  # its loops turn from cycle to cycle, and these frames are thinned
    state["dt_s"] = own["dt_s"]
    expected = np.zeros(len(kept))
    for k in range(len(kept)):
        state["time_ns"] = kept["time_ns"][k]
        estimate(own, kept[k : k + 1], memory, state)
        expected[k] = memory["hall_count"][0, t]
    return expected


def _lost(model: RecordArray, frames: RecordArray, t: int) -> Any:
    """Frames without a sample: its status says so, or, as on a wire that fell silent, the last one is old."""
    z, limit_s = frames["measurement"], float(model["measurement_age_s"][0, -1])
    age_s = 1e-9 * (frames["state"]["time_ns"] - z["hall_time_ns"][:, t])
    wrong = (z["hall_status"][:, t] & ~np.uint32(ChannelStatus.STALE)) != 0
    return wrong | (age_s > limit_s) if limit_s > 0.0 else wrong


def _at_rail(model: RecordArray, z: Any, t: int) -> Any:
    count = z["hall_count"][:, t]
    return (count <= 0) | (count >= model["hall_count_max"][0, t])


def _noise_count(model: RecordArray, z: Any, t: int) -> float | None:
    m = model[0]
    length = max(3, round(REST_S / float(m["dt_s"])))
    number = len(z) // length
    if number < LEAST_WINDOWS:
        return None
    f = int(m["tendon_finger"][t])
    tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
    motors = m["tendon_motor"][tendons]
    angle = z["motor_angle_rad"][: number * length, motors].reshape(number, length, -1)
    wound = np.ptp(angle, axis=1) * abs(m["spool_radius_m"][tendons])
    free = ~_at_rail(model, z, t)[: number * length].reshape(number, length).any(axis=1)
    rest = (wound.max(axis=1) < REST_M) & free
    if int(rest.sum()) < LEAST_WINDOWS:
        return None
    count = z["hall_fine_count"][: number * length, t].reshape(number, length)[rest]
    time = np.arange(length) - 0.5 * (length - 1)
    slope = (count @ time) / (time @ time)
    left = count - count.mean(axis=1, keepdims=True) - slope[:, None] * time
    return float(np.median(np.sqrt((left**2).sum(axis=1) / (length - 2))))
