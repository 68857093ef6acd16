"""Motors of the simulated hand in a substep. Every loop runs over arrays without a branch: vector code."""

from __future__ import annotations

from mechanics.friction import motor_friction_nm, motor_friction_slope_nms_rad
from mechanics.motor import torque_bounds_nm
from mechanics.sine import sine
from signals.compiled import law
from signals.typed import Model
from sim.plant_record import PlantRecord
from sim.servos import give_way, servo_torques


@law
def lay_out_ripples(m: Model, p: PlantRecord) -> None:
    """The model's ripples with the motors side by side, as ``_ripples`` reads them; once per period."""
    for n in range(m.n_ripples):
        for i in range(m.n_motors):
            p.ripple_amplitude_nm[n, i] = m.ripple_amplitude_nm[i, n]
            p.ripple_phase_rad[n, i] = m.ripple_phase_rad[i, n]


@law
def _ripples(m: Model, p: PlantRecord) -> None:
    """``mechanics.ripple`` of all motors, harmonic by harmonic."""
    ripple, theta, ratio = p.ripple_nm, p.theta_rad, m.gear_ratio
    for i in range(m.n_motors):
        ripple[i] = 0.0
    for n in range(m.n_ripples):
        order, of_input = m.ripple_order[n], m.ripple_is_input[n] != 0
        amplitude, phase = p.ripple_amplitude_nm[n], p.ripple_phase_rad[n]
        for i in range(m.n_motors):
            turn = theta[i] * ratio[i] if of_input else theta[i]
            ripple[i] += amplitude[i] * sine(order * turn + phase[i])


@law
def _torques(m: Model, p: PlantRecord) -> None:
    """What the drives give: the current's torque within the limits of current and voltage."""
    torque, constant, current = p.motor_torque_nm, m.motor_torque_constant_nm_a, p.current_a
    w, enabled, lost = p.w_rad_s, p.motor_enabled, p.motor_lost
    for i in range(m.n_motors):
        low, high = torque_bounds_nm(m, i, w[i])
        given = min(max(constant[i] * current[i], low), high)
        torque[i] = given if enabled[i] != 0 and lost[i] == 0 else 0.0


@law
def _loads(m: Model, p: PlantRecord) -> None:
    load, tension, radius = p.motor_load_nm, p.tension_n, m.spool_radius_m
    for i in range(m.n_motors):
        load[i] = 0.0
    for t in range(m.n_tendons):
        load[m.tendon_motor[t]] += radius[t] * tension[t]


@law
def _account_motors(m: Model, p: PlantRecord, h: float) -> None:
    """Work of the drives, heat of friction and ripple."""
    for i in range(m.n_motors):
        dw = p.motor_kick_rad_s[i]
        mean = p.w_rad_s[i] + 0.5 * dw
        p.energy_in_j += h * p.motor_torque_nm[i] * mean
        lost = p.motor_friction_nm[i] + p.motor_friction_slope_nms_rad[i] * dw + p.ripple_nm[i]
        p.energy_lost_j += h * lost * mean


@law
def kick_motors(m: Model, p: PlantRecord, h: float) -> None:
    """Motor speeds (eq. 3.2 with the sign corrected): B dw/dt = tau - friction(w) - ripple - R f."""
    _loads(m, p)
    _torques(m, p)
    if p.n_servos != 0:
        servo_torques(m, p, h)
    _ripples(m, p)
    w, kick, friction, slope = (
        p.w_rad_s,
        p.motor_kick_rad_s,
        p.motor_friction_nm,
        p.motor_friction_slope_nms_rad,
    )
    g1, g2, g3 = m.friction_gamma_1_s_rad, m.friction_gamma_2_nm, m.friction_gamma_3_nms_rad
    torque, ripple, load, scale = p.motor_torque_nm, p.ripple_nm, p.motor_load_nm, p.friction_scale
    inertia, servo = m.motor_inertia_kg_m2, p.servo_slope_nms_rad
    for i in range(m.n_motors):
        friction[i] = motor_friction_nm(w[i], g1[i], g2[i] * scale[i], g3[i] * scale[i])
        slope[i] = motor_friction_slope_nms_rad(w[i], g1[i], g2[i] * scale[i], g3[i] * scale[i])
        kick[i] = (
            h * (torque[i] - friction[i] - ripple[i] - load[i]) / (inertia[i] + h * (slope[i] + servo[i]))
        )
    if p.n_servos != 0:
        give_way(m, p)
    if p.energy_on:
        _account_motors(m, p, h)
    for i in range(m.n_motors):
        w[i] += kick[i]
