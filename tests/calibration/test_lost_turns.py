"""Turns that motors have lost are told from a hand that is not quite straight."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from calibration.lost_turns import hand_at_zero, lost_turns
from calibration.travel import OFFSET_GOOD_DEG
from hand.assembly.straight import straight_jacobian
from hand.file.drive import Identified
from hand.hand import Hand
from hand.options import RunOptions
from runtime.setup import read_hand

HAND = read_hand(RunOptions(hand="finger_bench"))
ZERO_RAD = 0.25
TURN_RAD = 2.0 * np.pi / float(HAND.model[0]["gear_ratio"][0])


def _known() -> Hand:
    """The hand with a zero of every motor."""
    zeros = {name: Identified(zero_rad=ZERO_RAD) for name in HAND.names.motors}
    return replace(HAND, file=HAND.file.model_copy(update={"identified": zeros}))


class Standing:
    """What a hand measures in a pose, at its start tension, with some turns lost."""

    def __init__(self, pose_rad: np.ndarray, turns: dict[int, int]) -> None:
        m, n = HAND.model[0], len(HAND.names.tendons)
        P = straight_jacobian(HAND.model)[:n, : len(pose_rad)]
        theta = ZERO_RAD - (P @ pose_rad) / m["spool_radius_m"][:n]
        for t, count in turns.items():
            theta[t] += count * TURN_RAD
        self._columns = {"elongation_m": hand_at_zero(HAND)[np.newaxis], "motor_angle_rad": theta[np.newaxis]}

    def of(self, name: str) -> np.ndarray:
        return self._columns[name]


def _found(pose_rad: np.ndarray, turns: dict[int, int]) -> dict[str, float]:
    means: Any = Standing(pose_rad, turns)
    return {f.part: f.value for f in lost_turns(_known(), means, np.array([True]))}


POSES = st.tuples(*[st.floats(-OFFSET_GOOD_DEG, OFFSET_GOOD_DEG)] * 4).map(lambda q: np.radians(q))


@given(pose=POSES)
@settings(max_examples=60, deadline=None)
def test_a_hand_that_is_not_quite_straight_has_lost_no_turn(pose: np.ndarray) -> None:
    assert _found(pose, {}) == {}


@given(pose=POSES, t=st.integers(0, 7), turns=st.integers(2, 200), sign=st.sampled_from([1, -1]))
@settings(max_examples=60, deadline=None)
def test_lost_turns_are_named_whatever_the_pose_is(pose: np.ndarray, t: int, turns: int, sign: int) -> None:
    found = _found(0.3 * pose, {t: sign * turns})
    assert found == {HAND.names.tendons[t]: sign * turns}


def test_one_turn_is_named_in_a_straight_hand() -> None:
    for t, name in enumerate(HAND.names.tendons):
        assert _found(np.zeros(4), {t: 1}) == {name: 1}
