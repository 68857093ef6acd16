"""Which of several tendons that go slack is the lost one: the one that fell first; what it threw has time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.tension_checks import fell_after_another
from signals.faults import Cause
from tests.rigs.bare import Bare
from tests.rigs.detecting import LEVER_MAX, Slack

MS = 1_000_000
NOW_NS = 10**9
FALLEN = LEVER_MAX - 0.1
"""Where a lever comes to that falls, but not to its stop."""


def after_another(own_ns: int, other_ns: int, now_ns: int = NOW_NS, other: int = 5) -> bool:
    bench = Bare("hasy")
    tendons = bench.m["finger_tendon"][1]
    t = int(tendons[0])
    bench.mem["fell_ns"][:] = 0
    bench.mem["fell_ns"][t] = own_ns
    bench.mem["fell_ns"][int(tendons[1]) if other == 5 else other] = other_ns
    return bool(fell_after_another(bench.m, bench.mem, 1, t, now_ns))


@given(own=st.integers(0, 29 * MS), before=st.integers(-60 * MS, 60 * MS))
def test_a_tendon_was_thrown_by_one_that_fell_less_than_thirty_milliseconds_before_it(
    own: int, before: int
) -> None:
    fell = NOW_NS - own
    assert after_another(fell, fell - before) is (0 < before < 30 * MS)


@pytest.mark.parametrize(
    ("own_ms", "other_ms", "thrown"), [(31, 1, True), (31, 29, True), (31, 31, False), (29, 1, False)]
)
def test_a_fall_of_more_than_thirty_milliseconds_ago_is_past(
    own_ms: int, other_ms: int, thrown: bool
) -> None:
    """It glided to its stop since: what counts is that it comes there now."""
    assert after_another(NOW_NS - own_ms * MS, NOW_NS - other_ms * MS) is thrown


def test_thirty_milliseconds_are_over_with_the_last_nanosecond() -> None:
    now, most = NOW_NS, 30 * MS
    assert after_another(now, now - most + 1) and not after_another(now, now - most)
    # its own fall counts up to then; from then on its arrival does
    assert not after_another(now - most + 1, now - MS) and after_another(now - most, now - MS)


def test_one_that_never_fell_throws_nothing_and_other_fingers_do_not_either() -> None:
    assert not after_another(5 * MS, 0, now_ns=10 * MS)
    assert after_another(5 * MS, 1, now_ns=10 * MS)
    assert not after_another(0, 0, now_ns=10 * MS)
    bench = Bare("hasy")
    elsewhere = int(bench.m["finger_tendon"][2][0])
    assert after_another(0, NOW_NS - MS)
    assert not after_another(0, NOW_NS - MS, other=elsewhere)


def fall(bench: Bare, t: int) -> None:
    bench.s["lever_angle_rad"][t] = FALLEN
    bench.detect()


@pytest.mark.parametrize(("apart_s", "allowed_s"), [(0.001, 0.150), (0.029, 0.150), (0.031, 0.004)])
def test_what_was_thrown_may_come_back_as_after_a_dip(apart_s: float, allowed_s: float) -> None:
    slack = Slack()
    fall(slack.bench, 1)
    slack.bench.until(None, round(apart_s / slack.bench.dt_s) - 1)
    assert slack.lasts() == pytest.approx(allowed_s, abs=0.001)


def test_one_that_fell_first_is_lost_whatever_falls_after_it() -> None:
    slack = Slack()
    slack.put(LEVER_MAX - 0.5 * slack.MARGIN)
    slack.bench.detect()
    fall(slack.bench, 1)
    assert slack.lasts() == pytest.approx(0.004, abs=0.001)


def test_a_thrown_tendon_that_was_never_taut_is_still_being_wound_in() -> None:
    slack = Slack()
    slack.bench.mem["taut"][2] = slack.bench.mem["taut_s"][2] = 0
    fall(slack.bench, 1)
    assert slack.lasts() == pytest.approx(0.6, abs=0.002)


def test_each_visit_at_the_stop_is_judged_by_its_own_beginning() -> None:
    slack = Slack()
    fall(slack.bench, 1)
    slack.put(LEVER_MAX - 0.5 * slack.MARGIN)
    slack.bench.until(None, 20)
    assert slack.bench.mem["thrown"][2] != 0 and slack.bench.found is None
    slack.put(LEVER_MAX - 0.05)
    assert slack.bench.until(None, 400) == 401
    slack.glide(0.0001)
    assert slack.lasts() == pytest.approx(0.010, abs=0.001)
    assert slack.bench.mem["thrown"][2] == 0


def test_a_fall_begins_once_and_is_over_when_its_mean_has_caught_up() -> None:
    """The low-pass of 50 Hz is within 0.025 rad of a step of 0.18 after 6.3 ms."""
    slack = Slack()
    bench = slack.bench
    times = []
    for _ in range(2):
        fall(bench, 1)
        times.append(int(bench.s["time_ns"]))
        for k in range(60):
            assert bench.mem["fell_ns"][1] == times[-1]
            if not 15 <= k <= 20:
                assert bool(bench.mem["falling"][1]) is (k < 15)
            bench.detect()
        bench.s["lever_angle_rad"][1] = FALLEN - 0.18
        bench.until(None, 200)
    assert times[1] > times[0] and bench.found is None


def test_what_fell_before_the_hand_was_armed_is_forgotten() -> None:
    slack = Slack()
    bench = slack.bench
    fall(bench, 1)
    assert bench.mem["fell_ns"][1] > 0
    bench.mem["started"] = 0
    bench.detect()
    assert bench.mem["fell_ns"][1] == 0
    bench.mem["started"] = 1
    assert slack.lasts() == pytest.approx(0.004, abs=0.001)
    assert bench.found is not None and bench.found[0] == Cause.TENSION_LOST
