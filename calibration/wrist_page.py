"""Zeros of the wrist's sensors as parts with verdicts, their picture, and lines for the hand file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration import picture
from calibration.part import BAD, GOOD, OPEN, Part
from calibration.wrist_fit import Known, Swept, ZeroFit, left_m
from hand.file.drive import SENSOR_ZERO_DEG
from hand.hand import Hand
from reports import page
from signals.layout import FloatArray

MOST_DEG: Final = 4.0
"""Greatest change of a zero: with more the sweep would have gone beyond the wrist's range."""
HALF_GOOD_DEG: Final = 0.5
"""Of half an interval: a third of what the guard takes for a wrong sensor."""
GAIN_GOOD: Final = 0.05
"""By which a sensor's gain may differ from 1."""
FLOOR_DEG: Final = (0.06, 0.1)
"""Half intervals that the method itself leaves open, by what guides and loops do to the lengths: no zero of
simulated hands was farther off."""
GAIN_FLOOR: Final = 0.03
"""The same of a gain: loops and guides leave lengths that look like it."""


def beyond_file(zeros_deg: FloatArray) -> bool:
    """True if one of the zeros is more than a hand file may say."""
    return bool(np.abs(zeros_deg).max() > SENSOR_ZERO_DEG)


@dataclass(frozen=True, slots=True)
class Zeros:
    """What was found.

    Attributes:
        before_deg: zeros of the hand file, shape (2,).
        zeros_deg: zeros that were found, shape (2,).
        fit: of the last sweep, around the zeros that were known then.
        whole: the guard let that sweep come to its end.
        tries: sweeps.
        held_before_m: rms of lengths on the diagonals, which nothing was fitted to, with the file's zeros.
        held_after_m: the same with the found ones.
    """

    before_deg: FloatArray
    zeros_deg: FloatArray
    fit: ZeroFit
    whole: bool
    tries: int
    held_before_m: float
    held_after_m: float

    def half_deg(self, a: int) -> float:
        """Half of a zero's 95 % interval."""
        return math.hypot(FLOOR_DEG[a], math.degrees(self.fit.zero_half_rad[a]))

    def gain_half(self, a: int) -> float:
        """Half of a gain's 95 % interval."""
        return math.hypot(GAIN_FLOOR, float(self.fit.gain_half[a]))


@dataclass(frozen=True, slots=True)
class Picture:
    """What the picture shows: samples of the last sweep, and when the part of each axis ends."""

    time_s: FloatArray
    swept: Swept
    known: Known
    ends_s: tuple[float, float]


def parts_of(hand: Hand, found: Zeros) -> list[Part]:
    """Zero and gain of each axis' sensor."""
    gains = [_gain(hand, found, a) for a in (0, 1)]
    return [*(_zero(hand, found, a, gains[a]) for a in (0, 1)), *gains]


def _zero(hand: Hand, found: Zeros, a: int, gain: Part) -> Part:
    value, half = float(found.zeros_deg[a]), found.half_deg(a)
    change = value - float(found.before_deg[a])
    text = f"{value:+.2f} deg, +- {half:.2g}; {change:+.2f} from before"
    verdict = GOOD
    if abs(value) > SENSOR_ZERO_DEG:
        verdict = BAD
        text += f"; legal: {SENSOR_ZERO_DEG:g} deg at most: turn the sensor on its axis, and repeat"
    elif beyond_file(found.zeros_deg):
        verdict, text = OPEN, text + "; not known as long as the other axis' zero is beyond what is legal"
    elif not found.whole:
        verdict = BAD
        text += (
            f"; the guard ended all {found.tries} sweeps (WRIST_SENSOR): do bits, range_deg and the sense of "
            "the sensor fit, is another finger's tendon slack?"
        )
    elif abs(change) > MOST_DEG:
        verdict = BAD
        text += f"; legal: a change of {MOST_DEG:g} deg; turn the sensor on its axis, or put {value:.0f} deg "
        text += f"into [identified.{hand.names.axes[a]}] sensor_zero_deg, and repeat"
    elif half > HALF_GOOD_DEG:
        verdict, text = BAD, text + "; too wide: are all fingers tensioned, their levers measured?"
    elif gain.verdict == BAD:
        verdict, text = OPEN, text + "; not known as long as its gain is not good"
    elif abs(change) > half and not found.held_after_m < found.held_before_m:
        verdict = BAD
        text += (
            "; but the lengths on the diagonals fit no better with it: is the wrist as the hand file says?"
        )
    return Part.around(hand.names.axes[a], "sensor_zero_deg", value, half, "deg", verdict, text)


def _gain(hand: Hand, found: Zeros, a: int) -> Part:
    value, half = float(found.fit.gain[a]), found.gain_half(a)
    good = abs(value - 1.0) <= GAIN_GOOD
    text = f"{value:.3f} deg shown per deg, +- {half:.2g}"
    text += "" if good else f"; legal: 1 to {100 * GAIN_GOOD:g} %; is range_deg of the potentiometer right?"
    verdict = GOOD if good else BAD
    return Part.around(hand.names.axes[a], "sensor_gain", value, half, "1", verdict, text)


def patch_of(parts: list[Part], origin: str) -> str:
    """Lines for the hand file: zeros that are good."""
    lines: list[str] = []
    for part in parts:
        if part.verdict == GOOD and part.parameter == "sensor_zero_deg":
            lines += [f"[identified.{part.name}]", f"sensor_zero_deg = {part.value:.6g}"]
            lines += [f'origin = "{origin}"', ""]
    return "\n".join(lines)


def sections(hand: Hand, found: Zeros, shown: Picture) -> list[str]:
    """What no joint changes of the lengths, over each axis, and how well it fits before and after."""
    heads = ("", "before [mm rms]", "after [mm rms]")
    row = ("diagonals", f"{1e3 * found.held_before_m:.4f}", f"{1e3 * found.held_after_m:.4f}")
    return [
        page.picture(
            "Lengths through the wrist", "lengths over the wrist's angles", _drawn(hand, found, shown)
        ),
        page.table("On the diagonals, which nothing was fitted to", heads, [row]),
    ]


def _drawn(hand: Hand, found: Zeros, shown: Picture) -> bytes | None:
    figure = picture.figure(9.0, 6.4)
    if figure is None:
        return None
    known, left = shown.known, left_m(shown.swept, shown.known, found.fit.x)
    neutral = known.neutral_rad
    away = (shown.swept.shown_rad - neutral - found.fit.zero_rad) / found.fit.gain
    (start, slopes), blind = known.ways(neutral[np.newaxis]), known.blind
    curved = (known.ways(neutral + away)[0] - start - away @ slopes[0].T) @ blind.T
    axes, begin_s = figure.subplots(2, 2, sharex="col"), -np.inf
    for a, (name, end_s) in enumerate(zip(hand.names.axes, shown.ends_s, strict=True)):
        used, begin_s = (shown.time_s >= begin_s) & (shown.time_s < end_s), end_s
        text = f"{name}: zero {found.zeros_deg[a]:+.2f} +- {found.half_deg(a):.2g} deg"
        axes[0, a].set_title(text, fontsize=9)
        if not used.any():  # the guard has ended the sweep before
            continue
        angle, k = np.degrees(away[used, a]), int(np.argmax(np.ptp(curved[used], axis=0)))
        order, seen = np.argsort(angle), 1e3 * (curved + left)[used, k]
        axes[0, a].plot(angle, seen, ".", color="#8a97a8", markersize=3)
        axes[0, a].plot(angle[order], 1e3 * curved[used, k][order], color="#c8321e", linewidth=1.0)
        axes[0, a].axvline(0.0, color="#1b2430", linewidth=0.6)
        axes[1, a].plot(angle, 1e3 * left[used], ".", color="#1d6f42", markersize=1.5)
        axes[1, a].set_xlabel(f"{name} from neutral [deg]", fontsize=9)
        for axis in axes[:, a]:
            axis.grid(alpha=0.3)
            axis.tick_params(labelsize=8)
    axes[0, 0].set_ylabel("curved part of a length [mm]\ndots: measured, line: law", fontsize=8)
    axes[1, 0].set_ylabel("what is left, all lengths [mm]", fontsize=8)
    return picture.png(figure)
