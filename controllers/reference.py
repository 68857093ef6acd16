r"""References that motors can follow: a wanted value, its speed and acceleration bounded.

A goal may jump; the loop behind it must not saturate, or it overshoots by what its limits delay. So every
reference - joint angle, motor angle, tension, co-contraction, wrist axis - glides to its goal:

.. math:: \dot r \to
    \mathrm{clip}(\dot g + \mathrm{clip}(\lambda (g - r),\ \pm\sqrt{2 \beta a |g - r|}),\ \pm v)

A goal that moves within these bounds is followed exactly, without lag, because its own speed leads. A speed
that contradicts its goal leads nowhere: the reference stays within the range of its coordinate.
"""

from __future__ import annotations

import math
from typing import Final

from controllers.memory import ControllerMemory
from guard.envelope import stop_speed
from signals.compiled import inlined, law
from signals.typed import Goal, Model

APPROACH_1_S: Final = 100.0
"""Rate at which a reference closes the last of its way."""
TORQUE_SHARE: Final = 0.3
"""Share of a motor's greatest torque that accelerates a reference; what is left is the feedback's."""
MOTOR_SPEED_SHARE: Final = 0.9
"""Share of a motor's greatest speed that its reference or set-point may have; the rest is the feedback's."""
BRAKE_SHARE: Final = 0.5
"""Share of the acceleration that the approach counts on: what brakes late overshoots."""


@law
def glide(
    value: float,
    rate: float,
    goal: float,
    goal_rate: float,
    fastest: float,
    acceleration: float,
    low: float,
    high: float,
    dt_s: float,
) -> tuple[float, float]:
    """Value and rate of a reference one cycle on.

    Args:
        value: reference.
        rate: its rate [1/s].
        goal: where it is to go.
        goal_rate: how fast that moves by itself [1/s].
        fastest: greatest rate [1/s].
        acceleration: greatest change of the rate [1/s2].
        low: least value.
        high: greatest value.
        dt_s: length of the cycle [s].
    """
    goal = min(max(goal, low), high)
    way = goal - goal_rate * dt_s - value  # both a cycle ago
    brake = 2.0 * BRAKE_SHARE * acceleration
    closing = min(APPROACH_1_S * abs(way), math.sqrt(brake * abs(way)))
    wanted = goal_rate + (closing if way > 0.0 else -closing)
    wanted = min(max(wanted, -fastest), fastest)
    if wanted > 0.0:
        wanted = min(wanted, math.sqrt(brake * max(high - value, 0.0)))
    else:
        wanted = max(wanted, -math.sqrt(brake * max(value - low, 0.0)))
    step = acceleration * dt_s
    after = rate + min(max(wanted - rate, -step), step)
    return value + 0.5 * (rate + after) * dt_s, after


@inlined
def shape_reference(m: Model, mem: ControllerMemory, j: int, goal_rad: float, goal_rad_s: float) -> None:
    """Move ``mem.shaped_rad[j]`` and its speed one cycle towards the goal.

    Towards the end of the joint's range it slows down as the guard's soft stop would make it.
    """
    before, low, high = mem.shaped_rad[j], m.joint_min_rad[j], m.joint_max_rad[j]
    way = high - before if goal_rad > before else before - low
    end = stop_speed(way, 0.0, m.joint_brake_rad_s2[j], m.stop_speed_rad_s)
    fastest = min(m.joint_speed_max_rad_s[j], end)
    mem.shaped_rad[j], mem.shaped_speed_rad_s[j] = glide(
        before,
        mem.shaped_speed_rad_s[j],
        goal_rad,
        goal_rad_s,
        fastest,
        m.joint_acceleration_max_rad_s2[j],
        low,
        high,
        m.dt_s,
    )


@inlined
def shape_motor(m: Model, goal: Goal, mem: ControllerMemory, i: int, left: float, rate: float) -> None:
    """Move ``mem.shaped_motor_rad[i]`` and its speed one cycle towards the goal.

    ``left`` and ``rate`` [1/s] are of the blend: what is left of the offset at the change of mode.
    """
    offset = mem.offset_motor_rad[i]
    mem.shaped_motor_rad[i], mem.shaped_motor_rad_s[i] = glide(
        mem.shaped_motor_rad[i],
        mem.shaped_motor_rad_s[i],
        goal.motor_angle_rad[i] + offset * left,
        goal.motor_speed_rad_s[i] + offset * rate,
        MOTOR_SPEED_SHARE * m.motor_speed_limit_rad_s[i],
        TORQUE_SHARE * m.motor_torque_limit_nm[i] / m.motor_inertia_kg_m2[i],
        -math.inf,
        math.inf,
        m.dt_s,
    )
