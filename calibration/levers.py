"""``identify springs`` and ``calibrate hall``: from swept levers to parts with verdicts and a patch.

Both look at the same sweeps and make the same fit: a zero that is wrong would look like a loop. The first
tells the lever's friction loop; the second what a Hall count means: its zero and the spring's scale, in the
unit of the motor's torque, and how far the count goes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from calibration import lever_page
from calibration.eligible import levers_of
from calibration.found import Found
from calibration.lever_fit import Fitted, Known, LeverFit, Sensor, fit_lever, joined, swept
from calibration.lever_loops import measure
from calibration.motion_run import Watch
from calibration.part import BAD, GOOD, Part
from calibration.tendon_means import Course
from hand.hand import Hand
from hand.options import RunOptions
from mechanics.springs import forces_at
from signals.layout import FloatArray

SPRINGS: Final = "springs"
HALL: Final = "hall"
LEVERS: Final = "levers"
"""Both from one run."""
EXPLAINED_GOOD: Final = 0.98
RUNS: Final = 3
"""Sweeps of a finger at most: a wire that pauses leaves more noise than one run averages out."""
RIPPLE_LEFT: Final = 0.001
"""Of the friction's plateau that an identified harmonic leaves open (``drive_fit.WAVE_FLOOR``)."""
RIPPLE_UNKNOWN: Final = 0.03
"""The same of a hand file that knows no ripple over the output's angle: the reference hand's, rms."""


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter of a tendon: its key in the hand file, and when it is good.

    Attributes:
        key: in the hand file.
        unit: of it.
        place: in ``LeverFit.half``.
        floor: half of the interval that the method itself leaves open, as a share of ``size``.
        good: half of an interval that is good, as a share of ``size``.
        size: of the value; 0: of the value itself.
    """

    key: str
    unit: str
    place: int
    floor: float
    good: float
    size: float = 0.0


ROWS: Final[dict[str, tuple[Row, ...]]] = {
    SPRINGS: (
        Row("relative_half_width_frac", "1", 1, 0.01, 0.05),
        Row("presliding_lever_deg", "deg", 2, 0.03, 0.15),
    ),
    HALL: (Row("spring_scale", "1", 0, 0.005, 0.05), Row("hall_zero_count", "count", 3, 1.0, 25.0, 1.0)),
}
ROWS[LEVERS] = ROWS[SPRINGS] + ROWS[HALL]


def forces_of(hand: Hand, t: int) -> tuple[FloatArray, FloatArray]:
    """(Lever angles, force of the mechanism with the hand file's scale) over the lever's whole range."""
    m, s = hand.model[0], int(hand.model[0]["tendon_spring"][t])
    margin = 0.2 * float(m["lever_max_rad"][s] - m["lever_min_rad"][s])
    lever = np.linspace(float(m["lever_min_rad"][s]) - margin, float(m["lever_max_rad"][s]) + margin, 1025)
    force = np.empty_like(lever)
    forces_at(m, t, lever, force)
    return lever, force


def ripple_left_nm(hand: Hand, i: int) -> float:
    """Standard deviation of the ripple over the output's angle that the hand file leaves open [N m]."""
    m, known = hand.model[0], hand.file.measured(hand.names.motors[i])
    if known.ripple:
        return RIPPLE_LEFT * 0.5 * math.pi * float(m["friction_gamma_2_nm"][i])
    spread = hand.file.tolerances
    of_output = [k for k in range(int(m["n_ripples"])) if not m["ripple_is_input"][k]]
    amplitude = float(np.sum(m["ripple_amplitude_nm"][i, of_output]))
    if amplitude == 0.0:
        return RIPPLE_UNKNOWN * 0.5 * math.pi * float(m["friction_gamma_2_nm"][i])
    return amplitude * math.hypot(spread.ripple_amplitude, math.radians(spread.ripple_phase_deg))


def fitted(hand: Hand, course: Course, t: int) -> Fitted:
    """Fit a tendon's course.

    Raises:
        ValueError: the tendon was not moved both ways.
    """
    m, i = hand.model[0], int(hand.model[0]["tendon_motor"][t])
    counts = float(m["hall_counts_rad"][t])
    sensor = Sensor(counts, float(m["hall_hysteresis_rad"][t]) * abs(counts), float(m["hall_zero_count"][t]))
    data = swept(course.time_s, course.angle_rad, course.speed_rad_s, course.torque_nm, course.count, sensor)
    lever, force = forces_of(hand, t)
    force = force / float(m["spring_scale"][t])
    guess = (
        float(m["lever_friction_frac"][t]), float(m["lever_presliding_rad"][t]),
        float(m["friction_gamma_2_nm"][i]), float(m["friction_gamma_3_nms_rad"][i]),
    )  # fmt: skip
    fit = fit_lever(
        data, sensor, lambda x: np.interp(x, lever, force), abs(float(m["spool_radius_m"][t])),
        float(m["friction_gamma_1_s_rad"][i]), float(m["gear_ratio"][i]), guess,
        Known(ripple_left_nm(hand, i), hand.file.measured(hand.names.motors[i]).gamma_3_nms_rad is not None),
    )  # fmt: skip
    return Fitted(data, fit)


def found_levers(kind: str, hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """Sweep the levers of these tendons and look at them as ``springs``, ``hall`` or both (``levers``).

    Raises:
        motion_run.Faulted: the hand went into fault.
    """
    mine, rest = levers_of(hand, tendons)
    if not mine:
        return Found(rest, 0.0, [], {})
    parts, notices = dict[int, Part](), [f"{part.name}: {part.text}" for part in rest]
    fits, seconds, runs = dict[int, Fitted](), 0.0, 0
    wide = True
    while wide and runs < RUNS:
        courses, length = measure(hand, options, mine, watch)
        seconds, runs = seconds + length, runs + 1
        for t, course in courses.items():
            try:
                new = fitted(hand, course, t)
            except ValueError as error:
                parts[t] = Part.bare(hand.names.tendons[t], "lever", "1", BAD, f"{error}")
                continue
            fits[t] = replace(new, fit=joined(fits[t].fit, new.fit)) if t in fits else new
        wide = any(
            _half(each.fit, row) > row.good * _size(each.fit, row)
            for each in fits.values()
            for row in ROWS[kind]
        )
    if runs > 1:
        notices.append(f"swept {runs} times: one run did not tell all of it well enough")
    rows = [part for t, each in fits.items() for part in parts_of(kind, hand, t, each)]
    raw = {
        hand.names.tendons[t]: {name: getattr(course, name) for name in Course.__dataclass_fields__}
        for t, course in courses.items()
    }
    widths = {
        (hand.names.tendons[t], row.key): widths_of(each.fit, row)
        for t, each in fits.items()
        for row in ROWS[kind]
    }
    pages = lever_page.sections(kind, hand, fits)
    every = rows + list(parts.values())
    return Found(every, seconds, pages, raw, lambda origin: patch_of(rows, origin), notices, widths)


def _size(fit: LeverFit, row: Row) -> float:
    return row.size or abs(values_of(fit)[row.place])


def _half(fit: LeverFit, row: Row) -> float:
    """Half of the stated interval: noise, and what the method leaves open."""
    return math.hypot(widths_of(fit, row)[0], row.floor * _size(fit, row))


def values_of(fit: LeverFit) -> tuple[float, float, float, float]:
    """Scale, loop, its length [deg], zero: in the order of ``LeverFit.half``."""
    return fit.scale, fit.loop_frac, math.degrees(fit.presliding_rad), fit.zero_count


def widths_of(fit: LeverFit, row: Row) -> tuple[float, float]:
    """Half widths of the noise that was seen and of independent noise, in the row's unit."""
    bound = float(fit.bound[row.place])
    noise = max(float(fit.half[row.place]), bound)
    return (math.degrees(noise), math.degrees(bound)) if row.unit == "deg" else (noise, bound)


def parts_of(kind: str, hand: Hand, t: int, each: Fitted) -> list[Part]:
    """Rows of a tendon."""
    fit, found = each.fit, list[Part]()
    name, trouble = hand.names.tendons[t], ""
    if fit.explained < EXPLAINED_GOOD:
        trouble = (
            f"only {100 * fit.explained:.1f} % of the torque is explained: flexor calibrate wiring first"
        )
    for row in ROWS[kind]:
        value, size, half = values_of(fit)[row.place], _size(fit, row), _half(fit, row)
        text = trouble
        if not text and value <= 0.0:
            text = f"{value:.3g} cannot be: is the current's sign right?"
        if not text and half > row.good * size:
            text = f"{value:.4g}, known to +- {half:.2g} only; legal: {row.good * size:.2g}; repeat"
        verdict = BAD if text else GOOD
        text = text or f"{value:.4g} {row.unit if row.unit != '1' else ''}, +- {half:.2g}".replace(" ,", ",")
        found.append(Part.around(name, row.key, value, half, row.unit, verdict, text))
    return found if kind == SPRINGS else [*found, usable(hand, t, each)]


def usable(hand: Hand, t: int, each: Fitted) -> Part:
    """Force up to which the sensor tells it: the end of the lever's calibrated travel, or of the counts."""
    m, s, fit = hand.model[0], int(hand.model[0]["tendon_spring"][t]), each.fit
    counts, most = float(m["hall_counts_rad"][t]), float(m["hall_count_max"][t])
    tight = fit.zero_count + counts * float(m["lever_calibrated_min_rad"][s])
    loose = fit.zero_count + counts * (float(m["lever_max_rad"][s]) - float(m["slack_margin_rad"][s]))
    lever, force = forces_of(hand, t)
    ends = np.clip([loose, tight], 1.0, most - 1.0)
    least, best = (
        fit.scale / float(m["spring_scale"][t]) * np.interp((ends - fit.zero_count) / counts, lever, force)
    )
    half = float(fit.half[0] / fit.scale * best)
    text = f"counts {ends[0]:.0f} to {ends[1]:.0f} are {least:.1f} to {best:.0f} N"
    name, needed = hand.names.tendons[t], float(m["tension_max_n"][t])
    short = best < needed or abs(ends - [loose, tight]).max() > 0.5
    if abs(ends - [loose, tight]).max() > 0.5:
        text += f", the end of its counts; needed: up to {needed:.0f} N: turn or move the magnet"
    elif short:
        text += (
            f", the end of its lever; asked is up to {needed:.0f} N: a stiffer spring, or less force_max_n"
        )
    return Part.around(name, "usable_n", float(best), half, "N", BAD if short else GOOD, text)


def patch_of(rows: list[Part], origin: str) -> str:
    """Lines for the hand file: what is good, tendon by tendon; both of a loop or of a sensor, or none."""
    lines: list[str] = []
    for name in dict.fromkeys(row.name for row in rows):
        mine: list[Part] = []
        for kind in (SPRINGS, HALL):
            keys = [row.key for row in ROWS[kind]]
            both = [row for row in rows if row.name == name and row.parameter in keys]
            mine += both if all(row.verdict == GOOD for row in both) else []
        if mine:
            lines += [f"[identified.{name}]", *(f"{row.parameter} = {row.value:.6g}" for row in mine)]
            lines += [f'origin = "{origin}"', ""]
    return "\n".join(lines)
