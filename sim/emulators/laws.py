"""Compiled copies of what an emulated sensor stream does for every sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from signals.compiled import law
from signals.layout import IntArray, Records
from signals.typed import Measurement

MISSING, STALE = 1, 2
"""``signals.modes.ChannelStatus.STALE``."""


@law
def hall_words(
    measurement: Records[Measurement],
    tendons: IntArray,
    joints: IntArray,
    value_max: int,
    stale: int,
    words: NDArray[np.uint16],
) -> None:
    """Words of one sample as they go over the wire.

    Args:
        measurement: ``signals.records.MEASUREMENT``, shape (1,): what the sensors show.
        tendons: Hall channel of every channel of the bridge, -1: none; shape (channels,).
        joints: joint of every channel, -1: none; shape (channels,).
        value_max: greatest value of a word; what lies beyond stays there.
        stale: mask of "no new value".
        words: filled, shape (channels,).
    """
    x = measurement[0]
    for k in range(words.shape[0]):
        t, j = tendons[k], joints[k]
        if t < 0 and j < 0:
            words[k] = np.uint16(0)
            continue
        count = int(x.hall_count[t]) if t >= 0 else int(x.joint_count[j])
        status = int(x.hall_status[t]) if t >= 0 else int(x.joint_status[j])
        word = min(max(count, 0), value_max)
        if status & (STALE if t >= 0 else STALE | MISSING):
            word |= stale
        words[k] = np.uint16(word)
