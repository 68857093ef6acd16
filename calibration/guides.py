"""``identify guides``: from swept levers and joints to losses with verdicts and a patch."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from calibration import guide_page
from calibration.eligible import levers_of
from calibration.found import Found
from calibration.guide_fit import GuideFit, fit_guides, groups_of
from calibration.guide_rows import Measured, cut, equations, measure, tension_n, unsure_of
from calibration.guide_sweeps import directions_for, ideal_rows, jacobian, sets_of
from calibration.lever_fit import LeverFit
from calibration.levers import fitted
from calibration.motion_run import Watch
from calibration.part import BAD, GOOD, OPEN, Part
from hand.hand import Hand
from hand.options import RunOptions
from reports.parquet import Table, by_part
from signals.layout import FloatArray

NAN: Final = math.nan
LOSS_GOOD: Final = 0.15
LOSS_FLOOR: Final = 0.01
"""Of a loss that the method leaves open: half of an interval."""
COULOMB_GOOD: Final = 0.25
"""Of all that a joint loses at its pretension: about what a ``guide_gain`` of 0.8 leaves anyway."""


def groups_for(hand: Hand, tendons: list[int], joints: list[int]) -> tuple[tuple[int, ...], ...]:
    """Groups of the tendons, by their place, whose losses are one unknown in all sweeps of these joints."""
    P = jacobian(hand)[np.ix_(tendons, joints)]
    rows = np.vstack([ideal_rows(P, direction) for direction in directions_for(P)])
    return groups_of(rows[:, : len(tendons)])


def found_guides(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """Sweep the fingers of these tendons; losses of their guides and joints.

    Raises:
        motion_run.Faulted: the hand went into fault.
    """
    m = hand.model[0]
    fingers = {int(m["tendon_finger"][t]) for t in tendons}
    every = [t for t in range(int(m["n_tendons"])) if int(m["tendon_finger"][t]) in fingers]
    mine, rest = levers_of(hand, every)
    blind = {part.name for part in rest}
    sets = [
        s for s in sets_of(hand, mine) if not blind & {hand.names.tendons[t] for t in _of(hand, every, s)}
    ]
    if not sets:
        return Found(
            rest + [_untold(hand, t, OPEN, "it moves no joint that can be swept") for t in mine], 0.0, [], {}
        )
    measured = measure(hand, options, mine, watch)
    fits: dict[int, LeverFit] = {}
    for t, course in measured.courses.items():
        try:
            fits[t] = fitted(hand, cut(course, measured.plan.levers_s), t).fit
        except ValueError as error:
            return Found([_untold(hand, t, BAD, f"{error}")], measured.seconds, [], {})
    tensions = {t: tension_n(hand, measured.courses[t], t, fits[t]) for t in mine}
    parts, found, widths = _fitted_sets(hand, measured, sets, tensions, fits)
    left = sorted(set(mine) - {t for own, _, _ in found for t in own})
    text = "moves no joint that is swept (base of a tensegrity thumb, or a tendon beside it is not measured)"
    notices = [f"{part.name}: {part.text}" for part in rest]
    notices += [f"{hand.names.tendons[t]}: {text}" for t in left]
    sweeps: Table = {"time_s": measured.time_s}
    sweeps |= {f"tension_n/{hand.names.tendons[t]}": tensions[t] for t in mine}
    sweeps |= by_part("joint_rad", hand.names.joints, measured.joint_rad)
    pages = guide_page.sections(hand, found)
    return Found(
        parts,
        measured.seconds,
        pages,
        {"sweeps": sweeps},
        lambda origin: patch_of(hand, parts, found, origin),
        notices,
        widths,
    )


Fits = list[tuple[list[int], list[int], GuideFit]]
Widths = dict[tuple[str, str], tuple[float, float]]


def _fitted_sets(
    hand: Hand,
    measured: Measured,
    sets: list[list[int]],
    tensions: dict[int, FloatArray],
    fits: dict[int, LeverFit],
) -> tuple[list[Part], Fits, Widths]:
    """Rows, fits and widths, set of joints by set of joints."""
    parts, found = list[Part](), Fits()
    widths: Widths = {}
    for joints in sets:
        own = _of(hand, list(tensions), joints)
        groups = groups_for(hand, own, joints)
        rows = equations(hand, measured, {t: tensions[t] for t in own}, joints)
        try:
            fit = fit_guides(rows, groups, len(joints), unsure_of(hand, {t: fits[t] for t in own}, joints))
        except ValueError as error:
            text = f"{error}: did it move? flexor calibrate travel"
            parts += [Part.bare(hand.names.joints[j], "coulomb_nm", "N m", BAD, text) for j in joints]
            continue
        parts += parts_of(hand, own, joints, fit)
        names = [(_names(hand, own, group), "guide_loss_frac") for group in groups]
        names += [(hand.names.joints[j], "coulomb_nm") for j in joints]
        halves = np.concatenate([fit.loss_half, fit.coulomb_half_nm])
        widths |= {name: (float(h), float(b)) for name, h, b in zip(names, halves, fit.bound, strict=True)}
        found.append((own, joints, fit))
    return parts, found, widths


def _names(hand: Hand, tendons: list[int], group: tuple[int, ...]) -> str:
    return " ".join(hand.names.tendons[tendons[k]] for k in group)


def _untold(hand: Hand, t: int, verdict: str, text: str) -> Part:
    return Part.bare(hand.names.tendons[t], "guide_loss_frac", "1", verdict, text)


def _of(hand: Hand, tendons: list[int], joints: list[int]) -> list[int]:
    P = jacobian(hand)
    return [t for t in tendons if P[t, joints].any()]


def parts_of(hand: Hand, tendons: list[int], joints: list[int], fit: GuideFit) -> list[Part]:
    """A row for every group of tendons, and one for every joint."""
    m, P, rows = hand.model[0], jacobian(hand), list[Part]()
    for g, group in enumerate(fit.groups):
        value = float(fit.loss_frac[g])
        half = math.hypot(float(fit.loss_half[g]), LOSS_FLOOR * value)
        names, angle = _names(hand, tendons, group), hand.file.guides.bending_angle_rad
        mu = -math.log1p(-min(value, 0.99)) / angle if angle > 0.0 else NAN
        text = f"{100 * value:.1f} % of the tension, +- {100 * half:.1f}; mu {mu:.3f} over {angle:g} rad"
        good = 0.0 <= value < 1.0 and half <= max(LOSS_GOOD * value, 0.01)
        text += "" if good else "; not known well enough: repeat, with the drives measured before"
        rows.append(_part(names, "guide_loss_frac", value, half, "1", good, text))
    for k, j in enumerate(joints):
        value, half = float(fit.coulomb_nm[k]), float(fit.coulomb_half_nm[k])
        whole = value + sum(
            float(np.abs(P[tendons[t], j]))
            * float(fit.loss_frac[g])
            * float(m["pretension_n"][m["joint_finger"][j]])
            for g, group in enumerate(fit.groups)
            for t in group
        )
        text = f"{1e3 * value:.1f} mN m, +- {1e3 * half:.1f}, of {1e3 * whole:.0f} lost at its pretension"
        good = value > -half and half <= COULOMB_GOOD * whole
        text += "" if good else "; not known well enough: repeat, with the drives measured before"
        rows.append(_part(hand.names.joints[j], "coulomb_nm", value, half, "N m", good, text))
    return rows


def _part(name: str, key: str, value: float, half: float, unit: str, good: bool, text: str) -> Part:
    return Part.around(name, key, value, half, unit, GOOD if good else BAD, text)


def patch_of(
    hand: Hand, parts: list[Part], found: list[tuple[list[int], list[int], GuideFit]], origin: str
) -> str:
    """Lines for the hand file: each tendon gets its group's share."""
    good = {(part.name, part.parameter): part for part in parts if part.verdict == GOOD}
    lines: list[str] = []
    for tendons, joints, fit in found:
        for group in fit.groups:
            names = [hand.names.tendons[tendons[k]] for k in group]
            part = good.get((" ".join(names), "guide_loss_frac"))
            for name in names if part else ():
                assert part is not None
                lines += [
                    f"[identified.{name}]",
                    f"guide_loss_frac = {part.value:.6g}",
                    f'origin = "{origin}"',
                    "",
                ]
        for j in joints:
            part = good.get((hand.names.joints[j], "coulomb_nm"))
            if part is not None:
                lines += [f"[identified.{part.name}]", f"coulomb_nm = {max(part.value, 0.0):.6g}"]
                lines += [f'origin = "{origin}"', ""]
    return "\n".join(lines)
