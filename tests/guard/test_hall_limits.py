"""A Hall count that stands, and one that jumps, each at its limit; figures as on the detectors' pages."""

from __future__ import annotations

import math

import pytest

from signals.faults import Cause
from tests.rigs.bare import COUNT, TENSION_N, Bare
from tests.rigs.counts import Contradicted, Counts

JUMP = 40.0 + 8.0 + 0.4 * TENSION_N
"""Counts: 40, eight times the noise of one, 0.4 per newton."""
LEVER_MAX = math.radians(15.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_jump_up_to_the_limit_is_motion(sign: float) -> None:
    counts = Counts()
    for k in range(1, 30):
        assert not counts.set(4, sign * (JUMP - 1.0) * (k % 2), 1)


@pytest.mark.parametrize(("sign", "seconds"), [(-1.0, 0.002), (1.0, 0.0055)])
def test_a_jump_that_stays_is_a_glitch_once_it_cannot_be_a_spike_or_a_tendon_that_gave_way(
    sign: float, seconds: float
) -> None:
    counts = Counts()
    assert not counts.set(4, sign * (JUMP + 1.0))
    used = counts.bench.until(None, 100)
    assert abs(used - counts.bench.cycles(seconds)) <= 1
    assert counts.found == (Cause.HALL_GLITCH, 4, pytest.approx(JUMP + 1.0), pytest.approx(JUMP))


@pytest.mark.parametrize(("moved", "glitch"), [(7.0, True), (9.0, False)])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_towards_slack_another_count_that_leaves_its_trend_makes_it_a_tendons_affair(
    moved: float, glitch: bool, sign: float
) -> None:
    """4 counts and four times the noise of one are 8."""
    counts = Counts()
    assert not counts.set(4, 100.0)
    counts.bench.z["hall_count"][7] += round(sign * moved)
    assert counts.bench.until(None, 60) == (61 if not glitch else 17)


def test_towards_tight_nothing_excuses_a_jump() -> None:
    counts = Counts()
    assert not counts.set(4, -100.0)
    counts.bench.z["hall_count"][7] += 30
    assert counts.bench.until(None, 60) <= 8
    assert counts.found is not None and counts.found[:2] == (Cause.HALL_GLITCH, 4)


def test_a_count_that_went_on_along_its_trend_excuses_nothing() -> None:
    """A count a cycle before the jump and after it: 17 in 5.5 ms, all of them expected."""
    counts = Counts()
    for k in range(1200):
        counts.bench.z["hall_count"][7] = COUNT - 1500 + k
        if k == 0:
            counts.bench.mem["last_count"][7] = COUNT - 1500
        counts.bench.detect()
        assert counts.found is None
    counts.bench.z["hall_count"][4] += 100
    for k in range(1200, 1250):
        counts.bench.z["hall_count"][7] = COUNT - 1500 + k
        counts.bench.detect()
        if counts.found:
            break
    assert counts.found is not None and counts.found[:2] == (Cause.HALL_GLITCH, 4)


@pytest.mark.parametrize(("apart_ms", "excused"), [(5.0, True), (18.0, True), (19.0, False)])
def test_a_jump_of_another_count_24_milliseconds_before_the_verdict_excuses_this_one(
    apart_ms: float, excused: bool
) -> None:
    counts = Counts()
    counts.bench.z["hall_count"][5] += 60
    assert not counts.set(4, 0.0, 1)
    # the first one comes back and is a spike
    counts.bench.z["hall_count"][5] -= 60
    assert not counts.set(4, 0.0, round(apart_ms * 3.0) - 1)
    assert counts.set(4, 100.0, 60) is not excused


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_third_spike_within_a_second_is_a_glitch(sign: float) -> None:
    for pause, spikes in ((200, 3), (2000, 9)):
        counts, seen = Counts(), 0
        while seen < 9 and counts.found is None:
            seen += 1
            counts.set(3, sign * 300.0)
            counts.set(3, 0.0)
            if counts.found is None:
                counts.bench.until(None, pause)
        assert seen == spikes
    # three in 0.13 s add up to more than 2.5; two thirds of a second apart they fade to 1.9 at most


def test_the_score_of_spikes_fades_with_a_second() -> None:
    counts = Counts()
    counts.set(3, 300.0)
    counts.set(3, 0.0)
    assert counts.bench.mem["glitch_score"][3] == pytest.approx(1.0)
    counts.bench.until(None, 3000)
    assert counts.bench.mem["glitch_score"][3] == pytest.approx(math.exp(-1.0), rel=1e-3)


def test_a_jump_to_a_rail_is_left_to_the_rails_detector() -> None:
    for value in (0, 4095):
        counts = Counts()
        assert counts.set(4, value - COUNT, 60)
        assert counts.found is not None and counts.found[0] == Cause.HALL_SATURATED


def test_a_hand_that_is_not_armed_may_be_moved_by_hand() -> None:
    counts = Counts()
    counts.bench.mem["started"] = 0
    for away in (100.0, -300.0, 700.0):
        assert not counts.set(4, away, 1)
    counts.bench.mem["started"] = 1
    assert not counts.set(4, 700.0, 60), "what it shows as it is armed is the truth"


# --- a count that stands ----------------------------------------------------------------------------------


class Wound:
    """A count that stands while its motor winds; ``rate``: share of cycles in which noise changed it."""

    def __init__(self, rate: float = 0.5, noise: float = 1.0) -> None:
        self.bench = Bare()
        self.bench.m["hall_noise_count"][:8] = noise
        self.bench.mem["change_rate"][6] = self.bench.mem["anchor_rate"][6] = rate
        self.bench.until(None, 1)
        self.bench.mem["same_cycles"][6] = 0

    def wind(self, metres: float, cycles: int) -> int:
        """Cycles until something is found with the motor wound by a way."""
        self.bench.s["motor_angle_rad"][6] += metres / 0.01
        self.bench.mem["last_angle_rad"][6] = self.bench.s["motor_angle_rad"][6]
        return self.bench.until(None, cycles)


@pytest.mark.parametrize("rate", [0.21, 0.5, 0.9])
def test_a_silent_channel_is_stuck_after_forty_changes_that_did_not_come(rate: float) -> None:
    wound = Wound(rate)
    used = wound.wind(51e-6, 400)
    assert abs(used - 40.0 / rate) <= 2
    assert wound.bench.found == (
        Cause.HALL_STUCK,
        6,
        pytest.approx(0.051, rel=1e-3),
        pytest.approx(0.05),
    )


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_winding_and_unwinding_count_alike_and_less_than_fifty_micrometres_do_not(sign: float) -> None:
    assert Wound().wind(sign * 49e-6, 400) == 401
    assert Wound().wind(sign * 51e-6, 400) < 100


def test_a_channel_that_never_was_noisy_is_not_called_silent() -> None:
    assert Wound(rate=0.19).wind(60e-6, 900) == 901
    assert Wound(noise=0.0).wind(60e-6, 900) == 901


def test_the_share_of_changes_has_a_memory_of_five_hundred_cycles() -> None:
    bench = Bare()
    for k in range(500):
        bench.z["hall_count"][6] = COUNT + k % 2
        bench.detect()
    assert bench.mem["change_rate"][6] == pytest.approx(1.0 - math.exp(-1.0), abs=0.01)
    assert bench.mem["anchor_rate"][6] == bench.mem["change_rate"][6]
    assert bench.mem["same_cycles"][6] == 0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_millimetre_wound_against_eight_changes_of_each_other_count_is_a_stuck_channel(sign: float) -> None:
    seen = Contradicted()
    assert not seen.run(sign * 1.01e-3, sign * 41e-6, 7)
    assert seen.run(sign * 1.01e-3, sign * 41e-6, 1), "the eighth"
    assert seen.bench.found == (Cause.HALL_STUCK, 6, pytest.approx(1.01), pytest.approx(1.0))
    assert not Contradicted().run(sign * 0.99e-3, sign * 41e-6, 30), "not far enough"
    assert not Contradicted().run(sign * 1.01e-3, sign * 39e-6, 30), "what rounding explains"


def test_at_its_slack_stop_a_lever_may_stand() -> None:
    assert not Contradicted(LEVER_MAX - math.radians(0.4)).run(2e-3, 1e-4, 30)
    assert Contradicted(LEVER_MAX - math.radians(0.6)).run(2e-3, 1e-4, 30)


def test_what_counts_begins_anew_with_every_change_of_the_count_itself() -> None:
    seen = Contradicted()
    assert not seen.run(0.9e-3, 30e-6, 20)
    seen.bench.z["hall_count"][6] += 1
    seen.bench.detect()
    assert not seen.run(1.8e-3, 69e-6, 7)
    assert not seen.run(1.8e-3, 69e-6, 20), "0.9 mm and 39 um since it changed"
    assert seen.run(1.91e-3, 71e-6, 1)


def test_other_fingers_changes_prove_nothing() -> None:
    bench = Bare("hasy")
    tendons = [int(t) for t in bench.m["finger_tendon"][1][: bench.m["finger_n_tendons"][1]]]
    t = tendons[0]
    bench.m["hall_noise_count"][:38] = 0.0
    radius = float(bench.m["spool_radius_m"][t])
    i = int(bench.m["tendon_motor"][t])
    bench.s["motor_angle_rad"][i] = bench.mem["last_angle_rad"][i] = 2e-3 / radius
    bench.s["residual_m"][t] = 1e-4
    for k in range(100):
        bench.z["hall_count"][:38] = COUNT + k % 2
        bench.z["hall_count"][tendons] = COUNT
        bench.detect()
    assert bench.found is None
