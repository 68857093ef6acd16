"""``identify guides``: from swept levers and joints to losses with verdicts and a patch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from calibration import guide_page
from calibration.found import Found
from calibration.guide_fit import GuideFit, Rows, fit_guides, groups_of
from calibration.guide_sweeps import (
    MOVE_S,
    MOVES,
    Plan,
    Sweep,
    directions_for,
    ideal_rows,
    jacobian,
    plan_of,
    sets_of,
)
from calibration.lever_fit import LeverFit
from calibration.levers import fitted, levers_of
from calibration.motion_run import Means, Watch, must_be_sound, run_motion
from calibration.part import BAD, GOOD, OPEN, Part
from calibration.tendon_means import FIELDS, Course, course_of
from calibration.winding_plan import TAIL_S
from hand.hand import Hand
from hand.options import RunOptions

Floats = NDArray[np.float64]
NAN: Final = math.nan
SLOW_SHARE: Final = 0.35
"""Of a sweep's mean joint speed, below which a joint counts as standing still."""
LOSS_GOOD: Final = 0.15
COULOMB_GOOD: Final = 0.25
"""Of all that a joint loses at its pretension: about what a ``guide_gain`` of 0.8 leaves anyway."""
FRICTION_FLOOR: Final = 0.002
"""Of a motor's friction, that the levers' sweeps leave open."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Courses of the tendons and joints, and the plan behind them.

    Attributes:
        plan: of the motion.
        courses: tendon -> its course.
        time_s: of the blocks, shape (n,).
        joint_rad: estimated joint angles, shape (n, nj).
        seconds: of motion.
    """

    plan: Plan
    courses: dict[int, Course]
    time_s: Floats
    joint_rad: Floats
    seconds: float


def measure(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Measured:
    """Sweep levers and joints of these tendons.

    Raises:
        Faulted: the hand went into fault, or did not start.
    """
    plan, means = plan_of(hand, tendons), Means(*FIELDS)
    seconds = plan.path.seconds + TAIL_S
    must_be_sound(run_motion(hand, options, plan.path.text(hand, tendons), seconds, means, watch))
    moving = means.time_s >= 0.0
    courses = {t: course_of(hand, means, t) for t in tendons}
    angles = means.of("joint_angle_rad")[moving][:, : int(hand.model[0]["n_joints"])]
    return Measured(plan, courses, means.time_s[moving], angles, seconds)


def cut(course: Course, end_s: float) -> Course:
    """The part of a course before a time."""
    used = course.time_s <= end_s
    return Course(*(getattr(course, name)[used] for name in Course.__dataclass_fields__))


def tension_n(hand: Hand, course: Course, t: int, fit: LeverFit) -> Floats:
    """Tension on the motor's side of the guides, by the current less the friction of the levers' sweeps."""
    m, i = hand.model[0], int(hand.model[0]["tendon_motor"][t])
    own = fit.friction_nm * np.arctan(float(m["friction_gamma_1_s_rad"][i]) * course.speed_rad_s)
    torque = course.torque_nm - own - fit.viscous_nms_rad * course.speed_rad_s
    return np.asarray(torque / abs(float(m["spool_radius_m"][t])))


def smooth(values: Floats, time_s: Floats) -> Floats:
    """Rates of columns, over five blocks."""
    kernel = np.full(5, 0.2)
    rate = np.gradient(values, time_s, axis=0)
    return np.column_stack([np.convolve(column, kernel, mode="same") for column in rate.T])


def equations(hand: Hand, found: Measured, tensions: dict[int, Floats], joints: list[int]) -> list[Rows]:
    """Equations of these joints, of every sweep in which they move."""
    m, P = hand.model[0], jacobian(hand)
    tendons = list(tensions)
    T = np.column_stack([tensions[t] for t in tendons])
    speed = smooth(found.joint_rad, found.time_s)
    v = speed @ P[tendons].T
    s = v / np.sqrt(v**2 + m["guide_speed_m_s"][tendons] ** 2)
    v0 = float(m["joint_friction_speed_rad_s"])
    rows = []
    for sweep in found.plan.sweeps:
        move, moving = _moves(found, sweep, speed)
        for k, j in enumerate(joints):
            used = moving & (sweep.direction[j] != 0.0)
            if used.sum() < 20:
                continue
            qd = speed[used, j]
            torque = T[used] @ P[tendons, j] + float(m["joint_viscous_nms_rad"][j]) * qd
            columns = P[tendons, j] * T[used] * s[used]
            sign = qd / np.sqrt(qd**2 + v0**2)
            rows.append(Rows(k, found.joint_rad[used, j], torque, sign, columns, move[used]))
    return rows


def _moves(found: Measured, sweep: Sweep, speed: Floats) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(Number of the move at each block, whether all joints of the sweep move there as they should)."""
    place = (found.time_s - sweep.begin_s) / MOVE_S
    move = np.clip(np.floor(place), 0, MOVES - 1).astype(np.int64)
    inside = (place >= 0.0) & (place < MOVES)
    wanted = np.where(move % 2 == 0, 1.0, -1.0)[:, None] * sweep.direction
    least = np.where(sweep.direction != 0.0, _mean_speed(found, sweep), -np.inf)
    return move, inside & (speed * wanted > SLOW_SHARE * least).all(axis=1)


def _mean_speed(found: Measured, sweep: Sweep) -> Floats:
    k = found.plan.path.times_s.index(sweep.begin_s)
    a, b = found.plan.path.angle_rad[k], found.plan.path.angle_rad[k + 1]
    return np.abs(b - a) / MOVE_S


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
    parts, found = list[Part](), list[tuple[list[int], list[int], GuideFit]]()
    for joints in sets:
        own = _of(hand, mine, joints)
        groups = groups_for(hand, own, joints)
        rows = equations(hand, measured, {t: tensions[t] for t in own}, joints)
        try:
            fit = fit_guides(rows, groups, len(joints))
        except ValueError as error:
            text = f"{error}: did it move? flexor calibrate travel"
            parts += [
                Part(hand.names.joints[j], "coulomb_nm", NAN, NAN, NAN, "N m", BAD, text) for j in joints
            ]
            continue
        parts += parts_of(hand, own, joints, fit, fits)
        found.append((own, joints, fit))
    left = sorted(set(mine) - {t for own, _, _ in found for t in own})
    text = "moves no joint that is swept (base of a tensegrity thumb, or a tendon beside it is not measured)"
    notices = [f"{part.name}: {part.text}" for part in rest]
    notices += [f"{hand.names.tendons[t]}: {text}" for t in left]
    raw: dict[str, Any] = {
        "tendons": [hand.names.tendons[t] for t in mine], "time_s": measured.time_s,
        "tension_n": np.column_stack([tensions[t] for t in mine]), "joint_rad": measured.joint_rad,
    }  # fmt: skip
    pages = guide_page.sections(hand, found)
    return Found(
        parts, measured.seconds, pages, raw, lambda origin: patch_of(hand, parts, found, origin), notices
    )


def _untold(hand: Hand, t: int, verdict: str, text: str) -> Part:
    return Part(hand.names.tendons[t], "guide_loss_frac", NAN, NAN, NAN, "1", verdict, text)


def _of(hand: Hand, tendons: list[int], joints: list[int]) -> list[int]:
    P = jacobian(hand)
    return [t for t in tendons if P[t, joints].any()]


def parts_of(
    hand: Hand, tendons: list[int], joints: list[int], fit: GuideFit, fits: dict[int, LeverFit]
) -> list[Part]:
    """A row for every group of tendons, and one for every joint."""
    m, P, spread, rows = hand.model[0], jacobian(hand), hand.file.tolerances, list[Part]()
    open_frac = math.hypot(spread.torque_constant, math.sqrt(2.0) * spread.pulley_radius)
    for g, group in enumerate(fit.groups):
        value = float(fit.loss_frac[g])
        floor = 1.96 * open_frac * abs(value) / math.sqrt(len(group))
        half = math.hypot(float(fit.loss_half[g]), floor)
        names = " ".join(hand.names.tendons[tendons[k]] for k in group)
        angle = hand.file.guides.bending_angle_rad
        mu = -math.log1p(-min(value, 0.99)) / angle if angle > 0.0 else NAN
        text = f"{100 * value:.1f} % of the tension, +- {100 * half:.1f}; mu {mu:.3f} over {angle:g} rad"
        good = 0.0 <= value < 1.0 and half <= max(LOSS_GOOD * value, 0.01)
        text += "" if good else "; not known well enough: repeat, with the drives measured before"
        rows.append(_part(names, "guide_loss_frac", value, half, "1", good, text))
    for k, j in enumerate(joints):
        half = math.hypot(float(fit.coulomb_half_nm[k]), friction_left_nm(hand, tendons, j, fits))
        value = float(fit.coulomb_nm[k])
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


def friction_left_nm(hand: Hand, tendons: list[int], j: int, fits: dict[int, LeverFit]) -> float:
    """What the motors' friction leaves open of a joint's own."""
    m, P, squares = hand.model[0], jacobian(hand), 0.0
    for t in tendons:
        fit = fits[t]
        open_nm = math.hypot(
            float(max(fit.half[4], fit.bound[4])), FRICTION_FLOOR * 0.5 * math.pi * fit.friction_nm
        )
        squares += (float(P[t, j]) / float(m["spool_radius_m"][t]) * open_nm) ** 2
    return math.sqrt(squares)


def _part(name: str, key: str, value: float, half: float, unit: str, good: bool, text: str) -> Part:
    return Part(name, key, value, value - half, value + half, unit, GOOD if good else BAD, text)


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
