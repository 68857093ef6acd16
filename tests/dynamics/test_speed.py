"""Speed as ratios, interleaved in one run: no absolute figure holds on a shared machine."""

from __future__ import annotations

from benchmarks.aba_against_pinocchio import measure


def test_forward_dynamics_of_24_coordinates_against_pinocchio_from_python():
    found = measure(rounds=30)
    assert found["difference"] < 1e-12
    assert found["ratio_one"] <= 0.9, found
    assert found["ratio_batch"] <= 0.6, found
