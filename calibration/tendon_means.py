"""What is kept of tendons and their motors in a slow run, as means over blocks of cycles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibration.motion_run import Means
from hand.hand import Hand
from signals.layout import FloatArray

FIELDS = (
    ("measurement", "motor_time_ns"),
    ("measurement", "motor_angle_rad"),
    ("measurement", "motor_current_a"),
    ("measurement", "hall_count"),
    ("state", "joint_angle_rad"),
)


@dataclass(frozen=True, slots=True)
class Course:
    """Block means of one tendon and its motor, in the order of time.

    Attributes:
        time_s: of the motor's samples since the motion began: a wire brings them a little earlier or later.
        angle_rad: of the motor at its gear output, growing as the tendon is wound in.
        speed_rad_s: of it.
        torque_nm: with which it is wound in: current times torque constant, less inertia and the ripple that
            the hand file has.
        count: of the Hall sensor.
    """

    time_s: FloatArray
    angle_rad: FloatArray
    speed_rad_s: FloatArray
    torque_nm: FloatArray
    count: FloatArray


def course_of(hand: Hand, means: Means, t: int) -> Course:
    """Course of tendon ``t`` from the means of a run."""
    m, i = hand.model[0], int(hand.model[0]["tendon_motor"][t])
    moving = means.time_s >= 0.0
    away = 1e-9 * (means.of("motor_time_ns")[moving, i] - means.of("time_ns")[moving])
    time, side = means.time_s[moving] + away, float(np.sign(m["spool_radius_m"][t]))
    angle = means.of("motor_angle_rad")[moving, i]
    speed = np.gradient(angle, time)
    torque = means.of("motor_current_a")[moving, i] * float(m["motor_torque_constant_nm_a"][i])
    torque -= float(m["motor_inertia_kg_m2"][i]) * np.gradient(speed, time) + ripple_nm(hand, i, angle)
    count = means.of("hall_count")[moving, t]
    return Course(time, side * angle, side * speed, side * torque, count)


def ripple_nm(hand: Hand, i: int, angle_rad: FloatArray) -> FloatArray:
    """Torque of the ripple of motor ``i`` that the hand file has, low orders (mechanics.ripple)."""
    m, found = hand.model[0], np.zeros_like(angle_rad)
    for k in range(int(m["n_ripples"])):
        if m["ripple_order"][k] <= 2:
            turns = float(m["ripple_order"][k]) * (
                float(m["gear_ratio"][i]) if m["ripple_is_input"][k] else 1.0
            )
            found += float(m["ripple_amplitude_nm"][i, k]) * np.sin(
                turns * angle_rad + float(m["ripple_phase_rad"][i, k])
            )
    return found
