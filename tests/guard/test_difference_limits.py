"""A sensor of the difference of two forces: a count that stands, a rail, silence, each at its limit."""

from __future__ import annotations

import math
from typing import Any

import pytest

from guard.channel_checks import degraded, has_channel
from guard.hall_checks import check_differences
from signals.faults import Cause
from signals.modes import ChannelStatus
from tests.rigs.bare import COUNT, Bare

AT, AGAINST, BLIND = 6, 0, 5
"""The tendon in whose channel it is, the other one; one whose channel nobody has."""
RAIL_S, LOST_S = 0.005, 0.005


class Differing(Bare):
    """The bench's finger with a difference in the place of one sensor, and one tendon without any."""

    def made(self, hand: str) -> Any:
        """The bench's record; ``AGAINST`` is the first of all tendons."""
        model = super().made(hand)
        m = model[0]
        m["hall_weight"][[AT, BLIND]] = 0.0
        m["n_differences"], m["difference_to"][:] = 1, -1
        m["difference_to"][AT] = AGAINST
        m["hall_noise_count"][:8] = 0.5
        return model

    def noisy(self, rate: float) -> Differing:
        """As if noise had changed the count in a share of the samples so far."""
        self.mem["change_rate"][AT] = self.mem["anchor_rate"][AT] = rate
        return self

    def wind(self, metres: float) -> Differing:
        """Its motor winds a way of tendon, and nobody is surprised by its speed."""
        i = int(self.m["tendon_motor"][AT])
        self.s["motor_angle_rad"][i] += metres / float(self.m["spool_radius_m"][AT])
        self.mem["last_angle_rad"][i] = self.s["motor_angle_rad"][i]
        return self

    def show(self, count: int, cycles: int = 1) -> int:
        """Cycles with a count until something is found."""
        self.z["hall_count"][AT] = count
        return self.until(None, cycles)


# --- a count that stands ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.21, 0.5, 0.9])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_it_is_stuck_after_forty_changes_that_did_not_come(rate: float, sign: float) -> None:
    bench = Differing().noisy(rate).wind(sign * 51e-6)
    assert abs(bench.until(None, 400) - 40.0 / rate) <= 1
    expected = Cause.HALL_STUCK, AT, pytest.approx(0.051, rel=1e-3), pytest.approx(0.05)
    assert bench.found == expected


@pytest.mark.parametrize("metres", [0.0, 49e-6, -49e-6])
def test_while_its_motor_stands_it_may_stand(metres: float) -> None:
    assert Differing().noisy(0.5).wind(metres).until(None, 400) == 401


def test_one_that_noise_did_not_change_is_not_called_silent() -> None:
    assert Differing().noisy(0.19).wind(60e-6).until(None, 900) == 901
    quiet = Differing()
    quiet.m["hall_noise_count"][AT] = 0.0
    assert quiet.noisy(0.5).wind(60e-6).until(None, 900) == 901


def test_what_counts_begins_anew_with_every_change() -> None:
    bench = Differing().noisy(0.5).wind(45e-6)
    assert bench.until(None, 300) == 301
    assert bench.show(COUNT + 1) == 2
    assert bench.wind(45e-6).until(None, 300) == 301, "90 um in all, 45 of them since it changed"
    bench = Differing().noisy(0.5).wind(60e-6)
    assert bench.until(None, 70) == 71
    assert bench.show(COUNT + 1) == 2
    rate = float(bench.mem["anchor_rate"][AT])
    assert bench.wind(60e-6).until(None, 400) == math.floor(40.0 / rate) + 1, "from there on"


def test_the_share_of_changes_has_a_memory_of_five_hundred_samples() -> None:
    bench = Differing()
    for k in range(500):
        bench.show(COUNT + 1 + k % 2)
    assert bench.mem["change_rate"][AT] == pytest.approx(1.0 - math.exp(-1.0), abs=0.01)
    assert bench.mem["anchor_rate"][AT] == bench.mem["change_rate"][AT]
    bench.until(None, 500)
    assert bench.mem["change_rate"][AT] == pytest.approx((1.0 - math.exp(-1.0)) * math.exp(-1.0), abs=0.01)
    assert bench.mem["anchor_rate"][AT] > bench.mem["change_rate"][AT], "as it was when it last changed"


def test_a_sample_counts_once_however_often_it_is_looked_at() -> None:
    bench = Differing().noisy(0.5).wind(60e-6)
    for _ in range(60):
        bench.detect()
        for _ in range(9):
            check_differences(bench.m, bench.mem, bench.z, bench.s)
        assert bench.found is None
    assert bench.until(None, 400) == pytest.approx(20, abs=1)


def test_before_a_hand_is_armed_its_motors_may_be_wound_by_hand() -> None:
    """Whether the samples are new or not: what is shown as it is armed is where it begins."""
    for anew in (True, False):
        bench = Differing().noisy(0.5)
        bench.mem["started"] = 0
        for _ in range(300):
            bench.wind(60e-6)
            bench.stamp()
            if not anew:
                bench.z["hall_time_ns"][AT] = bench.mem["hall_sample_ns"][AT]
            check_differences(bench.m, bench.mem, bench.z, bench.s)
            assert bench.s["finger_cause"][0] == Cause.NONE
        bench.mem["started"] = 1
        assert bench.wind(49e-6).until(None, 400) == 401


# --- a rail -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("away", "rail"), [(0, True), (1, False)])
@pytest.mark.parametrize("top", [False, True])
def test_five_milliseconds_at_an_end_of_its_range_are_a_rail(away: int, rail: bool, top: bool) -> None:
    bench = Differing()
    most = int(bench.m["hall_count_max"][AT])
    count = most - away if top else away
    used = bench.show(count, 60)
    assert used == (bench.cycles(RAIL_S) if rail else 61)
    assert bench.found == ((Cause.HALL_SATURATED, AT, count, most) if rail else None)


def test_short_visits_at_a_rail_do_not_add_up() -> None:
    bench, few = Differing(), Differing().cycles(RAIL_S) - 1
    for _ in range(5):
        assert bench.show(0, few) == few + 1
        assert bench.show(COUNT) == 2
    assert bench.show(0, few + 1) == few + 1


def test_it_may_jump_as_a_load_does() -> None:
    """No lever tells how fast a force may change."""
    bench = Differing()
    for k in range(60):
        assert bench.show(COUNT + 1500 * (k % 2)) == 2


# --- its channel ------------------------------------------------------------------------------------------


def test_whose_channel_is_used() -> None:
    bench = Differing()
    assert [t for t in range(8) if not has_channel(bench.m, t)] == [BLIND]
    bench.m["n_differences"] = 0
    assert [t for t in range(8) if not has_channel(bench.m, t)] == [BLIND, AT]


@pytest.mark.parametrize("t", [AT, BLIND])
def test_it_is_lost_when_it_says_nothing_and_at_no_rail_meanwhile(t: int) -> None:
    bench = Differing()
    bench.z["hall_status"][t], bench.z["hall_count"][t] = int(ChannelStatus.MISSING), 0
    used = bench.until(None, 60)
    assert used == (bench.cycles(LOST_S) if t == AT else 61)
    assert bench.found is None or bench.found[:2] == (Cause.HALL_LOST, AT)
    assert bench.mem["rail_s"][t] == 0.0


@pytest.mark.parametrize("t", [AT, BLIND])
def test_an_old_sample_of_it_degrades_its_tendon(t: int) -> None:
    bench = Differing()
    bench.z["hall_time_ns"][t] -= round(1.01e9 * float(bench.m["measurement_age_s"][1]))
    assert degraded(bench.m, bench.z, bench.s, t) is (t == AT)
