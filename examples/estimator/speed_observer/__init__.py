"""Our estimator with joint speeds of an observer in the place of filtered differences.

In a hand file, or for one run:

    estimator = "speed_observer:estimate"
    flexor run finger_bench --set estimator=speed_observer:estimate --motion open_close --for 10

For every joint, with bandwidth ``w`` and damping 1, between two measurements ``dt`` apart:

    r = q_measured - (q + v dt),   q <- q + v dt + 2 w dt r,   v <- v + w^2 dt r
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from estimators import tick as ours
from signals.sizes import JOINTS

BANDWIDTH_RAD_S: Final = 2.0 * math.pi * 40.0

MEMORY: Final = np.dtype(
    [
        ("ours", ours.ESTIMATOR_MEMORY),
        ("started", "i8"),
        ("angle_rad", "f8", (JOINTS,)),
        ("speed_rad_s", "f8", (JOINTS,)),
    ],
    align=True,
)
"""A record that flexor makes once and hands over in every cycle, zero at the start."""


def estimate(model: Any, measurement: Any, memory: Any, state: Any) -> None:
    """Fill the state from one measurement.

    Args:
        model: the hand, ``signals.records.MODEL``, shape (1,).
        measurement: ``signals.records.MEASUREMENT``, shape (1,).
        memory: ``MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,); its fields are listed by ``flexor signals``.
    """
    ours.estimate(model, measurement, memory["ours"], state)
    s, mine, n = state[0], memory[0], int(model["n_joints"][0])
    measured, angle, speed = s["joint_angle_rad"][:n], mine["angle_rad"][:n], mine["speed_rad_s"][:n]
    if not mine["started"]:
        angle[:], speed[:], mine["started"] = measured, 0.0, 1
    dt_s = float(s["dt_s"])
    angle += speed * dt_s
    missed = measured - angle
    angle += min(2.0 * BANDWIDTH_RAD_S * dt_s, 1.0) * missed
    speed += BANDWIDTH_RAD_S**2 * dt_s * missed
    s["joint_speed_rad_s"][:n] = speed
