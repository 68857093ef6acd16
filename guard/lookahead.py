"""Which tendons to let go once one is lost: looked ahead while its loss is still being confirmed.

A break throws several joints of a finger, and a tendon that is let go for one of them holds another. So a
tendon at its slack stop starts a look ahead (``guard.simulated_break``), one set of tendons a cycle, from the
newest state before it fell; a break is confirmed 13 cycles later. The sets: what the reaction lets go without
looking; for each stop that is hit what pulls there, its brake; nothing; the partner. A stop counts if its
own brake keeps the joint from it. What the reaction does without looking stands unless it hits such a stop
and another set hits fewer.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from guard.latch import FAULT
from guard.memory import LOOKS, MOMENTS, GuardMemory
from guard.simulated_break import throw
from guard.tension_checks import wanted_tension_n
from guard.urgent import RAMP_S, URGENT_S, hurried
from mechanics.coupling import tendon_jacobian
from mechanics.fingermass import finger_mass
from signals.compiled import law
from signals.typed import Model, State

MOMENT_NS: Final = 5_000_000
"""Time [ns] between two states that are kept."""
BEFORE_NS: Final = 1_000_000
"""Time [ns] before a tendon came to its slack stop by which a state has to be older."""
REACT_S: Final = 0.0045
"""From a break to the reaction."""

ENOUGH: Final = 0.1
"""Needless stops below which nothing else is looked at."""

NOTHING: Final = 0
"""Steps of a look: none under way;"""
AS_IT_IS: Final = 1
"""what the reaction does without looking;"""
BRAKES: Final = 2
"""the brakes of the stops that it hits;"""
OTHERS: Final = 3
"""other sets;"""
THEIR_BRAKES: Final = 4
"""the brakes of the stops that those hit;"""
DONE: Final = 5


@law
def write_moment(m: Model, mem: GuardMemory, s: State, k: int) -> None:
    """The hand's state now into slot ``k``."""
    mem.moment_ns[k] = s.time_ns
    for j in range(m.n_joints):
        mem.moment_angle_rad[k, j] = s.joint_angle_rad[j]
        mem.moment_speed_rad_s[k, j] = s.joint_speed_rad_s[j]
    for t in range(m.n_tendons):
        mem.moment_elongation_m[k, t] = s.elongation_m[t]
        mem.moment_lever_rad[k, t] = s.lever_angle_rad[t]
        mem.moment_torque_nm[k, t] = mem.last_torque_nm[m.tendon_motor[t]]


@law
def keep_moment(m: Model, mem: GuardMemory, s: State) -> None:
    """Keep the hand's state every ``MOMENT_NS``; the oldest one goes."""
    if s.time_ns - mem.moment_ns[mem.moment] >= MOMENT_NS:
        mem.moment = (mem.moment + 1) % MOMENTS
        write_moment(m, mem, s, mem.moment)


@law
def moment_before(mem: GuardMemory, time_ns: int) -> int:
    """Slot of the newest state not later than a time; of the oldest one if none is. It may be empty."""
    for back in range(MOMENTS - 1):
        k = (mem.moment - back) % MOMENTS
        if mem.moment_ns[k] <= time_ns:
            return int(k)
    return int((mem.moment + 1) % MOMENTS)


@law
def place_of_tendon(m: Model, f: int, t: int) -> int:
    """Place of tendon ``t`` in its finger ``f``."""
    for k in range(m.finger_n_tendons[f]):
        if m.finger_tendon[f, k] == t:
            return k
    return 0


@law
def brake_set(m: Model, mem: GuardMemory, f: int, lost: int, x: int, side: int) -> int:
    """Places of the tendons that pull joint ``x`` of finger ``f`` into a stop (side 0 the upper one)."""
    found = 0
    for k in range(m.finger_n_tendons[f]):
        px = mem.look_P_m[k, x]
        # pulling turns the joint towards -P
        if k != lost and (px < 0.0 if side == 0 else px > 0.0):
            found |= 1 << k
    return found


@law
def add_look(mem: GuardMemory, tendons: int) -> None:
    """Put a set on the list, unless it is there or the list is full."""
    for k in range(mem.look_count):
        if mem.look_set[k] == tendons:
            return
    if mem.look_count < LOOKS:
        mem.look_set[mem.look_count] = tendons
        mem.look_count += 1


@law
def add_brakes(m: Model, mem: GuardMemory, k: int) -> None:
    """Put the brakes of the stops that set ``k`` of the list hits on the list."""
    f = mem.look_finger
    for x in range(m.finger_n_joints[f]):
        for side in range(2):
            if mem.look_stop_rad_s[k, x, side] > m.hit_speed_rad_s:
                add_look(mem, brake_set(m, mem, f, mem.look_lost, x, side))


@law
def hit_share(m: Model, speed_rad_s: float) -> float:
    """How likely a stop is hit hard, 0..1, of which a look ahead says that it is hit at a speed."""
    return min(
        max((speed_rad_s - m.spared_speed_rad_s) / (m.sure_speed_rad_s - m.spared_speed_rad_s), 0.0), 1.0
    )


@law
def avoidable_share(m: Model, mem: GuardMemory, x: int, side: int) -> float:
    """How likely the brake of a stop keeps the joint from it, 0..1; 0 if that has not been looked at."""
    brake = brake_set(m, mem, mem.look_finger, mem.look_lost, x, side)
    for k in range(mem.look_done):
        if mem.look_set[k] == brake:
            return float(1.0 - hit_share(m, mem.look_stop_rad_s[k, x, side]))
    return 0.0


@law
def needless_stops(m: Model, mem: GuardMemory, k: int) -> float:
    """Stops that set ``k`` of the list hits and their own brakes do not, each as likely as it is."""
    stops = 0.0
    for x in range(m.finger_n_joints[mem.look_finger]):
        for side in range(2):
            speed = mem.look_stop_rad_s[k, x, side]
            if speed > m.spared_speed_rad_s:
                stops += avoidable_share(m, mem, x, side) * hit_share(m, speed) + m.softer_s_rad * speed
    return stops


@law
def choose(m: Model, mem: GuardMemory) -> None:
    """The set with the fewest needless stops."""
    mem.look_phase, mem.look_choice = DONE, 0
    least = needless_stops(m, mem, 0)
    for k in range(1, mem.look_done):
        stops = needless_stops(m, mem, k)
        if stops < least:
            least, mem.look_choice = stops, k


@law
def look_further(m: Model, mem: GuardMemory) -> None:
    """What is to be looked at next, once the list is done."""
    f, lost = mem.look_finger, mem.look_lost
    if mem.look_phase == AS_IT_IS:
        add_brakes(m, mem, 0)
        mem.look_phase = BRAKES
    elif mem.look_phase == BRAKES:
        if needless_stops(m, mem, 0) < ENOUGH:
            mem.look_phase = DONE
            return
        add_look(mem, 0)
        add_look(mem, mem.look_partners)
        for x in range(m.finger_n_joints[f]):
            px = mem.look_P_m[lost, x]
            if px != 0.0:
                # without its pull the joint goes towards +P
                add_look(mem, brake_set(m, mem, f, lost, x, 0 if px > 0.0 else 1))
        mem.look_phase = OTHERS
    elif mem.look_phase == OTHERS:
        for k in range(mem.look_done):
            add_brakes(m, mem, k)
        mem.look_phase = THEIR_BRAKES
    else:
        choose(m, mem)


@law
def motor_speed_at(m: Model, mem: GuardMemory, k: int, n: int, t: int) -> float:
    """Speed [rad/s] of the motor of tendon ``t``, place ``n``, up to moment ``k``: ``R w = de/dt - P dq/dt``.

    Since the moment before; none if that is not kept.
    """
    before = (k - 1) % MOMENTS
    if mem.moment_ns[before] == 0 or mem.moment_ns[before] >= mem.moment_ns[k]:
        return 0.0
    f = m.tendon_finger[t]
    wound = mem.moment_elongation_m[k, t] - mem.moment_elongation_m[before, t]
    for x in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, x]
        wound -= mem.look_P_m[n, x] * (mem.moment_angle_rad[k, j] - mem.moment_angle_rad[before, j])
    time_s = 1e-9 * float(mem.moment_ns[k] - mem.moment_ns[before])
    return float(wound / time_s / m.spool_radius_m[t])


@law
def begin_look(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> None:
    """Start to look ahead at the loss of tendon ``t`` of finger ``f``, from the newest state before it."""
    since_ns = s.time_ns - np.int64(1e9 * mem.slack_s[t])
    k = moment_before(mem, int(since_ns - BEFORE_NS))
    if mem.moment_ns[k] == 0:
        write_moment(m, mem, s, k)
    mem.look_finger, mem.look_tendon, mem.look_lost = f, t, place_of_tendon(m, f, t)
    for j in range(m.n_joints):
        mem.look_angle_rad[j] = mem.moment_angle_rad[k, j]
    for x in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, x]
        mem.from_q_rad[x], mem.from_qd_rad_s[x] = mem.moment_angle_rad[k, j], mem.moment_speed_rad_s[k, j]
    # the coupling there; now it is estimated with the very tendon that is gone
    tendon_jacobian(m, mem.look_angle_rad, mem.P_tj_m)
    for n in range(m.finger_n_tendons[f]):
        o = m.finger_tendon[f, n]
        mem.from_e_m[n], mem.from_lever_rad[n] = mem.moment_elongation_m[k, o], mem.moment_lever_rad[k, o]
        mem.from_torque_nm[n] = mem.moment_torque_nm[k, o]
        for x in range(m.finger_n_joints[f]):
            mem.look_P_m[n, x] = mem.P_tj_m[o, m.finger_joint[f, x]]
        mem.from_w_rad_s[n] = motor_speed_at(m, mem, k, n, o)
    throws, urgent, others = hurried(m, mem.P_tj_m, mem.look_angle_rad, f, t)
    mem.look_throws, mem.look_set[0], mem.look_partners = throws, urgent, others
    tendon_jacobian(m, s.joint_angle_rad, mem.P_tj_m)
    finger_mass(
        m, f, mem.look_angle_rad, mem.look_R, mem.look_p_m, mem.look_screw, mem.look_inertia, mem.look_H
    )
    mem.look_count, mem.look_done, mem.look_choice = 1, 0, 0
    mem.look_phase = AS_IT_IS


@law
def suspected(m: Model, mem: GuardMemory, s: State, t: int) -> bool:
    """True if tendon ``t`` is at its slack stop while it should be taut, and nothing else threw it there."""
    if mem.slack_s[t] == 0.0 or mem.taut[t] == 0 or mem.thrown[t] != 0:
        return False
    if m.finger_shares[m.tendon_finger[t]] != 0:  # sets of tendons cannot be let go there
        return False
    return bool(wanted_tension_n(m, mem, s, t) > m.least_wanted_n)


@law
def look_ahead(m: Model, mem: GuardMemory, s: State) -> None:
    """Begin, go on with, or drop a look ahead; one set a cycle."""
    if mem.started == 0:
        mem.look_phase = NOTHING
        for k in range(MOMENTS):
            mem.moment_ns[k] = 0
    keep_moment(m, mem, s)
    f = mem.look_finger
    # in the cycle that latches a fault its age is still that of the one before
    reacts = mem.last_finger_state[f] == FAULT
    over = mem.fault_age_s[f] > mem.urgent_s[f] if reacts else mem.slack_s[mem.look_tendon] == 0.0
    if over:
        mem.look_phase = NOTHING
    if mem.look_phase == NOTHING:
        for t in range(m.n_tendons):
            if suspected(m, mem, s, t) and s.finger_state[m.tendon_finger[t]] != FAULT:
                begin_look(m, mem, s, m.tendon_finger[t], t)
                break
    if mem.look_phase == NOTHING or mem.look_phase == DONE:
        return
    k, f = mem.look_done, mem.look_finger
    if not throw(m, mem, f, mem.look_lost, mem.look_set[k], REACT_S, URGENT_S, RAMP_S, m.release_torque_nm):
        mem.look_choice, mem.look_phase = 0, DONE
        return
    for x in range(m.finger_n_joints[f]):
        for side in range(2):
            mem.look_stop_rad_s[k, x, side] = mem.look_hit_rad_s[x, side]
    mem.look_done += 1
    while mem.look_done == mem.look_count and mem.look_phase != DONE:
        look_further(m, mem)
