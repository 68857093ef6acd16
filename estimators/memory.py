"""What the estimator remembers between two cycles, and its scratch: one record, made once."""

from __future__ import annotations

from typing import Annotated, Final, Protocol

import numpy as np

from mechanics.finger_rows import FingerRows
from mechanics.spring_tables import SpringTables
from signals.layout import FloatArray, IntArray, dtype_of
from signals.records import RecordArray
from signals.sizes import AXES, BODIES, FINGER_JOINTS, FINGER_TENDONS, FINGERS, JOINTS, MOTORS, TENDONS


class EstimatorMemory(FingerRows, SpringTables, Protocol):
    """What the estimator remembers between two cycles, and its scratch."""

    started: int
    # last good value of every channel
    motor_angle_rad: Annotated[FloatArray, MOTORS]
    hall_count: Annotated[FloatArray, TENDONS]
    axis_angle_rad: Annotated[FloatArray, AXES]
    # previous sample, for speeds
    last_motor_ns: Annotated[IntArray, MOTORS]
    last_axis_ns: Annotated[IntArray, AXES]
    motor_dt_s: Annotated[FloatArray, MOTORS]
    # that time and its low-pass's share where all motors have the same; else 0
    one_dt_s: float
    one_share: float
    last_motor_angle_rad: Annotated[FloatArray, MOTORS]
    last_joint_angle_rad: Annotated[FloatArray, JOINTS]
    last_axis_angle_rad: Annotated[FloatArray, AXES]
    # values that are not believed, and for how long they have stood
    doubt_angle_rad: Annotated[FloatArray, MOTORS]
    doubt_s: Annotated[FloatArray, MOTORS]
    axis_doubt_rad: Annotated[FloatArray, AXES]
    axis_doubt_s: Annotated[FloatArray, AXES]
    anew: Annotated[IntArray, FINGERS]
    # trust in the tendons' lengths
    weight: Annotated[FloatArray, TENDONS]
    degraded: Annotated[IntArray, FINGERS]
    differs: Annotated[IntArray, TENDONS]
    # levers' friction loops: whether any is followed, widths of their plays, angles and states
    loops: int
    loop_share: float
    loop_frac: Annotated[FloatArray, TENDONS]
    loop_band_rad: Annotated[FloatArray, TENDONS]
    loop_half_rad: Annotated[FloatArray, TENDONS]
    loop_1_rad: Annotated[FloatArray, TENDONS]
    loop_slow_rad: Annotated[FloatArray, TENDONS]
    loop_held_rad: Annotated[FloatArray, TENDONS]
    loop_hidden_rad: Annotated[FloatArray, TENDONS]
    loop_sign: Annotated[FloatArray, TENDONS]
    # sensors at joints: angles without them, newest sample, its error, what they make of it
    side_angle_rad: Annotated[FloatArray, JOINTS]
    joint_ns: Annotated[IntArray, JOINTS]
    joint_error_rad: Annotated[FloatArray, JOINTS]
    joint_near: Annotated[IntArray, JOINTS]
    joint_used: Annotated[IntArray, JOINTS]
    joint_fade_rad: Annotated[FloatArray, JOINTS]
    joint_correction_rad: Annotated[FloatArray, JOINTS]
    # scratch
    H: Annotated[FloatArray, FINGER_JOINTS, FINGER_JOINTS]
    x: Annotated[FloatArray, FINGER_JOINTS]
    motor_ok: Annotated[IntArray, MOTORS]
    axis_ok: Annotated[IntArray, AXES]
    wrist_R: Annotated[FloatArray, 3, 3]
    wrist_o_m: Annotated[FloatArray, 3]
    wrist_length_m: Annotated[FloatArray, TENDONS]
    P_wrist_m: Annotated[FloatArray, TENDONS, AXES]
    residual_wrist_m: Annotated[FloatArray, FINGERS, 2, FINGER_TENDONS]
    wrist_sums: Annotated[FloatArray, FINGERS, 6]
    P_tj_m: Annotated[FloatArray, TENDONS, JOINTS]
    length_m: Annotated[FloatArray, TENDONS]
    body_sin: Annotated[FloatArray, BODIES]
    body_cos: Annotated[FloatArray, BODIES]
    # homing
    home_sum_m: Annotated[FloatArray, TENDONS]
    home_count: int


ESTIMATOR_MEMORY: Final = dtype_of(EstimatorMemory)


def new_memory() -> RecordArray:
    """An empty estimator memory, shape ``(1,)``."""
    return np.zeros(1, dtype=ESTIMATOR_MEMORY)
