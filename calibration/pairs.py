"""``identify pairs``: friction, travel and zeros of joints whose motor winds both of their tendons.

No sensor tells a tension or a joint of such a hand. What can be measured is what the motor bears on its way
and where it cannot go on; what cannot is told with the reason.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from calibration import pair_page, travel_page
from calibration.found import Found
from calibration.motion_run import Watch, must_be_sound, run_motion
from calibration.pair_fit import Blocks, blocks_of, fit_pair, stop_of
from calibration.pair_page import Measured
from calibration.pair_plan import (
    FURTHER_DEG,
    NUDGE_DEG,
    REST_S,
    Move,
    Pair,
    nudge_of,
    pairs_of,
    plan_of,
    slack_nm,
    stiffness_nm_rad,
)
from calibration.part import BAD, OPEN, Part
from calibration.travel import Travel, fits, run_wider
from hand.hand import Hand
from hand.options import RunOptions
from reports.parquet import Table
from signals.layout import FloatArray
from signals.modes import MachineState
from signals.records import RecordArray

UNTOLD: Final = ("friction", "ripple")
"""Is not fed forward: a hand file that takes friction for greater than it is would make the joints swing."""
BLOCK_S: Final = 0.06
PRESS_BLOCK_S: Final = 0.03
SIGMAS: Final = 3.0
TRIES: Final = 3
"""Runs at most: what met no stop is led further."""
NUDGED_SHARE: Final = 0.3
"""Of a nudge that a motor has to turn: its own friction may hold the rest."""
SKIP_DEG: Final = 3.0
"""Way of a joint after a reversal in which the pair is stretched the other way."""
FLOOR_DEG: Final = 0.4
"""Error of a stop that play and the stretch of what presses leave."""
STRETCH_UNSURE: Final = 0.5
"""Share of the tendons' stretch by friction that is not known."""
SLACK_SHARE: Final = 0.7
"""Of the rise at which the other tendon of the pair becomes slack."""


@dataclass(frozen=True, slots=True)
class Course:
    """What the motors measured, by sample: times since the motion began and angles, shape (n, motors)."""

    time_s: FloatArray
    angle_rad: FloatArray
    current_a: FloatArray


class _Keep:
    """Samples of the motors and when the motion began."""

    def __init__(self) -> None:
        self.rows: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        self.active_ns: int | None = None

    def __call__(self, frames: RecordArray) -> None:
        x, state = frames["measurement"], frames["state"]
        active = state["machine"] == MachineState.ACTIVE
        if self.active_ns is None and active.any():
            self.active_ns = int(state["time_ns"][int(np.argmax(active))])
        columns = (x["motor_time_ns"], x["motor_angle_rad"], x["motor_current_a"])
        self.rows.append(tuple(c.astype(np.float64) for c in columns))  # type: ignore[arg-type]

    def course(self) -> Course:
        times, angles, currents = (np.concatenate(parts) for parts in zip(*self.rows, strict=True))
        begun = times[-1].max() if self.active_ns is None else self.active_ns
        return Course((times - begun) * 1e-9, angles, currents)


def measure(
    hand: Hand, options: RunOptions, pairs: list[Pair], further_deg: float, watch: Watch
) -> tuple[list[Measured], list[Part], float]:
    """Lead the joints of these pairs; what was found, rows of those that did not move, length [s].

    Raises:
        Faulted: a finger went into fault.
    """
    plan, keep = plan_of(hand, pairs, further_deg), _Keep()
    run_wider(hand, replace(options, without=UNTOLD), plan.text, plan.seconds, keep, watch)
    course, found, parts = keep.course(), list[Measured](), list[Part]()
    for pair, moves in zip(pairs, plan.moves, strict=True):
        try:
            found.append(measured(hand, course, pair, moves))
        except ValueError as error:
            text, name = (
                f"{error}: look at its power, its cable and its limits",
                hand.names.motors[pair.motor],
            )
            parts.append(Part.bare(name, "gamma_2_nm", "N m", BAD, text))
    return found, parts, plan.seconds


def behind_nm(hand: Hand, pair: Pair) -> float:
    """What guides and joint take of a motor's torque at the pretension, by the hand file [N m]."""
    m, t, j = hand.model[0], list(pair.tendons), pair.joint
    tension = float(m["pretension_n"][m["joint_finger"][j]])
    lost = m["guide_loss_frac"][t] * tension + m["guide_bending_n"][t]
    guides = float(np.sum(np.abs(m["spool_radius_m"][t]) * lost))
    return guides + float(m["joint_coulomb_nm"][j]) / abs(pair.ratio)


def measured(hand: Hand, course: Course, pair: Pair, moves: tuple[Move, ...]) -> Measured:
    """Fit one pair.

    Raises:
        ValueError: it did not move both ways.
    """
    m, i, j = hand.model[0], pair.motor, pair.joint
    time, angle = course.time_s[:, i], course.angle_rad[:, i]
    torque = course.current_a[:, i] * float(m["motor_torque_constant_nm_a"][i])
    viscous, skip = (
        float(m["joint_viscous_nms_rad"][j]) / pair.ratio**2,
        math.radians(SKIP_DEG * abs(pair.ratio)),
    )

    def cut(label: str, block_s: float) -> Blocks:
        chosen = [(move.begin_s, move.end_s) for move in moves if move.label == label]
        blocks = blocks_of(time, angle, torque, chosen, block_s, skip)
        return replace(blocks, torque_nm=blocks.torque_nm - viscous * blocks.speed_rad_s)

    behind = behind_nm(hand, pair)
    names = ("friction_gamma_1_s_rad", "friction_gamma_2_nm", "friction_gamma_3_nms_rad")
    g1, g2, g3 = (float(m[name][i]) for name in names)
    spool = float(np.abs(m["spool_radius_m"][list(pair.tendons)]).mean())
    sweeps = cut("sweep", BLOCK_S)
    fit = fit_pair(sweeps, behind, float(m["guide_speed_m_s"]) / spool, (g1, g2, g3))
    start = float(angle[max(int(np.searchsorted(time, 0.0)) - 1, 0)])
    ahead = behind / stiffness_nm_rad(hand, pair)
    most = SLACK_SHARE * slack_nm(hand, pair)
    stops, half = [], math.radians(FLOOR_DEG) + STRETCH_UNSURE * ahead / abs(pair.ratio)
    for label in ("low", "high"):
        at, wide = stop_of(cut(label, PRESS_BLOCK_S), fit, most)
        side = math.copysign(1.0, pair.ratio) * (-1.0 if label == "low" else 1.0)
        stops.append((at - start - side * ahead) / pair.ratio)
        half = max(half, math.hypot(half, wide / abs(pair.ratio))) if math.isfinite(wide) else half
    press = float(m["motor_torque_limit_nm"][i])
    share = SIGMAS * math.sqrt(2.0) * hand.file.tolerances.pulley_radius  # of spool and lever arm
    return Measured(pair, sweeps, fit, Travel(j, (stops[0], stops[1]), press, half, share), start)


def found_pairs(hand: Hand, options: RunOptions, tendons: list[int], watch: Watch) -> Found:
    """Lead the joints of these tendons through their range and into their stops.

    Raises:
        motion_run.Faulted: the hand went into fault.
    """
    pairs, rest = pairs_of(hand, tendons)
    if not pairs:
        return Found(rest, 0.0, [], {})
    still, first_s = _unmoved(hand, options, pairs, lambda x: watch(0.2 * x))
    if still:
        return Found(still, first_s, [], {})
    found, parts, seconds = measure(hand, options, pairs, 0.0, lambda x: watch(0.2 + 0.5 * x))
    for k in range(1, TRIES):
        again = [each.pair for each in found if not fits(hand, each.travel)]
        if not again:
            break
        more, _, length = measure(hand, options, again, k * FURTHER_DEG, lambda x: watch(0.7 + 0.3 * x))
        better = {each.pair.motor: each for each in more if fits(hand, each.travel)}
        found, seconds = [better.get(each.pair.motor, each) for each in found], seconds + length
    rows = pair_page.parts_of(hand, found)
    joints = [hand.names.joints[each.pair.joint] for each in found]
    zeros = np.full(len(hand.names.tendons), math.nan)
    for each in found:
        zeros[list(each.pair.tendons)] = each.start_rad
    raw: dict[str, Table] = {"tendons": {"tendon": np.array(hand.names.tendons), "zero_rad": zeros}}
    mine = [t for each in found for t in each.pair.tendons]
    motors = travel_page.motor_parts(hand, mine, joints, zeros, rows)
    for joint, each in zip(joints, found, strict=True):
        raw[joint] = {name: getattr(each.sweeps, name) for name in Blocks.__dataclass_fields__}
    notices = [f"{part.name}: {part.text}" for part in rest]
    sections = [
        *pair_page.sections(hand, found),
        *travel_page.sections(hand, [each.travel for each in found]),
    ]

    def patch(origin: str) -> str:
        return pair_page.patch_of(rows + motors, origin)

    return Found(rows + motors + parts, first_s + seconds, sections, raw, patch, notices)


def _unmoved(hand: Hand, options: RunOptions, pairs: list[Pair], watch: Watch) -> tuple[list[Part], float]:
    """(A row for every motor that does not turn its joint by a little, and for the others then; length [s]).

    Raises:
        Faulted: a finger went into fault.
    """
    plan, keep = nudge_of(hand, pairs), _Keep()
    without = replace(options, without=UNTOLD)
    must_be_sound(run_motion(hand, without, plan.text, plan.seconds, keep, watch))
    course, shares = keep.course(), list[float]()
    for pair, moves in zip(pairs, plan.moves, strict=True):
        time, angle = course.time_s[:, pair.motor], course.angle_rad[:, pair.motor]
        ends = [float(np.interp(move.end_s + 0.8 * REST_S, time, angle)) for move in moves]
        shares.append((ends[0] - ends[1]) / (2.0 * math.radians(NUDGE_DEG) * pair.ratio))
    if min(shares) >= NUDGED_SHARE:
        return [], plan.seconds
    rows = []
    for pair, share in zip(pairs, shares, strict=True):
        name = hand.names.motors[pair.motor]
        if share < NUDGED_SHARE:
            text = f"it turned {100 * share:.0f} % of what was asked: look at its power, cable and limits"
            rows.append(Part.bare(name, "wiring.unmoved", "1", BAD, text, share))
        else:
            text = "not looked at to the end: see to the others first"
            rows.append(Part.bare(name, "wiring", "1", OPEN, text, share))
    return rows, plan.seconds
