"""Blessed logs: what was commanded once is commanded still, and a changed gain would be noticed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.blessed import RUNS, SAME, options_of, path_of, said
from benchmarks.same_commands import Difference, replay


@pytest.mark.parametrize("name", RUNS)
def test_a_blessed_log_is_answered_as_it_was(name: str) -> None:
    assert said(name, replay(options_of(name), path_of(name))) == ""


@pytest.mark.parametrize("name", RUNS)
def test_a_blessed_log_commands_something_and_a_fault_in_it_is_seen(name: str) -> None:
    """A log of a hand at rest, or whose fault comes after its end, would hold nothing."""
    with np.load(path_of(name)) as raw:
        moving, causes = raw["command.words"], raw["causes"]
    assert len(moving) > 20 and np.ptp(moving.view(np.int64), axis=0).any()
    assert causes[-1, 1].any() == bool(options_of(name).faults)


def test_a_gain_that_is_a_thousandth_larger_is_noticed_with_its_first_cycle(tmp_path: Path) -> None:
    name = "finger_open_close"
    with np.load(path_of(name)) as raw:
        parts = {part: raw[part] for part in raw.files}
    parts["before.model"]["tension_kp_nm_n"] *= 1.001
    np.savez(tmp_path / "other.npz", **parts)
    row = replay(options_of(name), tmp_path / "other.npz")
    assert row.share > SAME and 0 <= row.cycle < len(parts["clock"])
    assert f"cycle {row.cycle}" in said(name, row) and "--bless" in said(name, row)


@pytest.mark.parametrize(
    "row", [Difference(0.0, 0, 1, 0), Difference(0.0, 0, 0, 1), Difference(2e-6, 3, 0, 0)]
)
def test_another_mode_or_cause_is_a_difference_too(row: Difference) -> None:
    assert said("finger_open_close", row)
