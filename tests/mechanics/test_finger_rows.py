"""Sums over a finger's tendons, of any number of them: the short ways of 6 and 8 are the long one's."""

import numpy as np
import pytest

from mechanics.finger_rows import add_row, along
from signals.sizes import FINGER_TENDONS


@pytest.mark.parametrize("n", range(FINGER_TENDONS + 1))
def test_rows_are_summed_over_their_first_places_alone(n: int) -> None:
    rng = np.random.default_rng(n)
    row, other = rng.normal(size=FINGER_TENDONS), rng.normal(size=FINGER_TENDONS)
    row[n:] = other[n:] = np.nan  # what lies behind belongs to another finger
    assert along(row, other, n) == pytest.approx(row[:n] @ other[:n], abs=1e-14)
    before = row.copy()
    add_row(row, -1.7, other, n)
    assert row[:n] == pytest.approx(before[:n] - 1.7 * other[:n], abs=1e-14)
    assert np.isnan(row[n:]).all()


@pytest.mark.parametrize("n", range(FINGER_TENDONS + 1))
def test_a_row_may_be_added_to_itself(n: int) -> None:
    row = np.random.default_rng(n).normal(size=FINGER_TENDONS)
    before = row.copy()
    add_row(row, 2.0, row, n)
    assert row[:n] == pytest.approx(3.0 * before[:n]) and (row[n:] == before[n:]).all()
