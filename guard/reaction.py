"""What a finger in fault does: let its tendons go, or hold. No motor of it pulls any more, but the probe.

Letting go is an act: the gears' friction holds 88 N of tension against a motor without torque. So the tension
of every tendon that can be led is led down to the least one, each at a rate in proportion to it: what
balances a joint, and the friction that helps, fall alike, whatever arms the tendons have. Then the motor is
off. In a finger at ease every motor can follow that rate, whatever its friction: a faster one is a race, and
the joints are thrown by who wins it. Beside a tendon that is lost nothing is in balance: there the rate is
one. Nor is a motor unwound further than its tendon would need if the joints stood still: one that followed
what is seen alone would give way to whoever pushes the finger, up to its stop, and without end where a count
stands. So too in a finger that a push has stopped, by its tensions or beyond its range: what a finger presses
on may give way, who pushes it does not. Two are treated otherwise:

* the partner of a lost tendon is let go at once and at full torque, or it would throw the joint into its
  stop, and so is what else pulls the joint that gets there first; but not a millimetre further than slack, so
  that a tendon that is only slack finds something to pull against while the probe winds; what pulls another
  joint into a stop close by is let go as fast, for the finger whips; ``guard.lookahead`` looks ahead
  whether another choice spares a stop;
* a tendon that cannot be seen or driven keeps its tension, held by its gear, and so does its partner: let go
  alone, the partner would leave the joint to the other. If its tension is seen, the partner is led to that.
  So too where a tendon that is being led gets lost from sight.
"""

from __future__ import annotations

import math
from typing import Final

from guard.channel_checks import LOST_S, hall_believed
from guard.hold import hold_torque_nm
from guard.latch import FAULT
from guard.letting_go import GIVE_UP_S, level_shared, release_nm, rest_nm, shared_release_nm, way_m
from guard.lookahead import DONE, NOTHING, REACT_S, begin_look
from guard.memory import GuardMemory
from guard.probe import PROBED, begin_probe, probe_torque_nm
from guard.tension_checks import TENSION_LOST
from guard.urgent import URGENT_S, partners
from mechanics.plausible import sensors_sound, usable
from signals.compiled import law
from signals.faults import BLINDS, Blinds, Cause
from signals.modes import Reaction
from signals.typed import Measurement, Model, State

RELEASE: Final = int(Reaction.RELEASE)
HOLD: Final = int(Reaction.HOLD)
OPERATOR_STOP: Final = int(Cause.OPERATOR_STOP)
NONE: Final = int(Cause.NONE)
TENSION_TOO_HIGH: Final = int(Cause.TENSION_TOO_HIGH)
JOINT_OUT_OF_RANGE: Final = int(Cause.JOINT_OUT_OF_RANGE)
HALL: Final = int(Blinds.HALL)
MOTOR: Final = int(Blinds.MOTOR)

RELEASE_S: Final = 0.8
"""Time in which the greatest tension of a finger at ease is led down, all others in proportion to it."""
PRESSES_SHARE: Final = 0.5
"""Least over greatest tension below which a finger presses on something."""
HOLD_SHARE: Final = 0.5
"""Share of the torque limit in the reaction HOLD."""


@law
def reaction_of(m: Model, s: State, f: int) -> int:
    """Reaction of finger ``f`` in fault: the configured one where the finger's own sensors are sound."""
    cause = s.finger_cause[f]
    if cause == NONE and s.hand_cause == OPERATOR_STOP:
        return HOLD
    return int(m.finger_reaction[f]) if sensors_sound(int(cause)) else RELEASE


@law
def blind_tendon(z: Measurement, s: State, f: int, t: int, i: int) -> bool:
    """True if tendon ``t`` with motor ``i`` cannot be led: a sensor of it fails or is the cause."""
    blinds, part = BLINDS[s.finger_cause[f]], s.finger_cause_part[f]
    if (blinds == HALL and part == t) or (blinds == MOTOR and part == i):
        return True
    hall = usable(int(z.hall_status[t]), z.hall_fine_count[t])
    return not (hall and usable(int(z.motor_status[i]), z.motor_angle_rad[i]))


@law
def tension_seen(m: Model, z: Measurement, s: State, f: int, t: int) -> bool:
    """True if the Hall sensor of tendon ``t`` can be believed, whatever its motor does."""
    if BLINDS[s.finger_cause[f]] == HALL and s.finger_cause_part[f] == t:
        return False
    return hall_believed(m, z, t)


@law
def let_go_of(m: Model, mem: GuardMemory, f: int, urgent: int, to_slack: int) -> None:
    """Let go a set of places in finger ``f`` at full torque, those of another one until they are slack."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        mem.urgent[t] = (urgent >> k) & 1
        mem.release_to_n[t] = 0.0 if (to_slack >> k) & 1 else mem.least_n[t]


@law
def hurry(m: Model, mem: GuardMemory, s: State, f: int, lost: int) -> None:
    """What is let go in a hurry once the loss of tendon ``lost`` is confirmed, as the look ahead chose."""
    if mem.look_phase == NOTHING or mem.look_tendon != lost:
        begin_look(m, mem, s, f, lost)
    take_choice(m, mem, f)


@law
def take_choice(m: Model, mem: GuardMemory, f: int) -> None:
    """Let go what the look ahead has chosen so far."""
    k = mem.look_choice
    mem.look_taken = k
    chosen = mem.look_set[k]
    let_go_of(m, mem, f, chosen, mem.look_throws if k == 0 else chosen)


@law
def change_choice(m: Model, mem: GuardMemory, s: State) -> None:
    """A look ahead that ends after the reaction began may still change what is let go."""
    f = mem.look_finger
    if mem.look_phase != DONE or mem.look_choice == mem.look_taken:
        return
    if s.finger_cause[f] == TENSION_LOST and mem.probe_tendon[f] == mem.look_tendon:
        if mem.probe_phase[f] != 0 and mem.fault_age_s[f] < mem.urgent_s[f]:
            take_choice(m, mem, f)


@law
def spare_partners(m: Model, mem: GuardMemory, z: Measurement, s: State, f: int, blind: int) -> None:
    """Lead the partners of a tendon that cannot be led no further down than it is, or not at all."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if partners(m, mem.P_tj_m, f, t, blind):
            if tension_seen(m, z, s, f, blind):
                mem.least_n[t] = max(mem.least_n[t], s.tension_n[blind])
            else:
                mem.left_alone[t] = 1


@law
def note_lost_sight(m: Model, mem: GuardMemory, z: Measurement, s: State, f: int) -> None:
    """A tendon that is being led and cannot be seen any more keeps what it has; its partners are spared."""
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if mem.blind[t] != 0 or mem.released_s[t] >= GIVE_UP_S:
            continue
        unseen = blind_tendon(z, s, f, t, m.tendon_motor[t])
        mem.unseen_s[t] = mem.unseen_s[t] + m.dt_s if unseen else 0.0
        if mem.unseen_s[t] > LOST_S:
            mem.blind[t] = mem.left_alone[t] = 1
            spare_partners(m, mem, z, s, f, t)
            for n in range(m.finger_n_tendons[f]):
                o = m.finger_tendon[f, n]
                if mem.release_to_n[o] > 0.0:  # none that is let go until it is slack
                    mem.release_to_n[o] = max(mem.release_to_n[o], mem.least_n[o])


@law
def begin_reaction(m: Model, mem: GuardMemory, z: Measurement, s: State, f: int) -> None:
    """Note how each tendon of finger ``f`` is to be let go as its fault begins."""
    mem.fault_age_s[f] = 0.0
    mem.probe_phase[f] = 0
    cause, part = s.finger_cause[f], s.finger_cause_part[f]
    most_n, least_n = 0.0, math.inf
    late_s = mem.slack_s[part] - REACT_S if cause == TENSION_LOST else 0.0
    mem.urgent_s[f] = URGENT_S - max(late_s, 0.0)  # a throw begins with the loss, however late that is told
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        mem.blind[t] = m.hall_weight[t] == 0.0 or blind_tendon(z, s, f, t, m.tendon_motor[t])
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        mem.release_n[t] = s.tension_n[t]
        mem.released_s[t] = mem.unseen_s[t] = 0.0
        mem.urgent[t] = 0
        mem.left_alone[t] = mem.blind[t]
        mem.least_n[t] = m.tension_min_n[t]
        mem.led_n[t], mem.led_m[t] = s.tension_n[t], way_m(m, s, t)
        if mem.blind[t] == 0:
            most_n, least_n = max(most_n, s.tension_n[t]), min(least_n, s.tension_n[t])
    pushed = cause == TENSION_TOO_HIGH or cause == JOINT_OUT_OF_RANGE
    fast = cause == TENSION_LOST or (least_n < PRESSES_SHARE * most_n and not pushed)
    mem.gives_way[f], mem.break_age_s[f] = fast, math.inf
    mem.release_n_s[f] = m.release_rate_n_s if fast else most_n / RELEASE_S
    in_proportion = cause != TENSION_LOST and m.finger_shares[f] == 0 and most_n > 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        share = s.tension_n[t] / most_n if in_proportion else 1.0
        mem.release_share[t] = min(max(share, 0.0), 1.0)
    if m.finger_shares[f] != 0:
        level_shared(m, mem, s, f, part if cause == TENSION_LOST else -1)
    for k in range(m.finger_n_tendons[f]):
        if mem.blind[m.finger_tendon[f, k]] != 0:
            spare_partners(m, mem, z, s, f, m.finger_tendon[f, k])
    for k in range(m.finger_n_tendons[f]):
        mem.release_to_n[m.finger_tendon[f, k]] = mem.least_n[m.finger_tendon[f, k]]
    if cause == TENSION_LOST:
        if m.finger_shares[f] == 0:
            hurry(m, mem, s, f, part)
        begin_probe(mem, s, f, m.tendon_motor[part])


@law
def fault_torque_nm(m: Model, mem: GuardMemory, s: State, f: int, t: int, reaction: int) -> float:
    """Torque [N m] of the motor of tendon ``t`` in a finger in fault."""
    i = m.tendon_motor[t]
    if m.finger_shares[f] != 0 and (reaction == RELEASE or mem.probe_phase[f] != 0):
        return shared_release_nm(m, mem, s, f, i)
    if mem.probe_phase[f] != 0 and mem.probe_tendon[f] == t:
        return probe_torque_nm(m, mem, s, f, t) if mem.probe_phase[f] < PROBED else rest_nm(m, s, t)
    if reaction != RELEASE:
        if s.machine == FAULT:  # the wrist stands too; its sensor, which may be the cause, moves no tendon
            mem.hold_wrist_m[t] = s.wrist_length_m[t]
        limit = m.motor_torque_limit_nm[i] * (HOLD_SHARE if reaction == HOLD else 1.0)
        return float(min(max(hold_torque_nm(m, mem, s, t), -limit), limit))
    return release_nm(m, mem, s, f, t)
