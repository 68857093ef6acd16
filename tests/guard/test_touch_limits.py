"""What tells a blow from a wrong sensor and from a lost tendon, each at its limit; and raw samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

from guard.detectors import detect
from guard.hall_checks import AGREE_SHARE, BLOW, NOISE_FACTOR
from guard.tension_checks import SLACK_START_S
from mechanics.plausible import motor_way_rad
from signals.faults import Cause
from signals.modes import ChannelStatus
from tests.rigs.bare import COUNT, LOST_M, TENSION_N, Bare

T = 4
LEVER_MAX = math.radians(15.0)


@pytest.mark.parametrize("counts", [-150, 150])
@pytest.mark.parametrize(("left", "found"), [(0.9 * AGREE_SHARE, False), (1.1 * AGREE_SHARE, True)])
def test_a_jump_that_the_other_tendons_agree_with_is_motion(counts: int, left: float, found: bool) -> None:
    bench = Bare()
    bench.strike(T, counts, left)
    assert (bench.until(None, 60) <= 60) is found
    assert not found or bench.found[:2] == (Cause.HALL_GLITCH, T)  # type: ignore[index]


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("share", "found"), [(0.98, False), (1.02, True)])
def test_no_blow_makes_more_of_a_jump_than_so_much_whatever_the_lengths_say(
    sign: int, share: float, found: bool
) -> None:
    """A tendon that alone sees a joint leaves no length that could contradict its count."""
    bench = Bare()
    m = bench.m
    limit = m["jump_count"] + NOISE_FACTOR * m["hall_noise_count"][T] + m["jump_count_n"] * TENSION_N
    bench.detect()
    bench.strike(T, sign * round(share * BLOW * limit), 0.0)
    assert (bench.until(None, 60) <= 60) is found
    assert not found or bench.found[:2] == (Cause.HALL_GLITCH, T)  # type: ignore[index]


def test_a_count_that_gets_fast_by_and_by_is_motion_though_nothing_else_explains_it() -> None:
    """50 counts more in every cycle: each change is soon above the limit of 56, no step of it."""
    bench = Bare()
    for k in range(1, 6):
        bench.strike(T, -50 * k, 0.5)
    assert bench.found is None
    bench.strike(T, -50 * 5 - 60, 0.5)
    assert bench.until(None, 3) == 4, "it takes 2 ms to tell it from a spike"
    assert bench.until(None, 60) <= 60


@pytest.mark.parametrize("slack", [False, True])
@pytest.mark.parametrize("moved", [False, True])
def test_with_a_slack_tendon_in_the_finger_a_jump_needs_the_others_to_stand(slack: bool, moved: bool) -> None:
    bench = Bare()
    bench.s["ref_tension_n"][:8] = 0.0
    bench.mem["taut"][:8] = 0
    if slack:
        bench.s["lever_angle_rad"][7] = LEVER_MAX
    bench.strike(T, -150, 0.5)
    if moved:
        bench.z["hall_count"][6] += 30
    assert (bench.until(None, 60) > 60) is (slack and moved)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_a_lever_at_its_stop_is_a_lost_tendon_only_if_its_path_asks_for_more(share: float) -> None:
    bench = Bare()
    bench.until(None, 300)
    bench.s["lever_angle_rad"][2] = LEVER_MAX
    bench.s["tendon_length_m"][2] = -share * float(bench.m["residual_limit_m"][0])
    lasts = bench.until(None, bench.cycles(SLACK_START_S) + 30)
    assert bench.found is not None and bench.found[:2] == (Cause.TENSION_LOST, 2)
    if share > 1.0:
        assert lasts <= bench.cycles(0.010)
    else:
        assert abs(lasts - bench.cycles(SLACK_START_S)) <= 1


def test_without_the_wrists_lengths_a_lever_at_its_stop_is_lost() -> None:
    bench = Bare("hasy")
    bench.m["use_wrist"] = 0
    bench.until(None, 300)
    bench.s["lever_angle_rad"][2] = LEVER_MAX
    bench.s["tendon_length_m"][2] = LOST_M
    assert bench.until(None, 60) <= bench.cycles(0.010)


@pytest.mark.parametrize(("share", "found"), [(0.99, False), (1.01, True), (1e6, True), (1e300, True)])
def test_an_angle_that_is_not_used_is_named_all_the_same(share: float, found: bool) -> None:
    bench = Bare()
    bench.stamp()
    way = share * motor_way_rad(bench.m, 3, bench.dt_s)
    bench.z["motor_angle_rad"][3] = bench.s["motor_angle_rad"][3] + way
    detect(bench.m, bench.mem, bench.z, bench.s)
    assert (bench.found is not None) is found
    assert not found or bench.found[:2] == (Cause.ENCODER_FAULT, 3)  # type: ignore[index]


def test_a_wrist_angle_that_is_not_used_is_named_all_the_same() -> None:
    bench = Bare("hasy")
    for _ in range(12):
        bench.stamp()
        bench.z["axis_angle_rad"][1] = bench.s["axis_angle_rad"][1] + 0.2
        detect(bench.m, bench.mem, bench.z, bench.s)
    assert bench.found is not None and bench.found[:2] == (Cause.WRIST_JUMP, 1)


def test_a_count_that_is_not_used_is_named_all_the_same() -> None:
    bench = Bare()
    bench.s["finger_status"][0] = int(ChannelStatus.OUT_OF_RANGE)
    for _ in range(20):
        bench.stamp()
        bench.z["hall_fine_count"][T] = 1e9
        detect(bench.m, bench.mem, bench.z, bench.s)
        if bench.found:
            break
    assert bench.found is not None and bench.found[:2] == (Cause.HALL_SATURATED, T)
    assert bench.z["hall_count"][T] == COUNT


@pytest.mark.parametrize("name", ["motor_time_ns", "hall_time_ns"])
@pytest.mark.parametrize("limit", [True, False])
@pytest.mark.parametrize("time_ns", [-(2**63), 0, 2**62, 2**63 - 1])
def test_a_sample_of_no_time_is_named(name: str, limit: bool, time_ns: int) -> None:
    bench = Bare()
    bench.s["time_ns"] += 10**10
    if not limit:
        bench.m["measurement_age_s"][2] = 0.0
    bench.detect()
    bench.stamp()
    bench.z[name][T] = time_ns
    detect(bench.m, bench.mem, bench.z, bench.s)
    named = Cause.MEASUREMENT_TOO_OLD if name == "motor_time_ns" else Cause.HALL_TOO_OLD
    assert bench.found is not None and bench.found[:2] == (named, T)
    assert np.isfinite(bench.found[2])
