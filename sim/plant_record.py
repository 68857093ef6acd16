"""The plant's own state: everything the simulated hand remembers between two substeps."""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

import numpy as np

from signals.layout import FloatArray, IntArray, UintArray, dtype_of
from signals.sizes import AXES, FINGERS, JOINTS, MOTORS, RIPPLES, TENDONS
from sim.backlash import Backlash
from sim.branches import Branches

COORDINATES: Final = AXES + JOINTS


class PlantRecord(Branches, Backlash, Protocol):
    """State of one simulated hand, shape (1,) as every record."""

    time_s: float
    cycle: int
    substeps: int
    sensor_level: int
    guides_on: int
    contact_on: int
    energy_on: int
    rng: Annotated[UintArray, 4]
    # mechanical state
    q_rad: Annotated[FloatArray, JOINTS]
    qd_rad_s: Annotated[FloatArray, JOINTS]
    theta_rad: Annotated[FloatArray, MOTORS]
    w_rad_s: Annotated[FloatArray, MOTORS]
    axis_rad: Annotated[FloatArray, AXES]
    axis_rad_s: Annotated[FloatArray, AXES]
    drive_rad: Annotated[FloatArray, AXES]
    drive_rad_s: Annotated[FloatArray, AXES]
    e0_m: Annotated[FloatArray, TENDONS]
    winding_degc: Annotated[FloatArray, MOTORS]
    case_degc: Annotated[FloatArray, MOTORS]
    # command in force
    current_a: Annotated[FloatArray, MOTORS]
    motor_enabled: Annotated[IntArray, MOTORS]
    n_servos: int
    servo_goal_rad: Annotated[FloatArray, MOTORS]
    servo_current_a: Annotated[FloatArray, MOTORS]
    servo_slope_nms_rad: Annotated[FloatArray, MOTORS]
    axis_wanted_rad: Annotated[FloatArray, AXES]
    axis_enabled: Annotated[IntArray, AXES]
    # sensors
    hall_filtered_rad: Annotated[FloatArray, TENDONS]
    hall_played_rad: Annotated[FloatArray, TENDONS]
    difference_filtered_n: Annotated[FloatArray, TENDONS]
    encoder_rad: Annotated[FloatArray, MOTORS]
    joint_filtered_rad: Annotated[FloatArray, JOINTS]
    axis_zero_rad: Annotated[FloatArray, AXES]
    # faults
    hall_frozen: Annotated[IntArray, TENDONS]
    hall_frozen_count: Annotated[FloatArray, TENDONS]
    hall_offset_count: Annotated[FloatArray, TENDONS]
    hall_glitch_count: Annotated[FloatArray, TENDONS]
    hall_noise_scale: Annotated[FloatArray, TENDONS]
    motor_lost: Annotated[IntArray, MOTORS]
    motor_nan: Annotated[IntArray, MOTORS]
    motor_reset: Annotated[IntArray, MOTORS]
    encoder_frozen: Annotated[IntArray, MOTORS]
    encoder_offset_rad: Annotated[FloatArray, MOTORS]
    friction_scale: Annotated[FloatArray, MOTORS]
    axis_offset_rad: Annotated[FloatArray, AXES]
    joint_lost: Annotated[IntArray, JOINTS]
    joint_frozen: Annotated[IntArray, JOINTS]
    joint_frozen_count: Annotated[FloatArray, JOINTS]
    joint_offset_rad: Annotated[FloatArray, JOINTS]
    joint_noise_scale: Annotated[FloatArray, JOINTS]
    # world
    tip_force_n: Annotated[FloatArray, FINGERS, 3]
    tip_moment_nm: Annotated[FloatArray, FINGERS, 3]
    contact_n: Annotated[FloatArray, FINGERS]
    tip_work: Annotated[FloatArray, 3, 3]
    # results and scratch of a substep
    finger_tension_n: Annotated[FloatArray, TENDONS]
    guide_slope_ns_m: Annotated[FloatArray, TENDONS]
    motor_torque_nm: Annotated[FloatArray, MOTORS]
    length_m: Annotated[FloatArray, TENDONS]
    P_tj_m: Annotated[FloatArray, TENDONS, JOINTS]
    wrist_length_m: Annotated[FloatArray, TENDONS]
    P_tw_m: Annotated[FloatArray, TENDONS, AXES]
    tau_nm: Annotated[FloatArray, COORDINATES]
    external_nm: Annotated[FloatArray, COORDINATES]
    wrist_at_rad: Annotated[FloatArray, AXES]
    path_speed_m_s: Annotated[FloatArray, TENDONS]
    motor_load_nm: Annotated[FloatArray, MOTORS]
    motor_friction_nm: Annotated[FloatArray, MOTORS]
    motor_friction_slope_nms_rad: Annotated[FloatArray, MOTORS]
    motor_kick_rad_s: Annotated[FloatArray, MOTORS]
    ripple_nm: Annotated[FloatArray, MOTORS]
    ripple_amplitude_nm: Annotated[FloatArray, RIPPLES, MOTORS]
    ripple_phase_rad: Annotated[FloatArray, RIPPLES, MOTORS]
    delta_rad_s: Annotated[FloatArray, COORDINATES]
    axis_torque_nm: Annotated[FloatArray, AXES]
    drive_kick_rad_s: Annotated[FloatArray, AXES]
    energy_in_j: float
    energy_lost_j: float
    diverged: int
    diverged_index: int


PLANT: Final = dtype_of(PlantRecord)


def new_plant() -> Any:
    """A zeroed plant record, shape (1,)."""
    return np.zeros(1, dtype=PLANT)
