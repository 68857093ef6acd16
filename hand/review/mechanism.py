"""Suspicions about a mechanism's hand: a controller that its rate, delay and speed filter do not carry."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from hand.file.locate import Locator, Path
from hand.mechanism_file import InverseDynamics, ReadHand
from hand.review.loops import Law, alone, growth_1_s
from hand.review.margins import BETWEEN, MARGIN
from hand.review.suspicions import Suspicion

DELAY: Final = 2
"""Periods from a measurement to its torque, with one to spare."""
GROWTH_1_S: Final = 1e-3
"""Growth of a motion that counts as unstable: no dry friction stops it here."""
SLOWEST_HZ: Final = 0.2
LEAST_DAMPING: Final = 0.1


def suspicions(read: ReadHand, rate_hz: float | None = None) -> tuple[Suspicion, ...]:
    """All suspicions, in the order of the file; ``rate_hz``: a control rate in place of the file's."""
    locator = Locator.of(read.text)
    found = [Suspicion(path, locator.place(path).line, text) for path, text in _found(read, rate_hz)]
    return tuple(sorted(found, key=lambda s: s.line))


def _found(read: ReadHand, rate_hz: float | None) -> Iterator[tuple[Path, str]]:
    control, controller = read.file.control, read.file.controller
    rate = rate_hz or control.rate_hz
    if control.velocity_filter_hz > BETWEEN * rate:
        yield (
            ("control", "velocity_filter_hz"),
            f"{control.velocity_filter_hz:g} Hz filters nothing at {rate:g} Hz",
        )
    if not isinstance(controller, InverseDynamics):
        return
    bandwidth, damping = controller.bandwidth_hz, controller.damping_ratio
    # inverse dynamics leave a body of inertia 1 behind every joint
    law = Law(
        tension=np.zeros(1),
        position=(2.0 * math.pi * bandwidth) ** 2,
        damping=4.0 * math.pi * damping * bandwidth,
        filter_hz=control.velocity_filter_hz,
        impedance=np.zeros(1),
        joint_damping=np.zeros(1),
    )
    if growth_1_s(alone(1.0, 1.0 / rate, DELAY), law.times(MARGIN)) > GROWTH_1_S:
        key = "damping_ratio" if damping > 1.0 / LEAST_DAMPING else "bandwidth_hz"
        text = f"{bandwidth:g} Hz with damping {damping:g} is unstable, or nearly, at {rate:g} Hz with a "
        yield ("controller", key), text + f"speed filter of {control.velocity_filter_hz:g} Hz"
    if bandwidth < SLOWEST_HZ:
        yield (
            ("controller", "bandwidth_hz"),
            f"{bandwidth:g} Hz: a joint takes {1.0 / bandwidth:.3g} s to its goal",
        )
    if damping < LEAST_DAMPING:
        yield ("controller", "damping_ratio"), f"{damping:g}: the joints swing"
