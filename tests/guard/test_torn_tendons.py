"""A tendon at its slack stop whose path grows longer than what is left of it cannot be whole."""

from __future__ import annotations

import math

import numpy as np
import pytest

from guard.tension_checks import LOST_S, TORN_S, is_torn, lacks_for_sure, missing_m
from hand.assembly.figures import FIGURES
from signals.faults import Cause
from tests.rigs.bare import Bare
from tests.rigs.detecting import LEVER_MAX, Slack

T = 2
LITTLE_N = FIGURES["dip_tension_n"].reference - 1.0
"""Wanted so little that motion may take the tendon to its stop for a moment."""


class Torn(Slack):
    """A tendon that glides to its stop and lacks a share of the finger's residual limit there."""

    def __init__(self, lacks: float, wanted_n: float = LITTLE_N) -> None:
        super().__init__(wanted_n)
        self.limit_m = float(self.bench.m["residual_limit_m"][0])
        self.lack(lacks)
        self.glide(0.0001)

    def lack(self, share: float) -> None:
        """The joints stand at zero: the path is none, what is left of the tendon is less."""
        self.bench.s["tendon_length_m"][T] = -share * self.limit_m

    def named_s(self, lacks: float, after_s: float = 0.005, most_s: float = 0.1) -> float:
        """Time at the stop until its loss is named, if it lacks another share from some time on."""
        self.put(LEVER_MAX - 0.5 * self.MARGIN)
        cycles = round(after_s / self.bench.dt_s)
        assert self.bench.until(None, cycles) > cycles
        self.lack(lacks)
        return after_s + self.lasts(most_s)


@pytest.mark.parametrize(
    ("before", "lacks", "torn"),
    [
        (0.0, 0.39, False),
        (0.0, 0.41, True),
        (-1.0, 0.39, False),
        (-1.0, 0.41, True),
        (0.3, 0.49, False),
        (0.3, 0.51, True),
        (0.9, 0.99, False),
    ],
)
def test_what_lacks_much_and_grew_is_torn(before: float, lacks: float, torn: bool) -> None:
    named_s = Torn(before).named_s(lacks)
    assert named_s == pytest.approx(LOST_S, abs=0.0007) if torn else named_s == math.inf


def test_what_begins_to_lack_later_is_named_as_it_does() -> None:
    assert Torn(0.0).named_s(0.5, after_s=0.030) == pytest.approx(0.030 + TORN_S, abs=0.0007)


@pytest.mark.parametrize("wanted_n", [LITTLE_N, 20.0])
@pytest.mark.parametrize("cycles", [1, 5, 6, 10])
def test_joints_that_are_told_wrong_for_some_cycles_tear_no_tendon(cycles: int, wanted_n: float) -> None:
    """As the next tendon comes to its slack stop they are told without it: a jump, and back."""
    torn = Torn(0.0, wanted_n)
    torn.put(LEVER_MAX - 0.5 * torn.MARGIN)
    torn.bench.until(None, round(0.020 / torn.bench.dt_s))
    for _ in range(3):
        torn.lack(10.0)
        assert (torn.bench.until(None, cycles) <= cycles) is (cycles * torn.bench.dt_s > TORN_S)
        if torn.bench.found is not None:
            return
        torn.lack(0.0)
        torn.bench.detect()


@pytest.mark.parametrize("cycles", [1, 5, 6, 10])
def test_one_that_lacked_as_it_came_there_and_lacks_again_is_lost_as_late(cycles: int) -> None:
    """It has not grown, so it is not torn; but what is wanted of it should have made it taut."""
    lost = Torn(10.0, wanted_n=20.0)
    lost.put(LEVER_MAX - 0.5 * lost.MARGIN)
    lost.bench.detect()
    lost.lack(0.0)
    lost.bench.until(None, round(0.020 / lost.bench.dt_s))
    lost.lack(10.0)
    assert (lost.bench.until(None, cycles) <= cycles) is (cycles * lost.bench.dt_s > TORN_S)


def test_a_goal_that_wants_next_to_nothing_makes_no_torn_tendon_whole() -> None:
    """Its lever would stand at its stop all the same; but a whole one does not lack length."""
    little_n = 0.9 * FIGURES["least_wanted_n"].reference
    assert Torn(0.0, wanted_n=little_n).named_s(0.8) == pytest.approx(LOST_S, abs=0.0007)
    assert Torn(0.0, wanted_n=little_n).named_s(0.0, most_s=0.7) == math.inf


def test_no_more_is_made_of_it_than_of_any_slack_tendon() -> None:
    """Never taut yet: it is being wound in."""
    fresh = Torn(0.0)
    fresh.bench.mem["taut"][T] = fresh.bench.mem["taut_s"][T] = 0
    assert fresh.named_s(0.8) == math.inf


def test_one_that_another_threw_is_named_as_well() -> None:
    thrown = Torn(0.0)
    thrown.bench.s["lever_angle_rad"][1] = LEVER_MAX - 0.1
    thrown.bench.detect()
    assert thrown.named_s(0.5) == pytest.approx(LOST_S, abs=0.0007)
    assert thrown.bench.mem["thrown"][T] != 0


@pytest.mark.parametrize(
    ("first", "then", "apart_s", "named"),
    [(T - 1, T, 0.020, False), (T - 1, T, 0.0, False), (T, T - 1, 0.0015, False), (T, T - 1, 0.003, True)],
)
def test_where_another_fell_with_it_no_length_says_that_one_is_torn(
    first: int, then: int, apart_s: float, named: bool
) -> None:
    """A goal that lets two of a joint go: what is left taut just does for the joints, and may err."""
    torn = Torn(0.0)
    torn.bench.s["ref_tension_n"][T - 1] = LITTLE_N
    for t, wait_s in ((first, apart_s), (then, 0.001)):
        torn.bench.s["lever_angle_rad"][t] = LEVER_MAX - 0.5 * torn.MARGIN
        torn.bench.mem["lever_low_rad"][t] = LEVER_MAX - torn.MARGIN  # it glided there
        torn.bench.until(None, round(wait_s / torn.bench.dt_s))
    torn.lack(0.9)
    assert (torn.lasts(0.1) < math.inf) is named


@pytest.mark.parametrize("other", [t for t in range(8) if t != T])
def test_what_goals_keep_slack_hides_that_one_is_torn_only_at_its_own_joints(other: int) -> None:
    """The other tendons of its joints tell where they are, whatever else is slack in the finger."""
    torn = Torn(0.0)
    torn.bench.mem["taut"][other] = torn.bench.mem["taut_s"][other] = 0
    torn.bench.s["lever_angle_rad"][other] = LEVER_MAX - 0.5 * torn.MARGIN
    torn.bench.mem["lever_low_rad"][other] = LEVER_MAX - torn.MARGIN
    torn.bench.until(None, 300)
    P = torn.bench.mem["P_tj_m"]
    beside = bool(np.any((P[T] != 0.0) & (P[other] != 0.0)))
    assert (torn.named_s(0.9) < 0.05) is not beside


def test_one_that_snapped_from_a_low_tension_need_not_lack_the_whole_limit() -> None:
    snapped = Torn(0.0)
    snapped.put(LEVER_MAX - 0.1)
    snapped.bench.until(None, 200)
    assert snapped.named_s(0.5) == pytest.approx(LOST_S, abs=0.0007)
    assert snapped.bench.mem["snapped"][T] != 0


def test_each_visit_at_the_stop_has_its_own_beginning() -> None:
    torn = Torn(0.0)
    assert torn.named_s(0.3, most_s=0.02) == math.inf
    torn.put(LEVER_MAX - 1.5 * torn.MARGIN)
    torn.bench.detect()
    assert torn.named_s(0.49, most_s=0.02) == math.inf  # 0.3 as it came there this time
    torn.put(LEVER_MAX - 1.5 * torn.MARGIN)
    torn.lack(0.0)
    torn.bench.detect()
    assert torn.named_s(0.49) == pytest.approx(LOST_S, abs=0.0007)


@pytest.mark.parametrize("unknown", ["wrist", "limit"])
def test_where_lengths_tell_nothing_a_dip_may_last(unknown: str) -> None:
    bench = Bare("hasy")
    bench.s["ref_tension_n"][T] = LITTLE_N
    if unknown == "wrist":
        bench.m["use_wrist"] = 0
    else:
        bench.m["residual_limit_m"][0] = 0.0
    bench.s["tendon_length_m"][T] = 0.0
    bench.until(None, 300)
    lever = LEVER_MAX - 0.05
    while lever < LEVER_MAX - 0.001:
        bench.s["lever_angle_rad"][T] = lever
        bench.detect()
        lever += 0.0001
    bench.s["tendon_length_m"][T] = -0.005
    assert bench.until(None, 1000) * bench.dt_s == pytest.approx(0.150, abs=0.030)
    assert bench.found is not None and bench.found[:2] == (Cause.TENSION_LOST, T)


@pytest.mark.parametrize("rate_hz", [50.0, 200.0, 500.0, 1000.0, 2000.0, 3000.0, 20000.0])
def test_at_no_rate_one_cycle_is_a_proof_and_no_more_than_two_or_its_time_are_asked_for(
    rate_hz: float,
) -> None:
    bench = Bare()
    bench.m["dt_s"] = 1.0 / rate_hz
    counted = [k for k in range(1, 100) if lacks_for_sure(bench.m, k / rate_hz)]
    assert counted[0] == max(2, math.floor(TORN_S * rate_hz) + 1)


@pytest.mark.parametrize(("axes", "used"), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)])
def test_a_wrist_hides_what_is_torn_only_where_there_is_one_whose_lengths_are_not_removed(
    axes: int, used: int
) -> None:
    bench = Torn(0.5).bench
    bench.m["n_axes"], bench.m["use_wrist"], bench.mem["slack_from_m"][T] = axes, used, 0.0
    assert is_torn(bench.m, bench.mem, 0, T, missing_m(bench.m, bench.s, T)) is (axes == 0 or used == 1)
