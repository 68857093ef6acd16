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
def friction_torque_nm(m: Model, motor: int, wanted_speed_rad_s: float) -> float:
    """Friction feedforward [N m] of a motor at its wanted speed [rad/s]."""
    return gain_of(m.friction_gain, m.use_friction) * motor_friction_nm(
        wanted_speed_rad_s,
        m.friction_gamma_1_s_rad[motor],
        m.friction_gamma_2_nm[motor],
        m.friction_gamma_3_nms_rad[motor],
    )


@law
def ripple_torque_nm(m: Model, motor: int, angle_rad: float, speed_rad_s: float) -> float:
    """Ripple feedforward [N m] of a motor at its angle and speed; never above the identified amplitudes."""
    gain = gain_of(m.ripple_gain, m.use_ripple)
    if gain == 0.0:
        return 0.0
    led = angle_rad + speed_rad_s * (m.delay_s + 0.5 * m.dt_s)
    total = 0.0
    for n in range(m.n_ripples):
        ratio = m.gear_ratio[motor] if m.ripple_is_input[n] != 0 else 1.0
        order = m.ripple_order[n] * ratio
        turn = abs(order * speed_rad_s) * m.dt_s
        fade = min(max((PHASE_NONE_RAD - turn) / (PHASE_NONE_RAD - PHASE_FULL_RAD), 0.0), 1.0)
        total += fade * m.ripple_amplitude_nm[motor, n] * sine(order * led + m.ripple_phase_rad[motor, n])
    return gain * total


@law
def ripple_feedforward_nm(m: Model, s: State, i: int) -> float:
    """Ripple feedforward [N m] of motor ``i`` now; none while its phase is unknown (``s.ripple_unknown``)."""
    if s.ripple_unknown[i] != 0:
        return 0.0
    return float(ripple_torque_nm(m, i, s.motor_angle_rad[i], s.motor_speed_rad_s[i]))
