"""Motor friction (3.8): printed curve, symmetry, passivity, slope."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.friction import motor_friction_nm, motor_friction_slope_nms_rad
from tests.rigs.actuation import GAMMA

speeds = st.floats(-20.0, 20.0)
gammas = st.tuples(st.floats(0.0, 100.0), st.floats(0.0, 5.0), st.floats(0.0, 1.0))


@pytest.mark.parametrize(
    ("speed", "torque"), [(0.5, 0.7849816684), (1.0, 0.8573719189), (-2.0, -0.9207400683), (0.0, 0.0)]
)
def test_friction_of_table_3_3(speed: float, torque: float) -> None:
    assert motor_friction_nm(speed, *GAMMA) == pytest.approx(torque, abs=5e-11)


def test_slope_at_rest_and_plateau_of_table_3_3() -> None:
    assert motor_friction_slope_nms_rad(0.0, *GAMMA) == pytest.approx(5.6216, abs=1e-12)
    assert motor_friction_nm(1e9, GAMMA[0], GAMMA[1], 0.0) == pytest.approx(math.pi / 2 * GAMMA[1], rel=1e-8)


@settings(deadline=None)
@given(w=speeds, g=gammas)
def test_friction_takes_power_and_is_odd(w: float, g: tuple[float, float, float]) -> None:
    assert motor_friction_nm(w, *g) * w >= 0.0
    assert motor_friction_nm(-w, *g) == -motor_friction_nm(w, *g)


@settings(deadline=None)
@given(a=speeds, b=speeds, g=gammas)
def test_friction_never_falls_with_speed_nor_rises_faster_than_its_slope_at_rest(
    a: float, b: float, g: tuple[float, float, float]
) -> None:
    low, high = min(a, b), max(a, b)
    rise = motor_friction_nm(high, *g) - motor_friction_nm(low, *g)
    assert -1e-12 <= rise <= motor_friction_slope_nms_rad(0.0, *g) * (high - low) + 1e-12


@settings(deadline=None)
@given(w=speeds, g=gammas)
def test_slope_equals_finite_difference(w: float, g: tuple[float, float, float]) -> None:
    step = 1e-6
    difference = (motor_friction_nm(w + step, *g) - motor_friction_nm(w - step, *g)) / (2 * step)
    assert motor_friction_slope_nms_rad(w, *g) == pytest.approx(difference, rel=1e-6, abs=1e-6)
