"""Where a lost tendon throws its finger: a tenth of a second of one finger in a few dozen microseconds.

    (H + h C) dqd = h (-P^T f(e) - friction - springs - stops)
    de = P qd + r w,    B dw = tau - friction(w) - r f

from a state of the finger, with the lost tendon gone, the mass matrix H and the coupling P as they are there,
the palm at rest, gravity left out (a hundredth of what a tendon does), and the motors as the reaction will
drive them: those of a set of tendons unwind, the others are off. Stops and friction are implicit, for a
fingertip weighs next to nothing; friction as F v' / |v|, with the speed v before the step under the bar: with
its slope at v instead it turns over in every step of a millisecond and shakes the fingertip at 30 rad/s.
"""

from __future__ import annotations

import math
from typing import Final

from guard.memory import GuardMemory
from mechanics.cholesky import factorise, solve_factored
from mechanics.friction import motor_friction_nm, motor_friction_slope_nms_rad
from mechanics.passive_rows import pull_n
from mechanics.springs import spring_state
from signals.compiled import law
from signals.typed import Model

STEP_S: Final = 0.001
LOOK_S: Final = 0.1
"""Time that is looked ahead: joints that can be kept from their stop reach it 20 to 95 ms after a break."""
AWAY_RAD: Final = 0.002
"""Way from a stop that a joint must have been before it can hit it: joints at rest on it only tremble.
One that rests a tenth of a degree away is thrown there as another joint of its finger hits its own."""


@law
def coasting_m(m: Model, i: int, radius_m: float, w_rad_s: float) -> float:
    """Way [m] of tendon that motor ``i`` still unwinds without torque, against the gear's friction."""
    friction = 0.5 * math.pi * m.friction_gamma_2_nm[i]
    if w_rad_s >= 0.0 or friction <= 0.0:
        return 0.0
    return float(0.5 * m.motor_inertia_kg_m2[i] * w_rad_s * w_rad_s / friction * radius_m)


@law
def begin_throw(m: Model, mem: GuardMemory, f: int) -> None:
    """The state that is looked ahead from into the scratch."""
    for x in range(m.finger_n_joints[f]):
        mem.look_q_rad[x], mem.look_qd_rad_s[x] = mem.from_q_rad[x], mem.from_qd_rad_s[x]
        mem.look_away_rad[x, 0] = mem.look_away_rad[x, 1] = 0.0
        mem.look_hit_rad_s[x, 0] = mem.look_hit_rad_s[x, 1] = 0.0
    for k in range(m.finger_n_tendons[f]):
        mem.look_e_m[k], mem.look_lever_rad[k] = mem.from_e_m[k], mem.from_lever_rad[k]
        mem.look_w_rad_s[k], mem.look_torque_nm[k] = mem.from_w_rad_s[k], mem.from_torque_nm[k]
        mem.look_slack[k] = 0


@law
def rows_ahead_nm(m: Model, mem: GuardMemory, f: int, j: int) -> float:
    """Torque [N m] that holds joint ``j`` of finger ``f`` against passive rows at the looked-ahead pose."""
    torque = 0.0
    for r in range(m.n_passives):
        if m.passive_arm_m[r, j] != 0.0:
            way = 0.0
            for x in range(m.finger_n_joints[f]):
                way += m.passive_arm_m[r, m.finger_joint[f, x]] * mem.look_q_rad[x]
            torque += m.passive_arm_m[r, j] * pull_n(m, r, way)
    return torque


@law
def resist(m: Model, mem: GuardMemory, f: int) -> None:
    """Joint friction, springs and stops: torques into ``look_b_nm``, H + h C of them into ``look_A``."""
    v0, h = m.joint_friction_speed_rad_s, STEP_S
    for x in range(m.finger_n_joints[f]):
        j = m.finger_joint[f, x]
        q, qd = mem.look_q_rad[x], mem.look_qd_rad_s[x]
        root = math.sqrt(qd * qd + v0 * v0)
        viscous, coulomb = m.joint_viscous_nms_rad[j], m.joint_coulomb_nm[j]
        damping = viscous + coulomb / root
        torque = -damping * qd
        beyond = max(q - m.joint_max_rad[j], 0.0) + min(q - m.joint_min_rad[j], 0.0)
        if beyond != 0.0:
            torque -= m.stop_stiffness_nm_rad * (beyond + h * qd) + m.stop_damping_nms_rad * qd
            damping += m.stop_damping_nms_rad + h * m.stop_stiffness_nm_rad
        if m.finger_loaded[f] != 0:
            torque -= m.joint_spring_nm_rad[j] * (q - m.joint_rest_rad[j]) + rows_ahead_nm(m, mem, f, j)
        mem.look_b_nm[x] = torque
        for y in range(x + 1):
            mem.look_A[x, y] = mem.look_H[x, y]
        mem.look_A[x, x] += h * damping


@law
def unwind(m: Model, mem: GuardMemory, k: int, t: int, wanted_nm: float, tension_n: float) -> None:
    """One step of the motor of tendon ``t``: its torque goes to the wanted one at the hand's rate."""
    i, h = m.tendon_motor[t], STEP_S
    w, change = mem.look_w_rad_s[k], m.torque_rate_nm_s * h
    torque = mem.look_torque_nm[k]
    torque = min(max(wanted_nm, torque - change), torque + change)
    g1, g2, g3 = m.friction_gamma_1_s_rad[i], m.friction_gamma_2_nm[i], m.friction_gamma_3_nms_rad[i]
    friction, slope = motor_friction_nm(w, g1, g2, g3), motor_friction_slope_nms_rad(w, g1, g2, g3)
    load = m.spool_radius_m[t] * tension_n
    mem.look_w_rad_s[k] = w + h * (torque - friction - load) / (m.motor_inertia_kg_m2[i] + h * slope)
    mem.look_torque_nm[k] = torque


@law
def wanted_nm(
    m: Model, mem: GuardMemory, k: int, t: int, unwound: bool, driven: bool, share: float, rest_nm: float
) -> float:
    """Torque [N m] that the reaction gives the motor of tendon ``t``: none, or until it coasts into slack.

    A share of what this motor may, if that is between ``rest_nm`` and all of it: a finger may mix motors.
    """
    if not driven:
        return float(mem.look_torque_nm[k])
    i = m.tendon_motor[t]
    if mem.look_e_m[k] <= coasting_m(m, i, m.spool_radius_m[t], mem.look_w_rad_s[k]):
        mem.look_slack[k] = 1
    if not unwound or mem.look_slack[k] != 0:
        return 0.0
    limit = m.motor_torque_limit_nm[i]
    return float(-min(max(share * limit, rest_nm), limit))


@law
def pull(
    m: Model, mem: GuardMemory, f: int, lost: int, unwound: int, driven: bool, share: float, rest_nm: float
) -> None:
    """Tendons: their torques and the damping of their guides, and their motors.

    Args:
        m: model record.
        mem: guard memory.
        f: finger.
        lost: place in the finger of the lost tendon.
        unwound: bit set of places of tendons whose motors unwind.
        driven: False as long as nobody has noticed: the torques stay.
        share: of the torque limit that these get, but no less than
        rest_nm: torque that goes on unwinding [N m].
    """
    n, h = m.finger_n_joints[f], STEP_S
    for k in range(m.finger_n_tendons[f]):
        if k == lost:
            continue
        t = m.finger_tendon[f, k]
        row = mem.look_P_m[k]
        v = 0.0
        for x in range(n):
            v += row[x] * mem.look_qd_rad_s[x]
        lever, tension = spring_state(m, t, mem.look_e_m[k], mem.look_lever_rad[k], 0.0)
        mem.look_lever_rad[k] = lever
        v0 = m.guide_speed_m_s
        damping = (tension * m.guide_loss_frac[t] + m.guide_bending_n[t]) / math.sqrt(v * v + v0 * v0)
        for x in range(n):
            px = row[x]
            if px != 0.0:
                mem.look_b_nm[x] -= px * (tension + damping * v)
                for y in range(x + 1):
                    mem.look_A[x, y] += h * px * damping * row[y]
        wanted = wanted_nm(m, mem, k, t, bool((unwound >> k) & 1), driven, share, rest_nm)
        unwind(m, mem, k, t, wanted, tension)


@law
def move(m: Model, mem: GuardMemory, f: int) -> None:
    """Angles and elongations after the step; the hardest hits of the stops so far."""
    n, h = m.finger_n_joints[f], STEP_S
    for x in range(n):
        j = m.finger_joint[f, x]
        q, qd = mem.look_q_rad[x], mem.look_qd_rad_s[x]
        after = q + h * qd
        for side in range(2):
            inside = m.joint_max_rad[j] - q if side == 0 else q - m.joint_min_rad[j]
            then = m.joint_max_rad[j] - after if side == 0 else after - m.joint_min_rad[j]
            away = max(mem.look_away_rad[x, side], inside)
            if then < 0.0:
                if inside >= 0.0 and away > AWAY_RAD:
                    outward = qd if side == 0 else -qd
                    mem.look_hit_rad_s[x, side] = max(mem.look_hit_rad_s[x, side], outward)
                away = 0.0
            mem.look_away_rad[x, side] = away
        mem.look_q_rad[x] = after
    for k in range(m.finger_n_tendons[f]):
        t = m.finger_tendon[f, k]
        v = m.spool_radius_m[t] * mem.look_w_rad_s[k]
        for x in range(n):
            v += mem.look_P_m[k, x] * mem.look_qd_rad_s[x]
        mem.look_e_m[k] += h * v


@law
def advance(
    m: Model, mem: GuardMemory, f: int, lost: int, unwound: int, driven: bool, share: float, rest_nm: float
) -> bool:
    """One step of the scratch; arguments as of ``pull``. False if the finger's mass matrix is none."""
    n = m.finger_n_joints[f]
    resist(m, mem, f)
    pull(m, mem, f, lost, unwound, driven, share, rest_nm)
    if not factorise(mem.look_A, n, 1e-300):
        return False
    solve_factored(mem.look_A, mem.look_b_nm, n)
    for x in range(n):
        mem.look_qd_rad_s[x] += STEP_S * mem.look_b_nm[x]
    move(m, mem, f)
    return True


@law
def throw(
    m: Model,
    mem: GuardMemory,
    f: int,
    lost: int,
    unwound: int,
    react_s: float,
    urgent_s: float,
    ramp_s: float,
    rest_nm: float,
) -> bool:
    """What happens if the motors of a set of tendons unwind.

    Args:
        m: model record.
        mem: guard memory, with ``look_H``, ``look_P_m`` and the state that is looked ahead from.
        f: finger.
        lost: place in the finger of the lost tendon.
        unwound: bit set of places of tendons.
        react_s: time from the loss until the motors are driven [s].
        urgent_s: time from then on at full torque [s].
        ramp_s: time in which that is gone after it [s], but for
        rest_nm: torque that goes on unwinding [N m].

    Returns:
        False if the finger's mass matrix is none; else the speeds at which its joints hit their upper and
        lower stops are in ``look_hit_rad_s``.
    """
    begin_throw(m, mem, f)
    for step in range(int(LOOK_S / STEP_S)):
        time_s = step * STEP_S - react_s
        share = 1.0 - (time_s - urgent_s) / ramp_s
        if not advance(m, mem, f, lost, unwound, time_s >= 0.0, share, rest_nm):
            return False
    return True
