"""What a finger in fault does: let its tendons go, or hold. No motor of it pulls any more, but the probe.

Letting go is an act: the gears' friction holds 88 N of tension against a motor without torque. So the
tension of every tendon that can be led is led down to the least one, all at one rate, so that the joints stay
in balance; then the motor is off. Two tendons are treated otherwise:

* the partner of a lost tendon is let go at once and at full torque, or it would throw the joint into its
  stop, and so is what else pulls the joint that gets there first; but not a millimetre further than slack, so
  that a tendon that is only slack finds something to pull against while the probe winds; what pulls another
  joint into a stop close by is let go as fast, for the finger whips;
* a tendon that cannot be seen keeps its tension, held by its gear, and so does its partner: let go alone, the
  partner would leave the joint to the other.
"""

from __future__ import annotations

import math
from typing import Any, Final

from controllers.channel_checks import channel_usable
from controllers.hold import hold_torque_nm
from controllers.probe import PROBED, begin_probe, probe_torque_nm
from controllers.tension_checks import TENSION_LOST, at_slack_stop
from controllers.tension_loop import tension_torque_nm
from mechanics.friction import motor_friction_nm
from signals.compiled import law
from signals.faults import Cause
from signals.modes import Reaction

RELEASE: Final = int(Reaction.RELEASE)
HOLD: Final = int(Reaction.HOLD)
OPERATOR_STOP: Final = int(Cause.OPERATOR_STOP)
HALL_FIRST: Final = int(Cause.HALL_STUCK)
HALL_LAST: Final = int(Cause.HALL_GLITCH)
MOTOR_LOST: Final = int(Cause.MOTOR_LOST)
ENCODER_STUCK: Final = int(Cause.ENCODER_STUCK)
JOINT_OUT_OF_RANGE: Final = int(Cause.JOINT_OUT_OF_RANGE)
MOTOR_BLOCKED: Final = int(Cause.MOTOR_BLOCKED)
NONE: Final = int(Cause.NONE)

RELEASE_N_S: Final = 500.0
RELEASE_NM: Final = 1.37
"""Greatest torque that unwinds: friction, ripple and their spread. Up to 1.5 N m by the torque constant's."""
URGENT_S: Final = 0.018
"""Time in which it is let go at full torque; a joint is at its stop after some 25 ms."""
RAMP_S: Final = 0.1
"""Time in which full torque would be gone after that; a tendon that still pulls is let go further on it."""
NEAR_STOP_RAD: Final = 0.15
NEARER: Final = 0.8
"""Share of the way of every other joint below which one clearly is at its stop first."""
REST_NMS_RAD: Final = 0.5
"""Brake of the probe's motor once the cause is named."""
REST_NM: Final = 1.0
AT_REST_RAD_S: Final = 0.5
RELEASED_N: Final = 1.0
RELEASED_S: Final = 0.005
GIVE_UP_S: Final = 1.0
HOLD_SHARE: Final = 0.5
"""Share of the torque limit in the reaction HOLD."""
OPPOSITE: Final = -0.9
"""Cosine between the rows of P below which two tendons are partners."""


@law
def reaction_of(m: Any, s: Any, f: int) -> int:
    """Reaction of finger ``f`` in fault: the configured one where the finger's own sensors are sound."""
    cause = s.finger_cause[f]
    if cause == NONE and s.hand_cause == OPERATOR_STOP:
        return HOLD
    sound = cause == NONE or cause == MOTOR_BLOCKED or cause == JOINT_OUT_OF_RANGE
    return int(m.finger_reaction[f]) if sound else RELEASE


@law
def partners(m: Any, P: Any, f: int, a: int, b: int) -> bool:
    """True if tendons ``a`` and ``b`` of finger ``f`` turn its joints in opposite senses."""
    aa = bb = ab = 0.0
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        aa += P[a, j] * P[a, j]
        bb += P[b, j] * P[b, j]
        ab += P[a, j] * P[b, j]
    return bool(ab < OPPOSITE * (aa * bb) ** 0.5)


@law
def blind_tendon(z: Any, s: Any, f: int, t: int, i: int) -> bool:
    """True if tendon ``t`` with motor ``i`` cannot be led: a sensor of it fails or is the cause."""
    cause, part = s.finger_cause[f], s.finger_cause_part[f]
    if part == t and HALL_FIRST <= cause <= HALL_LAST:
        return True
    if part == i and MOTOR_LOST <= cause <= ENCODER_STUCK and cause != MOTOR_BLOCKED:
        return True
    hall = channel_usable(int(z.hall_status[t]), z.hall_fine_count[t])
    return not (hall and channel_usable(int(z.motor_status[i]), z.motor_angle_rad[i]))


@law
def pulls_into_stop(m: Any, P: Any, s: Any, f: int, t: int) -> bool:
    """True if tendon ``t`` pulls a joint of finger ``f`` towards a stop that it is close to.

    A tendon over several such joints is judged by the most distal, the lightest one.
    """
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, m.finger_n_joints[f] - 1 - k]
        q = s.joint_angle_rad[j]
        to_max, to_min = m.joint_max_rad[j] - q, q - m.joint_min_rad[j]
        if P[t, j] != 0.0 and min(to_max, to_min) < NEAR_STOP_RAD:
            # pulling turns the joint towards -P
            return bool(P[t, j] < 0.0) if to_max < to_min else bool(P[t, j] > 0.0)
    return False


@law
def first_at_stop(m: Any, P: Any, s: Any, f: int, lost: int) -> int:
    """Joint of finger ``f`` that the loss of tendon ``lost`` throws at its stop first; -1: no joint clearly.

    Without its pull a joint is driven towards +P. All joints of one tendon are thrown about alike, so the
    least way decides.
    """
    joint, least, second = -1, math.inf, math.inf
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        if P[lost, j] == 0.0:
            continue
        q = s.joint_angle_rad[j]
        way = m.joint_max_rad[j] - q if P[lost, j] > 0.0 else q - m.joint_min_rad[j]
        if way < least:
            joint, least, second = j, way, least
        else:
            second = min(second, way)
    return joint if least < NEARER * second else -1


@law
def throws_with(m: Any, P: Any, f: int, t: int, lost: int, thrown: int) -> bool:
    """True if tendon ``t`` throws a joint where the loss of tendon ``lost`` does.

    Its partner does, and what pulls joint ``thrown`` there and moves no joint that the lost one leaves alone.
    """
    if partners(m, P, f, t, lost):
        return True
    if thrown < 0 or P[t, thrown] * P[lost, thrown] >= 0.0:
        return False
    for k in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, k]
        if P[t, j] != 0.0 and P[lost, j] == 0.0:
            return False
    return True


@law
def begin_reaction(m: Any, mem: Any, z: Any, s: Any, f: int) -> None:
    """Note how each tendon of finger ``f`` is to be let go as its fault begins."""
    mem.fault_age_s[f] = 0.0
    mem.probe_phase[f] = 0
    cause, part = s.finger_cause[f], s.finger_cause_part[f]
    thrown = first_at_stop(m, mem.P_tj_m, s, f, part) if cause == TENSION_LOST else -1
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        mem.release_n[t] = s.tension_n[t]
        mem.release_to_n[t] = m.tension_min_n[t]
        mem.released_s[t] = 0.0
        mem.blind[t] = m.hall_weight[t] == 0.0 or blind_tendon(z, s, f, t, m.tendon_motor[t])
        if cause == TENSION_LOST:
            throws = throws_with(m, mem.P_tj_m, f, t, part, thrown)
            mem.urgent[t] = throws or pulls_into_stop(m, mem.P_tj_m, s, f, t)
            if throws:
                mem.release_to_n[t] = 0.0
        else:
            mem.urgent[t] = 0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        mem.left_alone[t] = mem.blind[t]
        for o in range(m.finger_n_tendons[f]):
            other = m.finger_tendon[f, o]
            if mem.blind[other] != 0 and partners(m, mem.P_tj_m, f, t, other):
                mem.left_alone[t] = 1
    if cause == TENSION_LOST:
        begin_probe(mem, s, f, m.tendon_motor[part])


@law
def coasting_m(m: Any, s: Any, t: int) -> float:
    """Way [m] that the motor of tendon ``t`` still unwinds without torque, against the gear's friction."""
    i = m.tendon_motor[t]
    w, friction = s.motor_speed_rad_s[i], 0.5 * math.pi * m.friction_gamma_2_nm[i]
    if w >= 0.0 or friction <= 0.0:
        return 0.0
    return float(0.5 * m.motor_inertia_kg_m2[i] * w * w / friction * m.spool_radius_m[t])


@law
def is_released(m: Any, mem: Any, s: Any, f: int, t: int) -> bool:
    """True once tendon ``t`` is down at its tension, at its slack stop, or takes too long; stays so.

    One that is to go slack is, once it will coast there.
    """
    slack = at_slack_stop(m, t, s.lever_angle_rad[t])
    coasts = mem.release_to_n[t] == 0.0 and s.elongation_m[t] <= coasting_m(m, s, t)
    if slack or coasts or s.tension_n[t] <= mem.release_to_n[t] + RELEASED_N:
        mem.released_s[t] += m.dt_s
    enough = 0.0 if mem.urgent[t] != 0 else RELEASED_S
    if mem.released_s[t] > enough or mem.fault_age_s[f] > GIVE_UP_S:
        mem.released_s[t] = GIVE_UP_S
        return True
    return False


@law
def rest_nm(s: Any, i: int) -> float:
    """Torque [N m] against a motor that still winds in; never one that winds."""
    w = s.motor_speed_rad_s[i]
    return -min(REST_NMS_RAD * w, REST_NM) if w > AT_REST_RAD_S else 0.0


@law
def let_go_nm(m: Any, mem: Any, s: Any, f: int, t: int) -> float:
    """Torque [N m], never one that winds in, that leads the tension of tendon ``t`` down; zero once there."""
    i = m.tendon_motor[t]
    if is_released(m, mem, s, f, t):
        return 0.0
    early = mem.fault_age_s[f] < URGENT_S
    if mem.probe_phase[f] != 0 and mem.urgent[t] != 0:
        mem.release_n[t] = s.tension_n[t]
        limit = float(m.motor_torque_limit_nm[i])
        # on its ramp from then on, from what there was
        less = -mem.last_torque_nm[i] - limit * m.dt_s / RAMP_S
        return -limit if early else -max(less, RELEASE_NM)
    if mem.probe_phase[f] != 0 and early:
        return 0.0
    before = mem.release_n[t]
    mem.release_n[t] = max(before - RELEASE_N_S * m.dt_s, mem.release_to_n[t])
    rate = (mem.release_n[t] - before) / m.dt_s
    speed = rate / max(s.tendon_stiffness_n_m[t], 1.0) / m.spool_radius_m[t]
    g1, g2, g3 = (
        m.friction_gamma_1_s_rad[i],
        m.friction_gamma_2_nm[i],
        m.friction_gamma_3_nms_rad[i],
    )
    torque = tension_torque_nm(
        m, t, mem.release_n[t], s.tension_n[t], s.tendon_stiffness_n_m[t], s.motor_speed_rad_s[i] - speed
    ) + motor_friction_nm(speed, g1, g2, g3)
    return float(min(max(torque, -RELEASE_NM), 0.0))


@law
def fault_torque_nm(m: Any, mem: Any, s: Any, f: int, t: int, reaction: int) -> float:
    """Torque [N m] of the motor of tendon ``t`` in a finger in fault."""
    i = m.tendon_motor[t]
    if mem.probe_phase[f] != 0 and mem.probe_tendon[f] == t:
        return probe_torque_nm(m, mem, s, f, t) if mem.probe_phase[f] < PROBED else rest_nm(s, i)
    if reaction != RELEASE:
        limit = m.motor_torque_limit_nm[i] * (HOLD_SHARE if reaction == HOLD else 1.0)
        return float(min(max(hold_torque_nm(m, mem, s, t), -limit), limit))
    if mem.left_alone[t] != 0:
        return 0.0
    return let_go_nm(m, mem, s, f, t)
