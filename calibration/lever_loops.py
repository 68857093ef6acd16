"""Sweeps of all tensions of a finger, up and down, and small loops on the way, with the joints at rest.

Tensions that balance each other at the joints rise and fall together. So levers move and joints do not, and
the torque of each motor is what its own tendon, the lever's friction and the motor's own friction ask for.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from calibration.motion_run import Means, Watch, must_be_sound, run_motion
from calibration.tendon_means import FIELDS, Course, course_of
from calibration.winding_plan import TAIL_S, Path, stretch_to_m
from hand.assembly.straight import lever_of_tension_rad
from hand.hand import Hand
from hand.options import RunOptions
from mechanics.springs import spring_at
from signals.layout import FloatArray

SWEEP_S: Final = 2.0
LOOP_S: Final = 0.22
LOOPS: Final = 4
LOOP_TRAVEL: Final = 8.0
"""Lever's way in a small loop, in presliding lengths: all of the loop's curve and not much more."""
HIGH_SHARE: Final = 2.0 / 3.0
"""Of the greatest tension that the force distribution asks for."""


def levels_n(hand: Hand) -> tuple[float, float, float]:
    """Low, middle and high tension of the sweeps [N]."""
    m = hand.model[0]
    n = int(m["n_tendons"])
    low, most = float(m["tension_min_n"][:n].max()), float(m["tension_max_n"][:n].min())
    high = HIGH_SHARE * most
    return min(2.0 * low, 0.3 * high), 0.5 * high, high


def path_of(hand: Hand) -> Path:
    """The sweeps."""
    low, middle, high = (stretch_to_m(hand, f) for f in levels_n(hand))
    path = Path.at_rest(hand, 0.3)
    path.go(0.6, "", low)
    path.go(SWEEP_S, "loop", high)
    _small_loops(path, -_loop_m(hand, levels_n(hand)[2]))
    path.go(SWEEP_S, "loop", low)
    path.go(SWEEP_S, "loop", middle)
    _small_loops(path, -_loop_m(hand, levels_n(hand)[1]))
    path.go(SWEEP_S, "loop", high)
    path.go(SWEEP_S, "loop", low)
    path.go(0.6, "", np.zeros_like(low))
    return path


def _small_loops(path: Path, way_m: FloatArray) -> None:
    at = path.stretch_m[-1]
    for _ in range(LOOPS):
        path.go(LOOP_S, "loop", at + way_m)
        path.go(LOOP_S, "loop", at)


def _loop_m(hand: Hand, force_n: float) -> FloatArray:
    """Change of each elongation that moves its lever by ``LOOP_TRAVEL`` presliding lengths."""
    m = hand.model[0]
    n = int(m["n_tendons"])
    levers, ways = lever_of_tension_rad(hand.model, force_n), np.zeros(n)
    for t in range(n):
        _, slope, _, path_slope = spring_at(m, t, float(levers[t]))
        stretch = path_slope - float(m["tendon_compliance_m_n"][t]) * slope
        ways[t] = stretch * LOOP_TRAVEL * float(m["lever_presliding_rad"][t])
    return ways


def measure(
    hand: Hand, options: RunOptions, tendons: list[int], watch: Watch = lambda _: None
) -> tuple[dict[int, Course], float]:
    """Courses of these tendons, and the length of the motion [s].

    Raises:
        Faulted: the hand went into fault, or did not start.
    """
    path, means = path_of(hand), Means(*FIELDS)
    seconds = path.seconds + TAIL_S
    must_be_sound(run_motion(hand, options, path.text(hand, tendons), seconds, means, watch))
    return {t: course_of(hand, means, t) for t in tendons}, seconds
