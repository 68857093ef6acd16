"""One substep of the simulated hand: motors, tendons with springs and guides, joints, wrist drive.

Position Verlet (half drift, kick, half drift) with linearly implicit friction. In the kick

    (H + h C) dqd = h (tau - bias),   C = P^T (d f_loss/dv) P + joint damping

so that the stiff, regularised friction of light finger links is stable at any pretension, and the work of
every force is exactly ``h F . (v + v')/2``: energy can be accounted for. Forces belong to the half step.
The wrist drive prescribes the acceleration of its axes as long as its torque limit allows
(hybrid dynamics); beyond, the axis moves under the limit torque.
"""

from __future__ import annotations

import math
from typing import Final

from mechanics.guides import guided_tension_n
from mechanics.handlayout import HandtreeWork
from mechanics.handtree import hand_dynamics
from mechanics.leverloop import loop_state
from mechanics.springs import spring_at, spring_state
from signals.compiled import law
from signals.modes import SensorLevel
from signals.typed import Model
from sim.contact import add_contact_torques, add_wrench
from sim.joint_kick import account_joints, kick_joints
from sim.motors import kick_motors
from sim.paths import update_paths
from sim.plant_record import PlantRecord

FULL: Final = int(SensorLevel.FULL)


@law
def _drift(m: Model, p: PlantRecord, h: float) -> None:
    q, qd, theta, w = p.q_rad, p.qd_rad_s, p.theta_rad, p.w_rad_s
    for j in range(m.n_joints):
        q[j] += h * qd[j]
    for i in range(m.n_motors):
        theta[i] += h * w[i]
    for a in range(m.n_axes):
        p.axis_rad[a] += h * p.axis_rad_s[a]


@law
def _account_lever(m: Model, p: PlantRecord, t: int, before: float) -> None:
    """Heat of the lever's friction loop over a lever motion."""
    force, _, path, _ = spring_at(m, t, p.lever_rad[t])
    earlier, _, path_before, _ = spring_at(m, t, before)
    share = m.lever_friction_frac[t] * p.loop_sign[t]
    p.energy_lost_j += share * 0.5 * (force + earlier) * (path_before - path)


@law
def _path_speeds(m: Model, p: PlantRecord) -> None:
    """dh/dt of every tendon [m/s]: through its finger and through the wrist."""
    P, Pw, qd = p.P_tj_m, p.P_tw_m, p.qd_rad_s
    for t in range(m.n_tendons):
        b = p.tendon_branch[t]
        v = 0.0
        for k in range(p.branch_joints[b]):
            j = p.branch_joint[b, k]
            v += P[t, j] * qd[j]
        for a in range(m.n_axes):
            v += Pw[t, a] * p.axis_rad_s[a]
        p.path_speed_m_s[t] = v


@law
def update_tensions(m: Model, p: PlantRecord) -> None:
    """Tension of every tendon at the spring and in the finger, and the guides' implicit slope."""
    length, wrist, neutral = p.length_m, p.wrist_length_m, m.wrist_neutral_length_m
    theta, e0, radius = p.theta_rad, p.e0_m, m.spool_radius_m
    lever, loop, tension, in_finger = p.lever_rad, p.loop_sign, p.tension_n, p.finger_tension_n
    slope = p.guide_slope_ns_m
    for t in range(m.n_tendons):
        if p.tendon_off[t]:
            lever[t] = m.lever_max_rad[m.tendon_spring[t]]
            loop[t] = 0.0
            tension[t] = 0.0
            continue
        e = length[t] + wrist[t] - neutral[t] + radius[t] * theta[m.tendon_motor[t]] + e0[t]
        before = lever[t]
        if p.sensor_level == FULL:
            lever[t], tension[t], loop[t] = loop_state(m, t, e, before, loop[t])
            if p.energy_on:
                _account_lever(m, p, t, before)
        else:
            lever[t], tension[t] = spring_state(m, t, e, before, 0.0)
    if p.guides_on:
        _path_speeds(m, p)
        v, loss, v0 = p.path_speed_m_s, m.guide_loss_frac, m.guide_speed_m_s
        for t in range(m.n_tendons):
            in_finger[t], slope[t] = guided_tension_n(tension[t], loss[t], v[t], v0[t])
    else:
        for t in range(m.n_tendons):
            in_finger[t], slope[t] = tension[t], 0.0


@law
def _joint_torques(m: Model, p: PlantRecord, k: HandtreeWork) -> None:
    """Generalised forces [axes, joints] and the lower half of every branch's implicit damping matrix."""
    na = m.n_axes
    tau, damping = p.tau_nm, p.damping_nms_rad
    q, qd, v0 = p.q_rad, p.qd_rad_s, m.joint_friction_speed_rad_s
    for c in range(na + m.n_joints):
        tau[c] = 0.0
        p.external_nm[c] = 0.0
    for a in range(na):
        for c in range(na + m.n_joints):
            p.axis_damping_nms_rad[a, c] = 0.0
    for b in range(p.n_branches):
        for x in range(p.branch_joints[b]):
            j = p.branch_joint[b, x]
            for y in range(x + 1):
                damping[j, p.branch_joint[b, y]] = 0.0
    for j in range(m.n_joints):
        root = math.sqrt(qd[j] * qd[j] + v0 * v0)
        tau[na + j] -= m.joint_viscous_nms_rad[j] * qd[j] + m.joint_coulomb_nm[j] * qd[j] / root
        damping[j, j] += m.joint_viscous_nms_rad[j] + m.joint_coulomb_nm[j] * v0 * v0 / (root * root * root)
        beyond = q[j] - m.joint_max_rad[j]
        if beyond < 0.0:
            beyond = min(q[j] - m.joint_min_rad[j], 0.0)
        if beyond != 0.0:
            tau[na + j] -= m.stop_stiffness_nm_rad * beyond + m.stop_damping_nms_rad * qd[j]
            damping[j, j] += m.stop_damping_nms_rad
    _add_tendons(m, p)


@law
def _add_tendons(m: Model, p: PlantRecord) -> None:
    """Torques of the tendons, -P^T f, and the damping of their guides, P^T slope P."""
    na, tau, damping, wrist_damping = m.n_axes, p.tau_nm, p.damping_nms_rad, p.axis_damping_nms_rad
    P, Pw, slope, f = p.P_tj_m, p.P_tw_m, p.guide_slope_ns_m, p.finger_tension_n
    for t in range(m.n_tendons):
        b = p.tendon_branch[t]
        joints = p.branch_joint[b]
        for x in range(p.branch_joints[b]):
            j = joints[x]
            pj = P[t, j]
            if pj != 0.0:
                tau[na + j] -= pj * f[t]
                if slope[t] != 0.0:
                    ps = pj * slope[t]
                    for y in range(x + 1):
                        damping[j, joints[y]] += ps * P[t, joints[y]]
                    for a in range(na):
                        wrist_damping[a, na + j] += Pw[t, a] * ps
        for a in range(na):
            pa = Pw[t, a]
            tau[a] -= pa * f[t]
            for c in range(na):
                wrist_damping[a, c] += pa * slope[t] * Pw[t, c]


@law
def _add_tip_wrenches(m: Model, p: PlantRecord, k: HandtreeWork) -> None:
    """Torques of external wrenches on the fingertips, given in the palm frame; the wrist feels them too."""
    for g in range(m.n_fingers):
        body = m.finger_tip_body[g]
        if body < 0:
            continue
        f, n, tip = p.tip_force_n[g], p.tip_moment_nm[g], k.tips[g]
        if f[0] == 0.0 and f[1] == 0.0 and f[2] == 0.0 and n[0] == 0.0 and n[1] == 0.0 and n[2] == 0.0:
            continue
        nx = n[0] + tip[1] * f[2] - tip[2] * f[1]
        ny = n[1] + tip[2] * f[0] - tip[0] * f[2]
        nz = n[2] + tip[0] * f[1] - tip[1] * f[0]
        add_wrench(m, k, body, nx, ny, nz, f[0], f[1], f[2], p.external_nm)
        for a in range(m.n_axes):
            S = k.S
            p.external_nm[a] += S[0, a] * nx + S[1, a] * ny + S[2, a] * nz
            p.external_nm[a] += S[3, a] * f[0] + S[4, a] * f[1] + S[5, a] * f[2]


@law
def substep(m: Model, p: PlantRecord, k: HandtreeWork, h: float) -> None:
    """Advance the plant by ``h`` seconds (m: model, p: plant, k: workspace of the hand tree)."""
    _drift(m, p, 0.5 * h)
    update_paths(m, p)
    update_tensions(m, p)
    hand_dynamics(m, p.axis_rad, p.axis_rad_s, p.q_rad, p.qd_rad_s, k)
    _joint_torques(m, p, k)
    _add_tip_wrenches(m, p, k)
    if p.contact_on:
        add_contact_torques(m, p, k)
    for c in range(m.n_axes + m.n_joints):
        p.tau_nm[c] += p.external_nm[c]
    kick_joints(m, p, k, h)
    if p.energy_on:
        account_joints(m, p, h)
    kick_motors(m, p, h)
    _drift(m, p, 0.5 * h)
    p.time_s += h
