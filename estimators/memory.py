"""What the estimator remembers between two cycles, and its scratch: one record, made once."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.records import RecordArray
from signals.sizes import AXES, BODIES, FINGER_JOINTS, FINGERS, JOINTS, MOTORS, TENDONS

ESTIMATOR_MEMORY: Final[np.dtype[Any]] = np.dtype(
    [
        ("started", "i8"),
        # last good value of every channel
        ("motor_angle_rad", "f8", (MOTORS,)),
        ("hall_count", "f8", (TENDONS,)),
        ("axis_angle_rad", "f8", (AXES,)),
        # previous sample, for speeds
        ("last_motor_ns", "i8", (MOTORS,)),
        ("last_axis_ns", "i8", (AXES,)),
        ("motor_dt_s", "f8", (MOTORS,)),
        ("last_motor_angle_rad", "f8", (MOTORS,)),
        ("last_joint_angle_rad", "f8", (JOINTS,)),
        ("last_axis_angle_rad", "f8", (AXES,)),
        # values that are not believed, and for how long they have stood
        ("doubt_angle_rad", "f8", (MOTORS,)),
        ("doubt_s", "f8", (MOTORS,)),
        ("axis_doubt_rad", "f8", (AXES,)),
        ("axis_doubt_s", "f8", (AXES,)),
        ("anew", "i8", (FINGERS,)),
        # trust in the tendons' lengths
        ("weight", "f8", (TENDONS,)),
        ("degraded", "i8", (FINGERS,)),
        # scratch
        ("H", "f8", (FINGER_JOINTS, FINGER_JOINTS)),
        ("x", "f8", (FINGER_JOINTS,)),
        ("motor_ok", "i8", (MOTORS,)),
        ("axis_ok", "i8", (AXES,)),
        ("wrist_R", "f8", (3, 3)),
        ("wrist_o_m", "f8", (3,)),
        ("wrist_length_m", "f8", (TENDONS,)),
        ("P_wrist_m", "f8", (TENDONS, AXES)),
        ("residual_wrist_m", "f8", (TENDONS, AXES)),
        ("wrist_sums", "f8", (FINGERS, 6)),
        ("P_tj_m", "f8", (TENDONS, JOINTS)),
        ("length_m", "f8", (TENDONS,)),
        ("projected_m", "f8", (AXES,)),
        ("body_R", "f8", (BODIES, 3, 3)),
        ("body_p_m", "f8", (BODIES, 3)),
        ("tip_m", "f8", (FINGERS, 3)),
        # homing
        ("home_sum_m", "f8", (TENDONS,)),
        ("home_count", "i8"),
    ],
    align=True,
)


def new_memory() -> RecordArray:
    """An empty estimator memory, shape ``(1,)``."""
    return np.zeros(1, dtype=ESTIMATOR_MEMORY)
