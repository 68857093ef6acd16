"""A motion's tables -> the goal record, every cycle: cubic Hermite per channel, blended from the start pose.

A channel is one number of the goal over time: nodes at an even step with value and slope. Periodic
channels wrap (and grow by ``advance`` each time), others hold their last value; ``hold`` channels jump from
node to node; ``relative`` ones count from the start value. Over the first ``blend_s`` seconds

    goal(t) = start + s(t/blend_s) (channel(t) - start),   s(x) = 10 x^3 - 15 x^4 + 6 x^5,

so that a motion begins at rest in the measured pose, with its speeds and rates to match.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Annotated, Final, Protocol

from mechanics.blend import rise, slope
from mechanics.interpolation import hermite
from signals.compiled import law
from signals.layout import FloatArray, IntArray, Records, dtype_of
from signals.sizes import CHANNELS, FINGERS
from signals.typed import Goal, Model, State


class ChannelKind(IntEnum):
    """Field of the goal that a channel drives."""

    JOINT_ANGLE = 0
    JOINT_TORQUE = 1
    TENDON_FORCE = 2
    MOTOR_ANGLE = 3
    MOTOR_TORQUE = 4
    AXIS_ANGLE = 5


_JOINT_ANGLE, _JOINT_TORQUE, _TENDON_FORCE = 0, 1, 2
_MOTOR_ANGLE, _MOTOR_TORQUE, _AXIS_ANGLE = 3, 4, 5


class MotionRecord(Protocol):
    """Head of a motion: what each row of its tables of values and slopes means.

    ``start`` is written at the start.
    """

    n_channels: int
    blend_s: float
    finger_mode: Annotated[IntArray, FINGERS]
    kind: Annotated[IntArray, CHANNELS]
    index: Annotated[IntArray, CHANNELS]
    nodes: Annotated[IntArray, CHANNELS]
    periodic: Annotated[IntArray, CHANNELS]
    hold: Annotated[IntArray, CHANNELS]
    relative: Annotated[IntArray, CHANNELS]
    step_s: Annotated[FloatArray, CHANNELS]
    advance: Annotated[FloatArray, CHANNELS]
    start: Annotated[FloatArray, CHANNELS]


MOTION: Final = dtype_of(MotionRecord)


@law
def channel_at(
    h: MotionRecord, values: FloatArray, slopes: FloatArray, c: int, time_s: float
) -> tuple[float, float]:
    """Value and slope of channel ``c`` at a time since the start, without start value and blending."""
    last = h.nodes[c] - 1
    if last < 1:
        return values[c, 0], 0.0
    step = h.step_s[c]
    place = time_s / step
    offset = 0.0
    if h.periodic[c] != 0:
        turns = math.floor(place / last)
        place -= turns * last
        offset = turns * h.advance[c]
    if place >= last:
        return offset + values[c, last], 0.0
    k = int(place)
    if h.hold[c] != 0:
        return offset + values[c, k], 0.0
    value, slope = hermite(place - k, step, values[c, k], values[c, k + 1], slopes[c, k], slopes[c, k + 1])
    return offset + value, slope


@law
def blend(x: float) -> tuple[float, float]:
    """Share of the motion and its slope, at a share ``x`` of the blending time."""
    if x <= 0.0:
        return 0.0, 0.0
    if x >= 1.0:
        return 1.0, 0.0
    return rise(x), slope(x)


@law
def motion_start(motion: Records[MotionRecord], state: Records[State]) -> None:
    """Take the start values from the state: angles and tensions measured now, torques zero."""
    h, s = motion[0], state[0]
    start, kinds, index = h.start, h.kind, h.index
    for c in range(h.n_channels):
        kind, i = kinds[c], index[c]
        if kind == _JOINT_ANGLE:
            start[c] = s.joint_angle_rad[i]
        elif kind == _TENDON_FORCE:
            start[c] = s.tension_n[i]
        elif kind == _MOTOR_ANGLE:
            start[c] = s.motor_angle_rad[i]
        elif kind == _AXIS_ANGLE:
            start[c] = s.axis_angle_rad[i]
        else:
            start[c] = 0.0


@law
def motion_goal(
    motion: Records[MotionRecord],
    values: FloatArray,
    slopes: FloatArray,
    model: Records[Model],
    time_s: float,
    goal: Records[Goal],
) -> None:
    """Fill the goal for a time since the start of the motion; real-time safe.

    Args:
        motion: head, ``MOTION``, shape (1,).
        values: node values, shape (channels, nodes).
        slopes: their slopes by time, same shape.
        model: ``signals.records.MODEL``, shape (1,), for gains and pretension.
        time_s: time since the start; at or before 0 the goal is the start pose.
        goal: ``signals.records.GOAL``, shape (1,); modes, gains and all channels are written.
    """
    h, m, g = motion[0], model[0], goal[0]
    g.time_ns = 0  # a motion never ages
    for f in range(m.n_fingers):
        g.finger_mode[f] = h.finger_mode[f]
        g.pretension_n[f] = m.pretension_n[f]
    for j in range(m.n_joints):
        g.joint_impedance_nm_rad[j] = m.joint_impedance_nm_rad[j]
        g.joint_damping_nms_rad[j] = m.joint_damping_nms_rad[j]
        g.joint_stiffness_nm_rad[j] = 0.0
    share, share_slope = 1.0, 0.0
    if time_s < h.blend_s or time_s <= 0.0:
        share, share_slope = blend(time_s / max(h.blend_s, 1e-9))
        share_slope /= max(h.blend_s, 1e-9)
    time = max(time_s, 0.0)
    for c in range(h.n_channels):
        value, slope = channel_at(h, values, slopes, c, time)
        start = h.start[c]
        way = value if h.relative[c] != 0 else value - start
        _write(g, h.kind[c], h.index[c], start + share * way, share * slope + share_slope * way)


@law
def _write(g: Goal, kind: int, i: int, value: float, slope: float) -> None:
    if kind == _JOINT_ANGLE:
        g.joint_angle_rad[i] = value
        g.joint_speed_rad_s[i] = slope
    elif kind == _JOINT_TORQUE:
        g.joint_torque_nm[i] = value
    elif kind == _TENDON_FORCE:
        g.tendon_force_n[i] = value
        g.tendon_force_rate_n_s[i] = slope
    elif kind == _MOTOR_ANGLE:
        g.motor_angle_rad[i] = value
        g.motor_speed_rad_s[i] = slope
    elif kind == _MOTOR_TORQUE:
        g.motor_torque_nm[i] = value
    elif kind == _AXIS_ANGLE:
        g.axis_angle_rad[i] = value
        g.axis_speed_rad_s[i] = slope
