r"""Friction and ripple feedforward (paper 3.2, eq. 3.8), from wanted speeds only.

.. math:: \tau_{fric} = \kappa\,(\gamma_2 \arctan(\gamma_1 w_d) + \gamma_3 w_d), \qquad
          \tau_{rip} = \kappa_r \sum_n A_n \sin(o_n \phi_n(\theta + w\,t_{lead}) + \varphi_n)

The measured speed never enters the friction term: at rest, where w_d = 0, it is zero whatever the noise, so
it cannot chatter. Both gains are at most 1. The ripple's angle is led by the time until the torque acts,
command delay plus half a cycle of hold; a harmonic that turns too far within a cycle fades out. A ripple at
an unknown phase would add to the motor's own: it is off until the motor is referenced anew.
"""

from __future__ import annotations

from typing import Final

from controllers.memory import ControllerMemory
from mechanics.friction import motor_friction_nm
from mechanics.sine import sine
from signals.compiled import law
from signals.typed import Model, State

PHASE_FULL_RAD: Final = 0.8
PHASE_NONE_RAD: Final = 1.6
"""Turn of a harmonic per cycle up to which it is compensated in full, and from which not at all."""


@law
def gain_of(gain: float, used: int) -> float:
    """Feedforward gain in force: within 0..1, zero if switched off."""
    return min(max(gain, 0.0), 1.0) if used != 0 else 0.0


@law
def friction_torque_nm(m: Model, motor: int, wanted_speed_rad_s: float, gain: float) -> float:
    """Friction feedforward [N m] of a motor at its wanted speed [rad/s]; ``gain`` is that of the mode."""
    return gain_of(gain, m.use_friction) * motor_friction_nm(
        wanted_speed_rad_s,
        m.friction_gamma_1_s_rad[motor],
        m.friction_gamma_2_nm[motor],
        m.friction_gamma_3_nms_rad[motor],
    )


@law
def harmonic_nm(
    order: float, amplitude_nm: float, phase_rad: float, led_rad: float, speed_rad_s: float, dt_s: float
) -> float:
    """Torque [N m] of one harmonic at the angle that it is led to; it fades as it turns far in a cycle."""
    turn = abs(order * speed_rad_s) * dt_s
    fade = min(max((PHASE_NONE_RAD - turn) / (PHASE_NONE_RAD - PHASE_FULL_RAD), 0.0), 1.0)
    return fade * amplitude_nm * sine(order * led_rad + phase_rad)


@law
def output_order(m: Model, motor: int, n: int) -> float:
    """Order of harmonic ``n`` over the angle of the output shaft."""
    return float(m.ripple_order[n] * (m.gear_ratio[motor] if m.ripple_is_input[n] != 0 else 1.0))


@law
def ripple_torque_nm(m: Model, motor: int, angle_rad: float, speed_rad_s: float) -> float:
    """Ripple feedforward [N m] of a motor at its angle and speed; never above the identified amplitudes."""
    led = angle_rad + speed_rad_s * (m.delay_s + 0.5 * m.dt_s)
    total = 0.0
    for n in range(m.n_ripples):
        amplitude, phase = m.ripple_amplitude_nm[motor, n], m.ripple_phase_rad[motor, n]
        total += harmonic_nm(output_order(m, motor, n), amplitude, phase, led, speed_rad_s, m.dt_s)
    return gain_of(m.ripple_gain, m.use_ripple) * total


@law
def place_ripples(m: Model, mem: ControllerMemory) -> None:
    """The model's ripples into ``mem``, the motors side by side as ``ripple_torques`` reads them; once."""
    for n in range(m.n_ripples):
        mem.ripple_most[n] = 0.0
        for i in range(m.n_motors):
            mem.ripple_order[n, i] = output_order(m, i, n)
            mem.ripple_most[n] = max(mem.ripple_most[n], abs(mem.ripple_order[n, i]))
            mem.ripple_amplitude_nm[n, i] = m.ripple_amplitude_nm[i, n]
            mem.ripple_phase_rad[n, i] = m.ripple_phase_rad[i, n]


@law
def ripple_torques(m: Model, mem: ControllerMemory, s: State) -> None:
    """``ripple_torque_nm`` of all motors [N m] into ``mem.ripple_nm``, harmonic by harmonic: vector code.

    None for a motor whose phase is unknown (``s.ripple_unknown``). A harmonic that fades at no motor, as the
    fastest one says of the greatest order, is not asked how far it turns.
    """
    gain, ahead_s, dt_s = gain_of(m.ripple_gain, m.use_ripple), m.delay_s + 0.5 * m.dt_s, m.dt_s
    ripple, unknown, angle, speed = mem.ripple_nm, s.ripple_unknown, s.motor_angle_rad, s.motor_speed_rad_s
    led, fastest = mem.ripple_led_rad, 0.0
    for i in range(m.n_motors):
        ripple[i], led[i] = 0.0, angle[i] + speed[i] * ahead_s
        fastest = max(fastest, abs(speed[i]))
    if gain == 0.0:
        return
    for n in range(m.n_ripples):
        order, amplitude, phase = mem.ripple_order[n], mem.ripple_amplitude_nm[n], mem.ripple_phase_rad[n]
        if mem.ripple_most[n] * fastest * dt_s <= PHASE_FULL_RAD:
            for i in range(m.n_motors):
                ripple[i] += amplitude[i] * sine(order[i] * led[i] + phase[i])
        else:
            for i in range(m.n_motors):
                ripple[i] += harmonic_nm(order[i], amplitude[i], phase[i], led[i], speed[i], dt_s)
    for i in range(m.n_motors):
        ripple[i] = gain * ripple[i] if unknown[i] == 0 else 0.0
