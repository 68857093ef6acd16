"""The records of ``signals.table`` as classes for the type checker: ``./dev signals`` writes this file."""

from __future__ import annotations

from typing import Annotated, Protocol

import numpy as np

from signals.layout import BitsArray, FloatArray, Int32Array, IntArray, UintArray


class Measurement(Protocol):
    """What a bus delivers every cycle."""

    time_ns: int
    seq: np.uint64
    motor_time_ns: Annotated[IntArray, "motor"]
    hall_time_ns: Annotated[IntArray, "tendon"]
    axis_time_ns: Annotated[IntArray, "axis"]
    joint_time_ns: Annotated[IntArray, "joint"]
    motor_angle_rad: Annotated[FloatArray, "motor"]
    motor_speed_rad_s: Annotated[FloatArray, "motor"]
    motor_current_a: Annotated[FloatArray, "motor"]
    motor_temperature_degc: Annotated[FloatArray, "motor"]
    axis_angle_rad: Annotated[FloatArray, "axis"]
    hall_fine_count: Annotated[FloatArray, "tendon"]
    joint_count: Annotated[FloatArray, "joint"]
    hall_count: Annotated[Int32Array, "tendon"]
    motor_status: Annotated[BitsArray, "motor"]
    hall_status: Annotated[BitsArray, "tendon"]
    axis_status: Annotated[BitsArray, "axis"]
    joint_status: Annotated[BitsArray, "joint"]


class Command(Protocol):
    """What a bus is sent every cycle."""

    time_ns: int
    seq: np.uint64
    motor_current_a: Annotated[FloatArray, "motor"]
    motor_angle_rad: Annotated[FloatArray, "motor"]
    axis_angle_rad: Annotated[FloatArray, "axis"]
    motor_mode: Annotated[BitsArray, "motor"]
    axis_enable: Annotated[BitsArray, "axis"]


class Goal(Protocol):
    """What is wanted, by a motion or a client."""

    seq: np.uint64
    time_ns: int
    request_seq: np.uint64
    request: int
    motor_angle_rad: Annotated[FloatArray, "motor"]
    motor_speed_rad_s: Annotated[FloatArray, "motor"]
    motor_torque_nm: Annotated[FloatArray, "motor"]
    tendon_force_n: Annotated[FloatArray, "tendon"]
    tendon_force_rate_n_s: Annotated[FloatArray, "tendon"]
    joint_angle_rad: Annotated[FloatArray, "joint"]
    joint_speed_rad_s: Annotated[FloatArray, "joint"]
    joint_torque_nm: Annotated[FloatArray, "joint"]
    joint_impedance_nm_rad: Annotated[FloatArray, "joint"]
    joint_damping_nms_rad: Annotated[FloatArray, "joint"]
    joint_stiffness_nm_rad: Annotated[FloatArray, "joint"]
    pretension_n: Annotated[FloatArray, "finger"]
    axis_angle_rad: Annotated[FloatArray, "axis"]
    axis_speed_rad_s: Annotated[FloatArray, "axis"]
    finger_mode: Annotated[BitsArray, "finger"]


class State(Protocol):
    """What estimator, controller and guard make of it."""

    tick: np.uint64
    time_ns: int
    dt_s: float
    machine: int
    hand_cause: int
    hand_cause_part: int
    hand_cause_value: float
    hand_cause_limit: float
    tension_n: Annotated[FloatArray, "tendon"]
    tendon_stiffness_n_m: Annotated[FloatArray, "tendon"]
    lever_angle_rad: Annotated[FloatArray, "tendon"]
    elongation_m: Annotated[FloatArray, "tendon"]
    motor_angle_rad: Annotated[FloatArray, "motor"]
    motor_speed_rad_s: Annotated[FloatArray, "motor"]
    tendon_length_m: Annotated[FloatArray, "tendon"]
    residual_m: Annotated[FloatArray, "tendon"]
    residual_unexplained_m: Annotated[FloatArray, "tendon"]
    joint_angle_rad: Annotated[FloatArray, "joint"]
    joint_speed_rad_s: Annotated[FloatArray, "joint"]
    joint_sensor_error_rad: Annotated[FloatArray, "joint"]
    joint_torque_nm: Annotated[FloatArray, "joint"]
    axis_angle_rad: Annotated[FloatArray, "axis"]
    axis_speed_rad_s: Annotated[FloatArray, "axis"]
    wrist_length_m: Annotated[FloatArray, "tendon"]
    wrist_torque_nm: Annotated[FloatArray, "axis"]
    wrist_error_rad: Annotated[FloatArray, "axis"]
    finger_residual_m: Annotated[FloatArray, "finger"]
    finger_condition: Annotated[FloatArray, "finger"]
    fingertip_m: Annotated[FloatArray, "finger", "xyz"]
    fingertip_forearm_m: Annotated[FloatArray, "finger", "xyz"]
    ref_joint_angle_rad: Annotated[FloatArray, "joint"]
    ref_joint_torque_nm: Annotated[FloatArray, "joint"]
    cmd_joint_torque_nm: Annotated[FloatArray, "joint"]
    guide_torque_nm: Annotated[FloatArray, "joint"]
    ref_tension_n: Annotated[FloatArray, "tendon"]
    observed_tension_n: Annotated[FloatArray, "tendon"]
    ref_motor_speed_rad_s: Annotated[FloatArray, "motor"]
    friction_torque_nm: Annotated[FloatArray, "motor"]
    ripple_torque_nm: Annotated[FloatArray, "motor"]
    ref_motor_angle_rad: Annotated[FloatArray, "motor"]
    ref_motor_torque_nm: Annotated[FloatArray, "motor"]
    motor_torque_nm: Annotated[FloatArray, "motor"]
    winding_temperature_degc: Annotated[FloatArray, "motor"]
    torque_scale: Annotated[FloatArray, "finger"]
    finger_status: Annotated[BitsArray, "finger"]
    joint_source: Annotated[BitsArray, "joint"]
    finger_state: Annotated[BitsArray, "finger"]
    finger_mode: Annotated[BitsArray, "finger"]
    finger_cause: Annotated[Int32Array, "finger"]
    finger_cause_part: Annotated[Int32Array, "finger"]
    joint_sensor_cause: Annotated[Int32Array, "joint"]
    finger_cause_value: Annotated[FloatArray, "finger"]
    finger_cause_limit: Annotated[FloatArray, "finger"]
    finger_cause_tick: Annotated[UintArray, "finger"]
    ripple_unknown: Annotated[BitsArray, "motor"]
    clip: Annotated[BitsArray, "motor"]
    clip_count: Annotated[BitsArray, "motor"]


class Truth(Protocol):
    """What only a simulation knows."""

    time_s: float
    joint_angle_rad: Annotated[FloatArray, "joint"]
    joint_speed_rad_s: Annotated[FloatArray, "joint"]
    tension_n: Annotated[FloatArray, "tendon"]
    finger_tension_n: Annotated[FloatArray, "tendon"]
    lever_angle_rad: Annotated[FloatArray, "tendon"]
    motor_angle_rad: Annotated[FloatArray, "motor"]
    motor_speed_rad_s: Annotated[FloatArray, "motor"]
    motor_torque_nm: Annotated[FloatArray, "motor"]
    winding_temperature_degc: Annotated[FloatArray, "motor"]
    axis_angle_rad: Annotated[FloatArray, "axis"]
    axis_speed_rad_s: Annotated[FloatArray, "axis"]
    fingertip_m: Annotated[FloatArray, "finger", "xyz"]
    contact_force_n: Annotated[FloatArray, "finger"]
    energy_in_j: float
    energy_stored_j: float
    energy_lost_j: float


class Timing(Protocol):
    """How the cycle went."""

    cycle: np.uint64
    deadline_ns: int
    wake_ns: int
    exchange_ns: int
    estimate_ns: int
    control_ns: int
    guard_ns: int
    tick_ns: int
    missed: np.uint64
    late: np.uint64
    bus_status: int
    goal_seq: np.uint64


class Model(Protocol):
    """Everything configurable, flattened once from the hand file."""

    n_motors: int
    n_tendons: int
    n_drives: int
    n_servos: int
    n_joints: int
    n_fingers: int
    n_axes: int
    n_bodies: int
    n_ripples: int
    n_springs: int
    n_joint_sensors: int
    n_differences: int
    n_passives: int
    n_backlashes: int
    dt_s: float
    delay_s: float
    motor_inertia_kg_m2: Annotated[FloatArray, "motor"]
    motor_torque_constant_nm_a: Annotated[FloatArray, "motor"]
    motor_current_limit_a: Annotated[FloatArray, "motor"]
    motor_torque_limit_nm: Annotated[FloatArray, "motor"]
    motor_speed_limit_rad_s: Annotated[FloatArray, "motor"]
    motor_back_emf_v_s_rad: Annotated[FloatArray, "motor"]
    motor_resistance_ohm: Annotated[FloatArray, "motor"]
    bus_voltage_v: Annotated[FloatArray, "motor"]
    gear_ratio: Annotated[FloatArray, "motor"]
    backlash_rad: Annotated[FloatArray, "motor"]
    encoder_step_rad: Annotated[FloatArray, "motor"]
    friction_gamma_1_s_rad: Annotated[FloatArray, "motor"]
    friction_gamma_2_nm: Annotated[FloatArray, "motor"]
    friction_gamma_3_nms_rad: Annotated[FloatArray, "motor"]
    ripple_order: Annotated[FloatArray, "ripple"]
    ripple_is_input: Annotated[IntArray, "ripple"]
    ripple_amplitude_nm: Annotated[FloatArray, "motor", "ripple"]
    ripple_phase_rad: Annotated[FloatArray, "motor", "ripple"]
    motor_command: Annotated[IntArray, "motor"]
    motor_reports: Annotated[IntArray, "motor"]
    friction_watched: Annotated[IntArray, "motor"]
    servo_stiffness_nm_rad: Annotated[FloatArray, "motor"]
    servo_damping_nms_rad: Annotated[FloatArray, "motor"]
    servo_deadband_rad: Annotated[FloatArray, "motor"]
    servo_min_rad: Annotated[FloatArray, "motor"]
    servo_max_rad: Annotated[FloatArray, "motor"]
    encoder_reference: Annotated[IntArray, "motor"]
    tendon_motor: Annotated[IntArray, "tendon"]
    tendon_finger: Annotated[IntArray, "tendon"]
    tendon_kind: Annotated[IntArray, "tendon"]
    tendon_spring: Annotated[IntArray, "tendon"]
    spring_scale: Annotated[FloatArray, "tendon"]
    spool_radius_m: Annotated[FloatArray, "tendon"]
    tendon_follows: Annotated[IntArray, "tendon"]
    tendon_compliance_m_n: Annotated[FloatArray, "tendon"]
    tension_min_n: Annotated[FloatArray, "tendon"]
    tension_max_n: Annotated[FloatArray, "tendon"]
    tension_limit_n: Annotated[FloatArray, "tendon"]
    elongation_offset_m: Annotated[FloatArray, "tendon"]
    elongation_goal_m: Annotated[FloatArray, "tendon"]
    elongation_min_m: Annotated[FloatArray, "tendon"]
    elongation_max_m: Annotated[FloatArray, "tendon"]
    P_tj_m: Annotated[FloatArray, "tendon", "joint"]
    curve_m: Annotated[FloatArray, "tendon", "joint", "xyz"]
    four_bar_ground_m: Annotated[FloatArray, "joint"]
    four_bar_crank_m: Annotated[FloatArray, "joint"]
    four_bar_coupler_m: Annotated[FloatArray, "joint"]
    four_bar_rocker_m: Annotated[FloatArray, "joint"]
    four_bar_neutral_rad: Annotated[FloatArray, "joint"]
    pinv_jt_1_m: Annotated[FloatArray, "joint", "tendon"]
    insertion_palm_m: Annotated[FloatArray, "tendon", "xyz"]
    insertion_bone_m: Annotated[FloatArray, "tendon", "xyz"]
    lever_min_rad: Annotated[FloatArray, "spring"]
    lever_max_rad: Annotated[FloatArray, "spring"]
    lever_calibrated_min_rad: Annotated[FloatArray, "spring"]
    slack_margin_rad: Annotated[FloatArray, "spring"]
    spring_force_n: Annotated[FloatArray, "spring", "spring_node"]
    spring_force_slope_n_rad: Annotated[FloatArray, "spring", "spring_node"]
    spring_path_m: Annotated[FloatArray, "spring", "spring_node"]
    spring_path_slope_m_rad: Annotated[FloatArray, "spring", "spring_node"]
    force_max_n: Annotated[FloatArray, "spring"]
    stiffness_n_m: Annotated[FloatArray, "spring", "force_node"]
    lever_friction_frac: Annotated[FloatArray, "tendon"]
    lever_presliding_rad: Annotated[FloatArray, "tendon"]
    hall_zero_count: Annotated[FloatArray, "tendon"]
    hall_counts_rad: Annotated[FloatArray, "tendon"]
    hall_count_max: Annotated[IntArray, "tendon"]
    hall_noise_count: Annotated[FloatArray, "tendon"]
    hall_weight: Annotated[FloatArray, "tendon"]
    length_weight: Annotated[FloatArray, "tendon"]
    difference_to: Annotated[IntArray, "tendon"]
    difference_zero_count: Annotated[FloatArray, "tendon"]
    difference_counts_n: Annotated[FloatArray, "tendon"]
    hall_rest_count: Annotated[FloatArray, "tendon"]
    hall_hysteresis_rad: Annotated[FloatArray, "tendon"]
    hall_filter_hz: Annotated[FloatArray, "tendon"]
    guide_loss_frac: Annotated[FloatArray, "tendon"]
    guide_bending_n: Annotated[FloatArray, "tendon"]
    guide_speed_m_s: float
    joint_finger: Annotated[IntArray, "joint"]
    joint_min_rad: Annotated[FloatArray, "joint"]
    joint_max_rad: Annotated[FloatArray, "joint"]
    joint_viscous_nms_rad: Annotated[FloatArray, "joint"]
    joint_coulomb_nm: Annotated[FloatArray, "joint"]
    joint_spring_nm_rad: Annotated[FloatArray, "joint"]
    joint_rest_rad: Annotated[FloatArray, "joint"]
    passive_finger: Annotated[IntArray, "passive"]
    passive_arm_m: Annotated[FloatArray, "passive", "joint"]
    passive_stiffness_n_m: Annotated[FloatArray, "passive"]
    passive_preload_n: Annotated[FloatArray, "passive"]
    joint_source: Annotated[IntArray, "joint"]
    joint_weight_m2: Annotated[FloatArray, "joint"]
    joint_zero_count: Annotated[FloatArray, "joint"]
    joint_counts_rad: Annotated[FloatArray, "joint"]
    joint_count_max: Annotated[FloatArray, "joint"]
    joint_turn_rad: Annotated[FloatArray, "joint"]
    joint_noise_count: Annotated[FloatArray, "joint"]
    joint_filter_hz: Annotated[FloatArray, "joint"]
    joint_noise_rad: Annotated[FloatArray, "joint"]
    joint_band_rad: Annotated[FloatArray, "joint"]
    joint_side_rad: Annotated[FloatArray, "joint"]
    joint_jump_rad_s: Annotated[FloatArray, "joint"]
    joint_friction_speed_rad_s: float
    stop_stiffness_nm_rad: float
    stop_damping_nms_rad: float
    joint_impedance_nm_rad: Annotated[FloatArray, "joint"]
    joint_damping_nms_rad: Annotated[FloatArray, "joint"]
    joint_speed_max_rad_s: Annotated[FloatArray, "joint"]
    joint_acceleration_max_rad_s2: Annotated[FloatArray, "joint"]
    joint_torque_rate_nm_s: Annotated[FloatArray, "joint"]
    joint_brake_rad_s2: Annotated[FloatArray, "joint"]
    joint_care_rad: Annotated[FloatArray, "joint"]
    finger_kind: Annotated[IntArray, "finger"]
    finger_n_joints: Annotated[IntArray, "finger"]
    finger_joint: Annotated[IntArray, "finger", "finger_joint"]
    finger_n_tendons: Annotated[IntArray, "finger"]
    finger_tendon: Annotated[IntArray, "finger", "finger_tendon"]
    finger_shares: Annotated[IntArray, "finger"]
    finger_carried: Annotated[IntArray, "finger"]
    finger_loaded: Annotated[IntArray, "finger"]
    finger_condition: Annotated[FloatArray, "finger"]
    finger_tip_body: Annotated[IntArray, "finger"]
    finger_tip_m: Annotated[FloatArray, "finger", "xyz"]
    thumb_base_offset_m: Annotated[FloatArray, "finger"]
    thumb_metacarpal_m: Annotated[FloatArray, "finger"]
    estimation_damping: float
    thumb_iterations: int
    thumb_gauss_newton: int
    body_parent: Annotated[IntArray, "body"]
    body_joint: Annotated[IntArray, "body"]
    body_ratio: Annotated[FloatArray, "body"]
    body_rotation: Annotated[FloatArray, "body", "row", "xyz"]
    body_origin_m: Annotated[FloatArray, "body", "xyz"]
    body_axis: Annotated[FloatArray, "body", "xyz"]
    body_mass_kg: Annotated[FloatArray, "body"]
    body_com_m: Annotated[FloatArray, "body", "xyz"]
    body_inertia_kg_m2: Annotated[FloatArray, "body", "row", "xyz"]
    gravity_m_s2: Annotated[FloatArray, "xyz"]
    wrist_size_m: Annotated[FloatArray, "xyz"]
    wrist_neutral_rad: Annotated[FloatArray, "axis"]
    wrist_origin_m: Annotated[FloatArray, "xyz"]
    forearm_point_m: Annotated[FloatArray, "tendon", "xyz"]
    palm_point_m: Annotated[FloatArray, "tendon", "xyz"]
    wrist_arm_m: Annotated[FloatArray, "tendon", "axis"]
    wrist_regularisation_m2: float
    wrist_neutral_length_m: Annotated[FloatArray, "tendon"]
    axis_min_rad: Annotated[FloatArray, "axis"]
    axis_max_rad: Annotated[FloatArray, "axis"]
    axis_step_rad: Annotated[FloatArray, "axis"]
    axis_noise_rad: Annotated[FloatArray, "axis"]
    axis_torque_limit_nm: Annotated[FloatArray, "axis"]
    axis_speed_limit_rad_s: Annotated[FloatArray, "axis"]
    axis_bandwidth_hz: Annotated[FloatArray, "axis"]
    axis_damping_ratio: Annotated[FloatArray, "axis"]
    axis_spring_arm_m: Annotated[FloatArray, "axis"]
    axis_spring_force_n: Annotated[FloatArray, "axis"]
    axis_spring_length_m: Annotated[FloatArray, "axis"]
    axis_spring_damping_nms_rad: Annotated[FloatArray, "axis"]
    axis_speed_max_rad_s: Annotated[FloatArray, "axis"]
    axis_acceleration_max_rad_s2: Annotated[FloatArray, "axis"]
    tension_kp_nm_n: float
    tension_kp_stiffness_n_m: float
    tension_kd_nms_rad: float
    position_kp_nm_rad: float
    position_kd_nms_rad: float
    velocity_filter_hz: float
    friction_gain: float
    force_friction_gain: Annotated[FloatArray, "motor"]
    ripple_gain: float
    guide_gain: float
    lever_gain: float
    use_friction: int
    use_ripple: int
    use_guides: int
    use_lever: int
    use_wrist: int
    torque_rate_nm_s: float
    tension_rate_n_s: float
    command_age_s: float
    measurement_age_s: Annotated[FloatArray, "tier"]
    winding_limit_degc: Annotated[FloatArray, "level"]
    thermal_winding_k_w: Annotated[FloatArray, "motor"]
    thermal_winding_j_k: Annotated[FloatArray, "motor"]
    thermal_case_k_w: Annotated[FloatArray, "motor"]
    thermal_case_j_k: Annotated[FloatArray, "motor"]
    ambient_degc: float
    object_center_m: Annotated[FloatArray, "xyz"]
    object_radius_m: float
    object_stiffness_n_m: float
    object_damping_ns_m: float
    tip_radius_m: float
    slip_speed_m_s: float
    object_friction: float
    spring_energy_j: Annotated[FloatArray, "spring", "spring_node"]
    residual_limit_m: Annotated[FloatArray, "finger"]
    pretension_n: Annotated[FloatArray, "finger"]
    finger_reaction: Annotated[IntArray, "finger"]
    release_torque_nm: float
    excess_torque_nm: float
    friction_energy_j: float
    rest_torque_nm: float
    rest_damping_nms_rad: float
    probe_damping_nms_rad: float
    envelope_damping_nms_rad: float
    probe_speed_rad_s: float
    rest_speed_rad_s: float
    standing_speed_rad_s: float
    running_speed_rad_s: float
    turning_speed_rad_s: float
    stop_speed_rad_s: float
    joint_noise_rad_s: float
    unrest_speed_m_s: float
    wrist_wind_rad_s: float
    hit_speed_rad_s: float
    spared_speed_rad_s: float
    sure_speed_rad_s: float
    softer_s_rad: float
    enter_joint_rad_s: float
    enter_motor_rad_s: float
    enter_tension_n_s: float
    enter_axis_rad_s: float
    axis_standing_rad_s: float
    release_rate_n_s: float
    dip_tension_n: float
    least_wanted_n: float
    moving_tension_n: float
    released_tension_n: float
    step_share_1_n: float
    probe_way_m: float
    probe_under_way_m: float
    stuck_moved_m: float
    stuck_way_m: float
    stuck_residual_m: float
    still_residual_m: float
    still_residual_m_n: float
    jump_count: float
    jump_count_n: float
    others_count: float
    near_count: float


class Frame(Protocol):
    """One cycle: what a ring slot holds."""

    timing: Timing
    measurement: Measurement
    goal: Goal
    state: State
    command: Command
    truth: Truth
