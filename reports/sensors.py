"""Verdict on every sensor at a tendon of a recorded run: noise, range, slope, saturation, what to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from hand.assembly.straight import straight_jacobian
from hand.file.checks_coupling import unseen_motion
from reports.finding import Finding, Level, fail, good, warn
from reports.sensor_curves import Curve, curves
from reports.sensor_slopes import SPAN, knots_of, slopes_of, usable_range
from signals.layout import FloatArray
from signals.names import HandNames
from signals.records import RecordArray

LEAST_SWEEP_COUNTS: Final = 100.0
"""Travel, there and back, below which no slope is told: two degrees of lever."""
USABLE_WARN: Final = 0.95
USABLE_FAIL: Final = 0.75
"""Usable share of the travel below which a sensor is not sound, and not to be used."""
NOISE_WARN: Final = 3.0
"""Noise over the file's from which the file should say so."""
NOISE_FLOOR_COUNT: Final = 0.3
"""Rounding to a count."""
NOISE_FAIL_SCALE: Final = 0.01
"""Noise over the full scale at which a sensor is not to be used."""
LOST_FAIL: Final = 0.01
SATURATED_FAIL: Final = 0.001
"""Share of the time at a rail that is more than a spike."""
SLOPES: Final = ("usable_counts", "usable_deg", "usable_frac", "slope_min_counts_deg", "slope_max_counts_deg")
"""Figures of a curve that is long enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensor:
    """Figures and verdict of one channel; ``None``: the run does not show it."""

    tendon: str
    finger: str
    noise_counts_rms: float | None
    file_noise_counts_rms: float
    swept_counts: float | None
    usable_counts: tuple[float, float] | None
    usable_deg: tuple[float, float] | None
    """The same range as lever angles, lower end first."""
    usable_frac: float | None
    """Share of the swept travel in the usable range."""
    slope_min_counts_deg: float | None
    slope_max_counts_deg: float | None
    slope_calibrated_counts_deg: float | None
    saturated_frac: float
    lost_frac: float
    motor_only: bool
    against: str | None
    """Tendon whose force a sensor of a difference takes off: no lever turns with it, so it has no slope."""
    finding: Finding
    knots: tuple[tuple[float, float], ...] = ()
    """(expected, read) count of each bin, for the picture."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        values = asdict(self)
        finding, _ = values.pop("finding"), values.pop("knots")
        level = self.finding.level.name.lower()
        return {**values, "level": level, **{k: finding[k] for k in ("fact", "cost", "fix")}}


def judge(model: RecordArray, names: HandNames, frames: RecordArray) -> tuple[list[Sensor], list[Curve]]:
    """All sensors of a run and their curves; those that fail are left out when the others are judged.

    A sensor that reads wrong bends the expected counts of its neighbours: the worst of each finger is left
    out and the rest looked at again, as long as the finger's joints can be told without.

    Args:
        model: the hand with the run's offsets, shape (1,).
        names: its names.
        frames: frames of the log, shape (n,).
    """
    unused = frozenset(np.flatnonzero(model["hall_weight"][0, : len(names.tendons)] == 0.0).tolist())
    there = [names.tendons.index(name) for name in names.sensed_tendons]
    while True:
        found = curves(model, frames, unused)
        sensors = [_sensor(model, names, t, c, unused) for t, c in enumerate(found)]
        worst = frozenset(_worst(model, names, sensors, found, unused))
        if not worst:
            return [sensors[t] for t in there], [found[t] for t in there]
        unused |= worst


def _worst(
    model: RecordArray,
    names: HandNames,
    sensors: Sequence[Sensor],
    found: Sequence[Curve],
    unused: frozenset[int],
) -> list[int]:
    """Of each finger the failing sensor with the greatest misfit that is still in use."""
    chosen = []
    for f in range(len(names.fingers)):
        failing = [
            t
            for t in _tendons(model, f)
            if t not in unused and _bends_others(sensors[t]) and not unseen(model, names, f, unused | {t})
        ]
        if failing:
            chosen.append(max(failing, key=lambda t: _badness(sensors[t], found[t])))
    return chosen


def _bends_others(sensor: Sensor) -> bool:
    flat = sensor.usable_frac is not None and sensor.usable_frac < USABLE_WARN
    return flat or sensor.finding.level is Level.FAIL


def _badness(sensor: Sensor, curve: Curve) -> tuple[float, float, float]:
    """Rank among the failing sensors of a finger.

    A tendon's expected count hangs mostly on its antagonist's: where one stands, the other seems to have half
    its slope. So the flattest curve is the bad one, whatever the misfit.
    """
    flat = 1.0 if sensor.usable_frac is None else 1.0 - sensor.usable_frac
    return curve.saturated_frac, flat, float(np.abs(curve.count - curve.expected_count).mean())


def _tendons(model: RecordArray, f: int) -> list[int]:
    return [int(t) for t in model["finger_tendon"][0, f, : model["finger_n_tendons"][0, f]]]


def unseen(model: RecordArray, names: HandNames, f: int, unused: frozenset[int]) -> str:
    """Motion of finger ``f`` that nothing sees without the sensors ``unused``; empty: all is told."""
    joints = [int(j) for j in model["finger_joint"][0, f, : model["finger_n_joints"][0, f]]]
    rows = [t for t in _tendons(model, f) if t not in unused]
    return unseen_motion(straight_jacobian(model)[np.ix_(rows, joints)], [names.joints[j] for j in joints])


def _travelled(model: RecordArray, t: int, knots: FloatArray) -> dict[str, Any]:
    """What the bins of a lever's curve tell: travel, usable range, slopes."""
    m = model[0]
    swept = float(np.ptp(knots[:, 0])) if len(knots) else 0.0
    per_deg = math.radians(float(m["hall_counts_rad"][t]))
    figures: dict[str, Any] = dict.fromkeys(SLOPES)
    figures |= {"swept_counts": round(swept, 1), "slope_calibrated_counts_deg": round(abs(per_deg), 3)}
    if swept >= LEAST_SWEEP_COUNTS and len(knots) >= SPAN:
        slopes = slopes_of(knots)
        stretch = usable_range(knots, slopes, int(m["hall_count_max"][t]))
        figures["usable_frac"] = 0.0
        figures["slope_min_counts_deg"] = round(float(slopes.min()) * abs(per_deg), 3)
        figures["slope_max_counts_deg"] = round(float(slopes.max()) * abs(per_deg), 3)
        if stretch is not None:
            ends = knots[list(stretch), 1]
            angles = sorted(float(c - m["hall_zero_count"][t]) / per_deg for c in ends)
            figures["usable_counts"] = (round(float(ends[0]), 1), round(float(ends[1]), 1))
            figures["usable_deg"] = (round(angles[0], 3), round(angles[1], 3))
            figures["usable_frac"] = round(float(np.ptp(knots[list(stretch), 0])) / swept, 4)
    return figures


def _sensor(model: RecordArray, names: HandNames, t: int, curve: Curve, unused: frozenset[int]) -> Sensor:
    m, name, f = model[0], names.tendons[t], int(model["tendon_finger"][0, t])
    other = int(m["difference_to"][t])
    against = names.tendons[other] if other >= 0 else None
    knots = knots_of(curve) if against is None else np.zeros((0, 2))
    figures = _travelled(model, t, knots)
    if against is not None:
        figures |= {"swept_counts": None, "slope_calibrated_counts_deg": None}
    flat = figures["usable_frac"] is not None and figures["usable_frac"] < USABLE_WARN
    if flat and unseen(model, names, f, unused | {t}):
        figures |= dict.fromkeys(SLOPES)  # nothing else tells the joints, so that its curve is not its own
    figures |= {
        "noise_counts_rms": None if curve.noise_count is None else round(curve.noise_count, 3),
        "file_noise_counts_rms": float(m["hall_noise_count"][t]),
        "saturated_frac": round(curve.saturated_frac, 4),
        "lost_frac": round(curve.lost_frac, 4),
        "motor_only": against is None and bool(m["hall_weight"][t] == 0.0),
        "against": against,
    }
    finding = _finding(name, figures, int(m["hall_count_max"][t]))
    return Sensor(
        tendon=name,
        finger=names.fingers[f],
        finding=finding,
        knots=tuple((float(a), float(b)) for a, b in knots),
        **figures,
    )


def _fact(figures: dict[str, Any]) -> str:
    noise, usable = figures["noise_counts_rms"], figures["usable_counts"]
    parts = [f"noise {noise:.2f} counts rms" if noise is not None else "noise not seen"]
    if figures["against"] is not None:
        parts.insert(0, f"force against that of {figures['against']}")
    elif figures["usable_frac"] is None:
        swept = figures["swept_counts"]
        less = " only" if swept < LEAST_SWEEP_COUNTS else ", which do not tell its slope"
        parts.append(f"swept {swept:.0f} counts{less}")
    else:
        low, high = figures["slope_min_counts_deg"], figures["slope_max_counts_deg"]
        if usable is None:
            parts.append("no usable range")
        else:
            deg = figures["usable_deg"]
            parts.append(
                f"usable {usable[0]:.0f}..{usable[1]:.0f} counts = {deg[0]:.1f}..{deg[1]:.1f} deg "
                f"({100 * figures['usable_frac']:.0f} % of its travel)"
            )
        parts.append(f"slope {low:.0f}..{high:.0f} counts/deg")
    if figures["saturated_frac"]:
        parts.append(f"saturated {100 * figures['saturated_frac']:.1f} % of the time")
    if figures["lost_frac"]:
        parts.append(f"silent {100 * figures['lost_frac']:.1f} % of the time")
    return ", ".join(parts)


MOTOR_ONLY_FIX: Final = (
    "move its magnet closer or change the sensor; "
    "until then set hall_used = false in its row of tendons: motor-only"
)
DIFFERENCE_FIX: Final = "change the sensor, or its span_n; until then take its row out of sensors"


def _finding(name: str, figures: dict[str, Any], full_scale: int) -> Finding:
    fact, noise, usable = _fact(figures), figures["noise_counts_rms"], figures["usable_frac"]
    if figures["motor_only"]:
        return warn(
            name,
            f"motor-only; {fact}",
            "tension and length of this tendon are computed, a break of it is not seen",
            "move its magnet or change the sensor, then take hall_used out of its row of tendons",
        )
    lever = figures["against"] is None
    without = MOTOR_ONLY_FIX if lever else DIFFERENCE_FIX
    blind = "the finger stops where it saturates, or follows a wrong tension"
    if figures["lost_frac"] > LOST_FAIL:
        return fail(
            name,
            fact,
            "its finger stops (HALL_LOST, HALL_TOO_OLD)",
            "look at its wire and supply; " + without,
        )
    flat = usable is not None and usable < USABLE_FAIL
    if flat or figures["saturated_frac"] > SATURATED_FAIL:
        return fail(name, fact, blind, without)
    if noise is not None and noise > NOISE_FAIL_SCALE * full_scale:
        return fail(name, fact, "its tension is noise, its finger shakes or stops (HALL_GLITCH)", without)
    if (usable is not None and usable < USABLE_WARN) or figures["saturated_frac"] > 0.0:
        fix = "keep its tension within the usable range; move its magnet closer"
        return warn(name, fact, blind, fix if lever else "keep the difference of forces within its span_n")
    if noise is not None and noise > NOISE_WARN * max(figures["file_noise_counts_rms"], NOISE_FLOOR_COUNT):
        return warn(
            name,
            fact,
            f"{noise / max(figures['file_noise_counts_rms'], NOISE_FLOOR_COUNT):.1f} times the file's noise: "
            "joint angles shake with it, detectors may name it",
            f"set hall_noise_counts_rms = {noise:.1f} in its row of tendons: it weighs less then"
            if lever
            else f"set noise_counts_rms = {noise:.1f} in its row of sensors",
        )
    if lever and usable is None:
        fix = "record a run that sweeps the tensions there and back (examples/sensor_sweep.toml)"
        return warn(name, fact, "its slope is not known", fix)
    if noise is None:
        fix = "record a second or more in which the hand holds still"
        return warn(name, fact, "its noise is not known", fix)
    return good(name, fact)
