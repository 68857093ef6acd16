"""What a cycle without a fault leaves in the guard's memory, and what begins anew after one."""

from __future__ import annotations

import numpy as np
import pytest

from guard.friction_checks import FAST_S, check_friction_growth
from guard.hall_checks import DISAGREE_SHARE, check_jump, check_new_length, elongation_of_count_m
from guard.latch import finger_of
from guard.memory import new_guard_memory
from guard.tension_checks import HIGH_S
from mechanics.low_pass import memory_share
from mechanics.springs import greatest_tension_n
from signals.faults import CAUSES, Cause
from signals.modes import ChannelStatus
from tests.rigs.bare import COUNT, Bare

T = 4


def test_a_memory_is_one_record_and_a_part_of_no_finger_is_the_hands() -> None:
    assert new_guard_memory().shape == (1,)
    bench = Bare()
    spaces = {CAUSES[c].space for c in CAUSES}
    assert spaces
    for space in range(-1, 12):
        found = finger_of(bench.m, space, int(bench.m["n_motors"]))
        assert found == -1 or found in (bench.m["tendon_finger"][8], bench.m["joint_finger"][8], 8)
    assert finger_of(bench.m, -1, 0) == -1


@pytest.mark.parametrize("name", ["motor_status", "hall_status"])
def test_a_cycle_in_which_no_channel_says_anything_is_noted_as_that(name: str) -> None:
    bench = Bare()
    bench.detect()
    assert bench.mem["all_well"] == 1
    bench.z[name][T] = int(ChannelStatus.STALE)
    bench.detect()
    assert bench.mem["all_well"] == 0
    bench.z[name][T] = 0
    bench.detect()
    assert bench.mem["all_well"] == 1


@pytest.mark.parametrize("turned", [0.9, 1.1])
def test_the_fast_average_of_friction_is_a_plain_mean_until_it_is_as_long_as_its_time(turned: float) -> None:
    bench, fast = Bare(), 0.25
    bench.s["motor_speed_rad_s"][T] = 1.0
    bench.mem["last_torque_nm"][T] = 1.2
    bench.mem["moved_s"][T] = turned * FAST_S - bench.dt_s
    check_friction_growth(bench.m, bench.mem, bench.s, 0, T, fast)
    excess = 1.2 - 20.0 * float(bench.m["spool_radius_m"][T])
    share = fast if turned > 1.0 else memory_share(bench.dt_s, turned * FAST_S)
    assert bench.mem["friction_fast_nm"][T] == pytest.approx(share * excess, rel=1e-9)


def test_a_tension_that_is_high_twice_for_a_moment_is_not_high_for_their_sum() -> None:
    bench = Bare()
    high = 1.1 * greatest_tension_n(bench.m, T)
    for _ in range(2):
        bench.s["tension_n"][T] = high
        assert bench.until(None, int(0.8 * HIGH_S / bench.dt_s)) > 1 and bench.found is None
        bench.s["tension_n"][T] = 20.0
        bench.detect()
    bench.s["tension_n"][T] = high
    assert bench.until(None, 100) >= int(HIGH_S / bench.dt_s)
    assert bench.found is not None and bench.found[:2] == (Cause.TENSION_TOO_HIGH, T)


def jumped(counts: int, left_share: float) -> tuple[Bare, float]:
    """Tendon ``T`` jumped towards slack; a share of its change is not explained. Bench and change [m]."""
    bench = Bare()
    bench.mem["glitch_from"][T], bench.mem["residual_at_jump_m"][T] = COUNT, 0.0004
    now = COUNT + counts
    change = abs(elongation_of_count_m(bench.m, T, now) - elongation_of_count_m(bench.m, T, COUNT))
    change *= float(bench.m["hall_weight"][T])
    bench.s["residual_m"][T] = 0.0004 + left_share * change
    return bench, change


@pytest.mark.parametrize("share", [0.9, 1.1, -0.9, -1.1])
def test_a_jump_towards_slack_that_its_joints_do_not_explain_is_named_with_its_millimetres(
    share: float,
) -> None:
    bench, change = jumped(120, share * DISAGREE_SHARE)
    check_new_length(bench.m, bench.mem, bench.s, 0, T, COUNT + 120)
    if abs(share) < 1.0:
        assert bench.found is None
        return
    assert bench.s["finger_cause"][0] == Cause.RESIDUAL_TOO_LARGE and bench.s["finger_cause_part"][0] == T
    limit = 1e3 * DISAGREE_SHARE * change
    assert bench.s["finger_cause_value"][0] == pytest.approx(abs(share) * limit)
    assert bench.s["finger_cause_limit"][0] == pytest.approx(limit)


@pytest.mark.parametrize("spared", ["no limit", "not in use", "at its stop"])
def test_a_length_that_nobody_can_judge_is_not(spared: str) -> None:
    bench, _ = jumped(120, 5.0)
    if spared == "no limit":
        bench.m["residual_limit_m"][0] = 0.0
    elif spared == "not in use":
        bench.m["hall_weight"][T] = 0.0
    else:
        bench.s["lever_angle_rad"][T] = bench.m["lever_max_rad"][bench.m["tendon_spring"][T]]
    bench.s["residual_m"][T] = 1.0
    check_new_length(bench.m, bench.mem, bench.s, 0, T, COUNT + 120)
    assert bench.s["finger_cause"][0] == Cause.NONE


def test_a_jump_notes_the_residual_before_it() -> None:
    bench = Bare()
    bench.s["residual_m"][T] = 0.0007
    bench.detect()
    bench.strike(T, 150, 0.5)
    assert bench.mem["residual_at_jump_m"][T] == pytest.approx(0.0007)


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_new_lengths_are_judged_where_there_is_no_wrist_or_where_it_is_known(hand: str) -> None:
    bench = Bare(hand)
    bench.m["use_wrist"] = 0
    bench.mem["glitch_from"][T], bench.mem["last_count"][T] = COUNT, COUNT + 150
    bench.mem["glitch_left_s"][T] = bench.dt_s  # what is left of the time to tell it from a spike
    bench.mem["since_jump_s"][:8] = 1.0
    bench.mem["since_jump_s"][T + 1] = 0.0  # another one jumped with it: a tendon may have given way
    bench.z["hall_time_ns"][:8] = bench.s["time_ns"]
    bench.mem["hall_sample_ns"][:8] = bench.s["time_ns"] - round(1e9 * bench.dt_s)
    bench.s["residual_m"][T] = 0.02
    towards = 1 if bench.m["hall_counts_rad"][T] > 0.0 else -1
    bench.mem["last_count"][T] = COUNT + towards * 150
    check_jump(bench.m, bench.mem, bench.z, bench.s, 0, T, COUNT + towards * 150, 1.0)
    expected = Cause.RESIDUAL_TOO_LARGE if bench.m["n_axes"] == 0 else Cause.NONE
    assert bench.s["finger_cause"][0] == expected
    assert np.isfinite(bench.s["finger_cause_value"][0])
