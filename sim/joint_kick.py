"""The kick of one substep: velocity changes of joints and wrist axes, branch by branch, and their energy."""

from __future__ import annotations

import math

from mechanics.cholesky import factorise, solve_factored
from mechanics.handlayout import HandtreeWork
from signals.compiled import law
from signals.layout import IntArray
from signals.typed import Model
from sim.plant_record import PlantRecord


@law
def _solve_branch(p: PlantRecord, n: int, joints: IntArray, offset: int) -> None:
    """Solve ``block x = columns`` in place for the three right-hand sides of a branch."""
    B, x = p.columns, p.delta_rad_s
    factorise(p.block, n, 1e-300)
    for r in range(3):
        for i in range(n):
            x[i] = B[r, offset + joints[i]]
        solve_factored(p.block, x, n)
        for i in range(n):
            B[r, offset + joints[i]] = x[i]


@law
def kick_joints(m: Model, p: PlantRecord, k: HandtreeWork, h: float) -> None:
    """Velocity change of joints and wrist axes, with the wrist drive's torque within its limits."""
    na = m.n_axes
    H, bias, tau, damping, wrist_damping = k.H, k.bias, p.tau_nm, p.damping_nms_rad, p.axis_damping_nms_rad
    columns, delta = p.columns, p.delta_rad_s
    s00 = s01 = s11 = r0 = r1 = 0.0
    if na:
        s00 = H[0, 0] + h * wrist_damping[0, 0]
        s01 = H[0, 1] + h * wrist_damping[0, 1]
        s11 = H[1, 1] + h * wrist_damping[1, 1]
        r0, r1 = h * (tau[0] - bias[0]), h * (tau[1] - bias[1])
    for b in range(p.n_branches):
        n = p.branch_joints[b]
        joints = p.branch_joint[b]
        for x in range(n):
            j = joints[x]
            for y in range(x + 1):
                p.block[x, y] = H[na + j, na + joints[y]] + h * damping[j, joints[y]]
            columns[0, na + j] = h * (tau[na + j] - bias[na + j])
            columns[1, na + j] = 0.0
            columns[2, na + j] = 0.0
            for a in range(na):
                columns[1 + a, na + j] = H[a, na + j] + h * wrist_damping[a, na + j]
        _solve_branch(p, n, joints, na)
        if na:
            for x in range(n):
                c = na + joints[x]
                b0 = H[0, c] + h * wrist_damping[0, c]
                b1 = H[1, c] + h * wrist_damping[1, c]
                r0 -= b0 * columns[0, c]
                r1 -= b1 * columns[0, c]
                s00 -= b0 * columns[1, c]
                s01 -= b0 * columns[2, c]
                s11 -= b1 * columns[2, c]
    d0 = d1 = 0.0
    if na:
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
        delta[0], delta[1] = d0, d1
        p.axis_rad_s[0] += d0
        p.axis_rad_s[1] += d1
    for j in range(m.n_joints):
        c = na + j
        delta[c] = columns[0, c] - columns[1, c] * d0 - columns[2, c] * d1
        p.qd_rad_s[j] += delta[c]


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
        root = math.sqrt(before * before + v0 * v0)
        slope = m.joint_viscous_nms_rad[j] + m.joint_coulomb_nm[j] * v0 * v0 / (root * root * root)
        torque = m.joint_viscous_nms_rad[j] * before + m.joint_coulomb_nm[j] * before / root + slope * dq
        if p.q_rad[j] > m.joint_max_rad[j] or p.q_rad[j] < m.joint_min_rad[j]:
            torque += m.stop_damping_nms_rad * p.qd_rad_s[j]
        p.energy_lost_j += h * torque * (before + 0.5 * dq)
