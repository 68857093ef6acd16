"""A model record with one spring mechanism, a few tendons and motors: figures of the reference hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanics.lever import SpringGeometry
from mechanics.springtables import spring_tables
from signals.records import MODEL, RecordArray, new

REFERENCE_SPRING: dict[str, Any] = {
    "motor_pulley_center": (-0.016, -0.010),
    "R_motor": 0.010,
    "fixed_pulley_center": (0.014, -0.004),
    "R_fixed": 0.004,
    "lever_pivot": (0.014, 0.004),
    "lever_length": 0.014,
    "R_lever": 0.003,
    "spring_attach_radius": 0.010,
    "spring_fixed_point": (0.004, 0.024),
    "K": 6000.0,
    "spring_free_length": 0.0165,
    "theta_slack_deg": 15.0,
    "theta_max_deg": -22.0,
    "theta_hard_stop_deg": -24.0,
}
GAMMA = (10.0, 0.5586, 0.0356)
HALL_COUNTS_RAD = 4096 / (np.pi / 2)
COMPLIANCE_M_N = 0.36 / 25000.0
RIPPLES = (  # input shaft?, order, amplitude [N m], phase [deg]
    (1, 1, 0.08, 20.0),
    (1, 2, 0.05, 70.0),
    (1, 42, 0.01, 0.0),
    (1, 84, 0.01, 0.0),
    (0, 1, 0.04, -30.0),
)


def reference_geometry() -> SpringGeometry:
    return SpringGeometry(**REFERENCE_SPRING)


def actuation_model(tendons: int = 2) -> RecordArray:
    """A record whose tendons and motors are all alike; tests change fields of their own copy."""
    model = new(MODEL)
    m = model[0]
    m["n_tendons"] = m["n_motors"] = tendons
    m["n_springs"] = 1
    spring_tables(reference_geometry()).store(model, 0)
    used = slice(0, tendons)
    m["spring_scale"][used] = 1.0
    m["tendon_compliance_m_n"][used] = COMPLIANCE_M_N
    m["lever_friction_frac"][used] = 0.107
    m["lever_presliding_rad"][used] = np.radians(0.3)
    m["hall_zero_count"][used] = 2048.0
    m["hall_counts_rad"][used] = HALL_COUNTS_RAD
    m["gear_ratio"][used] = 100.0
    m["motor_torque_constant_nm_a"][used] = 1.47
    m["motor_current_limit_a"][used] = 2.0
    m["motor_torque_limit_nm"][used] = 2.94
    m["motor_back_emf_v_s_rad"][used] = 0.98
    m["motor_resistance_ohm"][used] = 0.37
    m["bus_voltage_v"] = 24.0
    m["motor_reports"] = 15
    m["n_ripples"] = len(RIPPLES)
    for n, (is_input, order, amplitude, phase_deg) in enumerate(RIPPLES):
        m["ripple_is_input"][n] = is_input
        m["ripple_order"][n] = order
        m["ripple_amplitude_nm"][used, n] = amplitude
        m["ripple_phase_rad"][used, n] = np.radians(phase_deg)
    m["thermal_winding_k_w"], m["thermal_winding_j_k"] = 6.0, 8.0
    m["thermal_case_k_w"], m["thermal_case_j_k"] = 4.0, 60.0
    m["ambient_degc"] = 23.0
    return model
