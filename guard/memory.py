"""What the guard remembers between two cycles: requests, timers of the detectors, holds, reactions."""

from __future__ import annotations

from typing import Annotated, Final, Protocol

import numpy as np

from mechanics.finger_rows import FingerRows
from signals.layout import FloatArray, IntArray, dtype_of
from signals.records import RecordArray
from signals.sizes import AXES, BODIES, FINGER_JOINTS, FINGER_TENDONS, FINGERS, JOINTS, MOTORS, TENDONS

MOMENTS: Final = 6
"""States of the hand that are kept, one every 5 ms."""
LOOKS: Final = 16
"""Sets of tendons that a look ahead tries at most."""


class GuardMemory(FingerRows, Protocol):
    """What the guard remembers between two cycles, and its scratch."""

    started: int
    # state machine
    request_seq: np.uint64
    arm_pending: int
    activate_pending: int
    off_wanted: int
    good_cycles: int
    last_finger_state: Annotated[IntArray, FINGERS]
    # holds, and the torque that fades after a change
    hold_angle_rad: Annotated[FloatArray, MOTORS]
    hold_wrist_m: Annotated[FloatArray, TENDONS]
    hold_axis_rad: Annotated[FloatArray, AXES]
    axis_held: int
    fade_torque_nm: Annotated[FloatArray, MOTORS]
    hold_speed_rad_s: Annotated[FloatArray, MOTORS]
    # drives that take angles: goal, the one before, greatest torque, share by the state
    servo_goal_rad: Annotated[FloatArray, MOTORS]
    servo_before_rad: Annotated[FloatArray, MOTORS]
    servo_cap_nm: Annotated[FloatArray, MOTORS]
    servo_share: Annotated[FloatArray, MOTORS]
    last_torque_nm: Annotated[FloatArray, MOTORS]
    # reactions
    fault_age_s: Annotated[FloatArray, FINGERS]
    break_age_s: Annotated[FloatArray, FINGERS]
    gives_way: Annotated[IntArray, FINGERS]
    release_n_s: Annotated[FloatArray, FINGERS]
    led_n: Annotated[FloatArray, TENDONS]
    led_m: Annotated[FloatArray, TENDONS]
    release_share: Annotated[FloatArray, TENDONS]
    release_n: Annotated[FloatArray, TENDONS]
    release_to_n: Annotated[FloatArray, TENDONS]
    least_n: Annotated[FloatArray, TENDONS]
    released_s: Annotated[FloatArray, TENDONS]
    unseen_s: Annotated[FloatArray, TENDONS]
    blind: Annotated[IntArray, TENDONS]
    left_alone: Annotated[IntArray, TENDONS]
    urgent: Annotated[IntArray, TENDONS]
    urgent_s: Annotated[FloatArray, FINGERS]
    probe_phase: Annotated[IntArray, FINGERS]
    probe_tendon: Annotated[IntArray, FINGERS]
    probe_angle_rad: Annotated[FloatArray, FINGERS]
    probe_age_s: Annotated[FloatArray, FINGERS]
    probe_back_s: Annotated[FloatArray, FINGERS]
    # states before now, and the look ahead from one of them
    moment: int
    moment_ns: Annotated[IntArray, MOMENTS]
    moment_angle_rad: Annotated[FloatArray, MOMENTS, JOINTS]
    moment_speed_rad_s: Annotated[FloatArray, MOMENTS, JOINTS]
    moment_elongation_m: Annotated[FloatArray, MOMENTS, TENDONS]
    moment_lever_rad: Annotated[FloatArray, MOMENTS, TENDONS]
    moment_torque_nm: Annotated[FloatArray, MOMENTS, TENDONS]
    look_phase: int
    look_finger: int
    look_tendon: int
    look_lost: int
    look_count: int
    look_done: int
    look_choice: int
    look_taken: int
    look_throws: int
    look_partners: int
    look_set: Annotated[IntArray, LOOKS]
    look_stop_rad_s: Annotated[FloatArray, LOOKS, FINGER_JOINTS, 2]
    from_q_rad: Annotated[FloatArray, FINGER_JOINTS]
    from_qd_rad_s: Annotated[FloatArray, FINGER_JOINTS]
    from_e_m: Annotated[FloatArray, FINGER_TENDONS]
    from_lever_rad: Annotated[FloatArray, FINGER_TENDONS]
    from_w_rad_s: Annotated[FloatArray, FINGER_TENDONS]
    from_torque_nm: Annotated[FloatArray, FINGER_TENDONS]
    look_angle_rad: Annotated[FloatArray, JOINTS]
    look_R: Annotated[FloatArray, BODIES, 3, 3]
    look_p_m: Annotated[FloatArray, BODIES, 3]
    look_screw: Annotated[FloatArray, BODIES, 6]
    look_inertia: Annotated[FloatArray, 10]
    look_P_m: Annotated[FloatArray, FINGER_TENDONS, FINGER_JOINTS]
    look_H: Annotated[FloatArray, FINGER_JOINTS, FINGER_JOINTS]
    look_A: Annotated[FloatArray, FINGER_JOINTS, FINGER_JOINTS]
    look_b_nm: Annotated[FloatArray, FINGER_JOINTS]
    look_q_rad: Annotated[FloatArray, FINGER_JOINTS]
    look_qd_rad_s: Annotated[FloatArray, FINGER_JOINTS]
    look_away_rad: Annotated[FloatArray, FINGER_JOINTS, 2]
    look_hit_rad_s: Annotated[FloatArray, FINGER_JOINTS, 2]
    look_e_m: Annotated[FloatArray, FINGER_TENDONS]
    look_lever_rad: Annotated[FloatArray, FINGER_TENDONS]
    look_w_rad_s: Annotated[FloatArray, FINGER_TENDONS]
    look_torque_nm: Annotated[FloatArray, FINGER_TENDONS]
    look_slack: Annotated[IntArray, FINGER_TENDONS]
    # speed envelope
    path_share: float
    wrist_before_m: Annotated[FloatArray, TENDONS]
    wrist_m_s: Annotated[FloatArray, TENDONS]
    motor_joint_rad_s: Annotated[FloatArray, JOINTS]
    wrist_loaded: int
    wrist_load: Annotated[FloatArray, AXES]
    fastest_m_s: Annotated[FloatArray, FINGERS]
    unrest_m_s: Annotated[FloatArray, FINGERS]
    unrest_kept: float
    stands_on: Annotated[IntArray, FINGERS]
    carrier: Annotated[IntArray, JOINTS]
    carried_turn: Annotated[FloatArray, JOINTS]
    near_rad: Annotated[FloatArray, JOINTS]
    least_turn: Annotated[FloatArray, TENDONS]
    least_margin_rad_s: Annotated[FloatArray, FINGERS]
    inside: Annotated[IntArray, FINGERS]
    margin_up_rad_s: Annotated[FloatArray, JOINTS]
    margin_down_rad_s: Annotated[FloatArray, JOINTS]
    # detectors
    last_angle_rad: Annotated[FloatArray, MOTORS]
    motor_sample_ns: Annotated[IntArray, MOTORS]
    last_count: Annotated[IntArray, TENDONS]
    hall_sample_ns: Annotated[IntArray, TENDONS]
    last_change: Annotated[FloatArray, TENDONS]
    last_tension_n: Annotated[FloatArray, TENDONS]
    last_residual_m: Annotated[FloatArray, TENDONS]
    missing_s: Annotated[FloatArray, MOTORS]
    hall_missing_s: Annotated[FloatArray, TENDONS]
    fast_s: Annotated[FloatArray, MOTORS]
    blocked_s: Annotated[FloatArray, MOTORS]
    still_tension_n: Annotated[FloatArray, MOTORS]
    still_residual_m: Annotated[FloatArray, MOTORS]
    still_s: Annotated[FloatArray, MOTORS]
    still_wanted_rad: Annotated[FloatArray, MOTORS]
    energy_j: Annotated[FloatArray, MOTORS]
    joint_energy_j: Annotated[FloatArray, JOINTS]
    moved_s: Annotated[FloatArray, MOTORS]
    friction_fast_nm: Annotated[FloatArray, MOTORS]
    friction_slow_nm: Annotated[FloatArray, MOTORS]
    law_fast_nm: Annotated[FloatArray, MOTORS]
    law_slow_nm: Annotated[FloatArray, MOTORS]
    snap_share: float
    slack_s: Annotated[FloatArray, TENDONS]
    slack_from_m: Annotated[FloatArray, TENDONS]
    lacks_s: Annotated[FloatArray, TENDONS]
    torn_s: Annotated[FloatArray, TENDONS]
    taut_s: Annotated[FloatArray, TENDONS]
    taut: Annotated[IntArray, TENDONS]
    lever_low_rad: Annotated[FloatArray, TENDONS]
    falling: Annotated[IntArray, TENDONS]
    fell_ns: Annotated[IntArray, TENDONS]
    thrown: Annotated[IntArray, TENDONS]
    snapped: Annotated[IntArray, TENDONS]
    high_s: Annotated[FloatArray, TENDONS]
    rail_s: Annotated[FloatArray, TENDONS]
    anchor_angle_rad: Annotated[FloatArray, TENDONS]
    anchor_changes: Annotated[IntArray, TENDONS]
    anchor_residual_m: Annotated[FloatArray, TENDONS]
    anchor_rate: Annotated[FloatArray, TENDONS]
    change_rate: Annotated[FloatArray, TENDONS]
    same_cycles: Annotated[IntArray, TENDONS]
    changes: Annotated[IntArray, FINGERS]
    glitch_from: Annotated[IntArray, TENDONS]
    glitch_blind: Annotated[IntArray, TENDONS]
    residual_at_jump_m: Annotated[FloatArray, TENDONS]
    count_at_jump: Annotated[IntArray, TENDONS]
    count_trend: Annotated[FloatArray, TENDONS]
    trend_at_jump: Annotated[FloatArray, TENDONS]
    since_jump_s: Annotated[FloatArray, TENDONS]
    glitch_left_s: Annotated[FloatArray, TENDONS]
    glitch_score: Annotated[FloatArray, TENDONS]
    residual_fast_m: Annotated[FloatArray, TENDONS]
    residual_slow_m: Annotated[FloatArray, TENDONS]
    step_s: Annotated[FloatArray, TENDONS]
    large_s: Annotated[FloatArray, TENDONS]
    range_s: Annotated[FloatArray, JOINTS]
    joint_sample_ns: Annotated[IntArray, JOINTS]
    joint_silent_s: Annotated[FloatArray, JOINTS]
    joint_count: Annotated[FloatArray, JOINTS]
    joint_same: Annotated[IntArray, JOINTS]
    joint_anchor_rad: Annotated[FloatArray, JOINTS]
    joint_anchor_rate: Annotated[FloatArray, JOINTS]
    joint_change_rate: Annotated[FloatArray, JOINTS]
    joint_before_rad: Annotated[FloatArray, JOINTS]
    joint_doubt_s: Annotated[FloatArray, JOINTS]
    joint_last_rad: Annotated[FloatArray, JOINTS]
    joint_slope_rad: Annotated[FloatArray, JOINTS]
    joint_noise_share: Annotated[FloatArray, JOINTS]
    joint_apart_s: Annotated[FloatArray, JOINTS]
    axis_missing_s: Annotated[FloatArray, AXES]
    axis_error_s: Annotated[FloatArray, AXES]
    axis_before_rad: Annotated[FloatArray, AXES]
    axis_sample_ns: Annotated[IntArray, AXES]
    axis_jump_s: Annotated[FloatArray, AXES]
    bus_lost_s: float
    # no channel says anything but a new number in this cycle; nor is any sample old
    all_well: int
    all_young: int
    P_tj_m: Annotated[FloatArray, TENDONS, JOINTS]
    # thermal model
    warm: int
    winding_degc: Annotated[FloatArray, MOTORS]
    case_degc: Annotated[FloatArray, MOTORS]


GUARD_MEMORY: Final = dtype_of(GuardMemory)


def new_guard_memory() -> RecordArray:
    """An empty guard memory, shape ``(1,)``."""
    return np.zeros(1, dtype=GUARD_MEMORY)
