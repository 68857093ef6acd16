"""``identify geometry``: lever arms, spools and the springs' absolute scale, with verdicts and a patch.

The spring's scale of ``calibrate hall`` is in the unit of the motor's torque constant and spool. With the
spool known, two things are left that say how large a force is: the torque constant and the spring, each to
its tolerance in the hand file. Their mean, weighted by these, is nearer to the truth than either.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from calibration.eligible import levers_of
from calibration.found import Found
from calibration.geometry_fit import TWO_SIDED_95, GeometryFit, fit_geometry
from calibration.geometry_poses import Measured, measure
from calibration.motion_run import Watch
from calibration.part import BAD, GOOD, OPEN, Part
from hand.hand import Hand
from hand.options import RunOptions
from reports import page
from reports.parquet import Table, by_part
from signals.modes import FingerKind, TendonKind

FAR: Final = 4.0
"""Of its tolerance's standard deviations, from which on an arm or a spool is not what the hand file says."""


def fingers_for(hand: Hand, tendons: list[int]) -> tuple[list[int], list[int], list[str]]:
    """(Tendons, joints, a sentence for each finger that is left out): those on pulleys, with all levers seen.

    Of a thumb with a tensegrity base that is all that lies behind the base, which stands meanwhile.
    """
    m, told = hand.model[0], list[str]()
    finger_of = m["tendon_finger"][: int(m["n_tendons"])]
    mine, joints = list[int](), list[int]()
    for f in sorted({int(finger_of[t]) for t in tendons}):
        pulleys = m["tendon_kind"][: len(finger_of)] == TendonKind.PULLEYS
        own = np.flatnonzero((finger_of == f) & pulleys).tolist()
        seen, _ = levers_of(hand, own)
        simple = int(m["finger_kind"][f]) in (FingerKind.LINEAR, FingerKind.TENSEGRITY_BASE) and bool(own)
        simple &= not any(m[key][f] for key in ("finger_carried", "finger_loaded", "finger_shares"))
        if seen != own or not simple:
            told.append(
                f"{hand.names.fingers[f]}: left out; lever arms are told of fingers on pulleys, with a motor "
                "and a lever with its sensor for each tendon, and without springs at their joints"
            )
            continue
        mine += own
        joints += [
            int(j) for j in m["finger_joint"][f, : m["finger_n_joints"][f]] if m["P_tj_m"][own, j].any()
        ]
    return mine, joints, told


def found_geometry(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """Sweep levers, visit stops; arms, spools and scales of the fingers of these tendons.

    Raises:
        motion_run.Faulted: the hand went into fault.
    """
    mine, joints, told = fingers_for(hand, tendons)
    if not mine:
        parts = [Part.bare("hand", "dh_dq_m_rad", "m/rad", OPEN, text) for text in told]
        return Found(parts, 0.0, [], {})
    try:
        measured = measure(hand, options, mine, joints, watch)
    except ValueError as error:
        return Found([Part.bare("hand", "dh_dq_m_rad", "m/rad", BAD, f"{error}")], 0.0, [], {})
    if measured.missed:
        return Found([_missed(hand, j) for j in measured.missed], measured.seconds, [], {}, notices=told)
    m, spread = hand.model[0], hand.file.tolerances
    P, radii = m["P_tj_m"][np.ix_(mine, joints)], m["spool_radius_m"][mine]
    force_sd = math.hypot(spread.torque_constant, spread.pulley_radius)  # the unit of ``calibrate hall``
    fit = fit_geometry(measured.poses, P, radii, spread.pulley_radius, spread.pulley_radius, force_sd)
    parts = [part for k in range(len(mine)) for part in parts_of(hand, mine, joints, k, fit, measured)]
    moved = [hand.names.joints[j] for j in joints]
    table: Table = {
        "tendon": np.array([hand.names.tendons[t] for t in mine]), "spool_m": fit.spool_m,
        "spool_half_frac": fit.spool_half, "scale_drive": measured.scales,
    }  # fmt: skip
    table |= by_part("P_tj_m", moved, fit.P_tj_m) | by_part("P_half_frac", moved, fit.P_half)
    rows = [
        (p.name, p.parameter, f"{p.value:.5g} {p.unit}", f"{p.high - p.value:.2g}", p.verdict) for p in parts
    ]
    pages = [page.table("Lever arms and spools", ("tendon", "parameter", "value", "+-", "verdict"), rows)]
    return Found(
        parts, measured.seconds, pages, {"tendons": table}, lambda origin: patch_of(parts, origin), told
    )


def _missed(hand: Hand, j: int) -> Part:
    text = "met no stop at an end of its range: flexor calibrate travel tells which"
    return Part.bare(hand.names.joints[j], "dh_dq_m_rad", "m/rad", BAD, text)


def parts_of(
    hand: Hand, tendons: list[int], joints: list[int], k: int, fit: GeometryFit, measured: Measured
) -> list[Part]:
    """Rows of the ``k``-th tendon: spool, arms, and the spring's scale."""
    m, t, sd = hand.model[0], tendons[k], hand.file.tolerances.pulley_radius
    name, rows = hand.names.tendons[t], list[Part]()
    before = float(m["spool_radius_m"][t])
    rows.append(
        _part(name, "spool_radius_m", float(fit.spool_m[k]), float(fit.spool_half[k]), before, sd, "m")
    )
    for a, j in enumerate(joints):
        before = float(m["P_tj_m"][t, j])
        if before != 0.0:
            value, half = float(fit.P_tj_m[k, a]), float(fit.P_half[k, a])
            key = f"dh_dq_m_rad.{hand.names.joints[j]}"
            rows.append(_part(name, key, value, half, before, sd, "m/rad"))
    value, half = scale_of(
        hand, t, float(measured.scales[k]), float(fit.spool_m[k]), float(fit.spool_half[k])
    )
    text = f"{value:.4g}, +- {half * value:.2g}, by torque constant and spring, each to its tolerance"
    rows.append(Part(name, "spring_scale", value, value * (1 - half), value * (1 + half), "1", GOOD, text))
    return rows


def _part(name: str, key: str, value: float, half: float, before: float, sd: float, unit: str) -> Part:
    change = value / before - 1.0
    good = abs(change) <= FAR * sd
    text = f"{1e3 * value:.4g} mm, +- {1e3 * half * abs(value):.2g}; {100 * change:+.1f} % from before"
    text += "" if good else ": too far; is the joint's range_deg right, is anything in its way?"
    half *= abs(value)
    return Part.around(name, key, value, half, unit, GOOD if good else BAD, text)


def scale_of(hand: Hand, t: int, scale: float, spool_m: float, spool_half: float) -> tuple[float, float]:
    """(absolute scale of a tendon's spring, half of its 95 % interval, relative).

    Args:
        hand: the hand.
        t: tendon.
        scale: in the unit of the motor's torque constant and of the hand file's spool.
        spool_m: radius that was found.
        spool_half: half of its interval, relative.
    """
    m, spread = hand.model[0], hand.file.tolerances
    by_drive = scale * float(m["spool_radius_m"][t]) / spool_m
    by_spring = hand.file.tendons[t].spring_scale or 1.0
    drive = spread.torque_constant**2 + (spool_half / TWO_SIDED_95) ** 2
    spring = spread.spring_constant**2
    share = drive / (drive + spring) if drive + spring > 0.0 else 0.0
    half = TWO_SIDED_95 * math.sqrt(drive * spring / (drive + spring)) if share > 0.0 else 0.0
    return by_drive ** (1.0 - share) * by_spring**share, half


def patch_of(parts: list[Part], origin: str) -> str:
    """Lines for the hand file, tendon by tendon: all that was found of it, or nothing."""
    lines: list[str] = []
    for name in dict.fromkeys(part.name for part in parts):
        mine = [part for part in parts if part.name == name]
        if not all(part.verdict == GOOD for part in mine):
            continue
        arms = [p for p in mine if p.parameter.startswith("dh_dq_m_rad.")]
        row = ", ".join(f"{p.parameter.partition('.')[2]} = {p.value:.6g}" for p in arms)
        lines += [f"[identified.{name}]"]
        lines += [f"{p.parameter} = {p.value:.6g}" for p in mine if p not in arms]
        lines += [f"dh_dq_m_rad = {{ {row} }}", f'origin = "{origin}"', ""]
    return "\n".join(lines)
