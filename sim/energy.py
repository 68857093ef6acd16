"""Kinetic and elastic energy of the simulated hand, for the power balance."""

from __future__ import annotations

from mechanics.handlayout import HandtreeWork
from mechanics.handtree import energies, hand_dynamics
from mechanics.interpolation import hermite_or_line, interval_of
from mechanics.passive_rows import rows_energy_j
from mechanics.wrist_springs import axis_spring, is_sprung
from signals.compiled import law
from signals.typed import Model
from sim.plant_record import PlantRecord


@law
def spring_energy(m: Model, t: int, lever_rad: float) -> float:
    """Elastic energy [J] of a mechanism at a lever angle, 0 at the slack stop; its differential is -f dL."""
    s = m.tendon_spring[t]
    low, high = m.lever_min_rad[s], m.lever_max_rad[s]
    nodes = m.spring_force_n.shape[1]
    i, u = interval_of(lever_rad, low, high, nodes)
    value, _ = hermite_or_line(
        u,
        (high - low) / (nodes - 1),
        m.spring_energy_j[s, i],
        m.spring_energy_j[s, i + 1],
        -m.spring_force_n[s, i] * m.spring_path_slope_m_rad[s, i],
        -m.spring_force_n[s, i + 1] * m.spring_path_slope_m_rad[s, i + 1],
    )
    return float(m.spring_scale[t] * value)


@law
def held_energy(m: Model, p: PlantRecord, total: float) -> float:
    """``total`` and what rotors, springs, tendons, joints and stops hold [J]."""
    for i in range(m.n_motors):
        total += 0.5 * m.motor_inertia_kg_m2[i] * p.w_rad_s[i] ** 2
    for t in range(m.n_tendons):
        if not p.tendon_off[t]:
            total += spring_energy(m, t, p.lever_rad[t])
            total += 0.5 * m.tendon_compliance_m_n[t] * p.tension_n[t] ** 2
    for j in range(m.n_joints):
        beyond = max(p.q_rad[j] - m.joint_max_rad[j], 0.0) + min(p.q_rad[j] - m.joint_min_rad[j], 0.0)
        total += 0.5 * m.stop_stiffness_nm_rad * beyond * beyond
        total += 0.5 * m.joint_spring_nm_rad[j] * (p.q_rad[j] - m.joint_rest_rad[j]) ** 2
    total += rows_energy_j(m, p.q_rad)
    if m.n_axes and is_sprung(m):
        for a in range(m.n_axes):
            total += axis_spring(m, a, p.drive_rad[a] - p.axis_rad[a])[2]
    return total


@law
def stored_energy(m: Model, p: PlantRecord, k: HandtreeWork) -> float:
    """Kinetic energy of joints, axes, rotors; elastic energy of springs, tendons, joints and stops [J]."""
    hand_dynamics(m, p.axis_rad, p.axis_rad_s, p.q_rad, p.qd_rad_s, k)
    kinetic, potential = energies(m, p.axis_rad_s, p.qd_rad_s, k)
    return held_energy(m, p, kinetic + potential)
