"""A twisted-and-coiled polymer muscle: force from stretch and temperature, temperature from current.

    F = max(0, k (x - x0) + b xd + c (T - T_amb)),     C_th dT/dt = i^2 R - lambda (T - T_amb)

(structure of Yip and Niemeyer; the finger paper takes measured force and temperature profiles instead). The
muscle pulls a tendon that runs at the same offset e over every joint, so x - x0 = -e sum(q) and the finger's
motion stretches and relaxes it. The transmission loses a constant friction force, its sign regularised over a
tendon speed.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Protocol

from signals.compiled import law


class Muscle(Protocol):
    """Fields of a record with a muscle."""

    stiffness_n_m: float
    damping_ns_m: float
    thermal_n_k: float
    ambient_degc: float
    resistance_ohm: float
    loss_w_k: float
    capacity_j_k: float
    friction_n: float
    friction_speed_m_s: float


class MuscleDrive(IntEnum):
    """What the muscle is given."""

    TORQUE = 0
    """Nothing: joint torques alone."""
    FORCE = 1
    """Its force [N], as the paper does."""
    TEMPERATURE = 2
    """Its temperature [degC], as the paper does."""
    CURRENT = 3
    """Its current [A]; the temperature is a state."""


FORCE = int(MuscleDrive.FORCE)
TEMPERATURE = int(MuscleDrive.TEMPERATURE)
CURRENT = int(MuscleDrive.CURRENT)


@law
def muscle_force_n(m: Muscle, stretch_m: float, stretch_rate_m_s: float, temperature_degc: float) -> float:
    """Force of the muscle [N], never negative: it cannot push."""
    force = m.stiffness_n_m * stretch_m + m.damping_ns_m * stretch_rate_m_s
    force += m.thermal_n_k * (temperature_degc - m.ambient_degc)
    return max(0.0, float(force))


@law
def temperature_rate_k_s(m: Muscle, current_a: float, temperature_degc: float) -> float:
    """Rate of the muscle's temperature [K/s] at a current [A]."""
    heat = current_a * current_a * m.resistance_ohm
    rate: float = (heat - m.loss_w_k * (temperature_degc - m.ambient_degc)) / m.capacity_j_k
    return rate


@law
def transmitted_n(m: Muscle, force_n: float, shortening_m_s: float) -> float:
    """Force that reaches the finger [N] while the tendon shortens at the given speed, friction taken off."""
    if m.friction_n == 0.0:
        return force_n
    lost = min(float(m.friction_n), force_n)
    return force_n - lost * math.tanh(shortening_m_s / m.friction_speed_m_s)
