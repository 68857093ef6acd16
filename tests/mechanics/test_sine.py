"""The fast sine against the library's, over all phases a ripple can have."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.sine import sine, sine_cosine


@settings(max_examples=2000)
@given(st.floats(-1e3, 1e3))
def test_sine_is_right_to_1e_12(x: float) -> None:
    assert abs(sine(x) - math.sin(x)) < 1e-12


@given(st.integers(-160, 160), st.floats(-1e-6, 1e-6))
def test_sine_is_right_where_turns_meet(half_turns: int, beside: float) -> None:
    x = half_turns * math.pi + beside
    assert abs(sine(x) - math.sin(x)) < 1e-12


@given(st.floats(-1e6, 1e6))
def test_sine_of_large_phases(x: float) -> None:
    assert abs(sine(x) - math.sin(x)) < 2e-10


@given(st.floats(-1e5, 1e5))
def test_sine_is_odd_and_bounded(x: float) -> None:
    assert abs(sine(x) + sine(-x)) < 1e-10
    assert abs(sine(x)) <= 1.0 + 1e-11


@settings(max_examples=2000)
@given(st.floats(-4.0, 4.0))
def test_sine_and_cosine_of_joint_angles_are_right_to_4e_16(x: float) -> None:
    s, c = sine_cosine(x)
    assert abs(s - math.sin(x)) < 4e-16
    assert abs(c - math.cos(x)) < 4e-16


@given(st.floats(-1e4, 1e4))
def test_sine_and_cosine_of_any_angle_err_by_its_last_bit(x: float) -> None:
    s, c = sine_cosine(x)
    assert abs(s - math.sin(x)) < 4e-16 + math.ulp(x)
    assert abs(c - math.cos(x)) < 4e-16 + math.ulp(x)
