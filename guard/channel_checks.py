"""Detectors of the channels themselves: not a number, missing, reset, too old."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from guard.latch import latch_hand, latch_probed
from guard.memory import GuardMemory
from mechanics.plausible import NEWEST_NS, UNKNOWN, in_time, usable
from signals.compiled import law
from signals.faults import Cause
from signals.modes import ChannelStatus, EncoderReference
from signals.typed import Measurement, Model, State

NOT_FINITE_MEASUREMENT: Final = int(Cause.NOT_FINITE_MEASUREMENT)
MEASUREMENT_TOO_OLD: Final = int(Cause.MEASUREMENT_TOO_OLD)
BUS_LOST: Final = int(Cause.BUS_LOST)
MOTOR_LOST: Final = int(Cause.MOTOR_LOST)
MOTOR_RESET: Final = int(Cause.MOTOR_RESET)
MOTOR_HELD: Final = int(Cause.MOTOR_HELD)
HALL_LOST: Final = int(Cause.HALL_LOST)
HALL_NOT_FINITE: Final = int(Cause.HALL_NOT_FINITE)
HALL_TOO_OLD: Final = int(Cause.HALL_TOO_OLD)

ABSENT: Final = int(UNKNOWN | ChannelStatus.MISSING | ChannelStatus.DEVICE_ERROR)
CAME_BACK: Final = int(ChannelStatus.RESET | ChannelStatus.WRONG_MODE)
HELD: Final = int(ChannelStatus.HELD)
NOT_FINITE: Final = int(ChannelStatus.NOT_FINITE)

ABSOLUTE: Final = int(EncoderReference.ABSOLUTE)
NO_REFERENCE: Final = int(EncoderReference.NONE)

LOST_S: Final = 0.005
"""Silence after which a motor or a Hall channel counts as lost; single missed answers happen on a bus."""
CHANGING: Final = 0.2
"""Share of its samples in which a noisy channel changes at least."""
RATE_SHARE: Final = 0.002
"""Share of the newest sample in how often a channel changes."""
SILENT: Final = 40.0
"""Changes that noise would have made, and did not, before a channel counts as stuck: e^-40."""


@law
def hall_believed(m: Model, z: Measurement, t: int) -> bool:
    """True if the Hall sensor of tendon ``t`` may be used: a motor-only tendon's never is."""
    return m.hall_weight[t] > 0.0 and usable(int(z.hall_status[t]), z.hall_fine_count[t])


@law
def has_channel(m: Model, t: int) -> bool:
    """True if what comes from tendon ``t``'s channel is used: of its own sensor, or of a difference's."""
    return m.hall_weight[t] > 0.0 or (m.n_differences != 0 and m.difference_to[t] >= 0)


@law
def not_a_number(status: int, value: float) -> bool:
    """True if a channel delivered something that is not a number."""
    return (status & NOT_FINITE) != 0 or not math.isfinite(value)


@law
def silence_s(silent_s: float, status: int, dt_s: float) -> float:
    """How long a channel has been silent, this cycle included."""
    return silent_s + dt_s if (status & ABSENT) != 0 else 0.0


@law
def since_sample_s(m: Model, s: State, time_ns: int, last_ns: int) -> float:
    """Time [s] that a value had to change: since its last good sample or the last cycle, at least a period.

    A slow bus does not bring a sample in every cycle, and the last cycle may have been a stall ago.
    """
    return float(max(m.dt_s, s.dt_s, 1e-9 * float(time_ns - last_ns)))


@law
def without_a_word(m: Model, z: Measurement) -> bool:
    """True if no motor and no Hall sensor says anything but a finite number: loops without a branch."""
    angle, motor, count, hall = z.motor_angle_rad, z.motor_status, z.hall_fine_count, z.hall_status
    odd = 0
    for i in range(m.n_motors):
        odd |= 0 if motor[i] == 0 and angle[i] - angle[i] == 0.0 else 1
    for t in range(m.n_tendons):
        odd |= 0 if hall[t] == 0 and count[t] - count[t] == 0.0 else 1
    return odd == 0


@law
def all_usable(m: Model, z: Measurement) -> bool:
    """True if every motor and every Hall sensor that is used delivered a usable value."""
    for i in range(m.n_motors):
        if not usable(int(z.motor_status[i]), z.motor_angle_rad[i]):
            return False
    for t in range(m.n_tendons):
        if has_channel(m, t) and not usable(int(z.hall_status[t]), z.hall_fine_count[t]):
            return False
    return True


@law
def complete(m: Model, mem: GuardMemory, z: Measurement) -> bool:
    """True if every channel of the hand delivered a usable value; ``check_channels`` may have seen it."""
    for a in range(m.n_axes):
        if not usable(int(z.axis_status[a]), z.axis_angle_rad[a]):
            return False
    return mem.all_well != 0 or without_a_word(m, z) or all_usable(m, z)


@law
def check_bus(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """All motors silent at once: the bus is lost, a fault of the hand."""
    silent = m.n_motors > 1
    for i in range(m.n_motors):
        silent = silent and (int(z.motor_status[i]) & ABSENT) != 0
    mem.bus_lost_s = mem.bus_lost_s + m.dt_s if silent else 0.0
    if mem.bus_lost_s > LOST_S:
        latch_hand(m, s, BUS_LOST, -1, 1e3 * mem.bus_lost_s, 1e3 * LOST_S)


@law
def check_age(
    m: Model, mem: GuardMemory, s: State, f: int, t: int, cause: int, part: int, time_ns: int
) -> None:
    """A sample older than the last tier, or of a time to come, is a fault of its finger."""
    limit = m.measurement_age_s[2]
    age = 1e-9 * float(s.time_ns - time_ns)
    if (abs(age) > limit > 0.0) or not in_time(s.time_ns, time_ns):
        latch_probed(mem, s, f, t, cause, part, 1e3 * age, 1e3 * limit)


@law
def degraded(m: Model, z: Measurement, s: State, t: int) -> bool:
    """True if a sample of tendon ``t`` or of its motor is older than the second tier."""
    limit = m.measurement_age_s[1]
    oldest = z.motor_time_ns[m.tendon_motor[t]]
    if has_channel(m, t):
        oldest = min(z.hall_time_ns[t], oldest)
    return bool(limit > 0.0 and 1e-9 * float(s.time_ns - oldest) > limit)


@law
def lose_phase(m: Model, s: State, i: int) -> None:
    """Motor ``i`` may have been without power: the angle of a relative encoder gives no phase any more."""
    if m.encoder_reference[i] != ABSOLUTE:
        s.ripple_unknown[i] = 1


@law
def check_hall_channel(m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, t: int) -> None:
    """Latch what the Hall channel of tendon ``t`` says: not a number, lost, too old."""
    hall = int(z.hall_status[t])
    mem.hall_missing_s[t] = silence_s(mem.hall_missing_s[t], hall, m.dt_s)
    if not_a_number(hall, z.hall_fine_count[t]):
        latch_probed(mem, s, f, t, HALL_NOT_FINITE, t, 0.0, 0.0)
    if mem.hall_missing_s[t] > LOST_S:
        latch_probed(mem, s, f, t, HALL_LOST, t, 1e3 * mem.hall_missing_s[t], 1e3 * LOST_S)
    check_age(m, mem, s, f, t, HALL_TOO_OLD, t, z.hall_time_ns[t])


@law
def all_say_nothing(m: Model, mem: GuardMemory, z: Measurement, s: State) -> bool:
    """True if no channel says anything but a new number; then all silence is over.

    Loops without a branch: vector code for almost every cycle. An age beyond a limit makes the sum or the
    difference of both negative, as does one that overflows. ``mem.all_young``: none is near the second tier.
    """
    n_motors, n_tendons, now_ns = m.n_motors, m.n_tendons, s.time_ns
    motor, motor_ns, angle, reference = (
        z.motor_status,
        z.motor_time_ns,
        z.motor_angle_rad,
        m.encoder_reference,
    )
    hall, hall_ns, count = z.hall_status, z.hall_time_ns, z.hall_fine_count
    limit_ns = int(1e9 * m.measurement_age_s[2])
    limit_ns = limit_ns if 0 < limit_ns < NEWEST_NS else NEWEST_NS
    young_ns = int(1e9 * m.measurement_age_s[1]) - 1
    young_ns = young_ns if 0 <= young_ns < NEWEST_NS else NEWEST_NS
    said, odd, late, aged = np.uint32(0), 0, 0, 0
    for i in range(n_motors):
        said |= motor[i]
        odd |= 0 if angle[i] - angle[i] == 0.0 else 1
        odd |= 0 if reference[i] != NO_REFERENCE else 1
    for i in range(n_motors):
        age_ns = now_ns - motor_ns[i]
        late |= (age_ns + limit_ns) | (limit_ns - age_ns)
        aged |= young_ns - age_ns
    for t in range(n_tendons):
        said |= hall[t]
        odd |= 0 if count[t] - count[t] == 0.0 else 1
    for t in range(n_tendons):
        age_ns = now_ns - hall_ns[t]
        late |= (age_ns + limit_ns) | (limit_ns - age_ns)
        aged |= young_ns - age_ns
    if said != 0 or odd != 0 or late < 0:
        return False
    mem.all_young = 1 if aged >= 0 else 0
    mem.bus_lost_s = 0.0
    for i in range(n_motors):
        mem.missing_s[i] = 0.0
    for t in range(n_tendons):
        mem.hall_missing_s[t] = 0.0
    return True


@law
def check_motor_channel(m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, t: int) -> None:
    """Latch what the channel of tendon ``t``'s motor says: not a number, reset, held, lost, too old."""
    i = m.tendon_motor[t]
    motor = int(z.motor_status[i])
    mem.missing_s[i] = silence_s(mem.missing_s[i], motor, m.dt_s)
    if m.encoder_reference[i] == NO_REFERENCE:
        lose_phase(m, s, i)
    if not_a_number(motor, z.motor_angle_rad[i]):
        latch_probed(mem, s, f, t, NOT_FINITE_MEASUREMENT, i, 0.0, 0.0)
    if (motor & CAME_BACK) != 0:
        lose_phase(m, s, i)
        latch_probed(mem, s, f, t, MOTOR_RESET, i, float(motor), 0.0)
    elif (motor & HELD) != 0:
        latch_probed(mem, s, f, t, MOTOR_HELD, i, float(motor), 0.0)
    if mem.missing_s[i] > LOST_S:
        lose_phase(m, s, i)
        latch_probed(mem, s, f, t, MOTOR_LOST, i, 1e3 * mem.missing_s[i], 1e3 * LOST_S)
    check_age(m, mem, s, f, t, MEASUREMENT_TOO_OLD, i, z.motor_time_ns[i])


@law
def check_channels(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch what the channels say: not a number, lost, reset, too old; the finger of the channel only."""
    mem.all_well = 1 if all_say_nothing(m, mem, z, s) else 0
    if mem.all_well != 0:
        return
    check_bus(m, mem, z, s)
    for t in range(m.n_tendons):
        f = m.tendon_finger[t]
        if m.tendon_follows[t] == 0:
            check_motor_channel(m, mem, z, s, f, t)
        if has_channel(m, t):
            check_hall_channel(m, mem, z, s, f, t)
