"""How far each tendon's length may be believed: not at the slack stop, nor where no lever can be.

A slack or broken tendon would drag the joint angles along; without it the others still give them, as every
finger has more tendons than joints. The weight falls over the second half of the slack margin, so that a
tendon near its stop neither jumps nor chatters.
"""

from __future__ import annotations

from typing import Any, Final

from signals.compiled import law
from signals.modes import Channel

OUT_OF_RANGE: Final = int(Channel.OUT_OF_RANGE)
BEYOND_STOP_RAD: Final = 0.05
"""How far beyond the lever's hard stop an angle is no longer one."""


@law
def weight_of_lever(m: Any, t: int, lever_rad: float) -> float:
    """Weight 0..1 of tendon ``t``'s length at a lever angle."""
    k = m.tendon_spring[t]
    if lever_rad < m.lever_min_rad[k] - BEYOND_STOP_RAD:
        return 0.0
    half = 0.5 * m.slack_margin_rad[k]
    if half <= 0.0:
        return 1.0
    return float(min(max((m.lever_max_rad[k] - half - lever_rad) / half, 0.0), 1.0))


@law
def weigh_tendons(m: Any, mem: Any, s: Any) -> None:
    """Weights of all tendons into ``mem``; a finger with a tendon below full weight is marked."""
    for f in range(m.n_fingers):
        mem.degraded[f] = 0
    for t in range(m.n_tendons):
        mem.weight[t] = weight_of_lever(m, t, s.lever_angle_rad[t])
        if mem.weight[t] < 1.0:
            f = m.tendon_finger[t]
            mem.degraded[f] = 1
            s.finger_status[f] |= OUT_OF_RANGE
