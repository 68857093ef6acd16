"""Which tendons are let go in a hurry, against the rules as documented, in any pose."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from guard.urgent import first_at_stop, hurried, partners, pulls_into_stop, throws_with
from tests.rigs.ahead import Ahead

FloatArray = NDArray[np.float64]
seeds = st.integers(0, 10_000)


@cache
def fingers() -> list[Ahead]:
    return [Ahead("hasy", f) for f in range(6)]


class Hand:
    """The reference hand in a random pose, every other joint close to one of its stops or beyond."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.fingers = fingers()
        self.m = self.fingers[0].m
        n = int(self.m["n_joints"])
        low, high = self.m["joint_min_rad"][:n], self.m["joint_max_rad"][:n]
        q = rng.uniform(low, high)
        near = rng.uniform(-0.05, 0.25, n)
        kind = rng.integers(0, 4, n)
        q = np.where(kind == 0, low + near, np.where(kind == 1, high - near, q))
        self.fingers[0].s["joint_angle_rad"][:n] = q
        self.fingers[0].pose(q[self.fingers[0].own])
        self.q = self.fingers[0].s["joint_angle_rad"]
        self.P = self.fingers[0].mem["P_tj_m"]


class Rules:
    """The rules for one finger in one pose, in words of sets."""

    def __init__(self, finger: Ahead, q: FloatArray, P: FloatArray) -> None:
        self.m, self.tendons, self.own = finger.m, finger.tendons, finger.own
        self.q, self.P = q, P
        self.turned = {t: {j for j in self.own if P[t, j] != 0.0} for t in self.tendons}

    def partners_of(self, a: int) -> set[int]:
        """Their rows of P point the opposite way, within 26 degrees."""
        row = self.P[a, self.own]
        others = {b: self.P[b, self.own] for b in self.tendons}
        return {
            b
            for b, other in others.items()
            if row @ other / np.linalg.norm(row) / np.linalg.norm(other) < -0.9
        }

    def first(self, lost: int) -> int | None:
        """The joint whose way to the stop that it is driven to is clearly the least."""
        ways = sorted(
            (self.m["joint_max_rad"][j] - self.q[j], j)
            if self.P[lost, j] > 0.0
            else (self.q[j] - self.m["joint_min_rad"][j], j)
            for j in self.turned[lost]
        )
        clear = len(ways) == 1 or ways[0][0] < 0.8 * ways[1][0]
        return int(ways[0][1]) if clear else None

    def throws(self, lost: int) -> set[int]:
        """Its partner, and what drives the first joint where its loss does and turns no further joint."""
        first = self.first(lost)
        alike = set()
        if first is not None:
            driven = np.sign(self.P[lost, first])
            alike = {
                t
                for t in self.tendons
                # a tendon that pulls turns the joint towards -P
                if np.sign(-self.P[t, first]) == driven and self.turned[t] <= self.turned[lost]
            }
        return (self.partners_of(lost) | alike) - {lost}

    def close(self, lost: int) -> set[int]:
        """What pulls the most distal of its joints that are near a stop into that stop."""
        found = set()
        for t in set(self.tendons) - {lost}:
            for j in reversed(self.own):
                up, down = self.m["joint_max_rad"][j] - self.q[j], self.q[j] - self.m["joint_min_rad"][j]
                if j in self.turned[t] and min(up, down) < 0.15:
                    if (self.P[t, j] < 0.0) == (up < down):
                        found.add(t)
                    break
        return found

    def as_set(self, bits: int) -> set[int]:
        assert bits >> len(self.tendons) == 0
        return {t for k, t in enumerate(self.tendons) if bits >> k & 1}


@given(seeds)
def test_the_sets_are_those_of_the_rules_for_every_tendon_of_the_hand(seed: int) -> None:
    hand = Hand(seed)
    for f, finger in enumerate(hand.fingers):
        rules = Rules(finger, hand.q, hand.P)
        for lost in finger.tendons:
            throws, urgent, others = map(rules.as_set, hurried(hand.m, hand.P, hand.q, f, lost))
            assert throws == rules.throws(lost)
            assert urgent == rules.throws(lost) | rules.close(lost)
            assert others == rules.partners_of(lost)
            assert lost not in urgent and others <= throws


@given(seeds)
def test_the_first_joint_is_the_clearly_nearest_one_or_none(seed: int) -> None:
    hand = Hand(seed)
    for f, finger in enumerate(hand.fingers):
        rules = Rules(finger, hand.q, hand.P)
        for lost in finger.tendons:
            first = rules.first(lost)
            assert first_at_stop(hand.m, hand.P, hand.q, f, lost) == (-1 if first is None else first)


@settings(max_examples=12)
@given(seeds, st.floats(0.01, 100.0))
def test_partners_are_so_both_ways_whatever_the_unit_of_their_coupling(seed: int, scale: float) -> None:
    hand = Hand(seed)
    for f, finger in enumerate(hand.fingers):
        rules = Rules(finger, hand.q, hand.P)
        for a in finger.tendons:
            assert not partners(hand.m, hand.P, f, a, a)
            for b in finger.tendons:
                expected = b in rules.partners_of(a)
                assert partners(hand.m, hand.P, f, a, b) is expected
                assert partners(hand.m, hand.P, f, b, a) is expected
                assert partners(hand.m, scale * hand.P, f, a, b) is expected


@pytest.mark.parametrize(("degrees", "are"), [(180.0, True), (155.0, True), (153.0, False), (90.0, False)])
def test_partners_may_be_twenty_five_degrees_from_opposite(degrees: float, are: bool) -> None:
    """Arc cosine of -0.9: 154.2 degrees."""
    bench = Ahead()
    P = np.zeros_like(bench.mem["P_tj_m"])
    P[2, 1:3] = 0.005, 0.0
    P[5, 1:3] = 0.007 * math.cos(math.radians(degrees)), 0.007 * math.sin(math.radians(degrees))
    assert partners(bench.m, P, 0, 2, 5) is are and partners(bench.m, P, 0, 5, 2) is are


@pytest.mark.parametrize("share", [0.79, 0.81])
@pytest.mark.parametrize("lost", range(4))
def test_a_joint_is_first_below_eight_tenths_of_the_way_of_the_other(share: float, lost: int) -> None:
    bench = Ahead().pose((0.0, 0.3, 0.6, 0.6))
    for first, second in ((0, 1), (1, 0)):
        q = bench.s["joint_angle_rad"].copy()
        for j, way in ((first, 0.3 * share), (second, 0.3)):
            up = bench.mem["P_tj_m"][lost, j] > 0.0
            q[j] = bench.m["joint_max_rad"][j] - way if up else bench.m["joint_min_rad"][j] + way
        expected = first if share < 0.8 else -1
        assert first_at_stop(bench.m, bench.mem["P_tj_m"], q, 0, lost) == expected


@pytest.mark.parametrize(("side", "puller"), [("up", {5}), ("down", {4})])
@pytest.mark.parametrize("way", [0.149, 0.151])
def test_what_pulls_into_a_stop_is_asked_within_fifteen_hundredths(
    side: str, puller: set[int], way: float
) -> None:
    """Joint 2 of the bench's finger: tendon 5 (P < 0) pulls it up, tendon 4 down."""
    bench = Ahead().pose((0.0, 0.6, 0.6, 0.6))
    q = bench.s["joint_angle_rad"].copy()
    q[2] = bench.m["joint_max_rad"][2] - way if side == "up" else bench.m["joint_min_rad"][2] + way
    found = {t for t in (4, 5) if pulls_into_stop(bench.m, bench.mem["P_tj_m"], q, 0, t)}
    assert found == (puller if way < 0.15 else set())


def test_without_a_first_joint_only_the_partner_throws_with_the_lost_one() -> None:
    bench = Ahead()
    P = bench.mem["P_tj_m"]
    assert [t for t in range(8) if throws_with(bench.m, P, 0, t, 0, -1)] == [3]
    assert [t for t in range(8) if throws_with(bench.m, P, 0, t, 0, 0)] == [2, 3]
    assert [t for t in range(8) if throws_with(bench.m, P, 0, t, 0, 1)] == [1, 3]
