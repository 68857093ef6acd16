"""Detectors of a Hall channel: stuck, at a rail or outside the lever's way, jumping.

Stuck is a count that stays exactly the same while its motor winds. Two kinds of evidence: a channel whose
noise used to change it and that is silent now; or, for a channel without noise, a millimetre wound while the
other counts of the finger change and the tendon's length begins to contradict theirs (with the tension held
constant a sound count may well stay). A jump is a change in one cycle that no motion can make: neither one
that goes on as the count moved before (a finger that is struck gets fast, but not at once) nor one that the
lengths of the finger's other tendons agree with, up to what a blow can do. Only towards slack, or where
another tendon is slack, can a break, a slip or a blow make one, and then other levers of the finger move too.
A jump that comes back is a spike and counts; one that stays is a fault at once. A value within the lever's
way is never held back, so that fast true motion is not frozen out.
"""

from __future__ import annotations

import math
from typing import Final

from guard.channel_checks import (
    CHANGING,
    RATE_SHARE,
    SILENT,
    hall_believed,
    has_channel,
    since_sample_s,
)
from guard.latch import latch_finger
from guard.memory import GuardMemory
from guard.tension_checks import at_slack_stop
from mechanics.plausible import at_rail, beyond_stop, usable
from mechanics.springs import count_of_lever, elongation_of_lever, lever_of_count
from signals.compiled import law
from signals.faults import Cause
from signals.modes import ChannelStatus
from signals.typed import Measurement, Model, State

HALL_STUCK: Final = int(Cause.HALL_STUCK)
HALL_SATURATED: Final = int(Cause.HALL_SATURATED)
HALL_GLITCH: Final = int(Cause.HALL_GLITCH)
RESIDUAL_TOO_LARGE: Final = int(Cause.RESIDUAL_TOO_LARGE)
OUT_OF_RANGE: Final = int(ChannelStatus.OUT_OF_RANGE)

CHANGES_OF_OTHERS: Final = 8
RAIL_S: Final = 0.005
NOISE_FACTOR: Final = 8.0
OTHERS_NOISE: Final = 4.0
"""A slip at a high tension, or of a joint at its stop, moves the other counts by no more than 9 to 16."""
AGREE_SHARE: Final = 0.2
"""Share of a change of length that a sound finger's lengths may leave open. A wrong count leaves half."""
BLOW: Final = 3.0
"""As often the limit of a jump no blow makes, whatever the lengths say: a tendon 2.6 m/s faster in a cycle of
0.33 ms. Where a tendon alone sees a joint, the joint's angle explains any count of it."""
DISAGREE_SHARE: Final = 0.35
"""Share above which the count, or the tendon, is wrong for sure: half-way between the two."""
SPIKE_S: Final = 0.002
GIVE_WAY_S: Final = 0.0055
"""Time for the finger to move after a tendon gave way: 98 of 100 slips show by then. Later the controller,
led by a wrong count, begins to move other levers too."""
COMPANY_S: Final = 0.024
"""Time in which jumps of two counts belong together."""
TREND_SHARE: Final = 0.01
"""Share of the newest change in a count's trend: 33 ms at 3 kHz."""
SPIKES: Final = 2.5
SPIKE_MEMORY_S: Final = 1.0


@law
def note_change(mem: GuardMemory, s: State, f: int, t: int, i: int) -> None:
    """The count of tendon ``t`` changed: what happens from now on is measured from here."""
    mem.changes[f] += 1
    mem.anchor_angle_rad[t] = s.motor_angle_rad[i]
    mem.anchor_changes[t] = mem.changes[f]
    mem.anchor_residual_m[t] = s.residual_m[t]
    mem.anchor_rate[t] = mem.change_rate[t]
    mem.same_cycles[t] = 0


@law
def check_stuck(m: Model, mem: GuardMemory, s: State, f: int, t: int, count: int) -> None:
    """Latch a count that stays while its motor winds, although it should change."""
    i = m.tendon_motor[t]
    changed = 1.0 if count != mem.last_count[t] else 0.0
    mem.change_rate[t] += RATE_SHARE * (changed - mem.change_rate[t])
    if changed > 0.0 or mem.started == 0:
        note_change(mem, s, f, t, i)
        return
    mem.same_cycles[t] += 1
    wound = abs(m.spool_radius_m[t] * (s.motor_angle_rad[i] - mem.anchor_angle_rad[t]))
    noisy = m.hall_noise_count[t] > 0.0 and mem.anchor_rate[t] > CHANGING
    if wound > m.stuck_moved_m and noisy and mem.anchor_rate[t] * mem.same_cycles[t] > SILENT:
        latch_finger(s, f, HALL_STUCK, t, 1e3 * wound, 1e3 * m.stuck_moved_m)
    others = mem.changes[f] - mem.anchor_changes[t]
    contradiction = abs(s.residual_m[t] - mem.anchor_residual_m[t])
    seen = others >= CHANGES_OF_OTHERS * (m.finger_n_tendons[f] - 1) and contradiction > m.stuck_residual_m
    if wound > m.stuck_way_m and seen and not at_slack_stop(m, t, s.lever_angle_rad[t]):
        latch_finger(s, f, HALL_STUCK, t, 1e3 * wound, 1e3 * m.stuck_way_m)


@law
def check_rail(m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, t: int, count: int) -> None:
    """Latch a count at the end of its range, or of a lever beyond its stops, used or not."""
    outside = count <= 0 or count >= m.hall_count_max[t] or beyond_stop(m, t, s.lever_angle_rad[t])
    if (s.finger_status[f] & OUT_OF_RANGE) != 0:  # a value of this finger is not believed
        outside = outside or at_rail(m, t, z.hall_fine_count[t])
    mem.rail_s[t] = mem.rail_s[t] + m.dt_s if outside else 0.0
    if mem.rail_s[t] > RAIL_S:
        latch_finger(s, f, HALL_SATURATED, t, float(count), float(m.hall_count_max[t]))


@law
def one_is_slack(m: Model, s: State, f: int) -> bool:
    """True if a tendon of finger ``f`` is slack or unseen: its lengths are too few to contradict a count."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.hall_weight[t] == 0.0 or at_slack_stop(m, t, s.lever_angle_rad[t]):
            return True
    return False


@law
def elongation_of_count_m(m: Model, t: int, count: int) -> float:
    """Elastic elongation [m] of tendon ``t`` at a count."""
    return float(elongation_of_lever(m, t, lever_of_count(m, t, float(count)))[1])


@law
def lengths_agree(m: Model, mem: GuardMemory, s: State, t: int, count: int) -> bool:
    """True if the finger's joint angles explain how the count of tendon ``t`` changed in this cycle.

    They cannot explain one that is not in use.
    """
    if abs(count_of_lever(m, t, s.lever_angle_rad[t]) - count) > m.others_count:
        return False
    change = elongation_of_count_m(m, t, count) - elongation_of_count_m(m, t, mem.last_count[t])
    left = abs(s.residual_m[t] - mem.last_residual_m[t])
    return bool(left < AGREE_SHARE * m.hall_weight[t] * abs(change))


@law
def begin_jump(m: Model, mem: GuardMemory, z: Measurement, f: int, t: int, count: int) -> None:
    """Note the counts of finger ``f`` before and as tendon ``t`` jumps."""
    mem.glitch_from[t] = mem.last_count[t]
    mem.residual_at_jump_m[t] = mem.last_residual_m[t]
    mem.since_jump_s[t] = 0.0
    towards_slack = float(count - mem.last_count[t]) * m.hall_counts_rad[t] > 0.0
    mem.glitch_left_s[t] = GIVE_WAY_S if towards_slack else SPIKE_S
    for k in range(m.finger_n_tendons[f]):
        o = m.finger_tendon[f, k]
        mem.count_at_jump[o] = z.hall_count[o]
        mem.trend_at_jump[o] = mem.count_trend[o]


@law
def others_moved(m: Model, mem: GuardMemory, z: Measurement, f: int, t: int) -> bool:
    """True if another count of the finger left its trend or jumped just before: then a tendon gave way."""
    cycles = mem.since_jump_s[t] / m.dt_s
    for k in range(m.finger_n_tendons[f]):
        o = m.finger_tendon[f, k]
        expected = float(mem.count_at_jump[o]) + mem.trend_at_jump[o] * cycles
        moved = abs(float(z.hall_count[o]) - expected)
        if o != t and mem.since_jump_s[o] < COMPANY_S:
            return True
        if o != t and moved > m.others_count + OTHERS_NOISE * m.hall_noise_count[o]:
            return True
    return False


@law
def check_new_length(m: Model, mem: GuardMemory, s: State, f: int, t: int, count: int) -> None:
    """Latch a jump towards slack in a finger that moves, if its joints do not explain it.

    A blow leaves lengths that agree. A tendon that slipped, and a count that is wrong, do not; which of the
    two it is need not be known. One at its slack stop is left to the detectors of tension.
    """
    if m.residual_limit_m[f] <= 0.0 or m.hall_weight[t] == 0.0 or at_slack_stop(m, t, s.lever_angle_rad[t]):
        return
    was_m = elongation_of_count_m(m, t, mem.glitch_from[t])
    change_m = m.hall_weight[t] * abs(elongation_of_count_m(m, t, count) - was_m)
    left_m = abs(s.residual_m[t] - mem.residual_at_jump_m[t])
    if left_m > DISAGREE_SHARE * change_m:
        latch_finger(s, f, RESIDUAL_TOO_LARGE, t, 1e3 * left_m, 1e3 * DISAGREE_SHARE * change_m)


@law
def check_jump(
    m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, t: int, count: int, kept: float
) -> None:
    """Latch counts that jump: a single jump that stays, or spikes that repeat within a second.

    ``kept`` is what a cycle leaves of the spikes' score.
    """
    limit = m.jump_count + NOISE_FACTOR * m.hall_noise_count[t] + m.jump_count_n * mem.last_tension_n[t]
    # after a stall, or from a slow bus, the lever has had that long to move
    limit *= since_sample_s(m, s, z.hall_time_ns[t], mem.hall_sample_ns[t]) / m.dt_s
    mem.hall_sample_ns[t] = z.hall_time_ns[t]
    mem.glitch_score[t] *= kept
    change = float(count - mem.last_count[t])
    mem.since_jump_s[t] = mem.since_jump_s[t] + m.dt_s if mem.started != 0 else 1.0
    if mem.glitch_left_s[t] > 0.0:
        mem.glitch_left_s[t] -= m.dt_s
        back = float(count - mem.glitch_from[t])
        if abs(back) <= limit:
            mem.glitch_left_s[t] = 0.0
            mem.glitch_score[t] += 1.0
            if mem.glitch_score[t] > SPIKES:
                latch_finger(s, f, HALL_GLITCH, t, abs(change), limit)
        elif mem.glitch_left_s[t] <= 0.0 and 0 < count < m.hall_count_max[t]:
            towards_slack = back * m.hall_counts_rad[t] > 0.0
            may_move = towards_slack or mem.glitch_blind[t] != 0
            if not (may_move and others_moved(m, mem, z, f, t)):
                latch_finger(s, f, HALL_GLITCH, t, abs(back), limit)
            elif mem.glitch_blind[t] == 0 and not (m.n_axes > 0 and m.use_wrist == 0):
                check_new_length(m, mem, s, f, t, count)
    elif abs(change) > limit and mem.started != 0:
        blind = one_is_slack(m, s, f)
        sudden = abs(change - mem.last_change[t])
        explained = sudden < BLOW * limit and not blind and lengths_agree(m, mem, s, t, count)
        if sudden > limit and not explained:
            begin_jump(m, mem, z, f, t, count)
            mem.glitch_blind[t] = blind


@law
def check_difference(m: Model, mem: GuardMemory, z: Measurement, s: State, t: int) -> None:
    """Latch the sensor of a difference of forces in tendon ``t``'s channel: stuck, or at a rail.

    Stuck as in ``check_stuck``, by noise alone: a second call of that law would take it out of the loop over
    all Hall sensors, where it is inlined.
    """
    f, i, count = m.tendon_finger[t], m.tendon_motor[t], int(z.hall_count[t])
    if z.hall_time_ns[t] != mem.hall_sample_ns[t] or mem.started == 0:
        changed = 1.0 if count != mem.last_count[t] else 0.0
        mem.change_rate[t] += RATE_SHARE * (changed - mem.change_rate[t])
        mem.same_cycles[t] += 1
        if changed > 0.0 or mem.started == 0:
            mem.anchor_angle_rad[t] = s.motor_angle_rad[i]
            mem.anchor_rate[t] = mem.change_rate[t]
            mem.same_cycles[t] = 0
        wound = abs(m.spool_radius_m[t] * (s.motor_angle_rad[i] - mem.anchor_angle_rad[t]))
        noisy = m.hall_noise_count[t] > 0.0 and mem.anchor_rate[t] > CHANGING
        silent = noisy and mem.anchor_rate[t] * mem.same_cycles[t] > SILENT
        if wound > m.stuck_moved_m and silent:
            latch_finger(s, f, HALL_STUCK, t, 1e3 * wound, 1e3 * m.stuck_moved_m)
    mem.hall_sample_ns[t] = z.hall_time_ns[t]
    outside = count <= 0 or count >= m.hall_count_max[t]
    mem.rail_s[t] = mem.rail_s[t] + m.dt_s if outside else 0.0
    if mem.rail_s[t] > RAIL_S:
        latch_finger(s, f, HALL_SATURATED, t, float(count), float(m.hall_count_max[t]))
    mem.last_count[t] = count


@law
def check_halls(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch stuck, saturated and jumping Hall channels."""
    kept = math.exp(-m.dt_s / SPIKE_MEMORY_S)
    for t in range(m.n_tendons):
        if hall_believed(m, z, t):
            f, count = m.tendon_finger[t], int(z.hall_count[t])
            fresh = z.hall_time_ns[t] != mem.hall_sample_ns[t] or mem.started == 0
            if fresh:  # no old sample is stuck
                check_stuck(m, mem, s, f, t, count)
            check_rail(m, mem, z, s, f, t, count)
            check_jump(m, mem, z, s, f, t, count, kept)
            change = float(count - mem.last_count[t]) if mem.started != 0 else 0.0
            if fresh:
                mem.last_change[t] = change
            if abs(change) < m.jump_count:
                mem.count_trend[t] += TREND_SHARE * (change - mem.count_trend[t])
            mem.last_count[t] = count
            mem.last_tension_n[t] = min(s.tension_n[t], m.tension_max_n[t])
            mem.last_residual_m[t] = s.residual_m[t]


@law
def check_differences(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch what is wrong with sensors of differences, in a loop of its own: few hands have any."""
    for t in range(m.n_tendons):
        told = has_channel(m, t) and usable(int(z.hall_status[t]), z.hall_fine_count[t])
        if told and not hall_believed(m, z, t):
            check_difference(m, mem, z, s, t)
