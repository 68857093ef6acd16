"""Motor limits: power of the drive, no-load speed, symmetry, and the conventions of the constants."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.motor import (
    back_emf_v_s_rad,
    copper_loss_w,
    no_load_speed_rad_s,
    torque_bounds_nm,
    torque_constant_nm_a,
)
from tests.rigs.actuation import actuation_model

MODEL = actuation_model(tendons=1)
speeds = st.floats(-40.0, 40.0)
KT, KE, R, VOLTAGE, LIMIT = 1.47, 0.98, 0.37, 24.0 / math.sqrt(3.0), 2.94


def test_constants_of_the_reference_motor() -> None:
    assert torque_constant_nm_a(7, 1.4e-3, 100.0) == pytest.approx(KT, rel=1e-12)
    assert back_emf_v_s_rad(7, 1.4e-3, 100.0) == pytest.approx(KE, rel=1e-12)
    assert no_load_speed_rad_s(24.0, KE) == pytest.approx(14.1, abs=0.05)


@settings(deadline=None)
@given(speed=speeds, share=st.floats(0.0, 1.0))
def test_any_torque_within_the_bounds_needs_no_more_than_the_bus_can_give(speed: float, share: float) -> None:
    low, high = torque_bounds_nm(MODEL[0], 0, speed)
    assert -LIMIT <= low <= high <= LIMIT
    current = (low + share * (high - low)) / KT
    if abs(current) < 2.0 - 1e-9:  # at the current limit beyond the no-load speed the drive cannot help it
        assert abs(R * current + KE * speed) <= VOLTAGE * (1.0 + 1e-12)


@settings(deadline=None)
@given(speed=speeds)
def test_electrical_power_is_mechanical_power_and_heat(speed: float) -> None:
    """Three phases of amplitude v, i carry 3/2 v i: the constants and the copper loss agree on that."""
    current = torque_bounds_nm(MODEL[0], 0, speed)[1] / KT
    electrical = 1.5 * (R * current + KE * speed) * current
    heat = copper_loss_w(MODEL[0], 0, current)
    assert electrical == pytest.approx(KT * current * speed + heat, rel=1e-12, abs=1e-12)
    assert heat >= 0.0


@settings(deadline=None)
@given(a=speeds, b=speeds)
def test_bounds_are_odd_and_fall_with_speed(a: float, b: float) -> None:
    low, high = torque_bounds_nm(MODEL[0], 0, a)
    mirrored_low, mirrored_high = torque_bounds_nm(MODEL[0], 0, -a)
    assert (low, high) == (-mirrored_high, -mirrored_low)
    slow, fast = min(a, b), max(a, b)
    for bound in (0, 1):
        assert torque_bounds_nm(MODEL[0], 0, fast)[bound] <= torque_bounds_nm(MODEL[0], 0, slow)[bound]


def test_current_limits_at_rest_and_nothing_is_left_at_the_no_load_speed() -> None:
    assert torque_bounds_nm(MODEL[0], 0, 0.0) == (-LIMIT, LIMIT)
    no_load = no_load_speed_rad_s(24.0, KE)
    assert torque_bounds_nm(MODEL[0], 0, no_load)[1] == pytest.approx(0.0, abs=1e-9)
    assert torque_bounds_nm(MODEL[0], 0, no_load)[0] == -LIMIT
    assert torque_bounds_nm(MODEL[0], 0, no_load + 0.1)[1] < 0.0


def test_the_lower_of_current_and_torque_limit_counts() -> None:
    model = actuation_model(tendons=1)
    model[0]["motor_torque_limit_nm"][0] = 1.0
    assert torque_bounds_nm(model[0], 0, 0.0) == (-1.0, 1.0)
    model[0]["motor_current_limit_a"][0] = 0.5
    assert torque_bounds_nm(model[0], 0, 0.0) == pytest.approx((-0.735, 0.735), rel=1e-12)


def test_a_motor_without_electrical_data_is_limited_by_its_current_alone() -> None:
    model = actuation_model(tendons=1)
    model[0]["motor_resistance_ohm"][0] = 0.0
    assert torque_bounds_nm(model[0], 0, 1000.0) == (-LIMIT, LIMIT)
