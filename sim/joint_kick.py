"""The kick of one substep: velocity changes of joints and wrist axes, and their energy."""

from __future__ import annotations

import math

from mechanics.handlayout import HandtreeWork
from mechanics.joint_friction import joint_friction_nm
from mechanics.wrist_springs import is_sprung
from signals.compiled import law
from signals.typed import Model
from sim.branches import LANES, factorise_blocks, solve_blocks, sum_of
from sim.plant_record import PlantRecord
from sim.wrist_kick import account_springs, kick_sprung_axes


@law
def _fill_blocks(m: Model, p: PlantRecord, k: HandtreeWork, h: float) -> None:
    """Every branch's (H + h C), its coupling to the axes, and the right-hand sides."""
    na = m.n_axes
    H, bias, tau, right, coupling = k.H, k.bias, p.tau_nm, p.right_rxb, p.coupling_axb
    for x in range(p.most_joints):
        for y in range(x + 1):
            for b in range(LANES):
                p.block_xyb[x, y, b] = h * p.damping_xyb[x, y, b]
        for b in range(LANES):
            p.block_xyb[x, x, b] += p.no_joint[x, b]
            right[0, x, b] = 0.0
        for a in range(na):
            for b in range(LANES):
                coupling[a, x, b] = h * p.axis_damping_axb[a, x, b]
    for b in range(p.n_branches):
        joints = p.branch_joint[b]
        for x in range(p.branch_joints[b]):
            c = na + joints[x]
            for y in range(x + 1):
                p.block_xyb[x, y, b] += H[c, na + joints[y]]
            right[0, x, b] = h * (tau[c] - bias[c])
            for a in range(na):
                coupling[a, x, b] += H[a, c]
    for a in range(2):
        for x in range(p.most_joints):
            for b in range(LANES):
                right[1 + a, x, b] = coupling[a, x, b]


@law
def _kick_axes(m: Model, p: PlantRecord, k: HandtreeWork, h: float) -> tuple[float, float]:
    """Velocity changes of the wrist axes, with the drive's torque within its limits."""
    H, bias, tau, right, coupling = k.H, k.bias, p.tau_nm, p.right_rxb, p.coupling_axb
    c00, c01 = sum_of(p.axis_damping_acb[0, 0], p.n_branches), sum_of(p.axis_damping_acb[0, 1], p.n_branches)
    s00, s01 = H[0, 0] + h * c00, H[0, 1] + h * c01
    s11 = H[1, 1] + h * sum_of(p.axis_damping_acb[1, 1], p.n_branches)
    r0, r1 = h * (tau[0] - bias[0]), h * (tau[1] - bias[1])
    for x in range(p.most_joints):
        for b in range(LANES):
            b0, b1 = coupling[0, x, b], coupling[1, x, b]
            r0 -= b0 * right[0, x, b]
            r1 -= b1 * right[0, x, b]
            s00 -= b0 * right[1, x, b]
            s01 -= b0 * right[2, x, b]
            s11 -= b1 * right[2, x, b]
    return drive_axes(m, p, h, s00, s01, s11, r0, r1)


@law
def drive_axes(
    m: Model, p: PlantRecord, h: float, s00: float, s01: float, s11: float, r0: float, r1: float
) -> tuple[float, float]:
    """Velocity changes d of the axes and their drive's torque t: S d = r + h t, all else eliminated."""
    if is_sprung(m):
        return kick_sprung_axes(m, p, s00, s01, s11, r0, r1, h)
    d0, d1 = h * _axis_acceleration(m, p, 0), h * _axis_acceleration(m, p, 1)
    t0 = (s00 * d0 + s01 * d1 - r0) / h
    t1 = (s01 * d0 + s11 * d1 - r1) / h
    limit0, limit1 = m.axis_torque_limit_nm[0], m.axis_torque_limit_nm[1]
    if abs(t0) > limit0 or abs(t1) > limit1:
        t0 = min(max(t0, -limit0), limit0)
        t1 = min(max(t1, -limit1), limit1)
        det = s00 * s11 - s01 * s01
        d0 = (s11 * (r0 + h * t0) - s01 * (r1 + h * t1)) / det
        d1 = (s00 * (r1 + h * t1) - s01 * (r0 + h * t0)) / det
    p.axis_torque_nm[0], p.axis_torque_nm[1] = t0, t1
    return d0, d1


@law
def kick_joints(m: Model, p: PlantRecord, k: HandtreeWork, h: float) -> None:
    """Velocity change of joints and wrist axes."""
    na, delta, right = m.n_axes, p.delta_rad_s, p.right_rxb
    _fill_blocks(m, p, k, h)
    factorise_blocks(p)
    solve_blocks(p)
    d0 = d1 = 0.0
    if na:
        d0, d1 = _kick_axes(m, p, k, h)
        delta[0], delta[1] = d0, d1
        p.axis_rad_s[0] += d0
        p.axis_rad_s[1] += d1
    for b in range(p.n_branches):
        for x in range(p.branch_joints[b]):
            j = p.branch_joint[b, x]
            d = right[0, x, b] - right[1, x, b] * d0 - right[2, x, b] * d1
            delta[na + j] = d
            p.qd_rad_s[j] += d


@law
def _axis_acceleration(m: Model, p: PlantRecord, a: int) -> float:
    """Acceleration that the wrist drive's position loop wants: second order, speed limited."""
    omega = 2.0 * math.pi * m.axis_bandwidth_hz[a]
    damping = 2.0 * m.axis_damping_ratio[a] * omega
    if not p.axis_enabled[a]:
        return float(-damping * p.axis_rad_s[a])
    speed = omega * omega / damping * (p.axis_wanted_rad[a] - p.axis_rad[a])
    limit = m.axis_speed_limit_rad_s[a]
    speed = min(max(speed, -limit), limit)
    return float(damping * (speed - p.axis_rad_s[a]))


@law
def account_joints(m: Model, p: PlantRecord, h: float) -> None:
    """Work of the drive and of external wrenches, heat of joints and guides, over this kick."""
    na = m.n_axes
    if na and is_sprung(m):
        account_springs(m, p, h)
    else:
        for a in range(na):
            mean = p.axis_rad_s[a] - 0.5 * p.delta_rad_s[a]
            p.energy_in_j += h * p.axis_torque_nm[a] * mean
    for c in range(na):
        p.energy_in_j += h * p.external_nm[c] * (p.axis_rad_s[c] - 0.5 * p.delta_rad_s[c])
    for j in range(m.n_joints):
        p.energy_in_j += h * p.external_nm[na + j] * (p.qd_rad_s[j] - 0.5 * p.delta_rad_s[na + j])
    for t in range(m.n_tendons):
        b = p.tendon_branch[t]
        mean = change = 0.0
        for x in range(p.branch_joints[b]):
            j = p.branch_joint[b, x]
            mean += p.P_tj_m[t, j] * (p.qd_rad_s[j] - 0.5 * p.delta_rad_s[na + j])
            change += p.P_tj_m[t, j] * p.delta_rad_s[na + j]
        for a in range(na):
            mean += p.P_tw_m[t, a] * (p.axis_rad_s[a] - 0.5 * p.delta_rad_s[a])
            change += p.P_tw_m[t, a] * p.delta_rad_s[a]
        loss = p.finger_tension_n[t] + p.guide_slope_ns_m[t] * change - p.tension_n[t]
        p.energy_lost_j += h * loss * mean
    v0 = m.joint_friction_speed_rad_s
    for j in range(m.n_joints):
        dq = p.delta_rad_s[na + j]
        before = p.qd_rad_s[j] - dq
        torque, slope = joint_friction_nm(before, m.joint_viscous_nms_rad[j], m.joint_coulomb_nm[j], v0)
        torque += slope * dq
        if p.q_rad[j] > m.joint_max_rad[j] or p.q_rad[j] < m.joint_min_rad[j]:
            torque += m.stop_damping_nms_rad * p.qd_rad_s[j]
        p.energy_lost_j += h * torque * (before + 0.5 * dq)
