r"""Sensors of the difference of two tendons' forces: what the sensor of one of them alone would say of both.

Tendons without a sensor have a count that is computed (``estimators.weights.unseen_counts``). A load cell
between two of them, as at an idler or under the spool of a pair, tells :math:`\Delta = f_a - f_b`. What is
missing of it stretches both against each other, as a turn of their motor or their joint does:

.. math:: \nu = \Delta - (f_a - f_b), \qquad e_a \mathrel{+}= \frac{\nu}{k_a + k_b}, \quad
          e_b \mathrel{-}= \frac{\nu}{k_a + k_b}

or the one alone where the other has a sensor of its own. So the rows of both in the weighted least squares
have the sensor's error and not that of a drive's friction. What both have in common stays that of the start.
"""

from __future__ import annotations

from typing import Final

from estimators.memory import EstimatorMemory
from mechanics.plausible import in_time, usable
from mechanics.springs import (
    count_of_lever,
    elongation_of_lever,
    lever_of_count,
    spring_state,
    stiffness_of_force,
)
from signals.compiled import law
from signals.modes import ChannelStatus
from signals.typed import Measurement, Model, State

OUT_OF_RANGE: Final = int(ChannelStatus.OUT_OF_RANGE)
STALE: Final = int(ChannelStatus.STALE)


@law
def difference_n(m: Model, t: int, count: float) -> float:
    """Force [N] of tendon ``t`` beyond that of its partner at a count of their sensor."""
    return float((count - m.difference_zero_count[t]) / m.difference_counts_n[t])


@law
def take_difference(m: Model, z: Measurement, s: State, t: int) -> int:
    """Status bits of the sensor in tendon ``t``'s channel; 0: its sample is used."""
    count, status = z.hall_fine_count[t], int(z.hall_status[t])
    if not usable(status, count):
        return status | OUT_OF_RANGE
    if not in_time(s.time_ns, z.hall_time_ns[t]):
        return STALE
    return 0 if 0.0 < count < m.hall_count_max[t] else OUT_OF_RANGE


@law
def move_count(m: Model, mem: EstimatorMemory, t: int, way_m: float) -> None:
    """The computed count of tendon ``t`` becomes that of a stretch more [m]."""
    lever = lever_of_count(m, t, mem.hall_count[t])
    _, elongation = elongation_of_lever(m, t, lever)
    moved, _ = spring_state(m, t, elongation + way_m, lever, 0.0)
    mem.hall_count[t] = count_of_lever(m, t, moved)


@law
def meet_differences(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> None:
    """Counts of tendons without a sensor into ``mem``, as the differences of their forces are measured.

    A sensor that says nothing leaves its tendons to their motors' currents.
    """
    for t in range(m.n_tendons):
        mem.differs[t] = 0
    for t in range(m.n_tendons):
        o = m.difference_to[t]
        if o < 0:
            continue
        status = take_difference(m, z, s, t)
        s.finger_status[m.tendon_finger[t]] |= status
        if status != 0:
            continue
        mem.differs[t] = mem.differs[o] = 1
        ours, _ = elongation_of_lever(m, t, lever_of_count(m, t, mem.hall_count[t]))
        theirs, _ = elongation_of_lever(m, o, lever_of_count(m, o, mem.hall_count[o]))
        missing = difference_n(m, t, z.hall_fine_count[t]) - (ours - theirs)
        stiffness = stiffness_of_force(m, t, ours)
        if m.hall_weight[o] > 0.0:
            move_count(m, mem, t, missing / stiffness)
        else:
            way = missing / (stiffness + stiffness_of_force(m, o, theirs))
            move_count(m, mem, t, way)
            move_count(m, mem, o, -way)
