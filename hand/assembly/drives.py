"""Motors, gears, friction, ripple, thermal models, position loops and gains of the model record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hand.file.drive import Ripple
from hand.file.drives import Drive, PmsmDrive, ServoDrive
from hand.file.hand import HandFile
from mechanics.motor import SQRT_3, back_emf_v_s_rad, no_load_speed_rad_s
from signals.modes import DriveCommand, EncoderReference
from signals.records import RecordArray


def store_drives(hand: HandFile, model: RecordArray) -> None:
    """Everything that belongs to motors and loop, motor by motor by its type of drive."""
    m = model[0]
    m["n_motors"], m["n_drives"] = len(hand.motors), len(hand.drive_types)
    m["n_servos"] = sum(drive.commanded is not DriveCommand.CURRENT for drive in hand.motor_drives)
    m["dt_s"] = 1.0 / hand.control.rate_hz
    m["delay_s"] = hand.control.command_delay_cycles / hand.control.rate_hz
    ripples = _ripple_places(hand)
    m["n_ripples"] = len(ripples)
    for (of_input, order), n in ripples.items():
        m["ripple_order"][n], m["ripple_is_input"][n] = order, of_input
    dt_s = 1.0 / hand.control.rate_hz
    for i, drive in enumerate(hand.motor_drives):
        inside = _inside_pmsm(drive) if isinstance(drive, PmsmDrive) else _inside_servo(drive)
        for name, value in (inside | _common(drive, hand.current_limit_a(drive))).items():
            m[name][i] = value
        m["friction_watched"][i] = friction_is_told(drive, dt_s)
        for ripple in drive.ripple if isinstance(drive, PmsmDrive) else ():
            n = ripples[ripple.shaft == "input", ripple.order]
            m["ripple_amplitude_nm"][i, n] = ripple.amplitude_nm
            m["ripple_phase_rad"][i, n] = math.radians(ripple.phase_deg)
    for gear in hand.gears:
        m["backlash_rad"][list(hand.motors).index(gear.motor)] = math.radians(gear.backlash_deg or 0.0)
    m["n_backlashes"] = np.count_nonzero(m["backlash_rad"])
    _store_identified(hand, m)


def friction_is_told(drive: Drive, dt_s: float) -> bool:
    """Whether the torque that moves a drive is known cycle by cycle: what is left over is its friction.

    A current command is that torque. A loop in the device moves the motor within its own time after each
    set-point; a current that is read less often says what is left of it at the end of a motion.
    """
    if isinstance(drive, ServoDrive) and drive.position_loop is not None:
        return "current" in drive.reports and dt_s <= settling_s(drive)
    return drive.position_loop is None


def settling_s(drive: ServoDrive) -> float:
    """Time constant [s] of the loop in a servo: of its slower pole."""
    loop = drive.position_loop
    assert loop is not None
    damping = loop.damping_nms_rad + drive.friction.gamma_3_nms_rad
    poles = np.roots([drive.inertia_output_kg_m2, damping, loop.stiffness_nm_rad])
    return float(-1.0 / poles.real.max())


def _ripple_places(hand: HandFile) -> dict[tuple[bool, int], int]:
    """Place of every harmonic that a type of drive has: (of the input shaft, order) -> index."""
    places: dict[tuple[bool, int], int] = {}
    for drive in hand.drive_types.values():
        for ripple in drive.ripple if isinstance(drive, PmsmDrive) else ():
            places.setdefault((ripple.shaft == "input", ripple.order), len(places))
    return places


def _common(drive: Drive, limit_a: float) -> dict[str, Any]:
    """What every type of drive has."""
    friction, thermal, loop = drive.friction, drive.thermal, drive.position_loop
    common: dict[str, Any] = {
        "motor_command": drive.commanded,
        "motor_reports": drive.reported,
        "motor_torque_constant_nm_a": drive.torque_nm_a,
        "motor_current_limit_a": limit_a,
        "motor_torque_limit_nm": limit_a * drive.torque_nm_a,
        "friction_gamma_1_s_rad": friction.gamma_1_s_rad,
        "friction_gamma_2_nm": friction.gamma_2_nm,
        "friction_gamma_3_nms_rad": friction.gamma_3_nms_rad,
    }
    if thermal is not None:
        common |= {
            "thermal_winding_k_w": thermal.winding_resistance_k_w,
            "thermal_winding_j_k": thermal.winding_capacity_j_k,
            "thermal_case_k_w": thermal.case_resistance_k_w,
            "thermal_case_j_k": thermal.case_capacity_j_k,
        }
    if loop is not None:
        common |= {
            "servo_stiffness_nm_rad": loop.stiffness_nm_rad,
            "servo_damping_nms_rad": loop.damping_nms_rad,
            "servo_deadband_rad": math.radians(loop.deadband_deg),
            "servo_min_rad": math.radians(loop.travel_deg[0]),
            "servo_max_rad": math.radians(loop.travel_deg[1]),
        }
    return common


def _inside_pmsm(drive: PmsmDrive) -> dict[str, Any]:
    """A motor and its gear from the inside to the output."""
    motor, gear = drive.motor, drive.gear
    back_emf = back_emf_v_s_rad(motor.pole_pairs, motor.flux_linkage_wb, gear.ratio)
    return {
        # eq. 3.1: everything that turns, seen at the gear output
        "motor_inertia_kg_m2": (motor.rotor_inertia_kg_m2 + gear.wave_generator_inertia_kg_m2) * gear.ratio**2
        + gear.output_inertia_kg_m2,
        "motor_speed_limit_rad_s": no_load_speed_rad_s(motor.bus_voltage_v, back_emf),
        "motor_back_emf_v_s_rad": back_emf,
        "motor_resistance_ohm": motor.phase_resistance_ohm,
        "bus_voltage_v": motor.bus_voltage_v,
        "gear_ratio": gear.ratio,
        "encoder_reference": EncoderReference[motor.encoder_reference.upper()],
        "encoder_step_rad": 2.0 * math.pi / motor.encoder_counts_per_output_turn,
    }


def _inside_servo(drive: ServoDrive) -> dict[str, Any]:
    """The line from stall torque to no-load speed as a resistance and a back-EMF (``mechanics.motor``).

    The gear's ratio is not known and not needed: a servo has no ripple in the model.
    """
    voltage = drive.voltage_v / SQRT_3
    return {
        "motor_inertia_kg_m2": drive.inertia_output_kg_m2,
        "motor_speed_limit_rad_s": drive.speed_no_load_rad_s,
        "motor_back_emf_v_s_rad": voltage / drive.speed_no_load_rad_s,
        "motor_resistance_ohm": drive.torque_constant_output_nm_a * voltage / drive.torque_stall_nm,
        "bus_voltage_v": drive.voltage_v,
        "gear_ratio": 1.0,
        "encoder_reference": EncoderReference.ABSOLUTE,
        "encoder_step_rad": 2.0 * math.pi / drive.counts_per_turn,
    }


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


def force_friction_gain(hand: HandFile, motor: str) -> float:
    """Share of a motor's friction fed forward in tendon force; none where the hand feeds none forward."""
    most, found = hand.gains.friction_gain, hand.identified.get(motor)
    sure = found.force_friction_gain if found is not None else None
    return max(most, sure) if most > 0.0 and sure is not None else most


def store_loop(hand: HandFile, model: RecordArray) -> None:
    """Gains, limits, surroundings, switches."""
    m = model[0]
    for name in type(hand.gains).model_fields:
        m[name] = getattr(hand.gains, name) or 0.0
    m["force_friction_gain"][: len(hand.motors)] = [force_friction_gain(hand, name) for name in hand.motors]
    for name in ("use_friction", "use_ripple", "use_guides", "use_lever", "use_wrist"):
        m[name] = 1
    limits = hand.limits
    m["torque_rate_nm_s"] = limits.torque_rate_nm_s
    m["tension_rate_n_s"] = limits.tension_rate_n_s
    m["command_age_s"] = limits.command_age_ms / 1e3
    m["measurement_age_s"] = np.array(limits.measurement_age_ms) / 1e3
    m["winding_limit_degc"] = limits.winding_temperature_degc
    m["ambient_degc"] = hand.surroundings.ambient_degc
    m["gravity_m_s2"] = hand.surroundings.gravity_m_s2
    estimation = hand.estimation
    newton = estimation.thumb_solver == "gauss_newton"
    m["estimation_damping"] = estimation.damping_frac
    m["thumb_gauss_newton"] = newton
    m["thumb_iterations"] = (
        estimation.gauss_newton_iterations if newton else estimation.gradient_search_iterations
    )
