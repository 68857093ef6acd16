"""Which samples may be believed: good values are taken over, others leave the last good value in use.

A bad channel marks its finger alone (``state.finger_status``); it never reaches another finger's numbers.
A value that no part of the hand can have come to (``mechanics.plausible``) is not believed, whatever its
channel says: it reaches no speed, no filter and no law, and its part seems to rest. The guard sees it and
names it. It is taken over once it has stood for ``STANDS_S`` and nothing is led by it any more (off, ready, a
fault that lets go), and then as a place from which all differences begin anew.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from estimators.difference_rows import meet_differences
from estimators.memory import EstimatorMemory
from estimators.speeds import cycle_s
from mechanics.plausible import (
    MOTOR_RAD,
    NEWEST_NS,
    OLDEST_NS,
    at_rail,
    axis_way_rad,
    in_time,
    motor_way_rad,
    sensors_sound,
    usable,
)
from signals.compiled import law
from signals.modes import ChannelStatus, MachineState
from signals.typed import Measurement, Model, State

NOT_FINITE: Final = int(ChannelStatus.NOT_FINITE)
OUT_OF_RANGE: Final = int(ChannelStatus.OUT_OF_RANGE)
STALE: Final = int(ChannelStatus.STALE)
HOLDING: Final = int(MachineState.HOLDING)
ACTIVE: Final = int(MachineState.ACTIVE)
FAULT: Final = int(MachineState.FAULT)
STANDS_S: Final = 0.020
"""Time for which a value that was not believed has to stand before it is a new place."""


@law
def status_of(status: int, value: float) -> int:
    """Status bits of a channel, with NOT_FINITE added for a value that is not a number."""
    return status if math.isfinite(value) else status | NOT_FINITE


@law
def led(state: int) -> bool:
    """True if motors are led by what is measured: the hand holds or is active."""
    return state == HOLDING or state == ACTIVE


@law
def finger_led(s: State, f: int) -> bool:
    """The same of a finger; one in fault may hold its place too, unless its sensors are the cause."""
    return led(s.finger_state[f]) or (s.finger_state[f] == FAULT and sensors_sound(int(s.finger_cause[f])))


@law
def judge_place(
    value: float,
    taken: float,
    way: float,
    doubted: float,
    way_in_cycle: float,
    stood_s: float,
    dt_s: float,
    is_led: bool,
) -> tuple[bool, float]:
    """True if a part may be where its sample says, moved or taken over anew; how long it is doubted [s].

    Args:
        value: what the sample says.
        taken: the value in use.
        way: how far the part can have come since that was sampled.
        doubted: the last sample that was not believed.
        way_in_cycle: how far the part can have come since then.
        stood_s: how long it has been doubted so far [s].
        dt_s: time since the last cycle [s].
        is_led: motors are led by the value in use.
    """
    if abs(value - taken) <= way:
        return True, stood_s
    stood_s = stood_s + dt_s if abs(value - doubted) <= way_in_cycle else dt_s
    return stood_s >= STANDS_S and not is_led, stood_s


@law
def new_place(m: Model, z: Measurement, mem: EstimatorMemory, s: State, i: int, f: int) -> bool:
    """True if motor ``i``, which is not where it was, may be there after all."""
    angle, dt_s = z.motor_angle_rad[i], cycle_s(m, s)
    since_s = 1e-9 * float(z.motor_time_ns[i] - mem.last_motor_ns[i]) if mem.doubt_s[i] == 0.0 else 0.0
    believed, mem.doubt_s[i] = judge_place(
        angle,
        mem.motor_angle_rad[i],
        motor_way_rad(m, i, max(since_s, dt_s)),
        mem.doubt_angle_rad[i],
        motor_way_rad(m, i, dt_s),
        mem.doubt_s[i],
        dt_s,
        finger_led(s, f),
    )
    mem.doubt_angle_rad[i] = angle
    return believed


@law
def take_motor(m: Model, z: Measurement, mem: EstimatorMemory, s: State, i: int, f: int) -> int:
    """Angle of motor ``i`` in finger ``f`` into ``mem`` if it may be believed; returns status bits."""
    angle = z.motor_angle_rad[i]
    status = status_of(int(z.motor_status[i]), angle)
    mem.motor_ok[i] = 0
    if not usable(status, angle):
        return status
    if not in_time(s.time_ns, z.motor_time_ns[i]):
        return status | STALE
    if abs(angle - mem.motor_angle_rad[i]) > MOTOR_RAD and mem.started != 0:
        if not new_place(m, z, mem, s, i, f):
            return status | OUT_OF_RANGE
    if mem.doubt_s[i] > 0.0:  # back, or taken over: no speed is told by where it was before
        mem.last_motor_angle_rad[i] = angle
        mem.anew[f] = 1
        mem.doubt_s[i] = 0.0
    mem.motor_ok[i] = 1
    mem.motor_angle_rad[i] = angle
    return status


@law
def take_hall(m: Model, z: Measurement, mem: EstimatorMemory, s: State, t: int) -> int:
    """Count of tendon ``t``'s lever into ``mem`` if it may be believed; returns status bits."""
    count = z.hall_fine_count[t]
    status = status_of(int(z.hall_status[t]), count)
    if not usable(status, count):
        return status
    if not in_time(s.time_ns, z.hall_time_ns[t]):
        return status | STALE
    if abs(count - mem.hall_count[t]) > m.near_count and mem.started != 0 and at_rail(m, t, count):
        return status | OUT_OF_RANGE
    mem.hall_count[t] = count
    return status


@law
def take_quietly(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> bool:
    """True if all motors and Hall sensors say what is taken without a look; then it is taken.

    Loops without a branch: vector code for almost every cycle. An age beyond a limit makes the sum or the
    difference of both negative, as does one that overflows.
    """
    n_motors, n_tendons, now_ns = m.n_motors, m.n_tendons, s.time_ns
    angle, angle_ns, taken, ok, doubts_s = (
        z.motor_angle_rad,
        z.motor_time_ns,
        mem.motor_angle_rad,
        mem.motor_ok,
        mem.doubt_s,
    )
    count, count_ns, lever, weight = z.hall_fine_count, z.hall_time_ns, mem.hall_count, m.hall_weight
    motor_status, hall_status = z.motor_status, z.hall_status
    said, odd, late, near = np.uint32(0), 1 if mem.started == 0 else 0, 0, m.near_count
    for i in range(n_motors):
        said |= motor_status[i]
        odd |= 0 if abs(angle[i] - taken[i]) <= MOTOR_RAD else 1
        odd |= 0 if doubts_s[i] == 0.0 else 1
    for i in range(n_motors):
        age_ns = now_ns - angle_ns[i]
        late |= (age_ns + NEWEST_NS) | (OLDEST_NS - age_ns)
    for t in range(n_tendons):
        said |= hall_status[t]
        odd |= 0 if abs(count[t] - lever[t]) <= near else 1
        odd |= 0 if weight[t] > 0.0 else 1
    for t in range(n_tendons):
        age_ns = now_ns - count_ns[t]
        late |= (age_ns + NEWEST_NS) | (OLDEST_NS - age_ns)
    if said != 0 or odd != 0 or late < 0:
        return False
    for i in range(n_motors):
        taken[i], ok[i] = angle[i], 1
    for t in range(n_tendons):
        lever[t] = count[t]
    return True


@law
def take_motors_and_halls(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> None:
    """Latest good motor angles and Hall counts into ``mem``; status bits into ``s.finger_status``.

    A motor-only tendon (``hall_weight`` 0) begins with its count at the start tension; then it is computed
    (``estimators.weights.unseen_counts``).
    """
    for f in range(m.n_fingers):
        s.finger_status[f] = mem.anew[f] = 0
    if take_quietly(m, z, mem, s):
        return
    for t in range(m.n_tendons):
        i, f = m.tendon_motor[t], m.tendon_finger[t]
        if m.tendon_follows[t] == 0:
            s.finger_status[f] |= take_motor(m, z, mem, s, i, f)
        if m.hall_weight[t] > 0.0:
            s.finger_status[f] |= take_hall(m, z, mem, s, t)
        elif mem.started == 0:
            mem.hall_count[t] = m.hall_rest_count[t]
    if m.n_differences != 0:
        meet_differences(m, z, mem, s)


@law
def new_axis_place(m: Model, z: Measurement, mem: EstimatorMemory, s: State, a: int) -> bool:
    """True if axis ``a`` may be where its sample says."""
    angle, dt_s = z.axis_angle_rad[a], cycle_s(m, s)
    since_s = 1e-9 * float(z.axis_time_ns[a] - mem.last_axis_ns[a]) if mem.axis_doubt_s[a] == 0.0 else 0.0
    believed, mem.axis_doubt_s[a] = judge_place(
        angle,
        mem.axis_angle_rad[a],
        axis_way_rad(m, a, max(since_s, dt_s)),
        mem.axis_doubt_rad[a],
        axis_way_rad(m, a, dt_s),
        mem.axis_doubt_s[a],
        dt_s,
        led(s.machine),
    )
    mem.axis_doubt_rad[a] = angle
    return believed


@law
def take_axes(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> None:
    """Latest good wrist axis angles into ``mem``; before the first one the neutral pose is assumed."""
    for a in range(m.n_axes):
        ok = usable(int(z.axis_status[a]), z.axis_angle_rad[a]) and in_time(s.time_ns, z.axis_time_ns[a])
        if mem.started != 0:
            ok = ok and new_axis_place(m, z, mem, s, a)
        elif not ok:
            mem.axis_angle_rad[a] = m.wrist_neutral_rad[a]
        mem.axis_ok[a] = ok
        if ok:
            if mem.axis_doubt_s[a] > 0.0:
                mem.last_axis_angle_rad[a] = z.axis_angle_rad[a]
                for f in range(m.n_fingers):
                    mem.anew[f] = 1
                mem.axis_doubt_s[a] = 0.0
            mem.axis_angle_rad[a] = z.axis_angle_rad[a]
