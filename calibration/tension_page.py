"""Tensions and slack as parts with verdicts, their picture, and the zeros of repaired tendons."""

from __future__ import annotations

import math

import numpy as np

from calibration import picture
from calibration.part import BAD, GOOD, OPEN, Part
from calibration.tension import Tensioned, band_n, settled_s, slack_m
from calibration.travel import OFFSET_GOOD_DEG
from hand.assembly.straight import straight_jacobian
from hand.hand import Hand
from reports import page


def parts_of(hand: Hand, found: Tensioned) -> list[Part]:
    """Tension and slack of every tendon; faults first."""
    rows = [fault.row("tension") for fault in found.faults]
    for k, t in enumerate(found.tendons):
        rows += [_tension(hand, found, k, t), _slack(hand, found, k, t)]
    return rows


def _tension(hand: Hand, found: Tensioned, k: int, t: int) -> Part:
    low, high = band_n(hand, t)
    value, half = float(found.tension_n[-1, k]), float(found.spread_n[k])
    name, band = hand.names.tendons[t], f"band {low:.1f} to {high:.1f} N"
    at = settled_s(found.time_s, found.tension_n[:, k], low, high)
    if math.isfinite(at):
        return Part.around(
            name, "tension_n", value, half, "N", GOOD, f"{value:.2f} N after {at:.1f} s; {band}"
        )
    if not math.isfinite(value):
        text = "not held to the end: its finger went into fault, see there"
        return Part.bare(name, "tension_n", "N", OPEN, text)
    if value < low:
        text = (
            f"it is slack: {value:.2f} N, {band}; wind it in by hand, look at its knot, then the same again"
        )
    elif value > high:
        text = f"too tight: {value:.2f} N, {band}; let it out by hand, then the same again"
    else:
        text = f"{value:.2f} N but not at rest yet; {band}; give the same command again"
    return Part.around(name, "tension_n", value, half, "N", BAD, text)


def _slack(hand: Hand, found: Tensioned, k: int, t: int) -> Part:
    m, name = hand.model[0], hand.names.tendons[t]
    path, stored = slack_m(hand, found, k)
    value, most = 1e3 * path, 1e3 * float(m["residual_limit_m"][m["tendon_finger"][t]])
    half = 1e3 * straight_half_m(hand, t)
    if not math.isfinite(value):
        text = "not known: its finger went into fault"
        return Part.bare(name, "slack_mm", "mm", OPEN, text)
    if not stored:
        text = f"{value:.2f} mm wound in since the run began; no zero_rad in the hand file to see a trend by"
        return Part.around(name, "slack_mm", value, half, "mm", GOOD, text)
    text = f"{value:+.2f} mm against zero_rad of the hand file"
    if most > 0.0 and abs(value) > most + half:
        text += (
            f", more than {most:.2g} mm and a pose that is not quite straight: has it stretched, slipped or "
            "been repaired? Name it alone and apply the run for a new zero_rad, then flexor calibrate zero"
        )
        return Part.around(name, "slack_mm", value, half, "mm", BAD, text)
    return Part.around(name, "slack_mm", value, half, "mm", GOOD, text)


def straight_half_m(hand: Hand, t: int) -> float:
    """Half of the interval of a length in a pose that is straight to ``OFFSET_GOOD_DEG``."""
    row = straight_jacobian(hand.model)[t]
    return float(np.linalg.norm(row)) * math.radians(OFFSET_GOOD_DEG)


def zeros_of(hand: Hand, found: Tensioned, origin: str) -> str:
    """Lines for the hand file: a new zero of each tendon in its band whose old one no longer counts."""
    m, lines = hand.model[0], []
    for k, t in enumerate(found.tendons):
        path, stored = slack_m(hand, found, k)
        good = _tension(hand, found, k, t).verdict == GOOD
        if stored and good and _slack(hand, found, k, t).verdict == BAD:
            zero = float(found.wiring.zeros_rad[t])
            motor = hand.names.motors[int(m["tendon_motor"][t])]
            lines += [f"[identified.{motor}]", f"zero_rad = {zero:.6g}", f'origin = "{origin}"', ""]
    return "\n".join(lines)


def sections(hand: Hand, found: Tensioned) -> list[str]:
    """Every tendon's way into its band, as a picture."""
    return [page.picture("Into the band", "tensions", _picture(hand, found))]


def _picture(hand: Hand, found: Tensioned) -> bytes | None:
    figure = picture.figure(8.0, 1.4 + 0.32 * len(found.tendons))
    if figure is None:
        return None
    axis = figure.subplots()
    for k, t in enumerate(found.tendons):
        low, high = band_n(hand, t)
        axis.barh(k, high - low, left=low, height=0.62, color="#dfe4ea")
        good = math.isfinite(settled_s(found.time_s, found.tension_n[:, k], low, high))
        color = "#1d6f42" if good else "#b3261e"
        axis.plot(found.tension_n[:, k], np.full(len(found.time_s), k), ".-", color=color, alpha=0.5)
        axis.errorbar(
            found.tension_n[-1, k], k, xerr=found.spread_n[k], fmt="|", markersize=16, color=color, capsize=3
        )
    axis.set_yticks(range(len(found.tendons)), [hand.names.tendons[t] for t in found.tendons], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlim(left=0.0)
    axis.set_xlabel("tension [N]; grey: the band, dots: on the way, line: at the end")
    return picture.png(figure)
