"""The plant's own state: everything the simulated hand remembers between two substeps."""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

import numpy as np

from signals.layout import FloatArray, IntArray, UintArray, dtype_of
from signals.sizes import AXES, BRANCH_JOINTS, FINGERS, JOINTS, MOTORS, RIPPLES, TENDONS

COORDINATES: Final = AXES + JOINTS


class PlantRecord(Protocol):
    """State of one simulated hand, shape (1,) as every record."""

    time_s: float
    cycle: int
    substeps: int
    # joints by branch of the tree: all that hangs on one child of the palm
    n_branches: int
    branch_joints: Annotated[IntArray, FINGERS]
    branch_joint: Annotated[IntArray, FINGERS, BRANCH_JOINTS]
    tendon_branch: Annotated[IntArray, TENDONS]
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
    lever_rad: Annotated[FloatArray, TENDONS]
    loop_sign: Annotated[FloatArray, TENDONS]
    e0_m: Annotated[FloatArray, TENDONS]
    winding_degc: Annotated[FloatArray, MOTORS]
    case_degc: Annotated[FloatArray, MOTORS]
    # command in force
    current_a: Annotated[FloatArray, MOTORS]
    motor_enabled: Annotated[IntArray, MOTORS]
    axis_wanted_rad: Annotated[FloatArray, AXES]
    axis_enabled: Annotated[IntArray, AXES]
    # sensors
    hall_filtered_rad: Annotated[FloatArray, TENDONS]
    hall_played_rad: Annotated[FloatArray, TENDONS]
    encoder_rad: Annotated[FloatArray, MOTORS]
    # faults
    tendon_off: Annotated[IntArray, TENDONS]
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
    # world
    tip_force_n: Annotated[FloatArray, FINGERS, 3]
    tip_moment_nm: Annotated[FloatArray, FINGERS, 3]
    contact_n: Annotated[FloatArray, FINGERS]
    tip_work: Annotated[FloatArray, 3, 3]
    # results and scratch of a substep
    tension_n: Annotated[FloatArray, TENDONS]
    finger_tension_n: Annotated[FloatArray, TENDONS]
    guide_slope_ns_m: Annotated[FloatArray, TENDONS]
    motor_torque_nm: Annotated[FloatArray, MOTORS]
    length_m: Annotated[FloatArray, TENDONS]
    P_tj_m: Annotated[FloatArray, TENDONS, JOINTS]
    wrist_length_m: Annotated[FloatArray, TENDONS]
    P_tw_m: Annotated[FloatArray, TENDONS, AXES]
    tau_nm: Annotated[FloatArray, COORDINATES]
    external_nm: Annotated[FloatArray, COORDINATES]
    damping_nms_rad: Annotated[FloatArray, JOINTS, JOINTS]
    axis_damping_nms_rad: Annotated[FloatArray, AXES, COORDINATES]
    wrist_at_rad: Annotated[FloatArray, AXES]
    path_speed_m_s: Annotated[FloatArray, TENDONS]
    motor_load_nm: Annotated[FloatArray, MOTORS]
    motor_friction_nm: Annotated[FloatArray, MOTORS]
    motor_friction_slope_nms_rad: Annotated[FloatArray, MOTORS]
    motor_kick_rad_s: Annotated[FloatArray, MOTORS]
    ripple_nm: Annotated[FloatArray, MOTORS]
    ripple_amplitude_nm: Annotated[FloatArray, RIPPLES, MOTORS]
    ripple_phase_rad: Annotated[FloatArray, RIPPLES, MOTORS]
    block: Annotated[FloatArray, BRANCH_JOINTS, BRANCH_JOINTS]
    columns: Annotated[FloatArray, 3, COORDINATES]
    delta_rad_s: Annotated[FloatArray, COORDINATES]
    axis_torque_nm: Annotated[FloatArray, AXES]
    energy_in_j: float
    energy_lost_j: float
    diverged: int
    diverged_index: int


PLANT: Final = dtype_of(PlantRecord)


def new_plant() -> Any:
    """A zeroed plant record, shape (1,)."""
    return np.zeros(1, dtype=PLANT)
