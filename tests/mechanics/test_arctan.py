"""The arctangent of the friction law against the library's."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from mechanics.arctan import HIGH, LOW, arctan


@settings(max_examples=2000)
@given(st.floats(allow_nan=False) | st.floats(-5.0, 5.0))
def test_arctan_is_right_to_1e_15(x: float) -> None:
    assert abs(arctan(x) - math.atan(x)) <= 1e-15


@given(st.floats(allow_nan=False))
def test_arctan_is_odd(x: float) -> None:
    assert arctan(-x) == -arctan(x)


def test_arctan_has_no_step_where_its_pieces_meet() -> None:
    for edge in (LOW, HIGH):
        below, above = math.nextafter(edge, 0.0), math.nextafter(edge, 9.0)
        assert abs(arctan(above) - arctan(below)) < 1e-15
    assert math.isnan(arctan(math.nan))
