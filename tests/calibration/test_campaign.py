"""Drawn hands from files with wrong friction and no ripple: true values lie in the stated intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calibration.campaign import Case, run_hand, save, table


def _case(parameter: str, true: float, value: float, half: float, unit: str) -> Case:
    return Case(1, "index_1", parameter, true, value, half, 0.5 * half, 0.25 * half, unit, "good")


def test_an_interval_holds_a_phase_around_the_circle_and_a_value_on_the_line():
    assert _case("ripple.input_1.phase_deg", 179.0, -179.0, 3.0, "deg").held
    assert not _case("ripple.input_1.phase_deg", 179.0, -170.0, 3.0, "deg").held
    assert not _case("presliding_lever_deg", 180.2, -180.0, 1.0, "deg").held
    cases = [_case("spring_scale", 1.0, x, 0.1, "1") for x in (1.05, 1.2, 0.95, 0.9)]
    (line,) = [line for line in table(cases) if line.startswith("spring_scale")]
    assert "3/4" in line and "75.0 %" in line and "2.00" in line and "4.00" in line


@pytest.mark.long
def test_two_drawn_hands_lie_in_their_intervals(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    runs = {}
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        runs[seed] = run_hand("finger_bench", seed, folder)
    cases = [case for run in runs.values() for case in run.cases]
    assert len(cases) == 2 * (8 * (4 + 2 * 5) + 8 * 4 + (8 + 14 + 8) + 4 + 4)
    assert sum(case.held for case in cases) >= 0.95 * len(cases), [case for case in cases if not case.held]
    assert all(case.noise <= 3.0 * case.bound for case in cases if math.isfinite(case.bound))
    lost = [case for case in cases if case.parameter in ("guide_loss_frac", "coulomb_nm")]
    assert len(lost) == 16 and float(np.median([case.half / case.bound for case in lost])) <= 3.0
    save(tmp_path / "out", runs)
    assert parquet.read_table(tmp_path / "out" / "parts.parquet").num_rows == len(cases)
    courses = parquet.read_table(tmp_path / "out" / "courses.parquet")
    assert set(courses["seed"].to_pylist()) == {1, 2} and courses.num_rows > 16 * 1000
