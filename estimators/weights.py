"""How far each tendon's length may be believed: not at the slack stop, nor where no lever can be.

A slack or broken tendon would drag the joint angles along; without it the others still give them, as every
finger has more tendons than joints. The weight falls over the second half of the slack margin, so that a
tendon near its stop neither jumps nor chatters. A noisy sensor has the weight of its variance
(``model.hall_weight``), one that is not used at all none: then its tension follows from its motor and the
joint angles of the others (motor-only).
"""

from __future__ import annotations

from typing import Final

from estimators.memory import EstimatorMemory
from mechanics.plausible import BEYOND_STOP_RAD
from mechanics.springs import count_of_lever, spring_state
from signals.compiled import law
from signals.modes import ChannelStatus
from signals.typed import Model, State

OUT_OF_RANGE: Final = int(ChannelStatus.OUT_OF_RANGE)


@law
def weight_of_lever(m: Model, t: int, lever_rad: float) -> float:
    """Weight 0..1 of tendon ``t``'s length at a lever angle."""
    k = m.tendon_spring[t]
    if lever_rad < m.lever_min_rad[k] - BEYOND_STOP_RAD:
        return 0.0
    half = 0.5 * m.slack_margin_rad[k]
    if half <= 0.0:
        return 1.0
    return float(min(max((m.lever_max_rad[k] - half - lever_rad) / half, 0.0), 1.0))


@law
def weigh_tendons(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Weights of all tendons into ``mem``; a finger with a tendon below full weight is marked."""
    for f in range(m.n_fingers):
        mem.degraded[f] = 0
    for t in range(m.n_tendons):
        taut, believed = weight_of_lever(m, t, s.lever_angle_rad[t]), m.hall_weight[t]
        mem.weight[t] = taut * believed
        if mem.weight[t] < 1.0:
            f = m.tendon_finger[t]
            mem.degraded[f] = 1
            if taut < 1.0 or believed == 0.0:
                s.finger_status[f] |= OUT_OF_RANGE


@law
def unseen_counts(m: Model, mem: EstimatorMemory, s: State) -> None:
    """Counts of motor-only tendons into ``mem``, for the next cycle: from joint angles, motor and wrist.

    ``e = h(q) + R theta + dh_wrist + e0`` with the angles that the finger's other tendons give; the lever's
    friction loop is taken at its middle.
    """
    for t in range(m.n_tendons):
        if m.hall_weight[t] == 0.0:
            wound = m.spool_radius_m[t] * mem.motor_angle_rad[m.tendon_motor[t]]
            elongation = mem.length_m[t] + wound + s.wrist_length_m[t] + m.elongation_offset_m[t]
            lever, _ = spring_state(m, t, elongation, s.lever_angle_rad[t], 0.0)
            mem.hall_count[t] = count_of_lever(m, t, lever)
