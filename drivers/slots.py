"""Which channel of a device is which channel of the hand; marks channels that did not answer."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from drivers.family import BusSettings
from signals.compiled import law
from signals.layout import IntArray, Records
from signals.modes import ChannelStatus
from signals.names import HandNames
from signals.records import RecordArray
from signals.typed import Command, Measurement

STALE = int(ChannelStatus.STALE)
MISSING = int(ChannelStatus.MISSING)
NONE: Final[IntArray] = np.zeros(0, dtype=np.int64)
"""No channel of a space."""


def indices(names: tuple[str, ...], legal: tuple[str, ...]) -> IntArray:
    """Index of every name in ``legal``; an empty name is -1 (a channel that is not used)."""
    return np.array([legal.index(n) if n else -1 for n in names], dtype=np.int64)


@law
def mark(
    measurement: Records[Measurement], motors: IntArray, halls: IntArray, axes: IntArray, bits: int
) -> int:
    """Add ChannelStatus bits to the channels of one bus; returns how many channels there are.

    A channel that never answered gets MISSING in place of STALE.
    """
    x = measurement[0]
    n = 0
    for m in motors:
        if m >= 0:
            n += 1
            wrong = MISSING if bits == STALE and x.motor_time_ns[m] == 0 else bits
            x.motor_status[m] = x.motor_status[m] | wrong
    for t in halls:
        if t >= 0:
            n += 1
            wrong = MISSING if bits == STALE and x.hall_time_ns[t] == 0 else bits
            x.hall_status[t] = x.hall_status[t] | wrong
    for a in axes:
        if a >= 0:
            n += 1
            wrong = MISSING if bits == STALE and x.axis_time_ns[a] == 0 else bits
            x.axis_status[a] = x.axis_status[a] | wrong
    return n


@law
def mark_joints(measurement: Records[Measurement], joints: IntArray, bits: int) -> int:
    """The same for sensors of joints: beside ``mark``, whose arguments other people's drivers give."""
    x = measurement[0]
    n = 0
    for j in joints:
        if j >= 0:
            n += 1
            wrong = MISSING if bits == STALE and x.joint_time_ns[j] == 0 else bits
            x.joint_status[j] = x.joint_status[j] | wrong
    return n


@law
def wanted_on(command: Records[Command], motors: IntArray) -> int:
    """How many motors are asked for torque: every mode but OFF, except CURRENT with 0 A."""
    c = command[0]
    n = 0
    for m in motors:
        if m >= 0 and c.motor_mode[m] != 0 and not (c.motor_mode[m] == 1 and c.motor_current_a[m] == 0.0):
            n += 1
    return n


@law
def axes_on(command: Records[Command], axes: IntArray) -> int:
    """How many wrist axes may move."""
    c = command[0]
    n = 0
    for a in axes:
        if a >= 0 and c.axis_enable[a] != 0:
            n += 1
    return n


@law
def merge(
    source: Records[Measurement],
    target: Records[Measurement],
    motors: IntArray,
    halls: IntArray,
    axes: IntArray,
    joints: IntArray,
) -> int:
    """Copy one bus' channels from one MEASUREMENT record into another; returns channels with a status."""
    s, d = source[0], target[0]
    bad = 0
    for m in motors:
        if m >= 0:
            d.motor_angle_rad[m] = s.motor_angle_rad[m]
            d.motor_speed_rad_s[m] = s.motor_speed_rad_s[m]
            d.motor_current_a[m] = s.motor_current_a[m]
            d.motor_temperature_degc[m] = s.motor_temperature_degc[m]
            d.motor_time_ns[m] = s.motor_time_ns[m]
            d.motor_status[m] = s.motor_status[m]
            bad += s.motor_status[m] != 0
    for t in halls:
        if t >= 0:
            d.hall_fine_count[t] = s.hall_fine_count[t]
            d.hall_count[t] = s.hall_count[t]
            d.hall_time_ns[t] = s.hall_time_ns[t]
            d.hall_status[t] = s.hall_status[t]
            bad += s.hall_status[t] != 0
    for a in axes:
        if a >= 0:
            d.axis_angle_rad[a] = s.axis_angle_rad[a]
            d.axis_time_ns[a] = s.axis_time_ns[a]
            d.axis_status[a] = s.axis_status[a]
            bad += s.axis_status[a] != 0
    for j in joints:
        if j >= 0:
            d.joint_count[j] = s.joint_count[j]
            d.joint_time_ns[j] = s.joint_time_ns[j]
            d.joint_status[j] = s.joint_status[j]
            bad += s.joint_status[j] != 0
    return bad


class Channels(NamedTuple):
    """Parts of the hand that one bus moves or reads, as indices of the records."""

    motors: IntArray
    halls: IntArray
    axes: IntArray
    joints: IntArray

    def mark_stale(self, measurement: RecordArray) -> None:
        """Their values are old."""
        mark(measurement, self.motors, self.halls, self.axes, STALE)
        mark_joints(measurement, self.joints, STALE)

    def merge(self, source: RecordArray, target: RecordArray) -> int:
        """Copy them from one MEASUREMENT record into another; returns channels with a status."""
        return int(merge(source, target, *self))


def channels_of(settings: BusSettings, names: HandNames) -> Channels:
    """The channels of a bus by its table of the bus file."""
    told = (
        ("motor", settings.motors(names)),
        ("tendon", settings.halls(names)),
        ("axis", settings.axes(names)),
        ("joint", settings.joints(names)),
    )
    return Channels(*(indices(parts, names.of(space)) for space, parts in told))


def limp(command: RecordArray) -> None:
    """Turn a COMMAND record into one without torque."""
    command["motor_mode"] = 0
    command["motor_current_a"] = 0.0
    command["axis_enable"] = 0
