"""Compiled copies of one cycle of a chain: command -> goal counts, reply bytes -> measurement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from signals.compiled import law
from signals.layout import BoolArray, FloatArray, IntArray, Records
from signals.typed import Command, Measurement

Words = NDArray[np.uint32]
Bytes = NDArray[np.uint8]

OFF, CURRENT, POSITION = 0, 1, 2
WRONG_MODE = 64
DEVICE_ERROR = 4
ALERT = 0x80
BLOCK = 14
"""Bytes of one servo in a fast reply: error, id, current (2), speed (4), position (4), checksum (2)."""
FIRST = 8
"""Bytes of a fast reply before its first block."""
MANY = 1e4
"""Amperes or radians that no motor has; keeps infinities away from the arithmetic."""


@law
def bounded(value: float, top: float) -> float:
    """Value within +-top; NaN becomes 0."""
    if value != value:
        return 0.0
    return min(max(value, -top), top)


@law
def at_rest(command: Records[Command], motors: IntArray, rest: BoolArray) -> int:
    """Which motors are asked for no torque: OFF, or CURRENT with 0 A; returns how many are not."""
    c = command[0]
    on = 0
    for i in range(motors.shape[0]):
        mode = c.motor_mode[motors[i]]
        rest[i] = mode == OFF or (mode == CURRENT and c.motor_current_a[motors[i]] == 0.0)
        on += not rest[i]
    return on


@law
def goal_counts(
    command: Records[Command],
    motors: IntArray,
    modes: Words,
    a_count: FloatArray,
    limit_counts: FloatArray,
    may_pull: BoolArray,
    rest: BoolArray,
    bits: Words,
    current_counts: NDArray[np.int16],
    in_position: BoolArray,
) -> int:
    """Goal currents of all servos; in position mode the greatest current that a servo may use.

    Args:
        command: ``signals.records.COMMAND``, shape (1,).
        motors: motor of every servo; all arrays have shape (n,).
        modes: MotorMode that every servo was set up for.
        a_count: signed amperes per count; 0: the servo has no current registers.
        limit_counts: current limit.
        may_pull: torque on, in the chain, not held.
        rest: filled: asked for no torque.
        bits: ChannelStatus bits; WRONG_MODE is set or cleared.
        current_counts: filled; 0 where a servo may not pull.
        in_position: filled: its own position loop is asked for.

    Returns:
        Servos in position mode.
    """
    c = command[0]
    at_rest(command, motors, rest)
    n_position = 0
    for i in range(motors.shape[0]):
        m = motors[i]
        mode = c.motor_mode[m]
        pulls = may_pull[i] and not rest[i]
        fits = mode == modes[i]
        if pulls and not fits:
            bits[i] = bits[i] | WRONG_MODE
        else:
            bits[i] = bits[i] & ~np.uint32(WRONG_MODE)
        angle_rad = c.motor_angle_rad[m]
        in_position[i] = pulls and fits and mode == POSITION and angle_rad == angle_rad
        counts = 0.0
        if in_position[i]:
            n_position += 1
            if a_count[i] != 0.0:
                most = abs(bounded(c.motor_current_a[m], MANY) / a_count[i])
                counts = np.floor(min(most, limit_counts[i]))
        elif pulls and fits and mode == CURRENT and a_count[i] != 0.0:
            counts = bounded(np.rint(bounded(c.motor_current_a[m], MANY) / a_count[i]), limit_counts[i])
        current_counts[i] = np.int16(counts)
    return n_position


@law
def signed(raw: Bytes, at: int, size: int) -> int:
    """Little-endian two's complement integer of 2 or 4 bytes."""
    value = 0
    for k in range(size):
        value += int(raw[at + k]) * (1 << (8 * k))
    top = 1 << (8 * size - 1)
    return value - 2 * top if value >= top else value


@law
def take_blocks(
    raw: Bytes,
    rows: IntArray,
    ids: Bytes,
    motors: IntArray,
    rad_count: FloatArray,
    zero_rad: FloatArray,
    rad_s_count: FloatArray,
    a_count: FloatArray,
    bits: Words,
    temperature_degc: FloatArray,
    times_ns: tuple[int, int],
    measurement: Records[Measurement],
) -> int:
    """Write the blocks of a whole fast reply into the measurement.

    Args:
        raw: the reply from its header on.
        rows: servo of every block, shape (k,).
        ids: id of every servo, shape (n,); a block with another id is passed over.
        motors: motor of every servo.
        rad_count: signed angle per count of position.
        zero_rad: taken off the angle.
        rad_s_count: signed speed per count.
        a_count: signed current per count.
        bits: ChannelStatus bits of every servo.
        temperature_degc: newest temperatures.
        times_ns: arrival of the last byte, duration of one block: a servo samples when its turn comes.
        measurement: ``signals.records.MEASUREMENT``, shape (1,).

    Returns:
        Blocks taken.
    """
    x = measurement[0]
    taken = 0
    n = rows.shape[0]
    for k in range(n):
        i = rows[k]
        at = FIRST + k * BLOCK
        if raw[at + 1] != ids[i]:
            continue
        m = motors[i]
        x.motor_current_a[m] = signed(raw, at + 2, 2) * a_count[i]
        x.motor_speed_rad_s[m] = signed(raw, at + 4, 4) * rad_s_count[i]
        x.motor_angle_rad[m] = signed(raw, at + 8, 4) * rad_count[i] - zero_rad[i]
        x.motor_temperature_degc[m] = temperature_degc[i]
        x.motor_time_ns[m] = times_ns[0] - (n - 1 - k) * times_ns[1]
        status = np.int64(bits[i])
        if raw[at] & ALERT:
            status |= DEVICE_ERROR
        x.motor_status[m] = status
        taken += 1
    x.time_ns = times_ns[0]
    return taken
