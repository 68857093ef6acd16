"""Friction, travel and lever arms of pairs as parts with verdicts, lines for the hand file, their picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration import picture, travel_page
from calibration.pair_fit import Blocks, PairFit
from calibration.pair_plan import Pair
from calibration.part import BAD, GOOD, Part
from calibration.travel import Travel
from hand.hand import Hand
from reports import page

EXPLAINED_GOOD: Final = 0.9
WHOLE_GOOD: Final = 0.1
"""Half of the interval of all that is lost, as a share of it, that is good."""
BEHIND_UNSURE: Final = 0.3
"""Standard deviation of what the hand file says of guides and joint, as a share of it."""
ARM: Final = "dh_dq_m_rad"
KEYS: Final = ("gamma_2_nm", "gamma_3_nms_rad", "zero_rad", ARM)
FLOOR: Final = 0.01
"""Share of all that is lost that the method leaves open."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A pair, blocks of its sweeps and their fit, its travel, and the motor's angle at the start [rad]."""

    pair: Pair
    sweeps: Blocks
    fit: PairFit
    travel: Travel
    start_rad: float


def parts_of(hand: Hand, found: list[Measured]) -> list[Part]:
    """Rows of every motor and joint."""
    rows = [part for each in found for part in _friction(hand, each)]
    travels = [each.travel for each in found]
    rows += travel_page.joint_parts(hand, travels)
    good = {row.name for row in rows if row.parameter == "travel_deg" and row.verdict == GOOD}
    for each in found:
        rows += _arms(hand, each) if hand.names.joints[each.pair.joint] in good else []
    return rows


def _friction(hand: Hand, each: Measured) -> list[Part]:
    """gamma_2 and gamma_3, good if the sum with guides and joint is: that is what a motor has to bear."""
    fit, name = each.fit, hand.names.motors[each.pair.motor]
    plateau = 0.5 * math.pi
    whole_half = math.hypot(plateau * float(fit.half[1]), FLOOR * fit.whole_nm)
    half = math.hypot(whole_half, 1.96 * BEHIND_UNSURE * fit.behind_nm) / plateau
    trouble = ""
    if fit.explained < EXPLAINED_GOOD:
        trouble = (
            f"only {100 * fit.explained:.0f} % of its torque is explained: does something hold its joint?"
        )
    elif fit.gamma_2_nm <= 0.0:
        trouble = (
            f"it loses {1e3 * fit.whole_nm:.1f} mN m with its joint, less than the hand file has for guides "
            "and joint: look for a slack pair, or lower their friction there"
        )
    elif whole_half > WHOLE_GOOD * fit.whole_nm:
        trouble = (
            f"known to {100 * whole_half / fit.whole_nm:.0f} % only; legal: {100 * WHOLE_GOOD:g} %; repeat"
        )
    text = (
        f"{1e3 * fit.whole_nm:.1f} mN m are lost in all, +- {1e3 * whole_half:.1f}; of these "
        f"{1e3 * fit.behind_nm:.1f} in guides and joint by the hand file"
    )
    verdict = BAD if trouble else GOOD
    g2, g3, w = fit.gamma_2_nm, fit.gamma_3_nms_rad, float(fit.half[2])
    rows = [Part.around(name, "gamma_2_nm", g2, half, "N m", verdict, trouble or text)]
    text = f"{g3:.4g} N m s/rad, +- {w:.2g}"
    return [*rows, Part.around(name, "gamma_3_nms_rad", g3, w, "N m s/rad", verdict, trouble or text)]


def _arms(hand: Hand, each: Measured) -> list[Part]:
    """Lever arms of both tendons by the range of the hand file: they are what makes a joint go so far."""
    m, j, travel = hand.model[0], each.pair.joint, each.travel
    whole = float(m["joint_max_rad"][j] - m["joint_min_rad"][j])
    scale, half = (
        (travel.stops_rad[1] - travel.stops_rad[0]) / whole,
        math.sqrt(2.0) * travel.half_rad / whole,
    )
    rows = []
    for t in each.pair.tendons:
        arm = float(m["P_tj_m"][t, j])
        value, wide = scale * arm, half * abs(arm)
        text = f"{1e3 * value:.4g} mm, +- {1e3 * wide:.2g}; {100 * (scale - 1.0):+.1f} % from before"
        key = f"{ARM}.{hand.names.joints[j]}"
        rows.append(Part.around(hand.names.tendons[t], key, value, wide, "m/rad", GOOD, text))
    return rows


def patch_of(rows: list[Part], origin: str) -> str:
    """Lines for the hand file, one table for what is good of a motor or a tendon."""
    lines: list[str] = []
    good = [row for row in rows if row.verdict == GOOD and row.parameter.partition(".")[0] in KEYS]
    for name in dict.fromkeys(row.name for row in good):
        lines.append(f"[identified.{name}]")
        for row in good:
            key, _, joint = row.parameter.partition(".")
            if row.name == name and joint:
                lines.append(f"{key} = {{ {joint} = {row.value:.6g} }}")
            elif row.name == name:
                value = max(row.value, 0.0) if key == "gamma_3_nms_rad" else row.value
                lines.append(f"{key} = {value:.6g}")
        lines += [f'origin = "{origin}"', ""]
    return "\n".join(lines)


def sections(hand: Hand, found: list[Measured]) -> list[str]:
    """What each motor loses, as a picture."""
    return [page.picture("Friction", "what motors, guides and joints take", _picture(hand, found))]


def _picture(hand: Hand, found: list[Measured]) -> bytes | None:
    figure = picture.figure(8.0, 1.2 + 0.3 * max(len(found), 1))
    if figure is None:
        return None
    axis, m = figure.subplots(), hand.model[0]
    for k, each in enumerate(found):
        i, fit = each.pair.motor, each.fit
        before = 0.5 * math.pi * float(m["friction_gamma_2_nm"][i]) + fit.behind_nm
        whole = 1e3 * np.array([before, fit.whole_nm])
        axis.barh(k, whole[1], height=0.6, color="#9db4c8", label="measured" if k == 0 else None)
        axis.barh(
            k, 1e3 * fit.behind_nm, height=0.6, color="#56718a", label="guides and joint" if k == 0 else None
        )
        axis.plot(whole[0], k, "|", markersize=14, color="#b3261e", label="hand file" if k == 0 else None)
    axis.set_yticks(range(len(found)), [hand.names.motors[each.pair.motor] for each in found], fontsize=8)
    axis.invert_yaxis()
    axis.legend(fontsize=8)
    axis.set_xlabel("torque that is lost at a middle speed [mN m]")
    return picture.png(figure)
