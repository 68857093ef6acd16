"""What detectors remember: from where they count, what makes them forget, what they may not learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.detectors import detect
from guard.residual_checks import skew_m
from signals.faults import Cause
from signals.modes import MachineState
from tests.rigs.bare import COUNT, TENSION_N, Bare
from tests.rigs.counts import Contradicted, Counts
from tests.rigs.detecting import LEVER_MAX, Slack, Still, Turning, still_limit_m

# --- Hall counts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.25, 3.0])
def test_a_noisier_channel_may_jump_further(noise: float) -> None:
    """40 counts, 0.4 per newton, and eight times the noise."""
    limit = 40.0 + 0.4 * TENSION_N + 8.0 * noise
    for away, found in ((limit - 1.0, False), (limit + 1.0, True)):
        counts = Counts()
        counts.bench.m["hall_noise_count"][:8] = noise
        assert counts.set(4, -math.floor(away) if not found else -math.ceil(away), 60) is found
    assert counts.found == (Cause.HALL_GLITCH, 4, float(math.ceil(limit + 1.0)), pytest.approx(limit))


@pytest.mark.parametrize("noise", [0.25, 3.0])
def test_a_noisier_neighbour_must_move_further_to_excuse_a_jump(noise: float) -> None:
    """4 counts and four times its noise."""
    limit = 4.0 + 4.0 * noise
    for moved, excused in ((limit - 1.0, False), (limit + 1.0, True)):
        counts = Counts()
        counts.bench.m["hall_noise_count"][:8] = noise
        assert not counts.set(4, 150.0)
        counts.bench.z["hall_count"][7] += round(moved)
        assert (counts.bench.until(None, 60) == 61) is excused


@pytest.mark.parametrize(("value", "cause"), [(0, Cause.HALL_SATURATED), (1, Cause.HALL_GLITCH)])
def test_the_last_count_before_a_rail_is_not_the_rail(value: int, cause: Cause) -> None:
    counts = Counts()
    assert counts.set(4, value - COUNT, 60)
    assert counts.found is not None and counts.found[0] == cause


@pytest.mark.parametrize(("step", "learned"), [(1, True), (30, True), (39, True), (41, False), (45, False)])
def test_a_trend_follows_small_steps_within_a_hundred_cycles(step: int, learned: bool) -> None:
    """Tension raises what may be a jump; 40 counts in a cycle are no trend."""
    bench = Bare()
    bench.until(None, 3)
    bench.s["tension_n"][4], bench.s["motor_torque_nm"][4] = 60.0, 0.6
    bench.detect()
    last = 0.0
    for k in range(1, 41):
        bench.z["hall_count"][4] = COUNT - step * k
        bench.detect()
        last = float(bench.mem["count_trend"][4])
    assert last == pytest.approx(-step * (1.0 - 0.99**40) if learned else 0.0, rel=1e-6)
    assert bench.found is None


def test_a_trend_begins_with_nothing_as_the_hand_is_armed() -> None:
    bench = Bare()
    bench.mem["started"] = 0
    for k in range(50):
        bench.z["hall_count"][4] = COUNT + 20 * (k % 3)
        bench.detect()
    assert not bench.mem["count_trend"].any()


@pytest.mark.parametrize(("value", "rail"), [(0, True), (1, False), (4094, False), (4095, True)])
def test_a_lever_may_rest_at_the_last_count_before_a_rail(value: int, rail: bool) -> None:
    bench = Bare()
    bench.mem["started"] = 0
    bench.z["hall_count"][4] = value
    bench.detect()
    bench.mem["started"] = 1
    bench.until(None, 60)
    assert (bench.found is not None) is rail


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("wound_mm", "off_um", "found"), [(0.9, 90.0, False), (1.9, 38.0, False), (1.1, 42.0, True)]
)
def test_way_and_contradiction_of_a_standing_count_begin_as_it_last_changed(
    wound_mm: float, off_um: float, found: bool, sign: float
) -> None:
    """Both have to be passed: 1 mm wound, and 40 um of length that do not fit."""
    seen = Contradicted()
    assert not seen.run(sign * 5e-3, sign * 30e-6, 5)
    seen.bench.z["hall_count"][6] += 1
    seen.bench.detect()
    assert seen.run(sign * (5e-3 + 1e-3 * wound_mm), sign * (30e-6 + 1e-6 * off_um), 30) is found


# --- tension ----------------------------------------------------------------------------------------------


def test_how_a_lever_fell_is_measured_from_where_it_was_as_the_hand_was_armed() -> None:
    """It may have been moved by hand before: that is no snap."""
    slack = Slack()
    bench = slack.bench
    bench.mem["started"] = 0
    bench.mem["lever_low_rad"][2] = -0.3
    slack.put(LEVER_MAX - 0.5 * slack.MARGIN)
    bench.detect()
    bench.mem["started"] = 1
    assert bench.found is None
    assert slack.lasts() == pytest.approx(0.010, abs=0.001)


def test_a_tendon_is_taut_only_after_fifty_milliseconds_in_one_go() -> None:
    slack = Slack()
    bench = slack.bench
    bench.mem["taut"][2] = bench.mem["taut_s"][2] = 0
    for _ in range(4):
        slack.put(LEVER_MAX - 2.0 * slack.MARGIN)
        assert bench.until(None, round(0.030 / bench.dt_s)) > 90
        slack.put(LEVER_MAX - 0.5 * slack.MARGIN)
        assert bench.until(None, 2) == 3
    assert bench.mem["taut"][2] == 0
    assert slack.lasts(0.2) == math.inf, "it is still being wound in"
    for spent_s, taut in ((0.049, False), (0.051, True)):
        bench.mem["taut"][2] = bench.mem["taut_s"][2] = 0
        slack.put(LEVER_MAX - 2.0 * slack.MARGIN)
        assert bench.until(None, round(spent_s / bench.dt_s)) > 140
        assert bool(bench.mem["taut"][2]) is taut


def test_a_snap_that_came_back_is_forgotten() -> None:
    slack = Slack()
    slack.put(LEVER_MAX - 0.5 * slack.MARGIN)
    assert slack.bench.until(None, 6) == 7
    assert slack.bench.mem["snapped"][2] != 0
    slack.put(LEVER_MAX - 0.05)
    assert slack.bench.until(None, 300) == 301
    slack.glide(0.0001)
    assert slack.lasts() == pytest.approx(0.010, abs=0.0007)


# --- motors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_lengths_contradict_a_standing_encoder_by_their_change_since_it_stood(sign: float) -> None:
    limit = still_limit_m(TENSION_N)
    for change, found in ((0.0, False), (0.95, False), (1.05, True)):
        bench = Bare()
        bench.s["ref_motor_speed_rad_s"][3] = 0.6
        for k in range(3):
            bench.s["motor_angle_rad"][3] = 1e-4 * (k + 1)
            bench.s["residual_m"][3] = sign * 3.0 * limit
            bench.detect()
        bench.s["residual_m"][3] = sign * (3.0 + change) * limit
        assert (bench.until(None, 600) <= 600) is found
        bench.s["residual_m"][3] = 0.0
    assert bench.found is not None and bench.found[:2] == (Cause.ENCODER_STUCK, 3)


def test_a_motor_that_turns_has_no_time_at_a_standstill() -> None:
    """Under torque, with motion wanted and a tension that changes: neither stuck nor blocked."""
    bench = Bare()
    bench.s["motor_torque_nm"][3], bench.s["ref_motor_speed_rad_s"][3] = 1.5, 2.0
    for k in range(1800):
        bench.s["motor_angle_rad"][3] += 2.0 * bench.dt_s
        bench.s["tension_n"][3] = 20.0 + 5.0 * math.sin(0.01 * k)
        bench.z["hall_count"][3] = COUNT + k % 2
        bench.detect()
    assert bench.found is None
    for name in ("still_s", "still_wanted_rad", "blocked_s"):
        assert bench.mem[name][3] == 0.0


def test_motion_ends_the_time_at_a_standstill() -> None:
    """10 ms of standing, a motion, 10 ms of standing are not 20."""
    limit = still_limit_m(TENSION_N)
    for moves in (True, False):
        bench = Bare()
        bench.s["ref_motor_speed_rad_s"][3] = 5.0
        assert bench.until(None, 30) == 31
        if moves:
            bench.s["motor_angle_rad"][3] += 1e-4
        bench.detect()
        bench.s["residual_m"][3] = 1.5 * limit
        assert (bench.until(None, 30) <= 30) is not moves
    assert bench.found is not None and bench.found[:2] == (Cause.ENCODER_STUCK, 3)


def test_a_tension_that_moves_under_torque_names_the_encoder_after_thirty_milliseconds() -> None:
    still = Still(0.6, 0.0)
    assert not still.run(0.0310)
    assert still.run(0.001, 20.0 + 2.1)


@pytest.mark.parametrize("cycles", [1, 5])
def test_a_motor_stands_as_long_as_its_samples_say(cycles: int) -> None:
    """Blocked by torque for half a second: on a bus that brings a sample in every fifth cycle too."""
    bench = Bare()
    bench.s["motor_torque_nm"][3] = 0.9
    old = int(bench.z["motor_time_ns"][3])
    spent = 0
    while bench.found is None and spent < 2000:
        spent += 1
        bench.stamp()
        fresh = spent % cycles == 0
        old = int(bench.z["motor_time_ns"][3]) if fresh else old
        bench.z["motor_time_ns"][3] = old
        detect(bench.m, bench.mem, bench.z, bench.s)
    assert bench.found is not None and bench.found[:2] == (Cause.MOTOR_BLOCKED, 3)
    assert abs(spent - bench.cycles(0.5)) <= cycles


@pytest.mark.parametrize(("name", "old"), [("motor_time_ns", True), ("hall_time_ns", True), ("", False)])
def test_an_old_sample_is_neither_stuck_nor_at_a_standstill(name: str, old: bool) -> None:
    bench = Bare()
    bench.m["measurement_age_s"][:] = 0.0
    bench.until(None, 3)
    bench.s["motor_torque_nm"][3] = 0.9
    since = int(bench.z["hall_time_ns"][3])
    before = float(bench.mem["blocked_s"][3]), int(bench.mem["same_cycles"][3])
    for _ in range(50):
        bench.stamp()
        if old:
            bench.z[name][3] = since
        detect(bench.m, bench.mem, bench.z, bench.s)
    grown = bench.mem["blocked_s"][3] > before[0], bench.mem["same_cycles"][3] > before[1]
    assert grown == (name != "motor_time_ns", name != "hall_time_ns")


# --- wrist ------------------------------------------------------------------------------------------------


def test_the_wrists_angle_before_a_jump_is_the_one_at_which_the_hand_was_armed() -> None:
    bench = Bare("hasy")
    bench.mem["started"] = 0
    bench.s["axis_angle_rad"][:2] = (0.3, -0.2)
    bench.detect()
    bench.mem["started"] = 1
    assert bench.until(None, 60) == 61


def test_a_wrist_may_move_any_way_at_its_drives_speed() -> None:
    bench = Bare("hasy")
    for _ in range(600):
        bench.s["axis_angle_rad"][1] += math.radians(120.0) * bench.dt_s
        bench.detect()
    assert bench.found is None


def test_a_jump_of_the_wrist_is_named_once() -> None:
    """After it was read and cleared, the new angle is the angle."""
    bench = Bare("hasy")
    bench.s["axis_angle_rad"][0] += 0.2
    assert bench.until(None, 60) < 60
    assert bench.found is not None and bench.found[0] == Cause.WRIST_JUMP
    n = int(bench.m["n_fingers"])
    bench.s["machine"] = bench.s["finger_state"][:n] = int(MachineState.ACTIVE)
    bench.s["hand_cause"] = int(Cause.NONE)
    assert bench.until(None, 60) == 61


# --- residuals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "found"), [(0.69, False), (0.71, True)])
def test_a_drift_that_is_there_as_the_hand_is_armed_is_named_at_once(share: float, found: bool) -> None:
    bench = Bare()
    bench.mem["started"] = 0
    bench.s["residual_unexplained_m"][6] = share * float(bench.m["residual_limit_m"][0])
    bench.detect()
    if found:
        assert bench.found is not None and bench.found[:2] == (Cause.HALL_DRIFT, 6)
    else:
        assert bench.found is None


def test_averages_of_a_residual_follow_with_memories_of_their_own() -> None:
    """0.3 s for steps, 3 s for drift."""
    bench = Bare()
    bench.s["residual_unexplained_m"][6] = 1e-4
    assert bench.until(None, round(0.3 / bench.dt_s)) > 0 and bench.found is None
    assert bench.mem["residual_fast_m"][6] == pytest.approx(1e-4 * (1.0 - math.exp(-1.0)), rel=2e-3)
    assert bench.mem["residual_slow_m"][6] == pytest.approx(1e-4 * (1.0 - math.exp(-0.1)), rel=2e-3)


@pytest.mark.parametrize("axes", [1, 2])
def test_lengths_of_a_wrist_that_are_not_removed_hide_every_residual(axes: int) -> None:
    for use, found in ((0, False), (1, True)):
        bench = Bare("hasy")
        bench.m["n_axes"], bench.m["use_wrist"] = axes, use
        bench.s["residual_unexplained_m"][9] = 5e-3
        assert (bench.until(None, 200) <= 200) is found


# --- friction ---------------------------------------------------------------------------------------------


def test_a_change_of_speed_is_no_change_of_friction() -> None:
    """The law's average follows as fast as the measured one: their ratio is the factor at any time."""
    turning = Turning(0.35)
    assert turning.run(1.5, 0.9) == math.inf
    turning.speed = 3.0
    turning.law_nm = 0.5586 * math.atan(30.0) + 0.0356 * 3.0
    for _ in range(6):
        assert turning.run(0.1, 0.9) == math.inf
        mem = turning.bench.mem
        for pace in ("fast", "slow"):
            ratio = mem[f"friction_{pace}_nm"][4] / mem[f"law_{pace}_nm"][4]
            assert ratio == pytest.approx(0.9, rel=1e-9)


@pytest.mark.parametrize("past", [0.5, 0.8, 1.4])
def test_what_is_suspicious_is_judged_by_a_motors_own_past(past: float) -> None:
    """15 % more becomes its past in time, 30 % more does not."""
    for growth, follows in ((1.15, True), (1.3, False)):
        turning = Turning()
        assert turning.run(2.0, past) == math.inf
        mem = turning.bench.mem
        mem["moved_s"][4] = 100.0
        mem["friction_fast_nm"][4] = growth * past * mem["law_fast_nm"][4]
        before = float(mem["friction_slow_nm"][4] / mem["law_slow_nm"][4])
        assert turning.run(4.0, growth * past) == math.inf
        after = float(mem["friction_slow_nm"][4] / mem["law_slow_nm"][4])
        assert (after > before * 1.02) is follows


@pytest.mark.parametrize("name", ["no law", "negative"])
def test_a_friction_that_cannot_be_one_is_compared_with_nothing(name: str) -> None:
    """No identified law; or a torque below the tendon's load, which is an error of a tension."""
    turning = Turning()
    bench = turning.bench
    if name == "no law":
        for k in ("friction_gamma_2_nm", "friction_gamma_3_nms_rad"):
            bench.m[k][4] = 0.0
    first, then = (0.5, 3.0) if name == "no law" else (-3.0, -0.5)
    assert turning.run(2.0, first) == math.inf
    assert turning.run(0.2, then) == math.inf
    assert np.isfinite(bench.mem["friction_slow_nm"][4])


# --- Residual ---------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
def test_the_skew_of_a_fingers_samples_is_from_its_oldest_to_its_newest_and_not_to_now(seed: int) -> None:
    """Of the second finger, whatever the others' are; a Hall sensor that is not used has no say."""
    bench, rng = Bare("hasy"), np.random.default_rng(seed)
    m, z, n = bench.m, bench.z, bench.n
    m["hall_weight"][:n] = rng.integers(0, 2, n)
    m["spool_radius_m"][:n] = rng.uniform(0.005, 0.015, n)
    bench.s["motor_speed_rad_s"][:n] = rng.uniform(-5.0, 5.0, n)
    bench.s["time_ns"] = 100_000_000
    z["motor_time_ns"][:n], z["hall_time_ns"][:n] = rng.integers(90_000_000, 99_000_000, (2, n))
    own = m["finger_tendon"][1, : m["finger_n_tendons"][1]]
    motors = m["tendon_motor"][own]
    times = [*z["motor_time_ns"][motors], *z["hall_time_ns"][own][m["hall_weight"][own] > 0.0]]
    fastest = (m["spool_radius_m"][own] * abs(bench.s["motor_speed_rad_s"][motors])).max()
    expected = 1e-9 * float(max(times) - min(times)) * fastest
    assert skew_m(m, z, bench.s, 1) == pytest.approx(expected, rel=1e-9)
