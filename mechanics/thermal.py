r"""Winding and case temperature of a motor: two heat capacities in a chain to the surroundings.

.. math:: C_w T_w' = P - (T_w - T_c)/R_w, \qquad C_c T_c' = (T_w - T_c)/R_w - (T_c - T_a)/R_c
"""

from __future__ import annotations

from signals.compiled import law
from signals.typed import Model


@law
def thermal_step(
    m: Model, winding_degc: float, case_degc: float, heat_w: float, dt_s: float
) -> tuple[float, float]:
    """Winding and case temperature [degC] after ``dt_s`` at a heat [W]; implicit Euler, stable for any step.

    At rest ``T_c = T_a + P R_c`` and ``T_w = T_c + P R_w``, whatever the step.
    """
    a = dt_s / (m.thermal_winding_j_k * m.thermal_winding_k_w)
    b = dt_s / (m.thermal_case_j_k * m.thermal_winding_k_w)
    c = dt_s / (m.thermal_case_j_k * m.thermal_case_k_w)
    winding = winding_degc + dt_s * heat_w / m.thermal_winding_j_k
    case = case_degc + c * m.ambient_degc
    # (1 + a) w - a k = winding ; -b w + (1 + b + c) k = case
    determinant = (1.0 + a) * (1.0 + b + c) - a * b
    return (
        ((1.0 + b + c) * winding + a * case) / determinant,
        ((1.0 + a) * case + b * winding) / determinant,
    )
