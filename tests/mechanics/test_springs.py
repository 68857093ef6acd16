"""Spring tables and the tension of a tendon: against the exact geometry and a root finder."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys

from mechanics.motor import torque_bounds_nm
from mechanics.ripple import ripple_nm
from mechanics.springs import (
    count_of_lever,
    forces_at,
    lever_of_count,
    spring_at,
    spring_energy_j,
    spring_state,
    stiffness_of_force,
)
from mechanics.springtables import spring_tables
from mechanics.thermal import thermal_step
from signals.compiled import law
from signals.sizes import SPRING_NODES
from tests.rigs.actuation import actuation_model, reference_geometry

GEOMETRY = reference_geometry()
MODEL = actuation_model(tendons=1)


@law
def np_filled(n: int) -> float:
    """Something that does allocate, to check the counter."""
    return float(np.ones(n).sum())


levers_rad = st.floats(GEOMETRY.lever_min_rad, GEOMETRY.lever_max_rad)


# -- tables ----------------------------------------------------------------------------------------


@settings(deadline=None)
@given(lever=levers_rad)
def test_tables_interpolate_the_exact_curves(lever: float) -> None:
    force, force_slope, path, path_slope = spring_at(MODEL[0], 0, lever)
    exact, forces = np.array([lever]), np.zeros(1)
    forces_at(MODEL[0], 0, exact, forces)
    assert force == forces[0] == pytest.approx(GEOMETRY.force_n(exact)[0], rel=1e-7)
    assert force_slope == pytest.approx(GEOMETRY.force_slope_n_rad(exact)[0], rel=1e-5)
    assert path == pytest.approx(GEOMETRY.path_m(exact)[0], abs=1e-12)
    assert path_slope == pytest.approx(GEOMETRY.path_slope_m_rad(exact)[0], abs=1e-9)
    energy = GEOMETRY.stored_energy_j(np.array([lever, GEOMETRY.lever_max_rad]))
    assert spring_energy_j(MODEL[0], 0, lever) == pytest.approx(energy[0] - energy[1], abs=1e-11)
    stiffness = GEOMETRY.stiffness_n_m(exact)[0]
    series = stiffness / (1.0 + stiffness * MODEL[0]["tendon_compliance_m_n"][0])
    assert stiffness_of_force(MODEL[0], 0, GEOMETRY.force_n(exact)[0]) == pytest.approx(series, rel=1.2e-3)


@settings(deadline=None)
@given(scale=st.floats(0.8, 1.2), force=st.floats(-10.0, 400.0))
def test_stiffness_for_controllers_is_bounded_and_continuous(scale: float, force: float) -> None:
    model = actuation_model(tendons=1)
    model[0]["spring_scale"][0] = scale
    here, near = (stiffness_of_force(model[0], 0, f) for f in (force, force + 1e-6))
    assert abs(near - here) < 1e-6 * 1500.0
    assert 2.0e3 < here < 1.0 / model[0]["tendon_compliance_m_n"][0]  # 0.8 of the softest, in series
    if force < 2.7:  # below the slack force at any of these scales
        assert here == stiffness_of_force(model[0], 0, 0.0)


def test_beyond_the_stops_the_curves_go_on_along_their_tangents() -> None:
    for stop, side in ((GEOMETRY.lever_min_rad, -1.0), (GEOMETRY.lever_max_rad, 1.0)):
        force, force_slope, path, path_slope = spring_at(MODEL[0], 0, stop)
        beyond = spring_at(MODEL[0], 0, stop + side * 0.1)
        expected = (force + side * 0.1 * force_slope, force_slope, path + side * 0.1 * path_slope, path_slope)
        assert beyond == pytest.approx(expected, rel=1e-9)


@settings(deadline=None)
@given(lever=levers_rad, scale=st.floats(0.8, 1.2))
def test_a_spring_constant_scales_force_and_energy_and_leaves_the_path(lever: float, scale: float) -> None:
    model = actuation_model(tendons=2)
    model[0]["spring_scale"][1] = scale
    force, force_slope, path, path_slope = spring_at(model[0], 0, lever)
    expected = (scale * force, scale * force_slope, path, path_slope)
    assert spring_at(model[0], 1, lever) == pytest.approx(expected, rel=1e-14)
    energy = spring_energy_j(model[0], 0, lever)
    assert spring_energy_j(model[0], 1, lever) == pytest.approx(scale * energy, rel=1e-14)


def test_a_second_mechanism_of_a_hand_is_kept_apart() -> None:
    model = actuation_model(tendons=2)
    stiffer = replace(GEOMETRY, K=9000.0)
    spring_tables(stiffer).store(model, 1)
    model[0]["tendon_spring"][1] = 1
    lever = -0.2
    assert spring_at(model[0], 0, lever)[0] == pytest.approx(GEOMETRY.force_n(np.array([lever]))[0], rel=1e-6)
    assert spring_at(model[0], 1, lever)[0] == pytest.approx(1.5 * spring_at(model[0], 0, lever)[0], rel=1e-9)


@settings(deadline=None)
@given(lever=levers_rad)
def test_counts_and_lever_angles_are_inverse(lever: float) -> None:
    assert lever_of_count(MODEL[0], 0, count_of_lever(MODEL[0], 0, lever)) == pytest.approx(lever, abs=1e-12)


# -- tension from elongation -----------------------------------------------------------------------


def exact_state(elongation_m: float, gain: float, compliance_m_n: float) -> tuple[float, float]:
    """Lever and tension on the exact geometry by bisection; gain = spring scale times loop factor."""

    def elongation(lever: float) -> float:
        place = np.array([lever])
        return float(gain * GEOMETRY.force_n(place)[0] * compliance_m_n - GEOMETRY.path_m(place)[0])

    low, high = GEOMETRY.lever_min_rad, GEOMETRY.lever_max_rad
    if elongation_m <= 0.0:
        return high, 0.0
    for stop, beyond in ((low, elongation_m >= elongation(low)), (high, elongation_m <= elongation(high))):
        if beyond:
            return stop, (elongation_m + float(GEOMETRY.path_m(np.array([stop]))[0])) / compliance_m_n
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if elongation(middle) > elongation_m else (low, middle)
    return low, float(gain * GEOMETRY.force_n(np.array([low]))[0])


@settings(deadline=None)
@given(
    elongation=st.floats(-0.002, 0.012),
    guess=st.floats(-1.0, 1.0),
    loop_sign=st.floats(-1.0, 1.0),
    scale=st.floats(0.8, 1.2),
    compliance=st.floats(2e-6, 4e-5),
)
def test_tension_equals_that_of_a_root_finder_on_the_exact_geometry(
    elongation: float, guess: float, loop_sign: float, scale: float, compliance: float
) -> None:
    model = actuation_model(tendons=1)
    model[0]["spring_scale"][0] = scale
    model[0]["tendon_compliance_m_n"][0] = compliance
    lever, tension = spring_state(model[0], 0, elongation, guess, loop_sign)
    gain = scale * (1.0 + 0.107 * loop_sign)
    exact_lever, exact_tension = exact_state(elongation, gain, compliance)
    assert lever == pytest.approx(exact_lever, abs=1e-8)
    assert tension == pytest.approx(exact_tension, rel=1e-7, abs=1e-9)


@settings(deadline=None)
@given(lever=levers_rad, guess=levers_rad, loop_sign=st.floats(-1.0, 1.0))
def test_tension_solves_the_series_equation_of_the_tables(
    lever: float, guess: float, loop_sign: float
) -> None:
    m = MODEL[0]
    force, _, path, _ = spring_at(m, 0, lever)
    tension = force * (1.0 + 0.107 * loop_sign)
    elongation = -path + tension * m["tendon_compliance_m_n"][0]
    found_lever, found_tension = spring_state(m, 0, elongation, guess, loop_sign)
    assert found_lever == pytest.approx(lever, abs=1e-12)
    assert found_tension == pytest.approx(tension, rel=1e-11)


@settings(deadline=None)
@given(elongation=st.floats(-0.001, 0.011), guesses=st.lists(st.floats(), min_size=2, max_size=5))
def test_the_guess_never_changes_the_answer(elongation: float, guesses: list[float]) -> None:
    answers = {spring_state(MODEL[0], 0, elongation, guess, 0.3) for guess in guesses}
    assert len(answers) == 1


def test_nodes_of_the_table_are_found_from_both_sides() -> None:
    m = MODEL[0]
    step = (m["lever_max_rad"][0] - m["lever_min_rad"][0]) / (SPRING_NODES - 1)
    for k in range(SPRING_NODES):
        force = m["spring_force_n"][0, k]
        elongation = force * m["tendon_compliance_m_n"][0] - m["spring_path_m"][0, k]
        for near in (elongation, np.nextafter(elongation, 0.0), np.nextafter(elongation, 1.0)):
            guesses = m["lever_min_rad"][0] + (np.array([k - 0.5, k + 0.5, 0.5]) * step)
            answers = {spring_state(m, 0, float(near), float(guess), 0.0) for guess in guesses}
            assert len(answers) == 1
            assert answers.pop()[1] == pytest.approx(force, rel=1e-11)


@settings(deadline=None)
@given(elongation=st.floats(1e-9, 0.011), loop_sign=st.floats(-1.0, 1.0), scale=st.floats(0.8, 1.2))
def test_tension_rises_with_elongation_never_faster_than_the_tendon_alone(
    elongation: float, loop_sign: float, scale: float
) -> None:
    model = actuation_model(tendons=1)
    m = model[0]
    m["spring_scale"][0] = scale
    step = 1e-7
    tendon = 1.0 / m["tendon_compliance_m_n"][0]
    lever, tension = spring_state(m, 0, elongation, 0.0, loop_sign)
    lever_next, tension_next = spring_state(m, 0, elongation + step, lever, loop_sign)
    slope = (tension_next - tension) / step
    softest = (
        scale * (1.0 + 0.107 * loop_sign) * GEOMETRY.stiffness_n_m(np.array([GEOMETRY.lever_max_rad]))[0]
    )
    assert softest / (1.0 + softest / tendon) * (1.0 - 1e-5) < slope < tendon * (1.0 + 1e-5)
    assert lever_next <= lever
    at_stop = lever == m["lever_min_rad"][0] or lever_next == m["lever_max_rad"][0]
    if at_stop:
        assert slope == pytest.approx(tendon, rel=1e-5)
    elif loop_sign == 0.0:
        assert slope == pytest.approx(stiffness_of_force(m, 0, tension), rel=2e-3)


def test_slope_of_tension_is_the_stiffness_for_controllers() -> None:
    m = MODEL[0]
    for lever in np.linspace(GEOMETRY.lever_min_rad + 1e-3, GEOMETRY.lever_max_rad - 1e-3, 60):
        force, _, path, _ = spring_at(m, 0, lever)
        elongation, step = force * m["tendon_compliance_m_n"][0] - path, 1e-8
        tensions = [spring_state(m, 0, elongation + d, lever, 0.0)[1] for d in (-step, step)]
        slope = (tensions[1] - tensions[0]) / (2 * step)
        assert stiffness_of_force(m, 0, force) == pytest.approx(slope, rel=1.2e-3)


@settings(deadline=None)
@given(elongation=st.floats(-0.01, 0.0))
def test_no_elongation_means_no_tension(elongation: float) -> None:
    assert spring_state(MODEL[0], 0, elongation, 0.0, 1.0) == (GEOMETRY.lever_max_rad, 0.0)


def test_not_a_number_goes_in_and_out_without_a_wrong_address() -> None:
    lever, tension = spring_state(MODEL[0], 0, math.nan, 0.0, 0.0)
    assert math.isnan(lever) and math.isnan(tension)
    assert all(math.isnan(x) for x in spring_at(MODEL[0], 0, math.nan)[0:3:2])


def test_a_step_of_the_laws_allocates_nothing() -> None:
    m = MODEL[0]
    calls = (
        lambda: spring_state(m, 0, 0.004, 0.3, 0.5),
        lambda: spring_at(m, 0, 0.1),
        lambda: stiffness_of_force(m, 0, 20.0),
        lambda: spring_energy_j(m, 0, 0.1),
        lambda: torque_bounds_nm(m, 0, 3.0),
        lambda: ripple_nm(m, 0, 0.7),
        lambda: thermal_step(m, 0, 30.0, 25.0, 3.0, 1e-3),
    )
    np_filled(3)
    for call in calls:
        call()  # compiling allocates
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats().mi_alloc
        for call in calls:
            call()
        assert rtsys.get_allocation_stats().mi_alloc == before
        np_filled(3)
        assert rtsys.get_allocation_stats().mi_alloc > before  # the counter does count
    finally:
        _nrt_python.memsys_disable_stats()
