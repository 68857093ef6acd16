"""How a tendon is let go: what is left of its tension, when it is released, the torque that leads it down."""

from __future__ import annotations

from typing import Final

from guard.falling import DRIVES, part_in_fall
from guard.memory import GuardMemory
from guard.probe import PROBED, probe_torque_nm
from guard.simulated_break import coasting_m
from guard.tension_checks import at_slack_stop
from guard.urgent import RAMP_S, URGENT_S
from mechanics.friction import motor_friction_nm
from mechanics.lines import sense_of
from mechanics.springs import stiffness_of_force
from mechanics.tension_loop import tension_torque_nm
from signals.compiled import law
from signals.typed import Model, State

RELEASED_S: Final = 0.005
GIVE_UP_S: Final = 1.0
HURRY: Final = 1.5
"""As often the time at full torque a throw takes; then what is let go in a hurry is led like the others."""


@law
def way_m(m: Model, s: State, t: int) -> float:
    """Length [m] that motor and wrist take from tendon ``t``."""
    return float(m.spool_radius_m[t] * s.motor_angle_rad[m.tendon_motor[t]] + s.wrist_length_m[t])


@law
def note_way(m: Model, mem: GuardMemory, s: State, t: int) -> None:
    """Tension [N] that tendon ``t`` would have by now if the joints had stood still since the fault."""
    way = way_m(m, s, t)
    mem.led_n[t] = max(mem.led_n[t] + stiffness_of_force(m, t, mem.led_n[t]) * (way - mem.led_m[t]), 0.0)
    mem.led_m[t] = way


@law
def left_n(mem: GuardMemory, s: State, f: int, t: int) -> float:
    """Tension [N] of tendon ``t`` that is left to be led down; what a push adds is not.

    But beside a lost tendon, and in a finger that presses on something, which may give way.
    """
    if mem.gives_way[f] != 0:
        return float(s.tension_n[t])
    return float(min(s.tension_n[t], mem.led_n[t]))


@law
def is_released(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> bool:
    """True once tendon ``t`` is down at its tension, at its slack stop, or takes too long; stays so.

    One that is to go slack is, once it will coast there.
    """
    i = m.tendon_motor[t]
    slack = at_slack_stop(m, t, s.lever_angle_rad[t])
    coasts = mem.release_to_n[t] == 0.0 and s.elongation_m[t] <= coasting_m(
        m, i, abs(m.spool_radius_m[t]), sense_of(m, t) * s.motor_speed_rad_s[i]
    )
    if slack or coasts or left_n(mem, s, f, t) <= mem.release_to_n[t] + m.released_tension_n:
        mem.released_s[t] += m.dt_s
    enough = 0.0 if mem.urgent[t] != 0 else RELEASED_S
    if mem.released_s[t] > enough or mem.fault_age_s[f] > GIVE_UP_S:
        mem.released_s[t] = GIVE_UP_S
        return True
    return False


@law
def rest_nm(m: Model, s: State, t: int) -> float:
    """Torque [N m] against a motor that still winds tendon ``t`` in; never one that winds."""
    w = sense_of(m, t) * s.motor_speed_rad_s[m.tendon_motor[t]]
    return -min(m.rest_damping_nms_rad * w, m.rest_torque_nm) if w > m.rest_speed_rad_s else 0.0


@law
def let_go_nm(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> float:
    """Torque [N m], never one that winds in, that leads the tension of tendon ``t`` down; zero once there."""
    i = m.tendon_motor[t]
    note_way(m, mem, s, t)
    if is_released(m, mem, s, f, t):
        return 0.0
    early = mem.fault_age_s[f] < mem.urgent_s[f]
    if mem.probe_phase[f] != 0 and mem.urgent[t] != 0 and mem.fault_age_s[f] < HURRY * mem.urgent_s[f]:
        mem.release_n[t] = s.tension_n[t]
        limit = float(m.motor_torque_limit_nm[i])
        # on its ramp from then on, from what there was
        less = -sense_of(m, t) * mem.last_torque_nm[i] - limit * m.dt_s / RAMP_S
        return -limit if early else -max(less, m.release_torque_nm)
    if mem.probe_phase[f] != 0 and early:
        return 0.0
    if mem.break_age_s[f] < URGENT_S:  # a second break throws its joints
        mem.release_n[t] = s.tension_n[t]
        return -float(m.release_torque_nm) if mem.urgent[t] != 0 else 0.0
    before = mem.release_n[t]
    down_n = mem.release_n_s[f] * mem.release_share[t] * m.dt_s
    mem.release_n[t] = max(before - down_n, mem.release_to_n[t])
    if part_in_fall(m, mem, s, f, t) == DRIVES:
        return -float(m.release_torque_nm)
    rate = (mem.release_n[t] - before) / m.dt_s
    speed = rate / max(s.tendon_stiffness_n_m[t], 1.0) / m.spool_radius_m[t]
    g1, g2, g3 = (
        m.friction_gamma_1_s_rad[i],
        m.friction_gamma_2_nm[i],
        m.friction_gamma_3_nms_rad[i],
    )
    torque = tension_torque_nm(
        m,
        t,
        mem.release_n[t],
        left_n(mem, s, f, t),
        s.tendon_stiffness_n_m[t],
        s.motor_speed_rad_s[i] - speed,
        sense_of(m, t),
    ) + motor_friction_nm(speed, g1, g2, g3)
    return float(min(max(sense_of(m, t) * torque, -m.release_torque_nm), 0.0))


@law
def release_nm(m: Model, mem: GuardMemory, s: State, f: int, t: int) -> float:
    """Torque [N m] that leads tendon ``t`` down, in its sense; none where it is not seen or spared."""
    if mem.left_alone[t] != 0 or mem.unseen_s[t] > 0.0:
        return 0.0
    return let_go_nm(m, mem, s, f, t)


@law
def shared_release_nm(m: Model, mem: GuardMemory, s: State, f: int, i: int) -> float:
    """Torque [N m] of motor ``i``: a probe alone; else what leads each of its tendons down, in its sense."""
    torque = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        if m.tendon_motor[t] != i:
            continue
        probed = mem.probe_phase[f] != 0 and mem.probe_tendon[f] == t
        if probed and mem.probe_phase[f] < PROBED:
            return sense_of(m, t) * probe_torque_nm(m, mem, s, f, t)
        torque += sense_of(m, t) * (rest_nm(m, s, t) if probed else release_nm(m, mem, s, f, t))
    return torque


@law
def level_shared(m: Model, mem: GuardMemory, s: State, f: int, lost: int) -> None:
    """Tendons of one motor in finger ``f`` are let go to their mean: what slackens one winds the other.

    But not with a tendon that is lost: its partner is led down as far as one with a motor of its own.
    """
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        total = count = 0.0
        for n in range(m.finger_n_tendons[f]):
            o = m.finger_tendon[f, n]
            if m.tendon_motor[o] == m.tendon_motor[t]:
                total += s.tension_n[o]
                count += 1.0
        if lost < 0 or m.tendon_motor[lost] != m.tendon_motor[t]:
            mem.least_n[t] = max(mem.least_n[t], total / count)
