"""Is everything connected to what the hand file says? Asked before anything can pull a joint into its stop.

First nothing moves. Then windings (``calibration.windings``) come that are so small that even a wrong cable
makes no contradiction that the guard takes for a fault. Only a hand without a finding is wound as far as
``MOST_DEG`` of a joint, which tells what each tendon moves. A stage with findings is the last one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from calibration.finding import Finding
from calibration.lost_turns import lost_turns, zeros_rad
from calibration.motion_run import Means, Told, Watch, run_motion
from calibration.windings import LEAD_S, Plan, answers, motion_of, plan_of, responses
from hand.hand import Hand
from hand.options import RunOptions
from signals.layout import FloatArray

SMALL_SHARE: Final = 0.16
"""Of the residual that latches a fault, wound each way at first: a reversed motor makes twice of it, from way
to way four times, and half of that is what the lengths contradict each other by."""
LARGE_SHARE: Final = 0.6
"""The same once every motor is known to wind its own tendon the right way."""
LEAST_ANSWER: Final = 0.15
"""Stretch per winding that is an answer; a sound tendon's own is 0.4 and more."""
ANSWER_SHARE: Final = LEAST_ANSWER / 0.4
"""The same as a share of what the model says of a tendon that only springs across joints hold."""
LEAST_ECHO: Final = 0.06
"""Stretch of another tendon per winding that shows what the joints make of it, friction apart."""
EXPECTED: Final = 0.25
"""The same by the model without friction, of a tendon that has to answer."""
TAIL_S: Final = 0.3
"""A run's start, and some rest at its end."""
ALL_REVERSED: Final = (
    "it gets looser as its motor winds in, as all tendons do: hall.direction of the hand file is the other "
    "way round; or all motors turn backwards (their direction in the bus file)"
)
FIELDS: Final = (
    ("measurement", "hall_count"),
    ("state", "lever_angle_rad"),
    ("state", "elongation_m"),
    ("state", "motor_angle_rad"),
    ("state", "tension_n"),
)


def standing(hand: Hand, means: Means) -> list[Finding]:
    """What shows without a motion: saturated sensors, slack tendons, lost turns."""
    m, names = hand.model[0], hand.names
    still = means.time_s <= LEAD_S
    count, lever = (means.of(x)[still].mean(axis=0) for x in ("hall_count", "lever_angle_rad"))
    found: list[Finding] = []
    for t, name in enumerate(names.tendons):
        if not hand.file.sees(name):
            continue
        s, most = int(m["tendon_spring"][t]), float(m["hall_count_max"][t])
        beyond = float(m["slack_margin_rad"][s])
        if count[t] <= 0.5 or count[t] >= most - 0.5:
            text = f"its Hall sensor stands at count {count[t]:.0f}, the end: look at magnet and cable"
            found.append(Finding(name, "saturated", text, float(count[t]), "count"))
        elif lever[t] >= m["lever_max_rad"][s] - beyond:
            text = (
                "it is slack: its lever lies at the slack stop; wind it in by hand until the lever "
                "leaves it, then flexor calibrate tension"
            )
            found.append(Finding(name, "slack", text, float(np.degrees(lever[t])), "deg"))
    bad = {finding.part for finding in found}
    return found + [each for each in lost_turns(hand, means, still) if each.part not in bad]


def moving(hand: Hand, plan: Plan, means: Means) -> list[Finding]:
    """What the windings show of every tendon alone: does its own sensor answer, and with the right sign?"""
    m, names = hand.model[0], hand.names
    found, turned = answers(hand, plan, means)
    strength = np.where(np.isfinite(found), np.abs(found), 0.0)
    best = strength.argmax(axis=0)
    least = np.minimum(LEAST_ANSWER, ANSWER_SHARE * responses(hand)[0].diagonal())
    peak = {t: int(best[k]) for k, t in enumerate(plan.tendons) if strength[best[k], k] >= least[best[k]]}
    findings = []
    for k, t in enumerate(plan.tendons):
        name, motor = names.tendons[t], names.motors[int(m["tendon_motor"][t])]
        if not np.isfinite(turned[k]):
            continue  # a finger was in fault by then, which is told
        if turned[k] < 0.5:
            text = (
                f"{motor} turned {100 * turned[k]:.0f} % of what was asked: look at its power and its limits"
            )
            findings.append(Finding(name, "unmoved", text, float(turned[k])))
        elif t not in peak:
            text = (
                f"no Hall sensor answers as {motor} winds: the tendon is off its spool, or the sensor is dead"
            )
            findings.append(Finding(name, "silent", text, float(strength[t, k])))
        elif peak[t] != t:
            findings.append(_crossed(hand, plan, found, peak, t))
        elif found[t, k] < 0.0:
            text = (
                f"it gets looser as {motor} winds in: the tendon is wound the other way round, or the motor "
                "turns backwards; change the sign of spool_radius_m, or wind it anew"
            )
            findings.append(Finding(name, "reversed", text, float(found[t, k])))
    if len(findings) == len(plan.tendons) > 1 and all(f.what == "reversed" for f in findings):
        findings = [replace(f, text=ALL_REVERSED) for f in findings]  # one mistake, not as many as tendons
    return findings


def _crossed(hand: Hand, plan: Plan, found: FloatArray, peak: dict[int, int], t: int) -> Finding:
    """The sensor of another tendon answers; what else answers tells which tendon was wound."""
    names, other, k = hand.names, peak[t], plan.tendons.index(t)
    share = float(found[other, k])
    a, b = names.tendons[t], names.tendons[other]
    motors = [names.motors[int(hand.model[0]["tendon_motor"][each])] for each in (t, other)]
    if peak.get(other) != t:
        text = f"as {motors[0]} winds, the Hall sensor of {b} answers: look at the cables of both"
        return Finding(a, "elsewhere", text, share)
    model, rest = responses(hand)[0], [r for r in range(len(names.tendons)) if r not in (t, other)]
    echo = np.where(np.abs(found[rest, k]) > LEAST_ECHO, found[rest, k], 0.0)
    own, others = (float(echo @ model[rest, each]) for each in (t, other))
    halls, drives = f"the Hall cables of {a} and {b}", f"the cables of {motors[0]} and {motors[1]}"
    if abs(own - others) < LEAST_ECHO * EXPECTED:
        which = f"{halls}, or {drives}, are swapped"
    else:
        which = f"{halls if own > others else drives} are swapped"
    text = f"as {motors[0]} winds, the Hall sensor of {b} answers, and the other way round: {which}"
    return Finding(a, "swapped", text, share)


def echoes(hand: Hand, plan: Plan, means: Means) -> list[Finding]:
    """Tendons that move other joints than their rows of P say: the antagonist of another one answers."""
    model, found, names = responses(hand)[0], answers(hand, plan, means)[0], hand.names
    findings = []
    for k, t in enumerate(plan.tendons):
        others = np.where(np.isfinite(found[:, k]), found[:, k], 0.0)
        others[t] = 0.0
        loudest = int(others.argmax())
        if others[loudest] < LEAST_ECHO or model[loudest, t] > 0.4 * EXPECTED:
            continue
        like = int(
            model[loudest].argmax() if model[loudest, loudest] < EXPECTED else _partner(model, loudest)
        )
        alike, echo = names.tendons[like], names.tendons[loudest]
        text = (
            f"as it is wound, {echo} is stretched, which {alike} should do: it runs to the wrong place of "
            f"the finger, or its row of dh_dq_m_rad is that of {alike}"
        )
        findings.append(Finding(names.tendons[t], "misplaced", text, float(others[loudest])))
    return findings


def _partner(model: FloatArray, t: int) -> int:
    """Tendon whose winding stretches tendon ``t`` most."""
    row = model[t].copy()
    row[t] = -np.inf
    return int(row.argmax())


def told(hand: Hand, faults: list[Told], findings: list[Finding]) -> list[Finding]:
    """Faults of the run whose part was not found out about otherwise."""
    m, names, known = hand.model[0], hand.names, {finding.part for finding in findings}
    found = []
    for fault in faults:
        tendons = {fault.part} & set(names.tendons)
        if fault.part in names.motors:
            i = names.motors.index(fault.part)
            tendons = {n for t, n in enumerate(names.tendons) if int(m["tendon_motor"][t]) == i}
        if not (known & tendons if tendons else known):
            found.append(Finding(fault.part, "fault", f"{fault.text}; {fault.hint}"))
    return found


@dataclass(frozen=True, slots=True)
class Wiring:
    """What a hand's connections were found to be.

    Attributes:
        findings: what is wrong; empty: nothing.
        zeros_rad: angle of each tendon's motor of the straight hand at its start tension, shape (nt,).
        answers: stretch of every tendon per winding of each, shape (nt, windings); empty if none was made.
        tendons: which were wound.
        seconds: of motion.
    """

    findings: tuple[Finding, ...]
    zeros_rad: FloatArray
    answers: FloatArray
    tendons: tuple[int, ...]
    seconds: float


def look(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch = lambda _: None) -> Wiring:
    """Look at these tendons' connections in three stages; the first one with findings is the last.

    Raises:
        Faulted: the run ended early without a fault that has a name.
    """
    seconds, shown = 0.0, np.zeros((len(hand.names.tendons), 0))
    plans = [plan_of(hand, chosen, share) for chosen, share in ((list[int](), 0.0), (tendons, SMALL_SHARE),
                                                                (tendons, LARGE_SHARE))]  # fmt: skip
    total = sum(plan.seconds + TAIL_S for plan in plans)
    zeros = np.zeros(0)
    findings: list[Finding] = []
    for stage, plan in enumerate(plans):
        means, length = Means(*FIELDS), plan.seconds + TAIL_S

        def part(share: float, done: float = seconds, length: float = length) -> None:
            watch((done + share * length) / total)

        faults = run_motion(hand, options, motion_of(hand, plan), length, means, part)
        seconds += length
        if stage == 0:
            findings = standing(hand, means)
            zeros = zeros_rad(hand, means, means.time_s <= LEAD_S)
        else:
            findings = moving(hand, plan, means)
            shown = answers(hand, plan, means)[0]
        if stage == 2 and not findings:
            findings = echoes(hand, plan, means)
        findings += told(hand, faults, findings)
        if findings:
            break
    return Wiring(tuple(findings), zeros, shown, tuple(tendons), seconds)
