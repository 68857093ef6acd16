r"""Winding and case temperature of a motor: two heat capacities in a chain to the surroundings.

.. math:: C_w T_w' = P - (T_w - T_c)/R_w, \qquad C_c T_c' = (T_w - T_c)/R_w - (T_c - T_a)/R_c
"""

from __future__ import annotations

from signals.compiled import law
from signals.typed import Model


@law
def thermal_step(
    m: Model, i: int, winding_degc: float, case_degc: float, heat_w: float, dt_s: float
) -> tuple[float, float]:
    """Winding and case temperature [degC] of motor ``i`` after ``dt_s`` at a heat [W].

    Implicit Euler, stable for any step; a motor without thermal model stays as warm as it is.

    At rest ``T_c = T_a + P R_c`` and ``T_w = T_c + P R_w``, whatever the step.
    """
    if not has_thermal_model(m, i):
        return winding_degc, case_degc
    return thermal_move(thermal_shares(m, i, dt_s), winding_degc, case_degc, heat_w)


@law
def has_thermal_model(m: Model, i: int) -> bool:
    """True if the heat of motor ``i`` is modelled."""
    return bool(m.thermal_winding_j_k[i] > 0.0 and m.thermal_case_j_k[i] > 0.0)


@law
def thermal_shares(m: Model, i: int, dt_s: float) -> tuple[float, float, float, float, float, float]:
    """What is the same for all motors of a type in a step: parts of heat and surroundings, then the inverse.

    ``(1 + a) w - a k = winding`` and ``-b w + (1 + b + c) k = case``; zeros without a model.
    """
    if not has_thermal_model(m, i):
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    winding_j_k, winding_k_w = m.thermal_winding_j_k[i], m.thermal_winding_k_w[i]
    a = dt_s / (winding_j_k * winding_k_w)
    b = dt_s / (m.thermal_case_j_k[i] * winding_k_w)
    c = dt_s / (m.thermal_case_j_k[i] * m.thermal_case_k_w[i])
    share = 1.0 / ((1.0 + a) * (1.0 + b + c) - a * b)
    heat, around = dt_s / winding_j_k, c * m.ambient_degc
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
