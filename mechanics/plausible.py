"""What a part can do between two samples: the limits of belief of estimator and guard.

A sample beyond them is of no part of this hand, whatever its channel says of itself.
"""

from __future__ import annotations

import math
from typing import Final

from mechanics.springs import lever_of_count
from signals.compiled import law
from signals.faults import BLINDS, Blinds
from signals.modes import ChannelStatus
from signals.typed import Model

NOTHING: Final = int(Blinds.NOTHING)

MOTOR_SHARE: Final = 2.0
"""Speed that a motor may show, as a share of its no-load speed."""
MOTOR_RAD: Final = 0.02
AXIS_SHARE: Final = 3.0
AXIS_NOISE: Final = 12.0
AXIS_RAD: Final = math.radians(0.3)
JOINT_NOISE: Final = 12.0
LEAST_NOISE: Final = 0.5
"""Noise [counts, rms] from which on a sound count changes often wherever in its step the joint stands."""
BEYOND_STOP_RAD: Final = 0.05
"""How far beyond its hard stop a lever may seem to be."""
OLDEST_NS: Final = 1_000_000_000
NEWEST_NS: Final = 100_000_000
"""How far before and after the cycle's time, which the exchange follows, a sample's may lie."""
UNKNOWN: Final = 0xFFFFFFFF & ~sum(ChannelStatus)
"""Status bits that nobody has defined: they may mean anything, so the value is not used."""


UNUSABLE: Final = UNKNOWN | int(
    ChannelStatus.MISSING
    | ChannelStatus.DEVICE_ERROR
    | ChannelStatus.OUT_OF_RANGE
    | ChannelStatus.NOT_FINITE
    | ChannelStatus.RESET
    | ChannelStatus.WRONG_MODE
    | ChannelStatus.HELD
)
"""Status bits with which the value of a channel is not used."""


@law
def usable(status: int, value: float) -> bool:
    """True if a channel's value may be used."""
    return (status & UNUSABLE) == 0 and math.isfinite(value)


@law
def motor_way_rad(m: Model, i: int, time_s: float) -> float:
    """Greatest change [rad] of motor ``i``'s angle in a time [s]."""
    return float(MOTOR_SHARE * m.motor_speed_limit_rad_s[i] * time_s + MOTOR_RAD)


@law
def axis_way_rad(m: Model, a: int, time_s: float) -> float:
    """Greatest change [rad] of wrist axis ``a``'s angle in a time [s], its noise included."""
    way = AXIS_SHARE * m.axis_speed_limit_rad_s[a] * time_s
    return float(way + AXIS_NOISE * m.axis_noise_rad[a] + AXIS_RAD)


@law
def joint_way_rad(m: Model, j: int, time_s: float) -> float:
    """Greatest change [rad] in a time [s] of what joint ``j``'s sensor says beyond its tendons and motors."""
    return float(m.joint_jump_rad_s[j] * time_s + JOINT_NOISE * m.joint_noise_rad[j])


@law
def beyond_stop(m: Model, t: int, lever_rad: float) -> bool:
    """True if a lever angle lies where no lever can be: its sensor is wrong."""
    k = m.tendon_spring[t]
    return bool(
        lever_rad > m.lever_max_rad[k] + BEYOND_STOP_RAD or lever_rad < m.lever_min_rad[k] - BEYOND_STOP_RAD
    )


@law
def at_rail(m: Model, t: int, count: float) -> bool:
    """True if a Hall count is at an end of its range, or of a lever beyond its stops."""
    inside = 0.0 < count < m.hall_count_max[t]
    return bool(not inside or beyond_stop(m, t, lever_of_count(m, t, count)))


@law
def in_time(now_ns: int, time_ns: int) -> bool:
    """True if a sample's time may be one, seen from the cycle's; differences that overflow are none."""
    return bool(-NEWEST_NS <= now_ns - time_ns <= OLDEST_NS)


@law
def sensors_sound(cause: int) -> bool:
    """True if a finger's cause leaves its sensors to be believed: then it may be led by them in fault too."""
    return bool(BLINDS[cause] == NOTHING)
