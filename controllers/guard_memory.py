"""What the guard remembers between two cycles: requests, timers of the detectors, holds, reactions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from signals.records import RecordArray
from signals.sizes import AXES, FINGERS, JOINTS, MOTORS, TENDONS

GUARD_MEMORY: Final[np.dtype[Any]] = np.dtype(
    [
        ("started", "i8"),
        # state machine
        ("request_seq", "u8"),
        ("arm_pending", "i8"),
        ("activate_pending", "i8"),
        ("off_wanted", "i8"),
        ("good_cycles", "i8"),
        ("last_finger_state", "i8", (FINGERS,)),
        # holds, and the torque that fades after a change
        ("hold_angle_rad", "f8", (MOTORS,)),
        ("hold_wrist_m", "f8", (TENDONS,)),
        ("hold_axis_rad", "f8", (AXES,)),
        ("axis_held", "i8"),
        ("fade_torque_nm", "f8", (MOTORS,)),
        ("last_torque_nm", "f8", (MOTORS,)),
        # reactions
        ("fault_age_s", "f8", (FINGERS,)),
        ("release_n", "f8", (TENDONS,)),
        ("release_to_n", "f8", (TENDONS,)),
        ("released_s", "f8", (TENDONS,)),
        ("blind", "i8", (TENDONS,)),
        ("left_alone", "i8", (TENDONS,)),
        ("urgent", "i8", (TENDONS,)),
        ("probe_phase", "i8", (FINGERS,)),
        ("probe_tendon", "i8", (FINGERS,)),
        ("probe_angle_rad", "f8", (FINGERS,)),
        ("probe_age_s", "f8", (FINGERS,)),
        ("probe_back_s", "f8", (FINGERS,)),
        # detectors
        ("last_angle_rad", "f8", (MOTORS,)),
        ("motor_sample_ns", "i8", (MOTORS,)),
        ("last_count", "i8", (TENDONS,)),
        ("hall_sample_ns", "i8", (TENDONS,)),
        ("last_tension_n", "f8", (TENDONS,)),
        ("missing_s", "f8", (MOTORS,)),
        ("hall_missing_s", "f8", (TENDONS,)),
        ("fast_s", "f8", (MOTORS,)),
        ("blocked_s", "f8", (MOTORS,)),
        ("still_tension_n", "f8", (MOTORS,)),
        ("still_residual_m", "f8", (MOTORS,)),
        ("still_s", "f8", (MOTORS,)),
        ("still_wanted_rad", "f8", (MOTORS,)),
        ("energy_j", "f8", (MOTORS,)),
        ("moved_s", "f8", (MOTORS,)),
        ("friction_fast_nm", "f8", (MOTORS,)),
        ("friction_slow_nm", "f8", (MOTORS,)),
        ("law_fast_nm", "f8", (MOTORS,)),
        ("law_slow_nm", "f8", (MOTORS,)),
        ("slack_s", "f8", (TENDONS,)),
        ("taut_s", "f8", (TENDONS,)),
        ("taut", "i8", (TENDONS,)),
        ("lever_low_rad", "f8", (TENDONS,)),
        ("falling", "i8", (TENDONS,)),
        ("fell_ns", "i8", (TENDONS,)),
        ("thrown", "i8", (TENDONS,)),
        ("snapped", "i8", (TENDONS,)),
        ("high_s", "f8", (TENDONS,)),
        ("rail_s", "f8", (TENDONS,)),
        ("anchor_angle_rad", "f8", (TENDONS,)),
        ("anchor_changes", "i8", (TENDONS,)),
        ("anchor_residual_m", "f8", (TENDONS,)),
        ("anchor_rate", "f8", (TENDONS,)),
        ("change_rate", "f8", (TENDONS,)),
        ("same_cycles", "i8", (TENDONS,)),
        ("changes", "i8", (FINGERS,)),
        ("glitch_from", "i8", (TENDONS,)),
        ("count_at_jump", "i8", (TENDONS,)),
        ("count_trend", "f8", (TENDONS,)),
        ("trend_at_jump", "f8", (TENDONS,)),
        ("since_jump_s", "f8", (TENDONS,)),
        ("glitch_left_s", "f8", (TENDONS,)),
        ("glitch_score", "f8", (TENDONS,)),
        ("residual_fast_m", "f8", (TENDONS,)),
        ("residual_slow_m", "f8", (TENDONS,)),
        ("step_s", "f8", (TENDONS,)),
        ("large_s", "f8", (TENDONS,)),
        ("range_s", "f8", (JOINTS,)),
        ("axis_missing_s", "f8", (AXES,)),
        ("axis_error_s", "f8", (AXES,)),
        ("axis_before_rad", "f8", (AXES,)),
        ("axis_sample_ns", "i8", (AXES,)),
        ("axis_jump_s", "f8", (AXES,)),
        ("bus_lost_s", "f8"),
        ("P_tj_m", "f8", (TENDONS, JOINTS)),
        # thermal model
        ("warm", "i8"),
        ("winding_degc", "f8", (MOTORS,)),
        ("case_degc", "f8", (MOTORS,)),
    ],
    align=True,
)


def new_guard_memory() -> RecordArray:
    """An empty guard memory, shape ``(1,)``."""
    return np.zeros(1, dtype=GUARD_MEMORY)
