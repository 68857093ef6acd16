"""Winding and case temperature: steady state, energy, and the exact solution of the chain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.thermal import thermal_step
from tests.rigs.actuation import actuation_model

MODEL = actuation_model(tendons=1)
R_W, C_W, R_C, C_C, AMBIENT = 6.0, 8.0, 4.0, 60.0, 23.0
heats = st.floats(0.0, 50.0)
temperatures = st.floats(-20.0, 200.0)
steps = st.floats(1e-4, 1e5)


def exact(winding: float, case: float, heat: float, time_s: float) -> np.ndarray:
    """Closed form by the eigenvectors of the 2 x 2 system."""
    system = np.array([[-1 / R_W, 1 / R_W], [1 / R_W, -1 / R_W - 1 / R_C]]) / np.array([[C_W], [C_C]])
    rest = np.array([AMBIENT + heat * (R_C + R_W), AMBIENT + heat * R_C])
    values, vectors = np.linalg.eig(system)
    modes = np.linalg.solve(vectors, np.array([winding, case]) - rest)
    return rest + vectors @ (np.exp(values * time_s) * modes)


@settings(deadline=None)
@given(heat=heats, dt=steps)
def test_at_rest_the_temperatures_are_those_of_the_resistance_chain(heat: float, dt: float) -> None:
    case = AMBIENT + heat * R_C
    winding = case + heat * R_W
    assert thermal_step(MODEL[0], 0, winding, case, heat, dt) == pytest.approx((winding, case), rel=1e-12)
    assert thermal_step(MODEL[0], 0, 20.0, 20.0, heat, 1e12) == pytest.approx((winding, case), rel=1e-7)


@settings(deadline=None)
@given(winding=temperatures, case=temperatures, heat=heats, dt=steps)
def test_heat_in_is_heat_stored_and_given_off(winding: float, case: float, heat: float, dt: float) -> None:
    new_winding, new_case = thermal_step(MODEL[0], 0, winding, case, heat, dt)
    stored = C_W * (new_winding - winding) + C_C * (new_case - case)
    given_off = dt * (new_case - AMBIENT) / R_C
    assert stored + given_off == pytest.approx(dt * heat, rel=1e-9, abs=1e-7 + 1e-12 * dt)


@settings(deadline=None)
@given(winding=temperatures, case=temperatures, heat=heats, dt=steps)
def test_no_step_overshoots_the_hottest_and_the_coldest_there_is(
    winding: float, case: float, heat: float, dt: float
) -> None:
    after = thermal_step(MODEL[0], 0, winding, case, heat, dt)
    # with the winding counted from its steady rise above the case, the chain only levels three values out
    ends = (winding - heat * R_W, case, AMBIENT + heat * R_C)
    for temperature in (after[0] - heat * R_W, after[1]):
        assert min(ends) - 1e-9 <= temperature <= max(ends) + 1e-9


def test_steps_of_the_control_period_follow_the_exact_solution() -> None:
    heat, time_s = 8.0, 20.0
    errors = []
    for count in (100, 200, 6000):
        state = (30.0, 25.0)
        for _ in range(count):
            state = thermal_step(MODEL[0], 0, *state, heat, time_s / count)
        errors.append(np.max(np.abs(np.array(state) - exact(30.0, 25.0, heat, time_s))))
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.1)
    assert errors[2] < 5e-3
