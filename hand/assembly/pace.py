"""How fast references may move, and up to where the guard lets a motor stretch its tendon.

A joint that moves at ``qd`` winds each of its tendons at ``|P| qd`` and so turns its motor at ``|P| qd / R``:
the slowest and weakest motor of its tendons decides. Joints that springs share out among lines move together.
A wrist axis moves all tendons at once, and the two axes may move together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from controllers.reference import TORQUE_SHARE
from hand.assembly.straight import elongation_of_tension_m, greatest_tensions_n, straight_jacobian
from hand.assembly.tendons import sprung_fingers
from hand.file.hand import HandFile
from mechanics.fourbar import rocker_turn
from mechanics.wrist import wrist_lengths
from signals.layout import FloatArray
from signals.records import RecordArray

SPEED_SHARE: Final = 0.35
"""Share of the motors' greatest speed that a reference may ask for: the rest is the feedback's."""
WRIST_SHARE: Final = 0.1
"""The same for the wrist, which pulls at all tendons: one that is near its limit has to be let go in time."""
BRAKE_SHARE: Final = 0.2
"""Share of the motors' greatest torque with which the guard brakes a joint: a harder one shakes the bones on
their springs, and the shaking reaches the stop."""
CARE_RAD: Final = math.radians(4.0)
"""How much sooner a joint ends its range in a fast finger; the law of the way may pass it by 1.7 deg."""
CARE_SHARE: Final = 1.0 / 7.0
"""No more of a joint's range than this is kept free at either end: in its middle nothing is kept."""
JOINT_SPEED_DEG_S: Final = 360.0
"""No joint whose file says nothing is asked to move faster: a finger closes in a quarter of a second."""
TENSION_SHARE: Final = 0.96
"""Share of the greatest tension up to which the guard lets a motor wind; the rest is the sensors' noise."""
LEAST_SHARE: Final = 0.9
"""Share of the least tension down to which it lets a motor unwind."""
ARM_POSES: Final = 41
"""Poses of a joint's range at which the lever arms of curved paths are looked at."""
WRIST_STEP_RAD: Final = 1e-4


def store_pace(hand: HandFile, model: RecordArray) -> None:
    """Speeds and accelerations of joints and wrist axes, ends of the elongation; after all other parts."""
    m = model[0]
    n_tendons, n_joints = int(m["n_tendons"]), int(m["n_joints"])
    arms = greatest_arms_m(model)[:n_tendons, :n_joints]
    speed, acceleration = motor_bounds(model, moving_arms_m(model, arms))
    fastest = np.minimum(SPEED_SHARE * speed, math.radians(JOINT_SPEED_DEG_S))
    limits = hand.limits
    if limits.joint_speed_max_deg_s is not None:
        fastest = np.full(n_joints, math.radians(limits.joint_speed_max_deg_s))
    hardest = TORQUE_SHARE * acceleration
    if limits.joint_acceleration_max_deg_s2 is not None:
        hardest = np.full(n_joints, math.radians(limits.joint_acceleration_max_deg_s2))
    m["joint_speed_max_rad_s"][:n_joints] = fastest
    m["joint_acceleration_max_rad_s2"][:n_joints] = hardest
    m["joint_torque_rate_nm_s"][:n_joints] = limits.tension_rate_n_s * arms.max(axis=0)
    m["joint_brake_rad_s2"][:n_joints] = BRAKE_SHARE * acceleration
    range_rad = (m["joint_max_rad"] - m["joint_min_rad"])[:n_joints]
    m["joint_care_rad"][:n_joints] = np.minimum(CARE_RAD, CARE_SHARE * range_rad)
    for f in sprung_fingers(model):  # whose motors lead no joint back without the others
        m["joint_care_rad"][m["finger_joint"][f, : m["finger_n_joints"][f]]] = 0.0
    most = TENSION_SHARE * greatest_tensions_n(model) / (1.0 + m["lever_friction_frac"][:n_tendons])
    m["elongation_max_m"] = elongation_of_tension_m(model, most)
    m["elongation_min_m"] = elongation_of_tension_m(model, LEAST_SHARE * m["tension_min_n"][:n_tendons])
    if int(m["n_axes"]):
        m["wrist_arm_m"][:n_tendons] = _wrist_arms(model, np.array(m["wrist_neutral_rad"]))
        arms = _greatest_wrist_arms(model).sum(axis=1, keepdims=True)
        speed, acceleration = motor_bounds(model, arms)
        m["axis_speed_max_rad_s"] = np.minimum(SPEED_SHARE * speed[0], m["axis_speed_limit_rad_s"])
        m["axis_acceleration_max_rad_s2"] = WRIST_SHARE * acceleration[0]


def greatest_arms_m(model: RecordArray) -> FloatArray:
    """Greatest lever arm [m/rad] of every tendon and joint over the joint's range, shape (T, J).

    Tensegrity bases count with their straight pose.
    """
    m = model[0]
    arms = straight_jacobian(model)
    greatest = np.abs(arms)
    for share in np.linspace(0.0, 1.0, ARM_POSES):
        q = m["joint_min_rad"] + share * (m["joint_max_rad"] - m["joint_min_rad"])
        c = m["curve_m"]
        bent = arms + q * (c[..., 0] + q * (c[..., 1] + q * c[..., 2]))
        for j in np.flatnonzero(m["four_bar_crank_m"]):
            bent[:, j] += arms[:, j] * (rocker_turn(m, int(j), float(q[j]))[1] - 1.0)
        greatest = np.maximum(greatest, np.abs(bent))
    return greatest


def moving_arms_m(model: RecordArray, arms_m: FloatArray) -> FloatArray:
    """Way of each tendon per joint angle [m/rad] as the joints move, shape (n_tendons, n_joints).

    The lever arms ``arms_m``; with kind SPRUNG what a joint turns takes all that lies along its lines too.
    """
    m, moving = model[0], arms_m.copy()
    for f in sprung_fingers(model):
        joints = m["finger_joint"][f, : m["finger_n_joints"][f]]
        tendons = m["finger_tendon"][f, : m["finger_n_tendons"][f]]
        turned = np.abs(m["pinv_jt_1_m"][np.ix_(joints, tendons)]).sum(axis=1)
        moving[np.ix_(tendons, joints)] = 1.0 / turned
    return moving


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast the reference of one joint or wrist axis may move, and what says so: "file" or "derived"."""

    name: str
    speed_max_deg_s: float
    speed_from: str
    acceleration_max_deg_s2: float
    acceleration_from: str


def paces(hand: HandFile, model: RecordArray) -> dict[str, list[Pace]]:
    """What is in force for "joints" and "axes", in the order of the records.

    Args:
        hand: the checked hand file.
        model: the model record made of it, shape (1,).
    """
    m, limits = model[0], hand.limits
    by_drive = m["axis_speed_max_rad_s"] >= m["axis_speed_limit_rad_s"]
    speed_in_file = limits.joint_speed_max_deg_s is not None
    acceleration_in_file = limits.joint_acceleration_max_deg_s2 is not None
    return {
        "joints": [
            _pace(model, "joint", j, joint.name, speed_in_file, acceleration_in_file)
            for j, joint in enumerate(hand.joints)
        ],
        "axes": [_pace(model, "axis", a, name, bool(by_drive[a]), False) for a, name in enumerate(hand.axes)],
    }


def _pace(
    model: RecordArray, part: str, k: int, name: str, speed_told: bool, acceleration_told: bool
) -> Pace:
    speed, acceleration = (
        round(math.degrees(float(model[f"{part}_{what}"][0, k])), 6)
        for what in ("speed_max_rad_s", "acceleration_max_rad_s2")
    )
    words = ("derived", "file")
    return Pace(name, speed, words[speed_told], acceleration, words[acceleration_told])


def motor_bounds(model: RecordArray, arms_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Greatest speed [rad/s] and acceleration [rad/s2] of coordinates that the tendons' motors give.

    Args:
        model: model record with drives and tendons, shape (1,).
        arms_m: |dh/dq| of each tendon by each coordinate [m/rad], shape (T, n).

    Returns:
        Two arrays, shape (n,); infinite for a coordinate that moves no tendon.
    """
    m = model[0]
    motor = m["tendon_motor"][: len(arms_m)]
    turns = arms_m / abs(m["spool_radius_m"][: len(arms_m), None])  # of the motor per coordinate
    slowest = (turns / m["motor_speed_limit_rad_s"][motor][:, None]).max(axis=0)
    inertia, torque = m["motor_inertia_kg_m2"][motor], m["motor_torque_limit_nm"][motor]
    weakest = (turns * (inertia / torque)[:, None]).max(axis=0)
    with np.errstate(divide="ignore"):
        return 1.0 / slowest, 1.0 / weakest


def _wrist_arms(model: RecordArray, axes_rad: FloatArray) -> FloatArray:
    """dh/dq of each tendon by each wrist axis [m/rad] at axis angles (2,), shape (T, 2)."""
    m = model[0]
    n = int(m["n_tendons"])
    arms = np.zeros((n, 2))
    for a in range(2):
        step = WRIST_STEP_RAD * np.eye(2)[a]
        one, other = np.zeros(n), np.zeros(n)
        wrist_lengths(m, axes_rad[0] + step[0], axes_rad[1] + step[1], one)
        wrist_lengths(m, axes_rad[0] - step[0], axes_rad[1] - step[1], other)
        arms[:, a] = (one - other) / (2.0 * WRIST_STEP_RAD)
    return arms


def _greatest_wrist_arms(model: RecordArray) -> FloatArray:
    """|dh/dq| of each tendon by each wrist axis [m/rad], the greatest over the range, shape (T, 2)."""
    m = model[0]
    first, second = (np.linspace(m["axis_min_rad"][a], m["axis_max_rad"][a], 3) for a in range(2))
    poses = [np.array([q71, q73]) for q71 in first for q73 in second]
    greatest: FloatArray = np.max([np.abs(_wrist_arms(model, pose)) for pose in poses], axis=0)
    return greatest
