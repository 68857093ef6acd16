r"""Bumpless change-over: a reference starts from what is measured and glides to its goal.

.. math:: r(t) = g(t) + \Delta\,b(t/T), \qquad b(x) = 1 - 10x^3 + 15x^4 - 6x^5

with Delta the distance at the change; b has zero speed and acceleration at both ends.
"""

from __future__ import annotations

import math
from typing import Final

from signals import minimum_jerk
from signals.compiled import law

PEAK: Final = 1.875
"""Greatest speed of the blend, in Delta/T."""


rise = law(minimum_jerk.rise)
slope = law(minimum_jerk.slope)


@law
def share_left(x: float) -> float:
    """Share of the offset that is left after the share x of the blend's duration."""
    if x >= 1.0:
        return 0.0
    return float(1.0 - rise(x))


@law
def share_rate(x: float, duration_s: float) -> float:
    """Derivative of ``share_left`` over time [1/s]."""
    if x >= 1.0 or duration_s <= 0.0:
        return 0.0
    return float(-slope(x) / duration_s)


@law
def duration_s(distance: float, speed: float, shortest_s: float) -> float:
    """Duration [s] of a blend over a distance that nowhere exceeds a speed."""
    return max(PEAK * abs(distance) / speed, shortest_s)


@law
def fading(value: float, dt_s: float, time_constant_s: float) -> float:
    """A value one cycle later as it decays exponentially."""
    return value * math.exp(-dt_s / time_constant_s)
