"""Detectors on the joint side: joint out of range, wrist sensor and wrist drive."""

from __future__ import annotations

import math
from typing import Final

from guard.channel_checks import since_sample_s
from guard.latch import latch_finger, latch_hand
from guard.memory import GuardMemory
from mechanics.plausible import axis_way_rad, in_time, usable
from signals.compiled import law
from signals.faults import Cause
from signals.typed import Measurement, Model, State

JOINT_OUT_OF_RANGE: Final = int(Cause.JOINT_OUT_OF_RANGE)
WRIST_SENSOR: Final = int(Cause.WRIST_SENSOR)
WRIST_LOST: Final = int(Cause.WRIST_LOST)
WRIST_JUMP: Final = int(Cause.WRIST_JUMP)

RANGE_RAD: Final = math.radians(8.0)
RANGE_S: Final = 0.050
WRIST_ERROR_RAD: Final = math.radians(1.5)
WRIST_ERROR_S: Final = 0.2
AGREE_SHARE: Final = 0.2
WRIST_LOST_S: Final = 0.020
JUMP_S: Final = 0.003


@law
def fingers_agree(m: Model, s: State) -> bool:
    """True if more than one finger has a residual: a single finger's fault says nothing about the wrist.

    With the wrist's lengths not removed (``use_wrist`` 0) the residuals say nothing about its sensor.
    """
    if m.use_wrist == 0:
        return False
    count = 0
    for f in range(m.n_fingers):
        if s.finger_residual_m[f] > AGREE_SHARE * m.residual_limit_m[f] > 0.0:
            count += 1
    return count > 1


@law
def check_joints(m: Model, mem: GuardMemory, s: State) -> None:
    """Latch joints far outside their range: only a wrong calibration or a break takes them there."""
    for j in range(m.n_joints):
        q = s.joint_angle_rad[j]
        low, high = m.joint_min_rad[j] - RANGE_RAD, m.joint_max_rad[j] + RANGE_RAD
        outside = q < low or q > high
        mem.range_s[j] = mem.range_s[j] + m.dt_s if outside else 0.0
        if mem.range_s[j] > RANGE_S:
            limit = m.joint_min_rad[j] if q < low else m.joint_max_rad[j]
            latch_finger(s, m.joint_finger[j], JOINT_OUT_OF_RANGE, j, math.degrees(q), math.degrees(limit))


@law
def check_axis_jump(m: Model, mem: GuardMemory, s: State, a: int, angle: float, time_s: float) -> None:
    """Latch an axis angle [rad], as measured, that its drive cannot reach in a time [s], and stays there."""
    if mem.started == 0:
        mem.axis_before_rad[a] = angle
    possible = axis_way_rad(m, a, time_s)
    change = angle - mem.axis_before_rad[a]
    if abs(change) <= possible:
        mem.axis_jump_s[a] = 0.0
        mem.axis_before_rad[a] = angle
        return
    mem.axis_jump_s[a] += m.dt_s
    if mem.axis_jump_s[a] > JUMP_S:
        latch_hand(m, s, WRIST_JUMP, a, math.degrees(change), math.degrees(possible))
        mem.axis_before_rad[a] = angle


@law
def check_wrist(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch a wrist axis that does not answer, jumps, or whose angle contradicts the fingers."""
    agreed = fingers_agree(m, s)
    for a in range(m.n_axes):
        known = usable(int(z.axis_status[a]), z.axis_angle_rad[a])
        known = known and in_time(s.time_ns, z.axis_time_ns[a])
        mem.axis_missing_s[a] = 0.0 if known else mem.axis_missing_s[a] + m.dt_s
        if mem.axis_missing_s[a] > WRIST_LOST_S:
            latch_hand(m, s, WRIST_LOST, a, 1e3 * mem.axis_missing_s[a], 1e3 * WRIST_LOST_S)
        angle = z.axis_angle_rad[a] if known else s.axis_angle_rad[a]
        check_axis_jump(m, mem, s, a, angle, since_sample_s(m, s, z.axis_time_ns[a], mem.axis_sample_ns[a]))
        if known:
            mem.axis_sample_ns[a] = z.axis_time_ns[a]
        wrong = agreed and abs(s.wrist_error_rad[a]) > WRIST_ERROR_RAD
        mem.axis_error_s[a] = mem.axis_error_s[a] + m.dt_s if wrong else 0.0
        if mem.axis_error_s[a] > WRIST_ERROR_S:
            error = math.degrees(s.wrist_error_rad[a])
            latch_hand(m, s, WRIST_SENSOR, a, error, math.degrees(WRIST_ERROR_RAD))
