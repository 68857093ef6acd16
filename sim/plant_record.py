"""The plant's own state: everything the simulated hand remembers between two substeps."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.sizes import AXES, FINGERS, JOINTS, MOTORS, RIPPLES, TENDONS

COORDINATES: Final = AXES + JOINTS
BRANCH_JOINTS: Final = 8
"""Most joints that may hang on one child of the palm."""

PLANT: Final = np.dtype(
    [
        ("time_s", "f8"),
        ("cycle", "i8"),
        ("substeps", "i8"),
        # joints by branch of the tree: all that hangs on one child of the palm
        ("n_branches", "i8"),
        ("branch_joints", "i8", (FINGERS,)),
        ("branch_joint", "i8", (FINGERS, BRANCH_JOINTS)),
        ("tendon_branch", "i8", (TENDONS,)),
        ("sensor_level", "i8"),
        ("guides_on", "i8"),
        ("contact_on", "i8"),
        ("energy_on", "i8"),
        ("rng", "u8", (4,)),
        # mechanical state
        ("q_rad", "f8", (JOINTS,)),
        ("qd_rad_s", "f8", (JOINTS,)),
        ("theta_rad", "f8", (MOTORS,)),
        ("w_rad_s", "f8", (MOTORS,)),
        ("axis_rad", "f8", (AXES,)),
        ("axis_rad_s", "f8", (AXES,)),
        ("lever_rad", "f8", (TENDONS,)),
        ("loop_sign", "f8", (TENDONS,)),
        ("e0_m", "f8", (TENDONS,)),
        ("winding_degc", "f8", (MOTORS,)),
        ("case_degc", "f8", (MOTORS,)),
        # command in force
        ("current_a", "f8", (MOTORS,)),
        ("motor_enabled", "i8", (MOTORS,)),
        ("axis_wanted_rad", "f8", (AXES,)),
        ("axis_enabled", "i8", (AXES,)),
        # sensors
        ("hall_filtered_rad", "f8", (TENDONS,)),
        ("hall_played_rad", "f8", (TENDONS,)),
        ("encoder_rad", "f8", (MOTORS,)),
        # faults
        ("tendon_off", "i8", (TENDONS,)),
        ("hall_frozen", "i8", (TENDONS,)),
        ("hall_frozen_count", "f8", (TENDONS,)),
        ("hall_offset_count", "f8", (TENDONS,)),
        ("hall_glitch_count", "f8", (TENDONS,)),
        ("hall_noise_scale", "f8", (TENDONS,)),
        ("motor_lost", "i8", (MOTORS,)),
        ("motor_nan", "i8", (MOTORS,)),
        ("motor_reset", "i8", (MOTORS,)),
        ("encoder_frozen", "i8", (MOTORS,)),
        ("encoder_offset_rad", "f8", (MOTORS,)),
        ("friction_scale", "f8", (MOTORS,)),
        ("axis_offset_rad", "f8", (AXES,)),
        # world
        ("tip_force_n", "f8", (FINGERS, 3)),
        ("tip_moment_nm", "f8", (FINGERS, 3)),
        ("contact_n", "f8", (FINGERS,)),
        ("tip_work", "f8", (3, 3)),
        # results and scratch of a substep
        ("tension_n", "f8", (TENDONS,)),
        ("finger_tension_n", "f8", (TENDONS,)),
        ("guide_slope_ns_m", "f8", (TENDONS,)),
        ("motor_torque_nm", "f8", (MOTORS,)),
        ("length_m", "f8", (TENDONS,)),
        ("P_tj_m", "f8", (TENDONS, JOINTS)),
        ("wrist_length_m", "f8", (TENDONS,)),
        ("P_tw_m", "f8", (TENDONS, AXES)),
        ("tau_nm", "f8", (COORDINATES,)),
        ("external_nm", "f8", (COORDINATES,)),
        ("damping_nms_rad", "f8", (JOINTS, JOINTS)),
        ("axis_damping_nms_rad", "f8", (AXES, COORDINATES)),
        ("wrist_at_rad", "f8", (AXES,)),
        ("path_speed_m_s", "f8", (TENDONS,)),
        ("motor_load_nm", "f8", (MOTORS,)),
        ("motor_friction_nm", "f8", (MOTORS,)),
        ("motor_friction_slope_nms_rad", "f8", (MOTORS,)),
        ("motor_kick_rad_s", "f8", (MOTORS,)),
        ("ripple_nm", "f8", (MOTORS,)),
        ("ripple_amplitude_nm", "f8", (RIPPLES, MOTORS)),
        ("ripple_phase_rad", "f8", (RIPPLES, MOTORS)),
        ("block", "f8", (BRANCH_JOINTS, BRANCH_JOINTS)),
        ("columns", "f8", (3, COORDINATES)),
        ("delta_rad_s", "f8", (COORDINATES,)),
        ("axis_torque_nm", "f8", (AXES,)),
        ("energy_in_j", "f8"),
        ("energy_lost_j", "f8"),
        ("diverged", "i8"),
        ("diverged_index", "i8"),
    ],
    align=True,
)
"""State of one simulated hand, shape (1,) as every record."""


def new_plant() -> Any:
    """A zeroed plant record, shape (1,)."""
    return np.zeros(1, dtype=PLANT)
