r"""Torque ripple of motor and gear: harmonics of the input and the output shaft's angle (paper 3.2).

.. math:: \tau_r(\theta) = \sum_n A_n \sin(o_n \phi_n + \varphi_n), \quad
          \phi_n = \theta \text{ (output)} \text{ or } N \theta \text{ (input)}

A friction-like torque: ``B w' = tau_m - tau(w) - tau_r(theta) - load``. Its mean over a turn is zero.
"""

from __future__ import annotations

from mechanics.sine import sine
from signals.compiled import law
from signals.typed import Model


@law
def ripple_nm(m: Model, motor: int, angle_rad: float) -> float:
    """Ripple torque [N m] at the gear output, opposing the motor, at the output angle [rad]."""
    total = 0.0
    for n in range(m.n_ripples):
        turn = angle_rad * m.gear_ratio[motor] if m.ripple_is_input[n] != 0 else angle_rad
        phase = m.ripple_order[n] * turn + m.ripple_phase_rad[motor, n]
        total += m.ripple_amplitude_nm[motor, n] * sine(phase)
    return total
