"""What a degraded finger can still do, against all corners, and as the event of a break carries it."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hand.hand import Hand
from hand.options import RunOptions
from reports.faults import FaultWatch
from reports.remaining import remaining_torques, torque_interval
from runtime.setup import read_hand
from signals.faults import Cause
from signals.records import FRAME


@pytest.fixture(scope="module")
def hand() -> Hand:
    return read_hand(RunOptions(hand="finger_bench"))


def by_corners(A: np.ndarray, low: np.ndarray, high: np.ndarray, j: int) -> list[float] | None:
    """Least and greatest torque of one joint, the others zero: over all corners of the tensions' polytope.

    In a corner as many tensions as there are other joints are free, all others at one of their bounds.
    """
    m, n = A.shape
    others = np.delete(A, j, axis=1)
    found: list[float] = []
    for free in combinations(range(m), n - 1):
        bound = [i for i in range(m) if i not in free]
        ends = np.array(list(product(*((low[i], high[i]) for i in bound))))
        f = np.zeros((len(ends), m))
        f[:, bound] = ends
        if free:
            f[:, list(free)] = np.linalg.solve(others[list(free)].T, -(ends @ others[bound]).T).T
        inside = ((f >= low - 1e-9) & (f <= high + 1e-9)).all(axis=1)
        found += (f[inside] @ A[:, j]).tolist()
    return [min(found), max(found)] if found else None


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1), n=st.integers(1, 4), more=st.integers(0, 4), least=st.sampled_from((0, 5))
)
def test_intervals_are_those_of_the_polytopes_corners(seed: int, n: int, more: int, least: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n + more, n))
    low, high = np.full(n + more, float(least)), rng.uniform(10.0, 90.0, n + more)
    for j in range(n):
        ours, theirs = torque_interval(A, low, high, j), by_corners(A, low, high, j)
        assert (ours is None) == (theirs is None)
        if ours is not None and theirs is not None:
            assert ours == pytest.approx(theirs, abs=1e-5, rel=1e-6)


def test_a_broken_base_tendon_leaves_torques_of_one_sign(hand: Hand) -> None:
    """Domain facts, 4.3: tendon 2 dead, survivors at 5 N or more: abduction and flexion are one-sided."""
    broken = hand.names.tendons.index("index_2")
    found = remaining_torques(hand.model, hand.names, broken, np.zeros(4))
    for joint in ("index_abduction", "index_flexion"):
        least, most = found[joint] or (0.0, 0.0)
        assert least * most > 0.0
        assert min(abs(least), abs(most)) == pytest.approx(0.07, abs=0.01)
    assert found["index_pip"] is None and found["index_dip"] is None


def test_a_break_tells_what_remains_and_other_causes_do_not(hand: Hand) -> None:
    for cause in (Cause.TENDON_BROKEN, Cause.TENDON_SLACK):
        frames = np.zeros(3, dtype=FRAME)
        frames["state"]["finger_cause"][1:, 0] = cause
        frames["state"]["finger_cause_part"][:, 0] = 2
        (fault,) = FaultWatch(hand.names, hand.model).look(frames)
        broken = cause == Cause.TENDON_BROKEN
        assert fault.degraded == broken
        expected = remaining_torques(hand.model, hand.names, 2, np.zeros(4)) if broken else None
        assert fault.as_dict()["remaining_torque_nm"] == expected
        assert FaultWatch(hand.names).look(frames)[0].remaining_torque_nm is None
