"""What the controller remembers between two cycles, and its scratch: one record, made once."""

from __future__ import annotations

from typing import Annotated, Final, Protocol

import numpy as np

from mechanics.finger_rows import FingerRows
from signals.layout import FloatArray, IntArray, dtype_of
from signals.records import RecordArray
from signals.sizes import AXES, FINGER_JOINTS, FINGER_TENDONS, FINGERS, JOINTS, MOTORS, RIPPLES, TENDONS


class Solver(Protocol):
    """One finger's allocation problem and the scratch of its solution."""

    # rows of P, bounds, preferred and found tensions
    A: Annotated[FloatArray, FINGER_TENDONS, FINGER_JOINTS]
    torque: Annotated[FloatArray, FINGER_JOINTS]
    target: Annotated[FloatArray, FINGER_JOINTS]
    low: Annotated[FloatArray, FINGER_TENDONS]
    high: Annotated[FloatArray, FINGER_TENDONS]
    low_all: Annotated[FloatArray, FINGER_TENDONS]
    high_all: Annotated[FloatArray, FINGER_TENDONS]
    preferred: Annotated[FloatArray, FINGER_TENDONS]
    tension: Annotated[FloatArray, FINGER_TENDONS]
    # scratch of the dual Newton method and of the facets
    y: Annotated[FloatArray, FINGER_JOINTS]
    gradient: Annotated[FloatArray, FINGER_JOINTS]
    step: Annotated[FloatArray, FINGER_JOINTS]
    H: Annotated[FloatArray, FINGER_JOINTS, FINGER_JOINTS]
    free: Annotated[FloatArray, FINGER_TENDONS]
    along: Annotated[FloatArray, FINGER_TENDONS]
    line: Annotated[IntArray, FINGER_TENDONS]
    pick: Annotated[IntArray, FINGER_JOINTS]
    normal: Annotated[FloatArray, FINGER_JOINTS]
    best_normal: Annotated[FloatArray, FINGER_JOINTS]


class ControllerMemory(FingerRows, Solver, Protocol):
    """What the controller remembers between two cycles, and its scratch."""

    started: int
    # ripples with the motors side by side, and their torque in this cycle
    ripple_order: Annotated[FloatArray, RIPPLES, MOTORS]
    ripple_amplitude_nm: Annotated[FloatArray, RIPPLES, MOTORS]
    ripple_phase_rad: Annotated[FloatArray, RIPPLES, MOTORS]
    ripple_most: Annotated[FloatArray, RIPPLES]
    ripple_led_rad: Annotated[FloatArray, MOTORS]
    ripple_nm: Annotated[FloatArray, MOTORS]
    # fingers whose pseudo-inverse gives every torque
    invertible: Annotated[IntArray, FINGERS]
    # mode in force and time since it was entered
    mode: Annotated[IntArray, FINGERS]
    age_s: Annotated[FloatArray, FINGERS]
    blend_s: Annotated[FloatArray, FINGERS]
    # what the references were off by when the mode was entered; fades to zero
    offset_joint_rad: Annotated[FloatArray, JOINTS]
    offset_motor_rad: Annotated[FloatArray, MOTORS]
    offset_tension_n: Annotated[FloatArray, TENDONS]
    offset_torque_nm: Annotated[FloatArray, MOTORS]
    offset_common_n: Annotated[FloatArray, FINGERS]
    entering: Annotated[IntArray, FINGERS]
    fade_left: float
    # joint feedback of the impedance
    feedback_share: float
    feedback_rad: Annotated[FloatArray, JOINTS]
    feedback_speed_rad_s: Annotated[FloatArray, JOINTS]
    change_rad: Annotated[FloatArray, JOINTS]
    last_motor_rad: Annotated[FloatArray, TENDONS]
    last_wrist_m: Annotated[FloatArray, TENDONS]
    # change of a finger's tensions by the guides' feedforward in this cycle, and the stretch it makes
    guide_row: Annotated[FloatArray, FINGER_TENDONS]
    guide_stretch_m: Annotated[FloatArray, TENDONS]
    # references that are carried on
    shaped_rad: Annotated[FloatArray, JOINTS]
    shaped_speed_rad_s: Annotated[FloatArray, JOINTS]
    shaped_torque_nm: Annotated[FloatArray, JOINTS]
    shaped_motor_rad: Annotated[FloatArray, MOTORS]
    shaped_motor_rad_s: Annotated[FloatArray, MOTORS]
    common_n: Annotated[FloatArray, FINGERS]
    common_n_s: Annotated[FloatArray, FINGERS]
    shift_n: Annotated[FloatArray, TENDONS]
    wanted_n: Annotated[FloatArray, TENDONS]
    ref_tension_n: Annotated[FloatArray, TENDONS]
    ref_tension_n_s: Annotated[FloatArray, TENDONS]
    tension_rate_n_s: Annotated[FloatArray, TENDONS]
    joint_speed_rad_s: Annotated[FloatArray, JOINTS]
    motor_speed_rad_s: Annotated[FloatArray, MOTORS]
    wrist_speed_m_s: Annotated[FloatArray, TENDONS]
    wrist_start_m: Annotated[FloatArray, TENDONS]
    # set-points of drives that take angles: sum over a motor's lines, what the entry was off by, last one
    set_point_rad: Annotated[FloatArray, MOTORS]
    set_lines: Annotated[IntArray, MOTORS]
    offset_point_rad: Annotated[FloatArray, MOTORS]
    last_point_rad: Annotated[FloatArray, MOTORS]
    P_tj_m: Annotated[FloatArray, TENDONS, JOINTS]
    # speeds that the wanted motion gives the paths of one finger, less what stretches its tendons
    path_m_s: Annotated[FloatArray, FINGER_TENDONS]
    # the lever's friction loop as the motors' motion turns it
    slow_path_m: Annotated[FloatArray, TENDONS]
    loop_lever_rad: Annotated[FloatArray, TENDONS]
    loop_sign: Annotated[FloatArray, TENDONS]
    # wrist: model of the drive, fading offset
    axis_active: int
    axis_age_s: float
    axis_blend_s: float
    axis_angle_rad: Annotated[FloatArray, AXES]
    axis_speed_rad_s: Annotated[FloatArray, AXES]
    offset_axis_rad: Annotated[FloatArray, AXES]
    shaped_axis_rad: Annotated[FloatArray, AXES]
    shaped_axis_rad_s: Annotated[FloatArray, AXES]
    P_wrist_m: Annotated[FloatArray, TENDONS, AXES]


CONTROLLER_MEMORY: Final = dtype_of(ControllerMemory)


def new_controller_memory() -> RecordArray:
    """An empty controller memory, shape ``(1,)``."""
    return np.zeros(1, dtype=CONTROLLER_MEMORY)
