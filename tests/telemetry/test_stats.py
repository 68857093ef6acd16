"""Histograms that never grow: percentiles within a bin of the exact ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from telemetry.shm.stats import BINS, bin_of, edge_ns, new_stats, note, percentile_us


@settings(deadline=None)
@given(st.integers(1, 2**39 - 1))
def test_every_duration_falls_between_the_edges_of_its_bin(value):
    index = bin_of(float(value))
    assert 0 < index < BINS
    assert edge_ns(index) <= value < edge_ns(index + 1)
    assert edge_ns(index + 1) - edge_ns(index) <= value / 8


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(16, 10**9), min_size=20, max_size=400), st.sampled_from([0.5, 0.9, 0.99]))
def test_percentiles_are_within_one_bin_of_the_exact_ones(values, fraction):
    stats = new_stats()
    for cycle, value in enumerate(values):
        note(stats, 0, value, cycle)
    found = percentile_us(stats[0], fraction) * 1e3
    exact = np.sort(values)[max(int(np.ceil(fraction * len(values))) - 1, 0)]
    assert edge_ns(bin_of(float(exact))) - 1e-6 <= found <= edge_ns(bin_of(float(exact)) + 1) + 1e-6
    assert stats[0, 0] == max(values)
    assert values[stats[0, 1]] == max(values)
    assert stats[0, 2] == sum(values)
