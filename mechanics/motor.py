r"""What a motor can give: current limit, and the voltage that its speed leaves over.

Amplitudes are those of one phase, current and voltage in the q axis of an amplitude-invariant Park
transformation, so that with p pole pairs, flux linkage psi and gear ratio N, at the gear output

.. math:: k_t = \tfrac32 p \psi N, \qquad k_e = p \psi N, \qquad v = R i + k_e \omega,
          \qquad |v| \le U/\sqrt3, \qquad P_{copper} = \tfrac32 R i^2

and the no-load speed is ``U / (sqrt(3) k_e)``: 14.1 rad/s for the reference motor at 24 V. The inductance
is left out: at full speed and 2 A its share turns the voltage by 14 deg, 3 % of the speed limit.
"""

from __future__ import annotations

import math

from signals.compiled import law
from signals.typed import Model

SQRT_3 = math.sqrt(3.0)


@law
def torque_bounds_nm(m: Model, motor: int, speed_rad_s: float) -> tuple[float, float]:
    """Least and greatest torque [N m] at the gear output at an output speed [rad/s].

    Beyond the no-load speed both have the sign that brakes. A motor without resistance or back-EMF in
    its model is limited by its current alone.
    """
    kt = m.motor_torque_constant_nm_a[motor]
    limit = min(m.motor_torque_limit_nm[motor], kt * m.motor_current_limit_a[motor])
    low, high = -limit, limit
    resistance = m.motor_resistance_ohm[motor]
    back_emf = m.motor_back_emf_v_s_rad[motor]
    if resistance > 0.0 and back_emf > 0.0:
        voltage = m.bus_voltage_v[motor] / SQRT_3
        high = max(min(high, kt * (voltage - back_emf * speed_rad_s) / resistance), -limit)
        low = min(max(low, kt * (-voltage - back_emf * speed_rad_s) / resistance), limit)
    return low, high


@law
def command_bounds_nm(m: Model, motor: int, speed_rad_s: float) -> tuple[float, float]:
    """Least and greatest torque [N m] that a drive at an output speed [rad/s] may be asked for.

    As ``torque_bounds_nm``, but zero is always between them: what brakes a motor beyond its no-load speed is
    the drive's affair, and a speed that is wrong must demand nothing.
    """
    low, high = torque_bounds_nm(m, motor, speed_rad_s)
    return min(low, 0.0), max(high, 0.0)


@law
def copper_loss_w(m: Model, motor: int, current_a: float) -> float:
    """Heat [W] that a current [A, amplitude] makes in the winding."""
    return float(1.5 * m.motor_resistance_ohm[motor] * current_a * current_a)


def no_load_speed_rad_s(bus_voltage_v: float, back_emf_v_s_rad: float) -> float:
    """Output speed [rad/s] at which the back-EMF takes the whole voltage."""
    return bus_voltage_v / (SQRT_3 * back_emf_v_s_rad)


def torque_constant_nm_a(pole_pairs: int, flux_linkage_wb: float, gear_ratio: float) -> float:
    """Torque at the gear output per ampere of phase amplitude."""
    return 1.5 * pole_pairs * flux_linkage_wb * gear_ratio


def back_emf_v_s_rad(pole_pairs: int, flux_linkage_wb: float, gear_ratio: float) -> float:
    """Amplitude of the phase back-EMF per output speed."""
    return pole_pairs * flux_linkage_wb * gear_ratio
