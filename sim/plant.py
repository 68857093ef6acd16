"""One substep of the simulated hand: motors, tendons with springs and guides, joints, wrist drive.

Position Verlet (half drift, kick, half drift) with linearly implicit friction. In the kick

    (H + h C) dqd = h (tau - bias),   C = P^T (d f_loss/dv) P + joint damping

so that the stiff, regularised friction of light finger links is stable at any pretension, and the work of
every force is exactly ``h F . (v + v')/2``: energy can be accounted for. Forces belong to the half step.
The wrist drive prescribes the acceleration of its axes as long as its torque limit allows
(hybrid dynamics); beyond, the axis moves under the limit torque.
"""

from __future__ import annotations

from typing import Final

from mechanics.guides import pulled_tension_n
from mechanics.handlayout import HandtreeWork
from mechanics.handtree import hand_dynamics
from mechanics.joint_friction import joint_friction_nm
from mechanics.passive_rows import rows_torque_nm
from mechanics.springs import spring_at, spring_state
from signals.compiled import law
from signals.modes import SensorLevel
from signals.typed import Model
from sim.backlash import give_play
from sim.branches import clear_loads, load_tendons, sum_of, tendon_sums
from sim.contact import add_contact_torques, add_wrench
from sim.joint_kick import account_joints, kick_joints
from sim.motors import kick_motors
from sim.paths import update_paths
from sim.plant_record import PlantRecord
from sim.tensions import solve_tensions

FULL: Final = int(SensorLevel.FULL)


@law
def drift(m: Model, p: PlantRecord, h: float) -> None:
    """Positions of joints, motors and axes at their speeds, ``h`` seconds on."""
    q, qd, theta, w = p.q_rad, p.qd_rad_s, p.theta_rad, p.w_rad_s
    for j in range(m.n_joints):
        q[j] += h * qd[j]
    for i in range(m.n_motors):
        theta[i] += h * w[i]
    for a in range(m.n_axes):
        p.axis_rad[a] += h * p.axis_rad_s[a]
        p.drive_rad[a] += h * p.drive_rad_s[a]


@law
def _account_lever(m: Model, p: PlantRecord, t: int) -> None:
    """Heat of the lever's friction loop over its last motion."""
    before = p.lever_before_rad[t]
    force, _, path, _ = spring_at(m, t, p.lever_rad[t])
    earlier, _, path_before, _ = spring_at(m, t, before)
    share = m.lever_friction_frac[t] * p.loop_sign[t]
    p.energy_lost_j += share * 0.5 * (force + earlier) * (path_before - path)


@law
def _path_speeds(m: Model, p: PlantRecord) -> None:
    """dh/dt of every tendon [m/s]: through its finger and through the wrist."""
    v, Pw = p.path_speed_m_s, p.P_tw_m
    tendon_sums(p, p.P_kxb_m, p.qd_rad_s, v)
    for a in range(m.n_axes):
        w = p.axis_rad_s[a]
        for t in range(m.n_tendons):
            v[t] += Pw[t, a] * w


@law
def update_tensions(m: Model, p: PlantRecord) -> None:
    """Tension of every tendon at the spring and in the finger, and the guides' implicit slope."""
    length, wrist, neutral = p.length_m, p.wrist_length_m, m.wrist_neutral_length_m
    theta, e0, radius, e = p.theta_rad, p.e0_m, m.spool_radius_m, p.elongation_m
    tension, in_finger, slope = p.tension_n, p.finger_tension_n, p.guide_slope_ns_m
    for t in range(m.n_tendons):
        e[t] = length[t] + wrist[t] - neutral[t] + radius[t] * theta[m.tendon_motor[t]] + e0[t]
    if m.n_backlashes != 0:
        give_play(m, p)
    if p.sensor_level == FULL:
        solve_tensions(m, p)
        if p.energy_on:
            for t in range(m.n_tendons):
                if not p.tendon_off[t]:
                    _account_lever(m, p, t)
    else:
        for t in range(m.n_tendons):
            p.lever_rad[t], tension[t] = spring_state(m, t, e[t], p.lever_rad[t], 0.0)
            if p.tendon_off[t]:
                p.lever_rad[t], p.loop_sign[t], tension[t] = m.lever_max_rad[m.tendon_spring[t]], 0.0, 0.0
    if p.guides_on:
        _path_speeds(m, p)
        v, loss, bending, v0 = p.path_speed_m_s, m.guide_loss_frac, m.guide_bending_n, m.guide_speed_m_s
        for t in range(m.n_tendons):
            in_finger[t], slope[t] = pulled_tension_n(tension[t], loss[t], bending[t], v[t], v0)
    else:
        for t in range(m.n_tendons):
            in_finger[t], slope[t] = tension[t], 0.0


@law
def joint_torques(m: Model, p: PlantRecord) -> None:
    """Generalised forces [axes, joints] and the lower half of every branch's implicit damping matrix."""
    na, tau = m.n_axes, p.tau_nm
    q, qd, v0 = p.q_rad, p.qd_rad_s, m.joint_friction_speed_rad_s
    clear_loads(m, p)
    load_tendons(m, p.finger_tension_n, p.guide_slope_ns_m, p)
    for a in range(na):
        tau[a] = sum_of(p.axis_tau_ab_nm[a], p.n_branches)
    for b in range(p.n_branches):
        for x in range(p.branch_joints[b]):
            j = p.branch_joint[b, x]
            friction, damping = joint_friction_nm(
                qd[j], m.joint_viscous_nms_rad[j], m.joint_coulomb_nm[j], v0
            )
            torque = -friction - m.joint_spring_nm_rad[j] * (q[j] - m.joint_rest_rad[j])
            if m.n_passives != 0:
                torque -= rows_torque_nm(m, j, q)
            beyond = max(q[j] - m.joint_max_rad[j], 0.0) + min(q[j] - m.joint_min_rad[j], 0.0)
            if beyond != 0.0:
                torque -= m.stop_stiffness_nm_rad * beyond + m.stop_damping_nms_rad * qd[j]
                damping += m.stop_damping_nms_rad
            tau[na + j] = p.tau_xb_nm[x, b] + torque
            p.damping_xyb[x, x, b] += damping
    for c in range(na + m.n_joints):
        p.external_nm[c] = 0.0


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
    drift(m, p, 0.5 * h)
    update_paths(m, p)
    update_tensions(m, p)
    hand_dynamics(m, p.axis_rad, p.axis_rad_s, p.q_rad, p.qd_rad_s, k)
    joint_torques(m, p)
    _add_tip_wrenches(m, p, k)
    if p.contact_on:
        add_contact_torques(m, p, k)
    for c in range(m.n_axes + m.n_joints):
        p.tau_nm[c] += p.external_nm[c]
    kick_joints(m, p, k, h)
    if p.energy_on:
        account_joints(m, p, h)
    kick_motors(m, p, h)
    drift(m, p, 0.5 * h)
    p.time_s += h
