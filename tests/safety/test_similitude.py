"""No law of the loop or the plant holds for one size of hand alone: hands that are alike do alike.

Force and length are scaled by powers of four, so that products and square roots round as before and the two
runs are the same bit by bit: what differs at all, differs by a constant that one hand has brought along.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand
from tests.rigs.similar import SimilarScene, away
from trials.draw import draw
from trials.rules import KINDS
from trials.trial import Trial

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


def one_of_each(hand: Hand, motion: str) -> list[Trial]:
    """The first drawn trial of every kind that this hand has parts for."""
    found: dict[str, Trial] = {}
    for seed in range(400):
        trial = draw(7_000_000 + seed, hand.names, (motion,))
        if trial is not None:
            found.setdefault(trial.kind, trial)
    return list(found.values())


@pytest.mark.sample(4)
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
