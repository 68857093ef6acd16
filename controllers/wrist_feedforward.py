"""Wrist axes: gliding goal for the drive, and how fast each tendon's path through the wrist will change.

The goal glides as fast as the motors can take back what the wrist takes from their tendons: a faster wrist
would pull the fingers along.

The path speed comes from a model of the drive (second order, as the hand file describes it) that follows the
goal, not from the noisy potentiometer: friction feedforward needs the wanted speed.
"""

from __future__ import annotations

import math
from typing import Final

from controllers.memory import ControllerMemory
from controllers.reference import glide
from mechanics.blend import duration_s, share_left, share_rate
from mechanics.wrist import wrist_jacobian
from signals.compiled import law
from signals.typed import Command, Goal, Model, State

SHORTEST_S: Final = 0.2


@law
def axis_goals(m: Model, goal: Goal, mem: ControllerMemory, s: State, command: Command, active: bool) -> None:
    """Axis angles for the wrist drive into ``command``; while not active the measured ones, held."""
    if not active:
        mem.axis_active = 0
        for a in range(m.n_axes):
            mem.axis_speed_rad_s[a] = 0.0
        return
    if mem.axis_active == 0:
        mem.axis_active = 1
        mem.axis_age_s = 0.0
        mem.axis_blend_s = SHORTEST_S
        for a in range(m.n_axes):
            offset = s.axis_angle_rad[a] - goal.axis_angle_rad[a]
            mem.offset_axis_rad[a] = offset
            mem.axis_angle_rad[a] = s.axis_angle_rad[a]
            mem.axis_speed_rad_s[a] = 0.0
            mem.shaped_axis_rad[a], mem.shaped_axis_rad_s[a] = s.axis_angle_rad[a], 0.0
            mem.axis_blend_s = max(mem.axis_blend_s, duration_s(offset, m.enter_axis_rad_s, SHORTEST_S))
    x = mem.axis_age_s / mem.axis_blend_s
    for a in range(m.n_axes):
        wanted = goal.axis_angle_rad[a] + mem.offset_axis_rad[a] * share_left(x)
        wanted_speed = goal.axis_speed_rad_s[a] + mem.offset_axis_rad[a] * share_rate(x, mem.axis_blend_s)
        mem.shaped_axis_rad[a], mem.shaped_axis_rad_s[a] = glide(
            mem.shaped_axis_rad[a],
            mem.shaped_axis_rad_s[a],
            wanted,
            wanted_speed,
            m.axis_speed_max_rad_s[a],
            m.axis_acceleration_max_rad_s2[a],
            m.axis_min_rad[a],
            m.axis_max_rad[a],
            m.dt_s,
        )
        command.axis_angle_rad[a] = mem.shaped_axis_rad[a]
        follow_drive(m, mem, a, mem.shaped_axis_rad[a], mem.shaped_axis_rad_s[a])
    mem.axis_age_s += m.dt_s


@law
def follow_drive(
    m: Model, mem: ControllerMemory, a: int, wanted_rad: float, wanted_speed_rad_s: float
) -> None:
    """One cycle of the drive's model, semi-implicit; without a bandwidth it is the goal itself."""
    w = 2.0 * math.pi * m.axis_bandwidth_hz[a]
    if w <= 0.0:
        mem.axis_angle_rad[a], mem.axis_speed_rad_s[a] = wanted_rad, wanted_speed_rad_s
        return
    dt_s = m.dt_s
    damping = 2.0 * m.axis_damping_ratio[a] * w
    speed = mem.axis_speed_rad_s[a] + dt_s * w * w * (wanted_rad - mem.axis_angle_rad[a])
    speed /= 1.0 + dt_s * damping
    limit = m.axis_speed_limit_rad_s[a]
    if limit > 0.0:
        speed = min(max(speed, -limit), limit)
    mem.axis_speed_rad_s[a] = speed
    mem.axis_angle_rad[a] += dt_s * speed


@law
def wrist_path_speeds(m: Model, mem: ControllerMemory, s: State) -> None:
    """Expected speed of every tendon's path through the wrist [m/s] into ``mem``."""
    if m.n_axes < 2:  # none, or what carries the hand has told (``controllers.limb``)
        return
    moving = 0.0
    for a in range(m.n_axes):
        moving = max(moving, abs(mem.axis_speed_rad_s[a]))
    if m.use_wrist == 0 or moving < m.axis_standing_rad_s:
        for t in range(m.n_tendons):
            mem.wrist_speed_m_s[t] = 0.0
        return
    wrist_jacobian(m, s.axis_angle_rad[0], s.axis_angle_rad[1], mem.P_wrist_m)
    qd0, qd1 = mem.axis_speed_rad_s[0], mem.axis_speed_rad_s[1]
    for t in range(m.n_tendons):
        mem.wrist_speed_m_s[t] = mem.P_wrist_m[t, 0] * qd0 + mem.P_wrist_m[t, 1] * qd1
