"""Motors, gears, friction, ripple, thermal model and gains of the model record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hand.file.drive import Ripple
from hand.file.hand import HandFile
from mechanics.motor import back_emf_v_s_rad, no_load_speed_rad_s
from signals.modes import EncoderReference
from signals.records import RecordArray


def store_drives(hand: HandFile, model: RecordArray) -> None:
    """Everything that belongs to motors and loop; all motors are of one type."""
    m = model[0]
    count = len(hand.motors)
    motor, gear, friction = hand.motor, hand.gear, hand.friction
    m["n_motors"] = count
    m["dt_s"] = 1.0 / hand.control.rate_hz
    m["delay_s"] = hand.control.command_delay_cycles / hand.control.rate_hz
    m["bus_voltage_v"] = motor.bus_voltage_v
    back_emf = back_emf_v_s_rad(motor.pole_pairs, motor.flux_linkage_wb, gear.ratio)
    per_motor = {
        # eq. 3.1: everything that turns, seen at the gear output
        "motor_inertia_kg_m2": (motor.rotor_inertia_kg_m2 + gear.wave_generator_inertia_kg_m2) * gear.ratio**2
        + gear.output_inertia_kg_m2,
        "motor_torque_constant_nm_a": motor.torque_constant_output_nm_a,
        "motor_current_limit_a": hand.limits.device_current_a,
        "motor_torque_limit_nm": hand.limits.device_current_a * motor.torque_constant_output_nm_a,
        "motor_speed_limit_rad_s": no_load_speed_rad_s(motor.bus_voltage_v, back_emf),
        "motor_back_emf_v_s_rad": back_emf,
        "motor_resistance_ohm": motor.phase_resistance_ohm,
        "gear_ratio": gear.ratio,
        "encoder_reference": EncoderReference[motor.encoder_reference.upper()],
        "encoder_step_rad": 2.0 * math.pi / motor.encoder_counts_per_output_turn,
        "friction_gamma_1_s_rad": friction.gamma_1_s_rad,
        "friction_gamma_2_nm": friction.gamma_2_nm,
        "friction_gamma_3_nms_rad": friction.gamma_3_nms_rad,
    }
    for name, value in per_motor.items():
        m[name][:count] = value
    _store_ripples(hand, m, count)
    _store_identified(hand, m)


def _store_ripples(hand: HandFile, m: Any, count: int) -> None:
    m["n_ripples"] = len(hand.ripple)
    for k, ripple in enumerate(hand.ripple):
        m["ripple_order"][k] = ripple.order
        m["ripple_is_input"][k] = ripple.shaft == "input"
        m["ripple_amplitude_nm"][:count, k] = ripple.amplitude_nm
        m["ripple_phase_rad"][:count, k] = math.radians(ripple.phase_deg)


def _store_identified(hand: HandFile, m: Any) -> None:
    """What was measured of single motors, in the place of the figures of all."""
    for i, name in enumerate(hand.motors):
        found = hand.identified.get(name)
        if found is None:
            continue
        for field, value in (
            ("friction_gamma_1_s_rad", found.gamma_1_s_rad),
            ("friction_gamma_2_nm", found.gamma_2_nm),
            ("friction_gamma_3_nms_rad", found.gamma_3_nms_rad),
            ("motor_inertia_kg_m2", found.motor_inertia_kg_m2),
        ):
            if value is not None:
                m[field][i] = value
        for ripple in found.ripple:
            k = _harmonic(m, ripple)
            m["ripple_amplitude_nm"][i, k] = ripple.amplitude_nm
            m["ripple_phase_rad"][i, k] = math.radians(ripple.phase_deg)


def store_zeros(hand: HandFile, model: RecordArray) -> None:
    """Offsets of tendons whose motor's angle of the straight hand was measured; it is 0 of the others."""
    m = model[0]
    for i, name in enumerate(hand.motors):
        found = hand.identified.get(name)
        if found is not None and found.zero_rad is not None:
            wound = m["tendon_motor"][: m["n_tendons"]] == i
            m["elongation_offset_m"][: m["n_tendons"]][wound] -= (
                found.zero_rad * m["spool_radius_m"][: m["n_tendons"]][wound]
            )


def _harmonic(m: Any, ripple: Ripple) -> int:
    """Place of a harmonic among those of the hand; a new one follows them."""
    count, of_input = int(m["n_ripples"]), ripple.shaft == "input"
    for k in range(count):
        if m["ripple_order"][k] == ripple.order and bool(m["ripple_is_input"][k]) == of_input:
            return k
    m["ripple_order"][count], m["ripple_is_input"][count] = ripple.order, of_input
    m["n_ripples"] = count + 1
    return count


def store_loop(hand: HandFile, model: RecordArray) -> None:
    """Gains, limits, thermal model, surroundings, switches."""
    m = model[0]
    for name in type(hand.gains).model_fields:
        m[name] = getattr(hand.gains, name) or 0.0
    for name in ("use_friction", "use_ripple", "use_guides", "use_wrist"):
        m[name] = 1
    limits, thermal = hand.limits, hand.thermal
    m["torque_rate_nm_s"] = limits.torque_rate_nm_s
    m["tension_rate_n_s"] = limits.tension_rate_n_s
    m["command_age_s"] = limits.command_age_ms / 1e3
    m["measurement_age_s"] = np.array(limits.measurement_age_ms) / 1e3
    m["winding_limit_degc"] = limits.winding_temperature_degc
    m["thermal_winding_k_w"] = thermal.winding_resistance_k_w
    m["thermal_winding_j_k"] = thermal.winding_capacity_j_k
    m["thermal_case_k_w"] = thermal.case_resistance_k_w
    m["thermal_case_j_k"] = thermal.case_capacity_j_k
    m["ambient_degc"] = hand.surroundings.ambient_degc
    m["gravity_m_s2"] = hand.surroundings.gravity_m_s2
    estimation = hand.estimation
    newton = estimation.thumb_solver == "gauss_newton"
    m["estimation_damping"] = estimation.damping_frac
    m["thumb_gauss_newton"] = newton
    m["thumb_iterations"] = (
        estimation.gauss_newton_iterations if newton else estimation.gradient_search_iterations
    )
