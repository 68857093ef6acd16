"""Shares of a first-order low-pass: between nothing and all, and those of the exponential."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanics.low_pass import filter_share, memory_share


@given(dt_s=st.floats(1e-6, 10.0), memory_s=st.floats(0.0, 100.0))
def test_a_memory_takes_a_share_that_falls_with_its_time(dt_s: float, memory_s: float) -> None:
    share = memory_share(dt_s, memory_s)
    assert 0.0 < share <= 1.0
    assert memory_share(dt_s, 2.0 * memory_s + dt_s) < share


@given(memory_s=st.floats(1e-3, 100.0), ratio=st.floats(1e-5, 0.1))
def test_a_memory_is_the_exponential_to_second_order(memory_s: float, ratio: float) -> None:
    exact = -math.expm1(-ratio)
    assert memory_share(ratio * memory_s, memory_s) == pytest.approx(exact, rel=ratio * ratio / 11.0 + 1e-9)


def test_an_average_that_begins_with_one_sample_takes_most_of_it() -> None:
    assert memory_share(0.01, 0.01) == pytest.approx(2.0 / 3.0)


@given(cutoff_hz=st.floats(-1.0, 1e5), dt_s=st.floats(1e-5, 0.1))
def test_a_filters_share_lies_between_nothing_and_all(cutoff_hz: float, dt_s: float) -> None:
    share = filter_share(cutoff_hz, dt_s)
    assert 0.0 <= share <= 1.0
    assert (share == 0.0) == (cutoff_hz <= 0.0) or cutoff_hz * dt_s < 1e-15
