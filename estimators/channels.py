"""Which channels may be believed: good values are taken over, bad ones keep the last good value.

A bad channel marks its finger alone (``state.finger_status``); it never reaches another finger's numbers.
"""

from __future__ import annotations

import math
from typing import Any, Final

from signals.compiled import law
from signals.modes import Channel

NOT_FINITE: Final = int(Channel.NOT_FINITE)
UNUSABLE: Final = int(
    Channel.MISSING | Channel.DEVICE_ERROR | Channel.OUT_OF_RANGE | Channel.NOT_FINITE | Channel.RESET
)
"""Status bits with which the value of a channel is not used."""


@law
def usable(status: int, value: float) -> bool:
    """True if a channel's value may be used."""
    return (status & UNUSABLE) == 0 and math.isfinite(value)


@law
def status_of(status: int, value: float) -> int:
    """Status bits of a channel, with NOT_FINITE added for a value that is not a number."""
    return status if math.isfinite(value) else status | NOT_FINITE


@law
def take_motors_and_halls(m: Any, z: Any, mem: Any, s: Any) -> None:
    """Latest good motor angles and Hall counts into ``mem``; status bits into ``s.finger_status``.

    A motor-only tendon (``hall_weight`` 0) begins with its count at the start tension; then it is computed
    (``estimators.weights.unseen_counts``).
    """
    for f in range(m.n_fingers):
        s.finger_status[f] = 0
    angle, count = z.motor_angle_rad, z.hall_fine_count
    motor_of, finger_of = m.tendon_motor, m.tendon_finger
    for t in range(m.n_tendons):
        i, f = motor_of[t], finger_of[t]
        motor_status, hall_status = int(z.motor_status[i]), int(z.hall_status[t])
        s.finger_status[f] |= status_of(motor_status, angle[i])
        mem.motor_ok[i] = usable(motor_status, angle[i])
        if mem.motor_ok[i]:
            mem.motor_angle_rad[i] = angle[i]
        if m.hall_weight[t] == 0.0:
            if mem.started == 0:
                mem.hall_count[t] = m.hall_rest_count[t]
            continue
        s.finger_status[f] |= status_of(hall_status, count[t])
        if usable(hall_status, count[t]):
            mem.hall_count[t] = count[t]


@law
def take_axes(m: Any, z: Any, mem: Any) -> None:
    """Latest good wrist axis angles into ``mem``; before the first one the neutral pose is assumed."""
    for a in range(m.n_axes):
        if usable(int(z.axis_status[a]), z.axis_angle_rad[a]):
            mem.axis_angle_rad[a] = z.axis_angle_rad[a]
        elif mem.started == 0:
            mem.axis_angle_rad[a] = m.wrist_neutral_rad[a]
