"""Poses that tell lever arms and spools: tensions up and down, and every joint at both of its stops.

Joints that share tendons are visited twice: with the others straight, and with the others bent. Without the
second time an error of one joint's arms would look like an angle of the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration import lever_loops, travel
from calibration.geometry_fit import Poses
from calibration.levers import fitted
from calibration.motion_run import Means, Watch, must_be_sound, run_motion
from calibration.tendon_means import FIELDS, course_of
from calibration.travel import LEAD_S, PRESS_S, RETRY, SPEED_DEG_S, TOUCH
from calibration.winding_plan import TAIL_S
from hand.assembly.straight import straight_jacobian
from hand.hand import Hand
from hand.options import RunOptions
from mechanics.springs import spring_at
from signals.layout import FloatArray

BENT: Final = 0.6
"""Of its upper range that a joint is bent while another one is visited."""
NOISE_COUNT: Final = 0.5
"""Of a block's count that is no movement."""
LENGTH_SD_M: Final = 2e-5
"""Of a length, with the lever's loop and the magnet's play put back: half of what they are."""
INDEPENDENT: Final = 60
"""Poses of a run that count as independent: about one for each of its moves."""
EVERY: Final = 10
"""Blocks from pose to pose."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A joint that is pressed at both ends of its range; ``ends_s``: arrivals since the motion began."""

    joint: int
    ends_s: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Measured:
    """Poses of all runs, scales of forces in the motors' unit, joints with a stop that was never met."""

    poses: list[Poses]
    scales: FloatArray
    missed: list[int]
    seconds: float


@dataclass(slots=True)
class _Way:
    """Points of one finger's way: times, angles and added torques of its joints, and its visits."""

    joints: list[int]
    times_s: list[float]
    angles: list[FloatArray]
    torques: dict[int, list[tuple[float, float]]]
    visits: list[Visit]

    def go(self, to: FloatArray) -> None:
        """On to angles, at the pace of a travel."""
        way = math.degrees(float(np.abs(to - self.angles[-1]).max()))
        self.times_s.append(round(self.times_s[-1] + 0.2 + way / SPEED_DEG_S, 4))
        self.angles.append(to)

    def press(self, j: int, one: float, two: float) -> float:
        """Press a joint here, twice; returns when that began."""
        begun = self.times_s[-1]
        when = np.cumsum([begun, *PRESS_S]).tolist()
        self.torques[j] += zip(when, (0.0, one, one, two, two, 0.0), strict=True)
        self.times_s.append(round(when[-1], 4))
        self.angles.append(self.angles[-1])
        return begun

    def lines(self, hand: Hand) -> list[str]:
        """Its tracks in a motion file."""
        found = []
        for k, j in enumerate(self.joints):
            degrees = [round(math.degrees(float(each[k])), 4) for each in self.angles]
            when, torque = ([round(v, 4) for v in column] for column in zip(*self.torques[j], strict=True))
            tracks = ("joint_deg", self.times_s, degrees), ("joint_torque_nm", when, torque)
            for kind, times, values in tracks:
                found += ["[[tracks]]", f'kind = "{kind}"', f'names = ["{hand.names.joints[j]}"]']
                found += [f"points = {{ times_s = {times}, values = {values} }}"]
        return found


def _way_of(hand: Hand, joints: list[int]) -> _Way:
    """Every joint of a finger to both stops, the others straight; then those that share tendons, bent."""
    m, P = hand.model[0], straight_jacobian(hand.model)
    straight = np.zeros(len(joints))
    way = _Way(joints, [0.0, LEAD_S], [straight, straight], {j: [(0.0, 0.0)] for j in joints}, [])
    for bent in (0.0, BENT):
        for k, j in enumerate(joints):
            shared = [bool(np.any((P[:, j] != 0.0) & (P[:, other] != 0.0))) for other in joints]
            mates = [a for a, also in enumerate(shared) if also and a != k]
            if bent and not mates:
                continue
            arrivals = []
            for side, key in ((-1.0, "joint_min_rad"), (1.0, "joint_max_rad")):
                pose = straight.copy()
                pose[mates] = bent * m["joint_max_rad"][[joints[a] for a in mates]]
                pose[k] = m[key][j]
                way.go(pose)
                one, two = presses_nm(hand, j)
                arrivals.append(way.press(j, side * one, side * two))
            way.visits.append(Visit(j, (arrivals[0], arrivals[1])))
        way.go(straight)
    return way


def presses_nm(hand: Hand, j: int) -> tuple[float, float]:
    """Both presses of a joint [N m]: of bent poses arms tell so little that it may be far from its stop."""
    one, two = travel.presses_nm(hand, j)
    return RETRY * one, RETRY * two


def motion_of(hand: Hand, joints: list[int]) -> tuple[str, list[Visit], float]:
    """Text of the visits, all fingers at the same time, when they are, and its length [s]."""
    fingers = hand.model[0]["joint_finger"]
    ways = [
        _way_of(hand, [j for j in joints if fingers[j] == f]) for f in sorted(set(fingers[joints].tolist()))
    ]
    lines = [
        'description = "Every joint to its stops, others straight and bent."',
        'mode = "joint_impedance"',
    ]
    lines += [line for way in ways for line in way.lines(hand)]
    visits = [visit for way in ways for visit in way.visits]
    return "\n".join(lines) + "\n", visits, max(way.times_s[-1] for way in ways) + 0.3


def stretched(hand: Hand, counts: FloatArray, t: int) -> tuple[FloatArray, FloatArray]:
    """(elongation [m], true tension [N]) of a tendon from a course of counts.

    The magnet's play and the lever's friction loop are put back, by the ways that the lever went.
    """
    m, s = hand.model[0], int(hand.model[0]["tendon_spring"][t])
    per_rad = float(m["hall_counts_rad"][t])
    play = float(m["hall_hysteresis_rad"][t]) * abs(per_rad)
    length = float(m["lever_presliding_rad"][t]) * abs(per_rad)
    at, loop, lag = float(counts[0]), 0.0, 0.0
    loops, lags = np.empty_like(counts), np.empty_like(counts)
    for k, count in enumerate(counts):
        way = min(max(at, count - NOISE_COUNT), count + NOISE_COUNT) - at
        at += way
        loop += (math.copysign(1.0, way) - loop) * -math.expm1(-abs(way) / length)
        lag = min(max(lag + way, -0.5 * play), 0.5 * play)
        loops[k], lags[k] = loop, lag
    levers = (counts + lags - float(m["hall_zero_count"][t])) / per_rad
    low, high = float(m["lever_min_rad"][s]), float(m["lever_max_rad"][s])
    grid = np.linspace(low - 0.2 * (high - low), high + 0.2 * (high - low), 1025)
    laws = np.array([spring_at(m, t, float(x)) for x in grid])
    rising = -loops * np.sign(per_rad)  # the lever falls as the tension rises
    tension = np.interp(levers, grid, laws[:, 0]) * (1.0 + float(m["lever_friction_frac"][t]) * rising)
    path = np.interp(levers, grid, laws[:, 2])
    return tension * float(m["tendon_compliance_m_n"][t]) - path, tension


def measure(hand: Hand, options: RunOptions, tendons: list[int], joints: list[int], watch: Watch) -> Measured:
    """Sweep the levers of these tendons, then bring their joints to their stops.

    Raises:
        Faulted: the hand went into fault, or did not start.
        ValueError: a tendon was not moved both ways.
    """
    path, levers = lever_loops.path_of(hand), Means(*FIELDS)
    whole = path.seconds + TAIL_S
    must_be_sound(
        run_motion(hand, options, path.text(hand, tendons), whole, levers, lambda x: watch(0.2 * x))
    )
    scales = np.array([fitted(hand, course_of(hand, levers, t), t).fit.scale for t in tendons])
    motion, visits, seconds = motion_of(hand, joints)
    means = Means(*FIELDS)
    travel.run_wider(hand, options, motion, seconds, means, lambda x: watch(0.2 + 0.8 * x))
    poses, met = list[Poses](), set[tuple[int, int]]()
    for run, each in enumerate((levers, means)):
        course = lengths_of(hand, each, tendons)
        used = np.flatnonzero(each.time_s >= 0.3)[::EVERY]
        poses.append(
            Poses(
                course.elongation_m[used],
                course.motor_rad[used],
                course.stretch_m[used],
                run,
                -1,
                0.0,
                0.0,
                LENGTH_SD_M,
                INDEPENDENT,
            )  # fmt: skip
        )
    for visit in visits:
        for end, side in enumerate((-1, 1)):
            pose = _stop(hand, means, course, visit, end, side, joints)
            if pose is not None:
                poses.append(pose)
                met.add((visit.joint, end))
    missed = sorted({visit.joint for visit in visits for end in (0, 1) if (visit.joint, end) not in met})
    return Measured(poses, scales, missed, whole + seconds)


@dataclass(frozen=True, slots=True)
class Lengths:
    """Block by block: tendons' elongations, tensions, motors, joints."""

    tendons: list[int]
    elongation_m: FloatArray
    stretch_m: FloatArray
    tension_n: FloatArray
    motor_rad: FloatArray
    joint_rad: FloatArray


def lengths_of(hand: Hand, means: Means, tendons: list[int]) -> Lengths:
    """What a run of ``tendon_means.FIELDS`` tells of these tendons, with the levers' loops put back."""
    counts, motors = means.of("hall_count"), hand.model[0]["tendon_motor"]
    each = [stretched(hand, counts[:, t], t) for t in tendons]
    angles = means.of("motor_angle_rad")[:, [int(motors[t]) for t in tendons]]
    elongation, tension = (np.column_stack([pair[k] for pair in each]) for k in (0, 1))
    stretch = tension * hand.model[0]["tendon_compliance_m_n"][tendons]
    return Lengths(tendons, elongation, stretch, tension, angles, means.of("joint_angle_rad"))


def _stop(
    hand: Hand, means: Means, course: Lengths, visit: Visit, end: int, side: int, joints: list[int]
) -> Poses | None:
    """The pose of a stop without contact, from the line through both presses; None: none was met."""
    m, j = hand.model[0], visit.joint
    P, time = straight_jacobian(hand.model)[course.tendons, j], means.time_s
    rows, torque, angle = [], [], []
    for k in (1, 3):
        held = visit.ends_s[end] + sum(PRESS_S[:k])
        used = (time >= held + 0.4 * PRESS_S[k]) & (time < held + PRESS_S[k])
        tension = course.tension_n[used].mean(axis=0)
        seen = (course.elongation_m, course.motor_rad, course.stretch_m)
        rows.append(np.array([each[used].mean(axis=0) for each in seen]))
        torque.append(float(-side * P @ tension))
        angle.append(float(course.joint_rad[used, j].mean()))
    spread, own = hand.file.tolerances, course.tendons
    guided = m["guide_loss_frac"][own] * tension + m["guide_bending_n"][own]
    unsure = math.hypot(spread.torque_constant, spread.pulley_radius) * float(np.linalg.norm(P * tension))
    lost = float(np.abs(P) @ guided) + float(m["joint_coulomb_nm"][j])
    one, two = presses_nm(hand, j)
    if not side * (angle[1] - angle[0]) < TOUCH * (two - one) / float(m["joint_impedance_nm_rad"][j]):
        return None
    # at rest guides and joint take anything between nothing and all that they can
    rise = max(torque[1] - torque[0], 0.25 * (two - one))
    share = (torque[0] - 0.5 * lost) / rise
    error = math.hypot(unsure, lost / math.sqrt(12.0)) / rise * abs(angle[1] - angle[0])
    stop = float(m["joint_min_rad" if side < 0 else "joint_max_rad"][j])
    elongation, motor, stretch = (rows[0] - share * (rows[1] - rows[0]))[:, None]
    return Poses(elongation, motor, stretch, 1, joints.index(j), stop, error, LENGTH_SD_M, 1)
