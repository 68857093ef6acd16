"""What controller and guard remember between two cycles, and their scratch: one record each, made once."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.records import RecordArray
from signals.sizes import AXES, FINGER_JOINTS, FINGER_TENDONS, FINGERS, JOINTS, MOTORS, TENDONS

_SOLVER: Final[list[Any]] = [
    # one finger's allocation problem: rows of P, bounds, preferred and found tensions
    ("A", "f8", (FINGER_TENDONS, FINGER_JOINTS)),
    ("torque", "f8", (FINGER_JOINTS,)),
    ("target", "f8", (FINGER_JOINTS,)),
    ("low", "f8", (FINGER_TENDONS,)),
    ("high", "f8", (FINGER_TENDONS,)),
    ("low_all", "f8", (FINGER_TENDONS,)),
    ("high_all", "f8", (FINGER_TENDONS,)),
    ("preferred", "f8", (FINGER_TENDONS,)),
    ("tension", "f8", (FINGER_TENDONS,)),
    # scratch of the dual Newton method and of the facets
    ("y", "f8", (FINGER_JOINTS,)),
    ("gradient", "f8", (FINGER_JOINTS,)),
    ("step", "f8", (FINGER_JOINTS,)),
    ("H", "f8", (FINGER_JOINTS, FINGER_JOINTS)),
    ("free", "f8", (FINGER_TENDONS,)),
    ("along", "f8", (FINGER_TENDONS,)),
    ("line", "i8", (FINGER_TENDONS,)),
    ("pick", "i8", (FINGER_JOINTS,)),
    ("normal", "f8", (FINGER_JOINTS,)),
    ("best_normal", "f8", (FINGER_JOINTS,)),
]

CONTROLLER_MEMORY: Final[np.dtype[Any]] = np.dtype(
    [
        *_SOLVER,
        # mode in force and time since it was entered
        ("mode", "i8", (FINGERS,)),
        ("age_s", "f8", (FINGERS,)),
        ("blend_s", "f8", (FINGERS,)),
        # what the references were off by when the mode was entered; fades to zero
        ("offset_joint_rad", "f8", (JOINTS,)),
        ("offset_motor_rad", "f8", (MOTORS,)),
        ("offset_tension_n", "f8", (TENDONS,)),
        ("offset_torque_nm", "f8", (MOTORS,)),
        ("offset_common_n", "f8", (FINGERS,)),
        ("entering", "i8", (FINGERS,)),
        # joint feedback of the impedance
        ("feedback_rad", "f8", (JOINTS,)),
        ("feedback_speed_rad_s", "f8", (JOINTS,)),
        ("change_rad", "f8", (JOINTS,)),
        ("last_motor_rad", "f8", (TENDONS,)),
        ("last_wrist_m", "f8", (TENDONS,)),
        ("path_m", "f8", (TENDONS,)),
        ("path_speed_m_s", "f8", (TENDONS,)),
        # references that are carried on
        ("shaped_rad", "f8", (JOINTS,)),
        ("shaped_speed_rad_s", "f8", (JOINTS,)),
        ("shaped_torque_nm", "f8", (JOINTS,)),
        ("shaped_motor_rad", "f8", (MOTORS,)),
        ("shaped_motor_rad_s", "f8", (MOTORS,)),
        ("common_n", "f8", (FINGERS,)),
        ("common_n_s", "f8", (FINGERS,)),
        ("shift_n", "f8", (TENDONS,)),
        ("wanted_n", "f8", (TENDONS,)),
        ("ref_tension_n", "f8", (TENDONS,)),
        ("ref_tension_n_s", "f8", (TENDONS,)),
        ("tension_rate_n_s", "f8", (TENDONS,)),
        ("joint_speed_rad_s", "f8", (JOINTS,)),
        ("motor_speed_rad_s", "f8", (MOTORS,)),
        ("wrist_speed_m_s", "f8", (TENDONS,)),
        ("wrist_start_m", "f8", (TENDONS,)),
        ("P_tj_m", "f8", (TENDONS, JOINTS)),
        # wrist: model of the drive, fading offset
        ("axis_active", "i8"),
        ("axis_age_s", "f8"),
        ("axis_blend_s", "f8"),
        ("axis_angle_rad", "f8", (AXES,)),
        ("axis_speed_rad_s", "f8", (AXES,)),
        ("offset_axis_rad", "f8", (AXES,)),
        ("shaped_axis_rad", "f8", (AXES,)),
        ("shaped_axis_rad_s", "f8", (AXES,)),
        ("P_wrist_m", "f8", (TENDONS, AXES)),
    ],
    align=True,
)


def new_controller_memory() -> RecordArray:
    """An empty controller memory, shape ``(1,)``."""
    return np.zeros(1, dtype=CONTROLLER_MEMORY)
