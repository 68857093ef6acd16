"""Sensors at joints, detector by detector: at its limit, in its time, and what it takes for no fault."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.channel_checks import CHANGING, RATE_SHARE, SILENT
from guard.joint_sensor_checks import (
    APART_S,
    BANDS,
    JUMP_CYCLES,
    JUMP_S,
    MOVED_RAD,
    NOISE_FACTOR,
    NOISE_SHARE,
    SAME,
    SILENT_S,
    TIME_FACTOR,
    TIME_PERIODS,
    check_joint_sensors,
)
from guard.machine import clear_causes
from mechanics.plausible import JOINT_NOISE, LEAST_NOISE, NEWEST_NS
from signals.faults import Cause
from signals.modes import ChannelStatus, MachineState
from tests.rigs.bare import Bare

J, OTHER = 2, 0
NOISE_RAD, BAND_RAD, SIDE_RAD, JUMP_RAD_S = 1e-4, 0.02, 0.08, 30.0
AGE_S = 0.02


class Sensed(Bare):
    """The bench's finger with sensors at two joints, whose counts change in every cycle."""

    def __init__(self, slower: int = 1) -> None:
        super().__init__()
        self.slower(slower)
        m = self.m
        m["n_joint_sensors"], m["measurement_age_s"][:] = 2, (0.0, 0.0, AGE_S)
        for j in (J, OTHER):
            m["joint_weight_m2"][j] = 1e-4
            m["joint_noise_rad"][j], m["joint_band_rad"][j] = NOISE_RAD, BAND_RAD
            m["joint_side_rad"][j], m["joint_jump_rad_s"][j] = SIDE_RAD, JUMP_RAD_S
        self.count = 100
        self.mem["started"] = 0
        self.look()
        self.mem["started"] = 1

    @property
    def way_rad(self) -> float:
        """Greatest change of an error in a cycle."""
        return JUMP_RAD_S * self.dt_s + JOINT_NOISE * NOISE_RAD

    def look(self, error_rad: float | None = None, samples: bool = True, changes: bool = True) -> None:
        """One cycle: the sensors say a new count and differ by an error; or they are silent."""
        self.stamp()
        self.count += changes
        if error_rad is not None:
            self.s["joint_sensor_error_rad"][J] = error_rad
        self.z["joint_count"][OTHER] = 7000 + self.tick % 2
        self.z["joint_time_ns"][OTHER] = self.s["time_ns"]
        if samples:
            self.z["joint_count"][J] = self.count
            self.z["joint_time_ns"][J] = self.s["time_ns"]
        check_joint_sensors(self.m, self.mem, self.z, self.s)

    @property
    def cause(self) -> Cause:
        assert not self.s["joint_sensor_cause"][OTHER], "the other one is sound"
        return Cause(int(self.s["joint_sensor_cause"][J]))

    def lasts(self, step: Callable[[], None], most: int = 3000) -> int:
        """Cycles until something is found, each a ``step``; ``most`` + 1 if nothing is."""
        for k in range(1, most + 1):
            step()
            if self.cause or self.found:
                return k
        return most + 1

    def glide(self, to_rad: float) -> Sensed:
        """The error goes to a value, as slowly as no detector minds."""
        error = float(self.s["joint_sensor_error_rad"][J])
        step = 20.0 * NOISE_RAD
        for e in np.linspace(error, to_rad, max(2, math.ceil(abs(to_rad - error) / step))):
            self.look(float(e))
        assert not self.cause and not self.found
        return self


# --- silence ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit_s", "lost_s"), [(AGE_S, AGE_S), (0.0, SILENT_S)])
def test_a_silent_sensor_is_lost_after_the_age_that_a_measurement_may_have(
    limit_s: float, lost_s: float
) -> None:
    bench = Sensed()
    bench.m["measurement_age_s"][2] = limit_s
    assert abs(bench.lasts(lambda: bench.look(samples=False)) - bench.cycles(lost_s)) <= 1
    assert bench.cause is Cause.JOINT_SENSOR_LOST and bench.found is None, "nothing stops"


UNUSED = ("missing", "no number", "of the future")


@pytest.mark.parametrize("why", UNUSED)
def test_a_sample_that_is_none_is_silence(why: str) -> None:
    bench = Sensed()

    def step() -> None:
        bench.z["joint_status"][J] = int(ChannelStatus.MISSING) if why == "missing" else 0
        bench.look()

    if why == "no number":

        def step() -> None:
            bench.count = math.nan  # type: ignore[assignment]
            bench.look()

    elif why == "of the future":

        def step() -> None:
            bench.look(samples=False)
            bench.z["joint_time_ns"][J] = bench.s["time_ns"] + 2 * NEWEST_NS

    assert abs(bench.lasts(step) - bench.cycles(AGE_S)) <= 1
    assert bench.cause is Cause.JOINT_SENSOR_LOST


def test_a_word_ends_the_silence_and_a_slow_sensor_is_none() -> None:
    """One sample in every twentieth cycle; what is beyond a joint's way in one cycle is not in twenty."""
    bench = Sensed()
    bench.m["joint_side_rad"][J] = 10.0
    step = 0.9 * 20 * JUMP_RAD_S * bench.dt_s
    assert step > 5.0 * bench.way_rad
    for k in range(400):
        bench.look(step if k >= 200 else 0.0, samples=k % 20 == 0)
    assert bench.mem["joint_silent_s"][J] == pytest.approx(19 * bench.dt_s)
    assert not bench.cause


def test_one_that_is_left_out_stays_so_until_the_hand_is_armed_anew() -> None:
    bench = Sensed()
    bench.lasts(lambda: bench.look(samples=False))
    for _ in range(50):
        bench.look()
    assert bench.cause is Cause.JOINT_SENSOR_LOST
    silent = float(bench.mem["joint_silent_s"][J])
    assert silent > AGE_S
    bench.mem["started"] = 0
    bench.look()
    bench.look(samples=False)
    assert not bench.cause and bench.mem["joint_silent_s"][J] == bench.dt_s


def test_silence_before_a_hand_is_armed_is_none_of_its_sensors() -> None:
    fresh, silent = Sensed(), Sensed()
    for _ in range(round(0.9 * AGE_S / silent.dt_s)):
        silent.look(samples=False)
    for bench in (fresh, silent):
        bench.mem["started"] = 0
        bench.look(samples=False)
        bench.mem["started"] = 1
    lasted = [bench.lasts(lambda bench=bench: bench.look(samples=False)) for bench in (fresh, silent)]
    assert lasted[0] == lasted[1] == pytest.approx(AGE_S / fresh.dt_s, abs=2)


def test_to_clear_causes_takes_sensors_in_again() -> None:
    bench = Sensed()
    bench.s["joint_sensor_cause"][: bench.joints] = int(Cause.JOINT_SENSOR_STUCK)
    clear_causes(bench.m, bench.s)
    assert not bench.s["joint_sensor_cause"].any()


def test_a_joint_without_a_sensor_is_not_judged() -> None:
    bench = Sensed()
    bench.m["joint_weight_m2"][J] = 0.0
    assert bench.lasts(lambda: bench.look(3.0, samples=False), 300) == 301


def test_it_is_asked_only_where_there_is_one() -> None:
    """The detectors' own list."""
    for sensors, lost in ((0, False), (1, True), (2, True)):
        bench = Sensed()
        bench.m["n_joint_sensors"] = sensors
        for _ in range(bench.cycles(AGE_S)):
            bench.detect()
        assert bool(bench.s["joint_sensor_cause"][J] != 0) is lost


# --- jumps ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("slower", [1, 12])
def test_a_jump_that_stays_is_named_after_its_time(sign: float, slower: int) -> None:
    """Three milliseconds, or as many samples as make it sure."""
    bench = Sensed()
    bench.slower(slower)
    bench.m["joint_noise_rad"][J] = 10.0 * NOISE_RAD  # one step is no noise
    way = JUMP_RAD_S * bench.dt_s + JOINT_NOISE * 10.0 * NOISE_RAD
    bench.m["joint_side_rad"][J] = 10.0
    within = max(JUMP_S, JUMP_CYCLES * bench.dt_s)
    assert (within > JUMP_S) is (slower > 1)
    used = bench.lasts(lambda: bench.look(sign * 1.01 * way))
    assert abs(used - bench.cycles(within)) <= (1 if slower == 1 else 0)
    assert bench.cause is Cause.JOINT_SENSOR_JUMP


def test_a_change_that_a_joint_can_make_is_no_jump() -> None:
    """Back and forth by all of it, at the noise that explains it."""
    bench = Sensed()
    bench.m["joint_noise_rad"][J], bench.m["joint_jump_rad_s"][J] = 0.01, 0.0
    errors = iter([0.05, 0.11, 0.0, 0.11] + 100 * [0.0, 0.03])
    bench.m["joint_side_rad"][J] = 10.0
    assert bench.lasts(lambda: bench.look(next(errors)), 204) == 205


def test_a_spike_that_comes_back_is_none_and_the_next_one_has_its_own_time() -> None:
    bench = Sensed()
    bench.m["joint_noise_rad"][J] = 10.0 * NOISE_RAD
    bench.m["joint_side_rad"][J] = 0.01
    short = bench.cycles(JUMP_S) - 2
    errors = ([0.03] * short + [0.0] * 20) * 4
    at = iter(errors)
    assert bench.lasts(lambda: bench.look(next(at)), len(errors)) == len(errors) + 1
    assert bench.mem["joint_apart_s"][J] == 0.0, "what may be a jump is no drift"


# --- noise ------------------------------------------------------------------------------------------------


def alternating(bench: Sensed, size_rad: float) -> Callable[[], None]:
    """An error that goes to and fro: its second difference is four times its size."""
    return lambda: bench.look(size_rad * (1.0 if bench.tick % 2 else -1.0))


@pytest.mark.parametrize("speed_rad_s", [0.0, 0.3, -30.0])
def test_noise_is_named_beyond_what_the_file_tells_six_times_and_times_of_samples_three_times(
    speed_rad_s: float,
) -> None:
    """White noise of rms n has second differences of sqrt(6) n."""
    for share, noisy in ((0.97, False), (1.1, True)):
        bench = Sensed()
        bench.m["joint_jump_rad_s"][J] = 1e3
        bench.s["joint_speed_rad_s"][J] = speed_rad_s
        late_rad = TIME_PERIODS * bench.dt_s * abs(speed_rad_s)
        size = share * math.sqrt(6.0) * (NOISE_FACTOR * NOISE_RAD + TIME_FACTOR * late_rad) / 4.0
        bench.lasts(alternating(bench, size), 600)
        assert bench.cause is (Cause.JOINT_SENSOR_NOISY if noisy else Cause.NONE)


def test_noise_is_an_average_over_samples_in_which_no_step_counts_too_much() -> None:
    bench = Sensed()
    bench.m["joint_jump_rad_s"][J] = 1e3
    limit = NOISE_FACTOR * math.sqrt(6.0) * NOISE_RAD
    # at twice the limit per step 1 - (1 - 1/32)^n > 1/4
    most = math.ceil(math.log(0.75) / math.log(1.0 - NOISE_SHARE))
    for far in (3.0, 1000.0):
        bench = Sensed()
        bench.m["joint_jump_rad_s"][J], bench.m["joint_side_rad"][J] = 1e6, 1e3
        assert bench.lasts(alternating(bench, far * limit)) == most
        assert bench.cause is Cause.JOINT_SENSOR_NOISY
    assert most > 8


@pytest.mark.parametrize("slower", [1, 12])
@pytest.mark.parametrize(("periods", "noisy"), [(0.5, False), (2.0, True)])
def test_a_time_that_is_not_known_to_part_of_a_period_is_no_noise(
    slower: int, periods: float, noisy: bool
) -> None:
    """A joint that turns evenly, its sensor's samples of times that are off by so many periods, rms."""
    bench, speed, rng = Sensed(slower), 30.0, np.random.default_rng(7)
    bench.m["joint_jump_rad_s"][J], bench.m["joint_side_rad"][J] = 1e3, 1e3
    bench.s["joint_speed_rad_s"][J] = speed
    bench.lasts(lambda: bench.look(float(speed * periods * bench.dt_s * rng.normal())), 400)
    assert bench.cause is (Cause.JOINT_SENSOR_NOISY if noisy else Cause.NONE)
    still = Sensed(slower)
    still.m["joint_jump_rad_s"][J], still.m["joint_side_rad"][J] = 1e3, 1e3
    still.lasts(lambda: still.look(float(speed * periods * still.dt_s * rng.normal())), 400)
    assert still.cause is Cause.JOINT_SENSOR_NOISY, "of a joint that stands it is noise"


def test_a_steady_motion_of_the_error_is_no_noise() -> None:
    """However fast: a second difference of it is none."""
    bench = Sensed()
    bench.m["joint_jump_rad_s"][J], bench.m["joint_side_rad"][J] = 1e3, 1e3
    step = 100.0 * NOISE_RAD
    bench.look(0.0)
    at = [float(bench.s["joint_sensor_error_rad"][J])]

    def move() -> None:
        at[0] += step
        bench.look(at[0])

    assert bench.lasts(move, 500) == 501


def test_the_noise_follows_its_definition() -> None:
    """Against numpy, over errors within all limits."""
    bench, rng = Sensed(), np.random.default_rng(5)
    errors = rng.normal(0.0, NOISE_RAD, 60)
    first = float(bench.s["joint_sensor_error_rad"][J])
    bench.mem["started"] = 0
    bench.look(first)
    bench.mem["started"] = 1
    mean = 0.0
    seconds = np.diff(np.r_[first, first, errors], 2)
    for error, second in zip(errors, seconds, strict=True):
        bench.look(float(error))
        mean += NOISE_SHARE * (second**2 - mean)
        of_limit = mean / (6.0 * (NOISE_FACTOR * NOISE_RAD) ** 2)
        assert bench.mem["joint_noise_share"][J] == pytest.approx(of_limit, rel=1e-9)
    assert mean == pytest.approx(6.0 * NOISE_RAD**2, rel=0.5)


# --- standing still ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(("share", "stuck"), [(0.99, False), (1.01, True)])
def test_a_count_that_stays_while_the_joint_turns_further_than_friction_hides_is_stuck(
    sign: float, share: float, stuck: bool
) -> None:
    """From where it stood; the other side of a joint that turned before is no evidence."""
    bench = Sensed().glide(-sign * 0.02)
    way = BANDS * BAND_RAD + JOINT_NOISE * NOISE_RAD
    for e in np.linspace(-sign * 0.02, -sign * 0.02 + sign * share * way, 20):
        bench.look(float(e), changes=False)
    assert bench.cause is (Cause.JOINT_SENSOR_STUCK if stuck else Cause.NONE)


def test_a_few_samples_of_the_same_count_are_not_stuck() -> None:
    """A joint that is thrown within them; the count goes on in time."""
    bench = Sensed()
    bench.m["joint_noise_rad"][J], bench.m["joint_band_rad"][J] = 10.0 * NOISE_RAD, 1e-4
    bench.m["joint_side_rad"][J], bench.m["joint_jump_rad_s"][J] = 10.0, 1e3
    step = 0.03
    at = [0.0]

    def thrown(changes: bool) -> None:
        at[0] += step
        bench.look(at[0], changes=changes)

    for _ in range(3):
        thrown(True)
        for _ in range(SAME - 1):
            thrown(False)
        assert not bench.cause
    thrown(False)
    assert bench.cause is Cause.JOINT_SENSOR_STUCK


RATE = 0.5


@pytest.mark.parametrize(
    ("changes", "turned", "rate", "noise_count", "stuck"),
    [
        (1.02, 1.01, RATE, LEAST_NOISE, True),
        (0.98, 1.01, RATE, LEAST_NOISE, False),
        (1.02, 0.99, RATE, LEAST_NOISE, False),
        (1.02, -1.01, RATE, LEAST_NOISE, True),
        (1.02, 1.01, 1.05 * CHANGING, LEAST_NOISE, True),
        (1.02, 1.01, 0.95 * CHANGING, LEAST_NOISE, False),
        (1.02, 1.01, RATE, 0.99 * LEAST_NOISE, False),
    ],
)
def test_a_noisy_count_that_stands_is_stuck_once_its_noise_would_have_changed_it_often(
    changes: float, turned: float, rate: float, noise_count: float, stuck: bool
) -> None:
    """Where the joint turns by less than friction may hide; a quiet count may stand there."""
    bench = Sensed()
    bench.m["joint_noise_count"][J] = noise_count
    bench.mem["joint_change_rate"][J] = (rate - RATE_SHARE) / (1.0 - RATE_SHARE)
    bench.look(0.0)
    assert bench.mem["joint_anchor_rate"][J] == pytest.approx(rate)
    last = math.ceil(changes * SILENT / rate)
    for k in range(last):
        bench.look(turned * MOVED_RAD * min(1.0, k / 10), changes=False)
        assert not bench.cause or k == last - 1 or changes > 1.0
    assert bench.cause is (Cause.JOINT_SENSOR_STUCK if stuck else Cause.NONE)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_how_often_a_count_changes_is_an_average_over_its_samples(changed: list[bool]) -> None:
    """Noted anew as the count changes and where all begins: what is compared is from before it stood."""
    bench, rate = Sensed(), 0.3
    bench.mem["joint_change_rate"][J] = rate
    anchor = float(bench.mem["joint_anchor_rate"][J])
    for one in changed:
        bench.look(changes=one)
        rate = (1.0 - RATE_SHARE) * rate + RATE_SHARE * one
        anchor = rate if one else anchor
        assert bench.mem["joint_change_rate"][J] == pytest.approx(rate)
        assert bench.mem["joint_anchor_rate"][J] == pytest.approx(anchor)
    bench.mem["started"] = 0
    bench.look()
    assert bench.mem["joint_anchor_rate"][J] == pytest.approx(rate)


# --- two sides --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_difference_that_comes_slowly_and_stays_is_a_fault_of_the_finger(sign: float) -> None:
    bench = Sensed(slower=8).glide(sign * 0.99 * SIDE_RAD)
    assert bench.lasts(bench.look, 100) == 101
    bench.glide(sign * 1.01 * SIDE_RAD)
    done = round(float(bench.mem["joint_apart_s"][J]) / bench.dt_s)
    assert abs(bench.lasts(bench.look) - (bench.cycles(APART_S) - done)) <= 1
    degrees = math.degrees(sign * 1.01 * SIDE_RAD), math.degrees(SIDE_RAD)
    assert bench.found == (Cause.JOINT_CONTRADICTED, J, *map(pytest.approx, degrees))
    assert not bench.cause, "its sensor may be the sound one"


def test_a_difference_that_goes_away_has_no_past() -> None:
    bench = Sensed(slower=8).glide(1.01 * SIDE_RAD)
    bench.lasts(bench.look, bench.cycles(0.8 * APART_S))
    bench.glide(0.99 * SIDE_RAD)
    assert bench.mem["joint_apart_s"][J] == 0.0 and bench.found is None


def test_a_sensor_that_is_wrong_itself_is_no_fault_of_the_finger() -> None:
    """In the very sample in which its time would be over."""
    bench = Sensed().glide(1.01 * SIDE_RAD)
    bench.mem["joint_apart_s"][J] = 2.0 * APART_S
    bench.mem["joint_noise_share"][J] = 100.0
    bench.look()
    assert bench.cause is Cause.JOINT_SENSOR_NOISY and bench.found is None


# --- where all begins -------------------------------------------------------------------------------------


@pytest.mark.parametrize("begins", ["armed", "finger in fault", "neither"])
def test_all_begins_as_the_hand_is_armed_and_while_a_finger_is_let_go(begins: str) -> None:
    """What was there before is no step, no noise, no time; another finger's fault is none of this one."""
    bench = Sensed()
    if begins == "armed":
        bench.mem["started"] = 0
    elif begins == "finger in fault":
        bench.s["finger_state"][0] = int(MachineState.FAULT)
    mem = bench.mem
    mem["joint_doubt_s"][J] = mem["joint_apart_s"][J] = mem["joint_slope_rad"][J] = 0.5
    mem["joint_noise_share"][J], mem["joint_same"][J] = 1e-12, 3
    bench.look(0.5)
    names = ("doubt_s", "apart_s", "slope_rad", "noise_share", "same", "anchor_rad", "before_rad", "last_rad")
    noted = {name: float(mem[f"joint_{name}"][J]) for name in names}
    fresh = dict.fromkeys(names, 0.0) | dict.fromkeys(names[-3:], 0.5)
    assert (noted == fresh) is (begins != "neither")
    if begins != "neither":
        assert mem["joint_count"][J] == bench.count and not bench.cause
        bench.s["finger_state"][0], bench.mem["started"] = int(MachineState.ACTIVE), 1
        bench.m["joint_side_rad"][J] = 10.0
        assert bench.lasts(lambda: bench.look(0.5), 300) == 301
