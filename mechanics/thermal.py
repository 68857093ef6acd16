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
    return thermal_move(thermal_shares(m, dt_s), winding_degc, case_degc, heat_w)


@law
def thermal_shares(m: Model, dt_s: float) -> tuple[float, float, float, float, float, float]:
    """What is the same for all motors in a step: parts of heat and surroundings, then the inverse.

    ``(1 + a) w - a k = winding`` and ``-b w + (1 + b + c) k = case``.
    """
    a = dt_s / (m.thermal_winding_j_k * m.thermal_winding_k_w)
    b = dt_s / (m.thermal_case_j_k * m.thermal_winding_k_w)
    c = dt_s / (m.thermal_case_j_k * m.thermal_case_k_w)
    share = 1.0 / ((1.0 + a) * (1.0 + b + c) - a * b)
    heat, around = dt_s / m.thermal_winding_j_k, c * m.ambient_degc
    return heat, around, (1.0 + b + c) * share, a * share, (1.0 + a) * share, b * share


@law
def thermal_move(
    shares: tuple[float, float, float, float, float, float],
    winding_degc: float,
    case_degc: float,
    heat_w: float,
) -> tuple[float, float]:
    """``thermal_step`` with the ``thermal_shares`` of its step."""
    heat, around, winding_own, winding_case, case_own, case_winding = shares
    winding, case = winding_degc + heat * heat_w, case_degc + around
    return winding_own * winding + winding_case * case, case_own * case + case_winding * winding
