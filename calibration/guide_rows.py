"""Courses of swept tendons and joints, and the equations that they make of every joint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from calibration.guide_fit import TWO_SIDED_95, Rows
from calibration.guide_sweeps import MOVE_S, MOVES, Plan, Sweep, jacobian, plan_of
from calibration.lever_fit import SLOW_RAD_S, LeverFit
from calibration.motion_run import Means, Watch, must_be_sound, run_motion
from calibration.tendon_means import FIELDS, Course, course_of
from calibration.winding_plan import TAIL_S
from hand.hand import Hand
from hand.options import RunOptions
from signals.layout import BoolArray, FloatArray, IntArray

SLOW_SHARE: Final = 0.35
"""Of a sweep's mean joint speed, below which a joint counts as standing still."""
LEAST_ROWS: Final = 20
"""Blocks in which a joint moves, below which its sweep says nothing."""


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
    time_s: FloatArray
    joint_rad: FloatArray
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


def tension_n(hand: Hand, course: Course, t: int, fit: LeverFit) -> FloatArray:
    """Tension on the motor's side of the guides, by the current less the friction of the levers' sweeps."""
    m, i = hand.model[0], int(hand.model[0]["tendon_motor"][t])
    own = fit.friction_nm * np.arctan(float(m["friction_gamma_1_s_rad"][i]) * course.speed_rad_s)
    torque = course.torque_nm - own - fit.viscous_nms_rad * course.speed_rad_s
    return np.asarray(torque / abs(float(m["spool_radius_m"][t])))


def smooth(values: FloatArray, time_s: FloatArray) -> FloatArray:
    """Rates of columns, over five blocks."""
    kernel = np.full(5, 0.2)
    rate = np.gradient(values, time_s, axis=0)
    return np.column_stack([np.convolve(column, kernel, mode="same") for column in rate.T])


FRICTION_LEFT: Final = 0.001
"""Standard deviation of a motor's friction that the levers' sweeps leave open beside noise, relative."""
VISCOUS_LEFT: Final = 0.003
"""Of a motor's viscous friction that its own run leaves open, relative."""
ARM_LEFT: Final = 0.005
"""Of a measured lever arm over its spool (``calibration.geometry``)."""


BETWEEN: Final = 0.5
"""Of half the difference of two signs of a path's speed: where between them it is."""


def unsure_of(hand: Hand, fits: dict[int, LeverFit], joints: list[int]) -> FloatArray:
    """Standard deviations of what is known with an error, shape (1 + nt + nt + nt + nt nj,).

    Place of the paths' speeds between the two that are measured, friction of each motor at the levers' speed
    [N m], its slope over the speed [N m s/rad], factor of each tendon's torque constant, factor of each lever
    arm.
    """
    spread, found = hand.file.tolerances, [BETWEEN]
    for fit in fits.values():
        noise = float(max(fit.half[4], fit.bound[4])) / TWO_SIDED_95
        found.append(math.hypot(noise, FRICTION_LEFT * fit.friction_nm))
    for fit in fits.values():
        noise = float(max(fit.half[5], fit.bound[5])) / TWO_SIDED_95
        found.append(math.hypot(noise, VISCOUS_LEFT * fit.viscous_nms_rad))
    found += [spread.torque_constant] * len(fits)
    for t in fits:
        measured = hand.file.measured(hand.names.tendons[t]).dh_dq_m_rad is not None
        found += [ARM_LEFT if measured else math.sqrt(2.0) * spread.pulley_radius] * len(joints)
    return np.maximum(np.array(found, dtype=np.float64), 1e-9)


def equations(hand: Hand, found: Measured, tensions: dict[int, FloatArray], joints: list[int]) -> list[Rows]:
    """Equations of these joints, of every sweep in which they move."""
    m, P = hand.model[0], jacobian(hand)
    tendons = list(tensions)
    T = np.column_stack([tensions[t] for t in tendons])
    speed = smooth(found.joint_rad, found.time_s)
    wound = np.column_stack([found.courses[t].speed_rad_s for t in tendons])
    s, apart = _signs(
        speed @ P[tendons].T, -wound * m["spool_radius_m"][tendons], float(m["guide_speed_m_s"])
    )
    v0 = float(m["joint_friction_speed_rad_s"])
    lost = T * (1.0 + m["guide_loss_frac"][tendons] * s)  # behind the guides: hardly differs both ways
    motor = m["tendon_motor"][tendons]
    radius = np.abs(m["spool_radius_m"][tendons])
    rest = np.arctan(m["friction_gamma_1_s_rad"][motor] * wound) / radius
    swept = found.time_s <= found.plan.levers_s
    usual = np.array([np.abs(w[np.abs(w) > SLOW_RAD_S]).mean() for w in wound[swept].T])
    level = np.arctan(m["friction_gamma_1_s_rad"][motor] * usual)
    slope = wound / radius - rest * usual / level  # what is known at the levers' speed is known there
    rows = []
    for sweep in found.plan.sweeps:
        move, moving = _moves(found, sweep, speed)
        for k, j in enumerate(joints):
            used = moving & (sweep.direction[j] != 0.0)
            if used.sum() < LEAST_ROWS:
                continue
            qd = speed[used, j]
            known = (
                T[used] + m["guide_bending_n"][tendons] * s[used]
            )  # the file's: a constant, as the joint's own
            torque = known @ P[tendons, j] + float(m["joint_viscous_nms_rad"][j]) * qd
            columns = P[tendons, j] * T[used] * s[used]
            sign = _sign(qd, v0)
            by_arm = np.zeros((int(used.sum()), len(tendons), len(joints)))
            by_arm[:, :, k] = lost[used] * P[tendons, j]
            between = (T * m["guide_loss_frac"][tendons] * apart)[used] @ P[tendons, j]
            turns = (rest[used] * P[tendons, j], slope[used] * P[tendons, j])
            unsure = (between[:, None], *turns, by_arm[:, :, k], by_arm.reshape(len(by_arm), -1))
            row = Rows(k, found.joint_rad[used, j], torque, sign, columns, move[used], np.hstack(unsure))
            rows.append(row)
    return rows


def _sign(speed: FloatArray, v0: float) -> FloatArray:
    """The smooth sign of ``mechanics.guides``."""
    return speed / np.sqrt(speed**2 + v0**2)


def _signs(by_joints: FloatArray, by_motors: FloatArray, v0: float) -> tuple[FloatArray, FloatArray]:
    """(Smooth signs of the paths' speeds, half the difference of what joints and motors say of them).

    A tendon that creeps while two joints move against each other loses the less, the slower it is. Estimated
    joints tell its path without the stretch, with errors of lever arms; its motor tells it with the stretch.
    """
    one, other = _sign(by_joints, v0), _sign(by_motors, v0)
    return 0.5 * (one + other), 0.5 * (other - one)


def _moves(found: Measured, sweep: Sweep, speed: FloatArray) -> tuple[IntArray, BoolArray]:
    """(Number of the move at each block, whether all joints of the sweep move there as they should)."""
    place = (found.time_s - sweep.begin_s) / MOVE_S
    move = np.clip(np.floor(place), 0, MOVES - 1).astype(np.int64)
    inside = (place >= 0.0) & (place < MOVES)
    wanted = np.where(move % 2 == 0, 1.0, -1.0)[:, None] * sweep.direction
    least = np.where(sweep.direction != 0.0, _mean_speed(found, sweep), -np.inf)
    return move, inside & (speed * wanted > SLOW_SHARE * least).all(axis=1)


def _mean_speed(found: Measured, sweep: Sweep) -> FloatArray:
    k = found.plan.path.times_s.index(sweep.begin_s)
    a, b = found.plan.path.angle_rad[k], found.plan.path.angle_rad[k + 1]
    return np.abs(b - a) / MOVE_S
