"""Tensions of a finger to motor torques: rate limit, wanted motor speed, tension loop, feedforward."""

from __future__ import annotations

from typing import Final

from controllers.feedforward import friction_torque_nm
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
def follow_tension(m: Model, mem: ControllerMemory, s: State, t: int, from_goal: bool) -> float:
    """The tension reference goes to the wanted one as fast as it may; returns its rate [N/s].

    A goal's tension glides within the hand's tension rate and what the motor can make of the tendon's
    stiffness, and hands its rate on. A wanted tension that comes out of the joint feedback is taken
    as it is: a slew limit inside that loop delays large signals by up to a quarter of a period, and one
    disturbance (a push, a stall of 50 ms) then grows into an oscillation at 9 Hz that ends at the tension
    limit. Its torque is still held by the torque rate of the hand. Nor is its rate handed on: that would
    close a loop through the friction feedforward, a relay that sustains an oscillation.
    """
    if not from_goal:
        mem.ref_tension_n[t] = s.ref_tension_n[t] = mem.wanted_n[t]
        return float(mem.tension_rate_n_s[t])
    fastest, hardest = tension_pace(m, s, t)
    mem.ref_tension_n[t], mem.ref_tension_n_s[t] = glide(
        mem.ref_tension_n[t],
        mem.ref_tension_n_s[t],
        mem.wanted_n[t],
        mem.tension_rate_n_s[t],
        fastest,
        hardest,
        0.0,
        m.tension_max_n[t],
        m.dt_s,
    )
    s.ref_tension_n[t] = mem.ref_tension_n[t]
    return float(mem.ref_tension_n_s[t])


@law
def wanted_paths(m: Model, mem: ControllerMemory, f: int) -> None:
    """Speeds [m/s] that the wanted motion gives the paths of a finger's tendons, into ``mem.path_m_s``."""
    for k in range(m.finger_n_tendons[f]):
        mem.path_m_s[k] = mem.wrist_speed_m_s[m.finger_tendon[f, k]]
    for b in range(m.finger_n_joints[f]):
        speed = mem.joint_speed_rad_s[m.finger_joint[f, b]]
        add_row(mem.path_m_s, speed, mem.P_fbk_m[f, b], m.finger_n_tendons[f])


@law
def wanted_motor_speed(m: Model, s: State, t: int, path: float, rate_n_s: float) -> float:
    """w_d = (df_d/dt / k_t - (P dq_d/dt)_t - dh_wrist/dt) / R [rad/s], from goals and models only."""
    stretch = rate_n_s / max(s.tendon_stiffness_n_m[t], 1.0)
    return float((stretch - path) / m.spool_radius_m[t])


@law
def tension_torques(m: Model, mem: ControllerMemory, s: State, f: int, from_goal: bool) -> None:
    """Motor torques [N m] of finger ``f`` from its tension references into ``s.ref_motor_torque_nm``.

    ``from_goal``: the wanted tensions are the goal's own (TENDON_FORCE), not the joint feedback's. Then the
    rotor's own acceleration is known and fed forward: without it a step overshoots by an eighth.
    ``mem`` holds the speeds of ``wanted_paths``. The goal's own tensions are compared with the observed ones
    (``controllers.lever_observer``).
    """
    tension = s.observed_tension_n if from_goal else s.tension_n
    shares, share, weight = m.finger_shares[f] != 0, 1.0, 1.0
    for k in range(m.finger_n_tendons[f]):
        s.ref_motor_torque_nm[m.tendon_motor[m.finger_tendon[f, k]]] = 0.0
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        before = mem.ref_tension_n_s[t]
        wanted_speed = wanted_motor_speed(m, s, t, mem.path_m_s[k], follow_tension(m, mem, s, t, from_goal))
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
        if from_goal:
            acceleration = (mem.ref_tension_n_s[t] - before) / (m.dt_s * turn_n_rad(m, s, t))
            s.ref_motor_torque_nm[i] += share * m.motor_inertia_kg_m2[i] * acceleration
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        i = m.tendon_motor[t]
        if not (shares and m.tendon_follows[t] != 0):
            s.friction_torque_nm[i] = friction_torque_nm(m, i, s.ref_motor_speed_rad_s[i])
            s.ripple_torque_nm[i] = mem.ripple_nm[i]
            s.ref_motor_torque_nm[i] += s.friction_torque_nm[i] + s.ripple_torque_nm[i]
