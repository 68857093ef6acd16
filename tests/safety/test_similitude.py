"""No law of the loop or the plant holds for one size of hand alone: hands that are alike do alike.

Force and length are scaled by powers of four, so that products and square roots round as before and the two
runs are the same bit by bit: what differs at all, differs by a constant that one hand has brought along.

Times are the laws' own. So a hand that is slower is run by laws whose constants are compiled in a longer
second (``tests.rigs.slower``); what is compiled anew rounds another way, and a thrown finger makes that grow.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from signals.table import TABLE
from tests.rigs.similar import SimilarScene, away, one_of_each, scale
from trials.rules import KINDS

ROOT = Path(__file__).parents[2]
ONE = np.ones(5)
FACTORS = {"strong and large": np.array([4.0, 4.0, 1.0, 1.0, 1.0]), "small": np.array([1.0, 1 / 16, 1, 1, 1])}
RUNS = [
    *((hand, "open_close") for hand in ("finger_bench", "hasy", "n_plus_one", "orca_v2")),
    ("hasy", "grasp"),
    ("hasy", "tension_step"),
    ("finger_bench", "step"),
]


@cache
def hand_of(name: str) -> Hand:
    return read_hand(RunOptions(hand=name, lockstep=True, seconds=1.0))


@pytest.mark.sample(2)
@pytest.mark.parametrize("factors", FACTORS)
@pytest.mark.parametrize(("name", "motion"), RUNS)
def test_every_kind_of_fault_comes_out_the_same_in_a_hand_that_is_alike(
    name: str, motion: str, factors: str
) -> None:
    hand = hand_of(name)
    trials = one_of_each(hand, motion)
    assert len(trials) >= len(KINDS) - 3
    mine, other = SimilarScene(hand, motion, ONE), SimilarScene(hand, motion, FACTORS[factors])
    for trial in trials:
        found = away(mine.run_trial(trial), other.run_trial(trial), FACTORS[factors])
        assert not found, (trial, found)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "planted",
    ["tension_kp_stiffness_n_m", "release_torque_nm", "guide_speed_m_s", "torque_rate_nm_s", "probe_way_m"],
)
def test_a_constant_that_does_not_grow_with_the_hand_is_found(planted: str) -> None:
    hand, factors = hand_of("finger_bench"), FACTORS["strong and large"]
    shrunk = hand.model.copy()
    shrunk[planted] /= 16.0 if planted.endswith("nm_s") or "torque" in planted else 4.0
    mine = SimilarScene(hand, "open_close", ONE)
    other = SimilarScene(replace(hand, model=shrunk), "open_close", factors)
    trials = one_of_each(hand, "open_close")
    assert any(away(mine.run_trial(trial), other.run_trial(trial), factors) for trial in trials)


SECOND = 4.0
SLOW = tuple(f"{hand}:open_close" for hand in ("finger_bench", "hasy", "n_plus_one", "orca_v2"))
EQUAL = 1e-9
"""Share of a signal's greatest value; rounding comes to 1e-12 in these runs."""
THROWN = ("tendon-break", "tendon-slack", "tendon-slip")
"""In a finger that these throw a rounding grows a thousandfold in a cycle, as joints stick and slip: after
the fault only what is counted is compared."""


def slower(folder: Path, factor: float, but: str, *runs: str) -> Path:
    """Folder of the recordings of hands that are slower by a factor, in a process of its own."""
    out = folder / f"slower_{factor:g}_{but}"
    out.mkdir()
    words = [out, 2500.0, factor, but, *runs]
    compiled = {} if factor == 1.0 else {"FLEXOR_CACHE_DIR": str(folder / "cache")}
    program = [sys.executable, "-m", "tests.rigs.slower", *map(str, words)]
    subprocess.run(program, check=True, env=os.environ | compiled, cwd=ROOT)
    return out


def not_alike(mine: Path, other: Path) -> dict[str, float]:
    """Signals of the slower hand that are not those of the other: by how much; what is counted, in frames."""
    ours, theirs = np.load(mine), np.load(other)
    units = {(r, s.name): s.unit for r, signals in TABLE.items() for s in signals}
    found = {}
    for key in ours.files:
        kind, _, signal = key.partition("/")
        a, b = ours[key], theirs[key]
        if signal == "time_s" or not a.size:
            continue
        if a.dtype.kind != "f":
            gap = (a != b).astype(float)
        else:
            b = b / scale(units[tuple(signal.split("/"))], np.array([1.0, 1.0, SECOND, 1.0, 1.0]))
            gap = np.nan_to_num(np.abs(a - b)) / max(float(np.nanmax(np.abs(a))), 1e-300)
            gap[np.isnan(a) != np.isnan(b)] = 1.0
            if kind in THROWN:
                gap = gap[ours[f"{kind}/time_s"] <= 0.0]
        if gap.max() > EQUAL:
            found[key] = float(gap.max())
    return found


@pytest.mark.long
def test_every_kind_of_fault_comes_out_the_same_in_a_hand_that_is_slower(tmp_path: Path) -> None:
    """And what does not grow with the second is found: the plant's longest step, a drive's rate."""
    mine, other = slower(tmp_path, 1.0, "", *SLOW), slower(tmp_path, SECOND, "", *SLOW)
    for run in SLOW:
        name = f"{run.replace(':', '_')}.npz"
        assert len(np.load(mine / name).files) > 17 * len(KINDS) - 60
        assert not_alike(mine / name, other / name) == {}, run
    name = f"{SLOW[0].replace(':', '_')}.npz"
    for planted in ("LONGEST_STEP_S", "torque_rate_nm_s"):
        assert not_alike(mine / name, slower(tmp_path, SECOND, planted, SLOW[0]) / name), planted
