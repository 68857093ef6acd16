"""The linear loops of a finger: laws, closed forms, and the simulated hand as the judge of their limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hand.assembly.assemble import model_of
from hand.file import load_hand
from hand.review.loops import Law, Plant, alone, exponential, growth_1_s, plant_of, tension_gains
from runtime.session import run_lockstep

GROWS_1_S = 1.0


def _law(damping: float = 0.0, position: float = 0.0) -> Law:
    zero = np.zeros(1)
    return Law(
        tension=zero, position=position, damping=damping, filter_hz=1e9, impedance=zero, joint_damping=zero
    )


@given(st.integers(1, 5), st.integers(0, 1000), st.floats(1e-6, 30.0))
def test_an_exponential_is_undone_by_that_of_the_opposite(n: int, seed: int, size: float) -> None:
    a = size * np.random.default_rng(seed).uniform(-1.0, 1.0, (n, n)) / n
    back = exponential(a) @ exponential(-a)
    scale = float(np.abs(exponential(a)).max() * np.abs(exponential(-a)).max())
    assert np.abs(back - np.eye(n)).max() < 1e-11 * scale


@given(st.floats(-50.0, 50.0))
def test_an_exponential_of_a_turn_is_a_rotation(angle: float) -> None:
    c, s = math.cos(angle), math.sin(angle)
    found = exponential(np.array([[0.0, -angle], [angle, 0.0]]))
    assert found == pytest.approx(np.array([[c, -s], [s, c]]), abs=1e-10)


def _greatest(grows: Callable[[float], bool], low: float, high: float) -> float:
    """Where growth begins, by bisection of the logarithm."""
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return math.sqrt(low * high)


@given(st.floats(1e-5, 1e-1), st.floats(1e-4, 1e-2), st.integers(1, 3))
def test_damping_of_a_free_rotor_has_its_limit_where_the_polynomial_has(
    inertia: float, dt_s: float, delay: int
) -> None:
    """``z^d (z - 1) + a/2 (z + 1)/z = 0``, a = D dt / B: a difference is the mean of the last two speeds."""

    def radius(a: float) -> float:
        polynomial = np.zeros(delay + 3)
        polynomial[0], polynomial[1] = 1.0, -1.0
        polynomial[-2:] += 0.5 * a
        return float(np.abs(np.roots(polynomial)).max())

    wanted = _greatest(lambda a: radius(a) > 1.0 + 1e-9, 1e-3, 10.0)
    plant = alone(inertia, dt_s, delay)
    unit = inertia / dt_s
    found = _greatest(lambda a: growth_1_s(plant, _law(damping=a * unit)) > 1e-6 / dt_s, 1e-3, 10.0)
    assert found == pytest.approx(wanted, rel=1e-2)


@given(st.floats(1e-4, 1e-2), st.floats(1.0, 100.0), st.integers(1, 4))
def test_a_spring_without_damping_grows_by_its_delay(inertia: float, rad_s: float, delay: int) -> None:
    """``s = -(w^2 / 2) T`` to first order: a position gain alone is unstable by half its delay."""
    dt_s = 1e-4
    plant = alone(inertia, dt_s, delay)
    growth = growth_1_s(plant, _law(position=inertia * rad_s**2))
    assert growth == pytest.approx(0.5 * rad_s**2 * (delay + 0.5) * dt_s, rel=0.05)


def test_figures_without_bounds_are_no_crash() -> None:
    plant = replace(alone(1e-300, 1.0, 1), stiffness=np.full(1, 1e300))
    assert growth_1_s(plant, _law(damping=1e300)) == math.inf


FREE = {"friction.gamma_2_nm": 1e-4, "friction.gamma_3_nms_rad": 0.0}
FREE |= {"gains.friction_gain": 0.0, "gains.ripple_gain": 0.0}


def _calm_in_simulation(damping: float) -> bool:
    """Whether the simulated finger's motors come to rest in the tension loop, dry friction left out."""
    overrides = FREE | {"gains.tension_kd_nms_rad": damping}
    run = run_lockstep(
        "finger_bench", motion="tension_step", seconds=0.45, overrides=overrides, sensors="ideal", every=1
    )
    speeds = run.frames["truth"]["motor_speed_rad_s"][run.seconds > 0.4]
    return bool(np.sqrt(np.mean(speeds**2)) < 0.2)


def test_the_simulated_finger_becomes_unstable_between_the_limits_of_one_period_and_two() -> None:
    hand = load_hand("finger_bench")
    model, gains = model_of(hand), hand.gains
    limits = []
    for delay in (1, 2):
        plant = plant_of(model, 0, hand.tendon.pretension_n, float(model["hall_filter_hz"][0, 0]), delay)
        plant = replace(plant, friction=0.0)

        def grows(damping: float, plant: Plant = plant) -> bool:
            law = Law(
                tension=tension_gains(model, plant.stiffness),
                position=0.0,
                damping=damping,
                filter_hz=gains.velocity_filter_hz,
                impedance=np.zeros(4),
                joint_damping=np.zeros(4),
            )
            return growth_1_s(plant, law) > GROWS_1_S

        limits.append(_greatest(grows, 0.5, 100.0))
    assert limits[1] < limits[0] < 3.0 * limits[1]
    assert _calm_in_simulation(0.85 * limits[1])
    assert not _calm_in_simulation(1.15 * limits[0])
