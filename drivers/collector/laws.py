"""Compiled copies between the records and the collector's wire: saturating outwards, exact inwards.

``wire = round(SI / LSB)`` and ``SI = wire * LSB`` with the powers of two of the codec, so that a value
survives a round trip bit for bit. The same two directions serve the driver and the emulated board.
"""

from __future__ import annotations

import numpy as np

from drivers.collector.codec import (
    ANGLE_LSB_RAD,
    CURRENT_LSB_A,
    SPEED_LSB_RAD_S,
    TEMPERATURE_LSB_DEGC,
    CommandHead,
    CommandSlot,
    SampleHead,
    SampleSlot,
)
from signals.compiled import law
from signals.layout import IntArray, Records
from signals.typed import Command, Measurement

PER_RAD = 1.0 / ANGLE_LSB_RAD
PER_RAD_S = 1.0 / SPEED_LSB_RAD_S
PER_A = 1.0 / CURRENT_LSB_A
PER_DEGC = 1.0 / TEMPERATURE_LSB_DEGC
INT32_MAX = 2147483647.0
INT16_MAX = 32767.0
UINT16_MAX = 65535.0
MISSING = 1
STALE = 2
US_NS = 1000


@law
def fixed(value: float, per_unit: float, top: float) -> int:
    """Nearest wire integer, saturating at +-top; NaN becomes 0."""
    scaled = value * per_unit
    if not (scaled >= -top):  # also NaN
        return 0 if scaled != scaled else -int(top)
    if scaled > top:
        return int(top)
    return int(np.floor(scaled + 0.5))


@law
def fill_command(
    command: Records[Command],
    head: Records[CommandHead],
    slots: Records[CommandSlot],
    motor_of_slot: IntArray,
    axes: int,
) -> int:
    """Write a COMMAND record into the wire of a command; returns ``2 n_motors + axes_on``.

    ``n_motors`` is how many motors are asked for torque (as ``drivers.slots.wanted_on``), ``axes_on`` is 1 if
    a wrist axis may move.

    Args:
        command: ``signals.records.COMMAND``, shape (1,).
        head: ``codec.COMMAND_HEAD``, shape (1,); header fields are the caller's.
        slots: ``codec.COMMAND_SLOT``, shape (n,).
        motor_of_slot: motor of every slot, -1: none, shape (n,).
        axes: wrist axes of the board.
    """
    c = command[0]
    h = head[0]
    current_a, angle_rad, mode = c.motor_current_a, c.motor_angle_rad, c.motor_mode
    motors_on = 0
    axes_on = 0
    for i in range(slots.shape[0]):
        s = slots[i]
        m = motor_of_slot[i]
        if m < 0:
            s.angle = 0
            s.current = 0
            s.mode = 0
        else:
            s.angle = fixed(angle_rad[m], PER_RAD, INT32_MAX)
            s.current = fixed(current_a[m], PER_A, INT16_MAX)
            known = mode[m] != 2 or angle_rad[m] == angle_rad[m]  # an angle that is none is no goal
            s.mode = mode[m] if known else 0
            if mode[m] != 0 and not (mode[m] == 1 and current_a[m] == 0.0):
                motors_on += 1
    for a in range(axes):
        h.axis_angle[a] = fixed(c.axis_angle_rad[a], PER_RAD, INT32_MAX)
        h.axis_enable[a] = 1 if c.axis_enable[a] and c.axis_angle_rad[a] == c.axis_angle_rad[a] else 0
        if c.axis_enable[a]:
            axes_on = 1
    return 2 * motors_on + axes_on


@law
def take_command(
    head: Records[CommandHead], slots: Records[CommandSlot], axes: int, command: Records[Command]
) -> None:
    """Read the wire of a command into a COMMAND record; slot i is motor i (the board's side)."""
    c = command[0]
    h = head[0]
    current_a, angle_rad, mode = c.motor_current_a, c.motor_angle_rad, c.motor_mode
    for i in range(slots.shape[0]):
        s = slots[i]
        angle_rad[i] = s.angle * ANGLE_LSB_RAD
        current_a[i] = s.current * CURRENT_LSB_A
        mode[i] = s.mode
    for a in range(axes):
        c.axis_angle_rad[a] = h.axis_angle[a] * ANGLE_LSB_RAD
        c.axis_enable[a] = h.axis_enable[a]


@law
def fill_sample(
    measurement: Records[Measurement],
    head: Records[SampleHead],
    slots: Records[SampleSlot],
    axes: int,
    hall_per_count: float,
    now_ns: int,
) -> None:
    """Write a MEASUREMENT record into the wire of a sample; slot i is motor i (the board's side).

    Args:
        measurement: ``signals.records.MEASUREMENT``, shape (1,).
        head: ``codec.SAMPLE_HEAD``, shape (1,); header fields are the caller's.
        slots: ``codec.SAMPLE_SLOT``, shape (n,).
        axes: wrist axes of the board.
        hall_per_count: wire units per Hall count.
        now_ns: time of the sample, for the age of every slot.
    """
    x = measurement[0]
    h = head[0]
    angle_rad, speed_rad_s, current_a = x.motor_angle_rad, x.motor_speed_rad_s, x.motor_current_a
    temperature_degc, fine, time_ns = x.motor_temperature_degc, x.hall_fine_count, x.motor_time_ns
    motor_status, hall_status = x.motor_status, x.hall_status
    for i in range(slots.shape[0]):
        s = slots[i]
        s.angle = fixed(angle_rad[i], PER_RAD, INT32_MAX)
        s.speed = fixed(speed_rad_s[i], PER_RAD_S, INT32_MAX)
        s.current = fixed(current_a[i], PER_A, INT16_MAX)
        s.temperature = fixed(temperature_degc[i], PER_DEGC, INT16_MAX)
        hall = fixed(fine[i], hall_per_count, UINT16_MAX)
        s.hall = hall if hall > 0 else 0
        s.motor_status = motor_status[i]
        s.hall_status = hall_status[i]
        age_us = (now_ns - time_ns[i]) // US_NS
        s.age_us = min(max(age_us, 0), 65535)
    for a in range(axes):
        h.axis_angle[a] = fixed(x.axis_angle_rad[a], PER_RAD, INT32_MAX)
        h.axis_status[a] = x.axis_status[a]


@law
def take_sample(
    head: Records[SampleHead],
    slots: Records[SampleSlot],
    motor_of_slot: IntArray,
    hall_of_slot: IntArray,
    axes: int,
    count_per_wire: float,
    sample_ns: int,
    flags: int,
    measurement: Records[Measurement],
) -> int:
    """Read the wire of a sample into a MEASUREMENT record.

    Args:
        head: ``codec.SAMPLE_HEAD``, shape (1,).
        slots: ``codec.SAMPLE_SLOT``, shape (n,).
        motor_of_slot: motor of every slot, -1: none, shape (n,).
        hall_of_slot: Hall channel of every slot, -1: none, shape (n,).
        axes: wrist axes of the board.
        count_per_wire: Hall counts per wire unit.
        sample_ns: monotonic time of the sample on this computer.
        flags: ChannelStatus bits to add to every motor (a reset board).
        measurement: ``signals.records.MEASUREMENT``, shape (1,).

    Returns:
        Number of channels with a status.
    """
    x = measurement[0]
    h = head[0]
    angle_rad, speed_rad_s, current_a = x.motor_angle_rad, x.motor_speed_rad_s, x.motor_current_a
    temperature_degc, fine, count = x.motor_temperature_degc, x.hall_fine_count, x.hall_count
    motor_time_ns, hall_time_ns = x.motor_time_ns, x.hall_time_ns
    motor_status, hall_status = x.motor_status, x.hall_status
    bad = 0
    for i in range(slots.shape[0]):
        s = slots[i]
        time_ns = sample_ns - s.age_us * US_NS
        m = motor_of_slot[i]
        if m >= 0:
            status = s.motor_status | flags
            if status & (MISSING | STALE) == 0:
                angle_rad[m] = s.angle * ANGLE_LSB_RAD
                speed_rad_s[m] = s.speed * SPEED_LSB_RAD_S
                current_a[m] = s.current * CURRENT_LSB_A
                temperature_degc[m] = s.temperature * TEMPERATURE_LSB_DEGC
                motor_time_ns[m] = time_ns
            motor_status[m] = status
            bad += status != 0
        t = hall_of_slot[i]
        if t >= 0:
            status = s.hall_status
            if status & (MISSING | STALE) == 0:
                value = s.hall * count_per_wire
                fine[t] = value
                count[t] = int(np.floor(value + 0.5))
                hall_time_ns[t] = time_ns
            hall_status[t] = status
            bad += status != 0
    for a in range(axes):
        status = h.axis_status[a]
        if status & (MISSING | STALE) == 0:
            x.axis_angle_rad[a] = h.axis_angle[a] * ANGLE_LSB_RAD
            x.axis_time_ns[a] = sample_ns
        x.axis_status[a] = status
        bad += status != 0
    return bad
