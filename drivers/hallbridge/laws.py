"""Compiled copies of one cycle of a sensor stream: words -> counts and bits, counts -> measurement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from signals.compiled import law
from signals.layout import BitsArray, FloatArray, IntArray, Records
from signals.typed import Measurement

MISSING = 1
STALE = 2
DEVICE_ERROR = 4


@law
def opened_words(
    words: NDArray[np.uint16], value: int, error: int, stale: int, counts: IntArray, bits: BitsArray
) -> int:
    """Counts and Channel bits of the words of one sample; returns channels with a bit.

    Args:
        words: as on the wire, shape (channels,).
        value: mask of the value in a word.
        error: mask of the sensor's own error.
        stale: mask of "no new value".
        counts: filled, shape (channels,).
        bits: filled, uint32, shape (channels,).
    """
    bad = 0
    for k in range(words.shape[0]):
        word = np.int64(words[k])
        counts[k] = word & value
        mark = (DEVICE_ERROR if word & error else 0) | (STALE if word & stale else 0)
        bits[k] = np.uint32(mark)
        bad += mark != 0
    return bad


@law
def take_channels(
    counts: IntArray,
    bits: NDArray[np.uint32],
    halls: IntArray,
    axes: IntArray,
    axis_channel: IntArray,
    axis_zero: FloatArray,
    axis_rad: FloatArray,
    times_ns: tuple[int, int],
    measurement: Records[Measurement],
) -> int:
    """Write one sample of all channels; a channel with STALE keeps its value and its time, MISSING if none.

    Args:
        counts: values, shape (channels,).
        bits: Channel bits, shape (channels,).
        halls: tendon of every channel; -1: not a Hall channel.
        axes: wrist axes on this stream, shape (a,).
        axis_channel: channel of every axis.
        axis_zero: count at zero.
        axis_rad: angle per count [rad].
        times_ns: of the sample, of its arrival [ns].
        measurement: ``signals.records.MEASUREMENT``, shape (1,).

    Returns:
        Channels with a status.
    """
    x = measurement[0]
    bad = 0
    for k in range(halls.shape[0]):
        t = halls[k]
        if t < 0:
            continue
        unseen = bits[k] & STALE and x.hall_time_ns[t] == 0
        x.hall_status[t] = MISSING if unseen else bits[k]
        bad += bits[k] != 0
        if not bits[k] & STALE:
            x.hall_count[t] = counts[k]
            x.hall_fine_count[t] = counts[k]
            x.hall_time_ns[t] = times_ns[0]
    for i in range(axes.shape[0]):
        k, a = axis_channel[i], axes[i]
        unseen = bits[k] & STALE and x.axis_time_ns[a] == 0
        x.axis_status[a] = MISSING if unseen else bits[k]
        bad += bits[k] != 0
        if not bits[k] & STALE:
            x.axis_angle_rad[a] = (counts[k] - axis_zero[i]) * axis_rad[i]
            x.axis_time_ns[a] = times_ns[0]
    x.time_ns = times_ns[1]
    return bad


@law
def take_joints(
    counts: IntArray,
    bits: NDArray[np.uint32],
    joints: IntArray,
    time_ns: int,
    measurement: Records[Measurement],
) -> int:
    """The same for sensors of joints; ``joints``: joint of every channel, -1: none; ``time_ns``: its own."""
    x = measurement[0]
    bad = 0
    for k in range(joints.shape[0]):
        j = joints[k]
        if j < 0:
            continue
        unseen = bits[k] & STALE and x.joint_time_ns[j] == 0
        x.joint_status[j] = MISSING if unseen else bits[k]
        bad += bits[k] != 0
        if not bits[k] & STALE:
            x.joint_count[j] = counts[k]
            x.joint_time_ns[j] = time_ns
    return bad
