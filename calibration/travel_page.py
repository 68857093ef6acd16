"""Travels as parts with verdicts, the zeros that follow from them, and their picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibration import picture
from calibration.part import BAD, GOOD, OPEN, Part
from calibration.travel import OFFSET_GOOD_DEG, Travel, fits
from hand.hand import Hand
from reports import page


def _range_deg(hand: Hand, j: int) -> tuple[float, float]:
    m = hand.model[0]
    return math.degrees(float(m["joint_min_rad"][j])), math.degrees(float(m["joint_max_rad"][j]))


def joint_parts(hand: Hand, found: list[Travel]) -> list[Part]:
    """Two rows for every joint: its travel, and how far from straight it began."""
    rows: list[Part] = []
    for travel in found:
        name, (low, high) = hand.names.joints[travel.joint], _range_deg(hand, travel.joint)
        how = f"pressed with {travel.torque_nm:.2g} N m"
        if not travel.met:
            which = " and ".join(
                side
                for side, stop in zip(("lower", "upper"), travel.stops_rad, strict=True)
                if math.isnan(stop)
            )
            text = (
                f"met no stop at its {which} end, {how}: is it free, its range_deg right, "
                "does each tendon run on its own side?"
            )
            rows.append(Part.bare(name, "travel_deg", "deg", BAD, text))
            continue
        way = math.degrees(travel.stops_rad[1] - travel.stops_rad[0])
        half = math.sqrt(2.0) * math.degrees(travel.half_rad)
        good = fits(hand, travel)
        text = f"{way:.1f} deg from stop to stop, {high - low:.1f} in the hand file, {how}"
        text += "" if good else ": something is in its way, or range_deg or its lever arms are wrong"
        rows.append(Part.around(name, "travel_deg", way, half, "deg", GOOD if good else BAD, text))
        rows.append(_straight(hand, travel, good))
    return rows


def _straight(hand: Hand, travel: Travel, good: bool) -> Part:
    name, j = hand.names.joints[travel.joint], travel.joint
    m = hand.model[0]
    angles = travel.zero_rad(float(m["joint_min_rad"][j]), float(m["joint_max_rad"][j]))
    value, half = (math.degrees(x) for x in angles)
    text = f"{value:.1f} deg from straight when the run began"
    verdict = GOOD if good else OPEN
    if abs(value) > OFFSET_GOOD_DEG:
        verdict, text = BAD, f"{text}; legal: {OFFSET_GOOD_DEG:g}; bring the hand nearer to it and repeat"
    return Part.around(name, "straight_deg", value, half, "deg", verdict, text)


def motor_parts(
    hand: Hand, tendons: list[int], travelled_joints: list[str], zeros_rad: Any, rows: list[Part]
) -> list[Part]:
    """A row for every motor whose joints were all travelled: its angle of the straight hand.

    Args:
        hand: the hand.
        tendons: whose motors.
        travelled_joints: names.
        zeros_rad: angle of each tendon's motor of the straight hand, shape (tendons,).
        rows: of the joints.
    """
    m, joints = hand.model[0], hand.names.joints
    travelled = {joints.index(name) for name in travelled_joints}
    known = {r.name: r for r in rows if r.parameter == "straight_deg" and r.verdict == GOOD}
    parts: list[Part] = []
    for t in tendons:
        motor = hand.names.motors[int(m["tendon_motor"][t])]
        row = m["P_tj_m"][t, : len(joints)]
        crossed = [j for j in range(len(joints)) if row[j] != 0.0]
        if not crossed or not set(crossed) <= travelled or any(part.name == motor for part in parts):
            continue
        missing = [joints[j] for j in crossed if joints[j] not in known]
        if missing:
            text = f"not known as long as {', '.join(missing)} is not good"
            parts.append(Part.bare(motor, "zero_rad", "rad", OPEN, text))
            continue
        radius = float(m["spool_radius_m"][t])
        straight = [known[joints[j]] for j in crossed]
        arms = [math.radians(float(row[j])) / radius for j in crossed]
        value = float(zeros_rad[t]) + sum(a * p.value for a, p in zip(arms, straight, strict=True))
        half = math.hypot(*(a * (p.high - p.value) for a, p in zip(arms, straight, strict=True)))
        text = f"{value:.4f} rad, +- {half:.2g}, with the hand straight at its start tension"
        parts.append(Part.around(motor, "zero_rad", value, half, "rad", GOOD, text))
    return parts


def patch_of(parts: list[Part], origin: str) -> str:
    """Lines for the hand file."""
    lines: list[str] = []
    for part in parts:
        if part.verdict == GOOD:
            lines += [f"[identified.{part.name}]", f"zero_rad = {part.value:.6g}", f'origin = "{origin}"', ""]
    return "\n".join(lines)


def sections(hand: Hand, found: list[Travel]) -> list[str]:
    """Range of the hand file and stops found, joint by joint, as a picture."""
    return [page.picture("From stop to stop", "ranges and stops", _picture(hand, found))]


def _picture(hand: Hand, found: list[Travel]) -> bytes | None:
    figure = picture.figure(8.0, 1.2 + 0.34 * max(len(found), 1))
    if figure is None:
        return None
    axis = figure.subplots()
    for k, travel in enumerate(found):
        low, high = _range_deg(hand, travel.joint)
        axis.barh(
            k, high - low, left=low, height=0.62, color="#dfe4ea", label="hand file" if k == 0 else None
        )
        stops = np.degrees(travel.stops_rad)
        half = math.degrees(travel.half_rad)
        color = "#1d6f42" if fits(hand, travel) else "#b3261e"
        axis.errorbar(stops, [k, k], xerr=half, fmt="|", markersize=16, color=color, capsize=3)
        axis.plot(stops, [k, k], color=color, linewidth=1.2)
    axis.axvline(0.0, color="#1b2430", linewidth=0.6)
    axis.set_yticks(range(len(found)), [hand.names.joints[t.joint] for t in found], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlabel("joint angle [deg]; bars: range in the hand file, lines: stops that were met")
    return picture.png(figure)
