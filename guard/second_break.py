"""A tendon that breaks in a finger that stands in fault: what throws a joint with it is let go in a hurry.

The finger's cause stays, and no probe may wind there. But it is thrown as any other: what is led down slowly
then drives its joints into their stops. No look ahead chooses, as it reckons with full torque; what unwinds
in a finger that stands in fault has to do with what its release has.
"""

from __future__ import annotations

import math

from guard.memory import GuardMemory
from guard.reaction import let_go_of
from guard.tension_checks import SNAPPED_S, lacks_for_sure
from guard.urgent import hurried
from signals.compiled import law
from signals.typed import Model, State


@law
def has_broken(m: Model, mem: GuardMemory, t: int) -> bool:
    """True if tendon ``t`` fell as only a break lets it, and then lacks length; not if another threw it."""
    if mem.snapped[t] == 0 or mem.thrown[t] != 0 or mem.taut[t] == 0 or mem.blind[t] != 0:
        return False
    return mem.slack_s[t] > SNAPPED_S and lacks_for_sure(m, mem.lacks_s[t])


@law
def note_second_break(m: Model, mem: GuardMemory, s: State, f: int) -> None:
    """Begin to let go in a hurry where a tendon of finger ``f`` breaks, which stands in fault; once for all.

    Not beside a probe, which has its own hurry, nor where tendons share motors.
    """
    if mem.break_age_s[f] < math.inf:
        mem.break_age_s[f] += m.dt_s
        return
    if mem.probe_phase[f] != 0 or m.finger_shares[f] != 0:
        return
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if not has_broken(m, mem, t):
            continue
        throws, urgent, _ = hurried(m, mem.P_tj_m, s.joint_angle_rad, f, t)
        mem.break_age_s[f] = 0.0
        let_go_of(m, mem, f, urgent, throws)
        for n in range(m.finger_n_tendons[f]):
            mem.released_s[m.finger_tendon[f, n]] = 0.0  # what was down already is let go on
        return
