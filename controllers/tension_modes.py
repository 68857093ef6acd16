"""Tensions of a finger to motor torques: rate limit, wanted motor speed, tension loop, feedforward."""

from __future__ import annotations

from typing import Final

from controllers.feedforward import friction_torque_nm
from controllers.lever_observer import turned_compliance_m_n
from controllers.memory import ControllerMemory
from controllers.reference import TORQUE_SHARE, glide
from mechanics.blend import share_left, share_rate
from mechanics.finger_rows import add_row
from mechanics.lines import part_of_motor
from mechanics.tension_loop import tension_torque_nm
from signals.compiled import law
from signals.typed import Goal, Model, State

SPEED_SHARE: Final = 0.6
"""Share of the motor's greatest speed that a change of tension may ask for."""


@law
def turn_n_rad(m: Model, s: State, t: int) -> float:
    """Change of tendon ``t``'s tension [N/rad] as its motor turns, all else held."""
    return float(m.spool_radius_m[t] * max(s.tendon_stiffness_n_m[t], 1.0))


@law
def tension_pace(m: Model, s: State, t: int) -> tuple[float, float]:
    """Rate [N/s] and its change [N/s2] of tendon ``t``'s tension that its motor can make of its stiffness."""
    i = m.tendon_motor[t]
    turn = abs(turn_n_rad(m, s, t))
    fastest = SPEED_SHARE * m.motor_speed_limit_rad_s[i] * turn
    hardest = TORQUE_SHARE * m.motor_torque_limit_nm[i] / m.motor_inertia_kg_m2[i] * turn
    return min(fastest, float(m.tension_rate_n_s)), hardest


@law
def force_goals(m: Model, goal: Goal, mem: ControllerMemory, f: int) -> None:
    """Wanted tensions [N] and their rates [N/s] of finger ``f`` in TENDON_FORCE into ``mem``."""
    x = mem.age_s[f] / mem.blend_s[f]
    left, rate = share_left(x), share_rate(x, mem.blend_s[f])
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        wanted = goal.tendon_force_n[t] + mem.offset_tension_n[t] * left
        mem.wanted_n[t] = min(max(wanted, 0.0), m.tension_max_n[t])
        mem.tension_rate_n_s[t] = goal.tendon_force_rate_n_s[t] + mem.offset_tension_n[t] * rate


@law
def follow_goal(m: Model, mem: ControllerMemory, s: State, f: int) -> None:
    """Wanted tensions of finger ``f`` glide to the goal's, and the rotors' acceleration is fed forward.

    They glide within the hand's tension rate and what the motor can make of the tendon's stiffness. Motors
    turn as the lever's loop lets them. Without their acceleration a step overshoots by an eighth.
    """
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i, share, before = m.tendon_motor[t], 1.0, mem.ref_tension_n_s[t]
        fastest, hardest = tension_pace(m, s, t)
        mem.wanted_n[t], mem.ref_tension_n_s[t] = glide(
            mem.ref_tension_n[t],
            before,
            mem.wanted_n[t],
            mem.tension_rate_n_s[t],
            fastest,
            hardest,
            0.0,
            m.tension_max_n[t],
            m.dt_s,
        )
        compliance = turned_compliance_m_n(m, mem, s, t, mem.ref_tension_n_s[t])
        mem.path_m_s[k] -= mem.ref_tension_n_s[t] * compliance
        mem.tension_rate_n_s[t] = 0.0
        if m.finger_shares[f] != 0:
            share, _, _ = part_of_motor(m, s, f, t)
        acceleration = (mem.ref_tension_n_s[t] - before) * compliance / (m.dt_s * m.spool_radius_m[t])
        s.ref_motor_torque_nm[i] += share * m.motor_inertia_kg_m2[i] * acceleration


@law
def wanted_paths(m: Model, mem: ControllerMemory, f: int) -> None:
    """Speeds [m/s] that the wanted motion gives the paths of a finger's tendons, into ``mem.path_m_s``."""
    for k in range(m.finger_n_tendons[f]):
        mem.path_m_s[k] = mem.wrist_speed_m_s[m.finger_tendon[f, k]]
    for b in range(m.finger_n_joints[f]):
        speed = mem.joint_speed_rad_s[m.finger_joint[f, b]]
        add_row(mem.path_m_s, speed, mem.P_fbk_m[f, b], m.finger_n_tendons[f])


@law
def tension_torques(m: Model, mem: ControllerMemory, s: State, f: int, from_goal: bool) -> None:
    r"""Motor torques [N m] of finger ``f`` from its tension references into ``s.ref_motor_torque_nm``.

    .. math:: w_d = (\dot f_d / k_t - (P \dot q_d)_t - \dot h_{wrist}) / R

    ``from_goal``: the wanted tensions are the goal's own (TENDON_FORCE): they glide there and are compared
    with the observed ones (``controllers.lever_observer``). Those of the joint feedback are taken as they
    are: a slew limit inside that loop delays large signals by up to a quarter of a period, and one
    disturbance (a push, a stall of 50 ms) then grows into an oscillation at 9 Hz that ends at the tension
    limit. Their torque is still held by the torque rate of the hand. Nor is their rate handed on: that would
    close a loop through the friction feedforward, a relay that sustains an oscillation. ``mem`` holds the
    speeds of ``wanted_paths``.
    """
    tension = s.observed_tension_n if from_goal else s.tension_n
    shares, share, weight = m.finger_shares[f] != 0, 1.0, 1.0
    for k in range(m.finger_n_tendons[f]):
        s.ref_motor_torque_nm[m.tendon_motor[m.finger_tendon[f, k]]] = 0.0
    if from_goal:
        follow_goal(m, mem, s, f)
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        mem.ref_tension_n[t] = s.ref_tension_n[t] = mem.wanted_n[t]
        stretch = mem.tension_rate_n_s[t] / max(s.tendon_stiffness_n_m[t], 1.0)
        wanted_speed = (stretch - mem.path_m_s[k]) / m.spool_radius_m[t]
        stiffness, turning = s.tendon_stiffness_n_m[t], wanted_speed
        if shares:
            share, weight, stiffness = part_of_motor(m, s, f, t)
            turning *= share
            if m.tendon_follows[t] != 0:
                turning += s.ref_motor_speed_rad_s[i]
        s.ref_motor_speed_rad_s[i] = turning
        s.ref_motor_torque_nm[i] += tension_torque_nm(
            m,
            t,
            mem.ref_tension_n[t],
            tension[t],
            stiffness,
            share * (s.motor_speed_rad_s[i] - wanted_speed),
            weight,
        )
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        if not (shares and m.tendon_follows[t] != 0):
            gain = m.force_friction_gain[i] if from_goal else m.friction_gain
            s.friction_torque_nm[i] = friction_torque_nm(m, i, s.ref_motor_speed_rad_s[i], gain)
            s.ripple_torque_nm[i] = mem.ripple_nm[i]
            s.ref_motor_torque_nm[i] += s.friction_torque_nm[i] + s.ripple_torque_nm[i]
