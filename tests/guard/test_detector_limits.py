"""Every detector at its limit: silent just inside, named just outside, in its time and not before.

The figures are those of the detectors' pages, written out: a limit that moves shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.friction_checks import friction_factor
from guard.residual_checks import check_residuals
from mechanics.springs import spring_at
from signals.compiled import law
from signals.faults import Cause
from signals.modes import ChannelStatus
from tests.rigs.bare import COUNT, Bare
from tests.rigs.detecting import LEVER_MAX, LEVER_MIN, Slack, Still, Turning, still_limit_m

FASTEST = 14.139190265868
Setting = Callable[[Bare, float], Any]


@dataclass(frozen=True)
class Timed:
    """A condition that has to last: ``put(bench, share)`` makes it with a share of its limit."""

    cause: Cause
    part: int
    seconds: float
    put: Setting
    value: float | None
    limit: float
    hand: str = "finger_bench"
    graded: bool = True
    """False: it is or is not, there is no share of it."""


def status(name: str, bit: ChannelStatus, part: int) -> Setting:
    def put(bench: Bare, share: float) -> None:
        bench.z[name][part] = int(bit) if share > 1.0 else 0

    return put


def state(name: str, part: int, limit: float, rest: float = 0.0) -> Setting:
    def put(bench: Bare, share: float) -> None:
        bench.s[name][part] = rest + share * (limit - rest)

    return put


def count(part: int, value: int) -> Setting:
    def put(bench: Bare, share: float) -> None:
        bench.z["hall_count"][part] = value if share > 1.0 else COUNT

    return put


def wrist_error(bench: Bare, share: float) -> None:
    bench.s["wrist_error_rad"][1] = share * math.radians(1.5)
    bench.s["finger_residual_m"][1:3] = 0.0003


def blocked(bench: Bare, share: float) -> None:
    """Torque beyond the tendon's load, 20 N at 10 mm."""
    bench.s["motor_torque_nm"][3] = 0.2 + share * 0.5


def too_tight(bench: Bare, share: float) -> None:
    bench.s["tension_n"][5] = share * GREATEST_N


GREATEST_N = float(spring_at(Bare().m, 5, math.radians(-22.0))[0])
TIMED = {
    "motor missing": Timed(
        Cause.MOTOR_LOST, 5, 0.005, status("motor_status", ChannelStatus.MISSING, 5), None, 5.0, graded=False
    ),
    "motor in error": Timed(
        Cause.MOTOR_LOST,
        5,
        0.005,
        status("motor_status", ChannelStatus.DEVICE_ERROR, 5),
        None,
        5.0,
        graded=False,
    ),
    "hall missing": Timed(
        Cause.HALL_LOST, 2, 0.005, status("hall_status", ChannelStatus.MISSING, 2), None, 5.0, graded=False
    ),
    "count at its lower rail": Timed(Cause.HALL_SATURATED, 1, 0.005, count(1, 0), 0.0, 4095.0, graded=False),
    "count at its upper rail": Timed(
        Cause.HALL_SATURATED, 6, 0.005, count(6, 4095), 4095.0, 4095.0, graded=False
    ),
    "lever beyond slack": Timed(
        Cause.HALL_SATURATED, 1, 0.005, state("lever_angle_rad", 1, LEVER_MAX + 0.05), COUNT, 4095.0
    ),
    "lever beyond tight": Timed(
        Cause.HALL_SATURATED, 1, 0.005, state("lever_angle_rad", 1, LEVER_MIN - 0.05), COUNT, 4095.0
    ),
    "motor too fast": Timed(
        Cause.MOTOR_TOO_FAST, 4, 0.003, state("motor_speed_rad_s", 4, 1.15 * FASTEST), None, 1.15 * FASTEST
    ),
    "motor too fast, unwinding": Timed(
        Cause.MOTOR_TOO_FAST, 4, 0.003, state("motor_speed_rad_s", 4, -1.15 * FASTEST), None, 1.15 * FASTEST
    ),
    "motor blocked": Timed(Cause.MOTOR_BLOCKED, 3, 0.5, blocked, 0.7005 / 1.47, 2.0),
    "tension": Timed(Cause.TENSION_TOO_HIGH, 5, 0.004, too_tight, None, GREATEST_N),
    "joint beyond its range": Timed(
        Cause.JOINT_OUT_OF_RANGE,
        2,
        0.05,
        state("joint_angle_rad", 2, math.radians(108.0)),
        108.108,
        100.0,
    ),
    "joint below its range": Timed(
        Cause.JOINT_OUT_OF_RANGE, 0, 0.05, state("joint_angle_rad", 0, math.radians(-28.0)), -28.028, -20.0
    ),
    "wrist silent": Timed(
        Cause.WRIST_LOST,
        1,
        0.02,
        status("axis_status", ChannelStatus.MISSING, 1),
        None,
        20.0,
        "hasy",
        graded=False,
    ),
    "wrist against the fingers": Timed(
        Cause.WRIST_SENSOR, 1, 0.2, wrist_error, math.degrees(1.001 * math.radians(1.5)), 1.5, "hasy"
    ),
}


@pytest.mark.parametrize("case", TIMED.values(), ids=list(TIMED))
def test_a_condition_latches_when_it_has_lasted_and_starts_anew_after_every_break(case: Timed) -> None:
    bench = Bare(case.hand)
    lasting = bench.cycles(case.seconds)
    if case.graded:
        assert bench.until(lambda: case.put(bench, 0.999), 3 * lasting) > 3 * lasting, bench.found
    # almost long enough, a break of one cycle, almost long enough again
    for _ in range(2):
        assert bench.until(lambda: case.put(bench, 1.001), lasting - 2) == lasting - 1, bench.found
        assert bench.until(lambda: case.put(bench, 0.9), 1) == 2, bench.found
    used = bench.until(lambda: case.put(bench, 1.001), 2 * lasting)
    assert abs(used - lasting) <= 1
    assert bench.found is not None
    cause, part, value, limit = bench.found
    assert (cause, part) == (case.cause, case.part)
    assert limit == pytest.approx(case.limit, rel=1e-6)
    if case.value is not None:
        assert value == pytest.approx(case.value, rel=2e-3, abs=1e-9)
    else:
        # the figure is the one that passed the limit
        assert abs(limit) < abs(value) < abs(limit) * 1.1


@pytest.mark.parametrize("fingers", [1, 2])
@pytest.mark.parametrize("residual_m", [0.00019, 0.00021])
def test_the_wrist_is_blamed_only_by_more_than_one_finger(fingers: int, residual_m: float) -> None:
    bench = Bare("hasy")

    def put() -> None:
        bench.s["wrist_error_rad"][0] = -math.radians(2.0)
        bench.s["finger_residual_m"][1 : 1 + fingers] = residual_m

    bench.until(put, 900)
    blamed = fingers > 1 and residual_m > 0.0002
    assert (bench.found is not None) == blamed
    if blamed:
        assert bench.found == (Cause.WRIST_SENSOR, 0, pytest.approx(-2.0), pytest.approx(1.5))


def test_a_wrist_whose_lengths_are_not_removed_is_not_blamed_and_neither_are_the_fingers() -> None:
    bench = Bare("hasy")
    bench.m["use_wrist"] = 0

    def put() -> None:
        bench.s["wrist_error_rad"][0] = 1.0
        bench.s["finger_residual_m"][:5] = 0.01
        bench.s["residual_unexplained_m"][:38] = 0.01

    assert bench.until(put, 900) == 901, bench.found


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_wrist_angle_jumps_if_it_stays_beyond_what_its_drive_can_do(axis: int, sign: float) -> None:
    """Possible are three times the drive's speed, twelve times the noise, and 0.3 deg."""
    possible = 3.0 * math.radians(120.0) / 3000.0 + 12.0 * math.radians(0.01) + math.radians(0.3)
    bench = Bare("hasy")
    start = float(bench.s["axis_angle_rad"][axis])

    def put(share: float) -> Callable[[], None]:
        def at() -> None:
            bench.s["axis_angle_rad"][axis] = start + sign * share * possible

        return at

    assert bench.until(put(0.999), 30) == 31, bench.found
    bench.until(put(0.0), 1)
    lasting = bench.cycles(0.003)
    assert bench.until(put(1.001), lasting - 2) == lasting - 1
    assert bench.until(put(0.0), 3) == 4, "it came back"
    assert abs(bench.until(put(1.001), 30) - lasting) <= 1
    limit = math.degrees(possible)
    assert bench.found == (
        Cause.WRIST_JUMP,
        axis,
        pytest.approx(sign * 1.001 * limit),
        pytest.approx(limit, rel=1e-3),
    )
    # after a stall of the loop the drive has had that long
    stalled = Bare("hasy")
    stalled.s["dt_s"] = 0.004
    stalled.s["axis_angle_rad"][axis] = start + sign * (3.0 * math.radians(120.0) * 0.004)
    assert stalled.until(None, 30) == 31


def test_a_lost_bus_is_all_motors_at_once() -> None:
    bench = Bare()
    lasting = bench.cycles(0.005)

    def put() -> None:
        bench.z["motor_status"][:8] = int(ChannelStatus.MISSING)

    assert abs(bench.until(put, 60) - lasting) <= 1
    assert bench.s["hand_cause"] == Cause.BUS_LOST and bench.s["hand_cause_part"] == -1
    assert bench.s["hand_cause_limit"] == pytest.approx(5.0)
    assert 5.0 < bench.s["hand_cause_value"] < 5.5
    bench = Bare()

    def but_one() -> None:
        bench.z["motor_status"][:7] = int(ChannelStatus.MISSING)

    bench.until(but_one, 60)
    assert bench.s["hand_cause"] == Cause.NONE
    assert bench.found is not None and bench.found[0] == Cause.MOTOR_LOST


@pytest.mark.parametrize("name", ["motor_time_ns", "hall_time_ns"])
def test_an_old_sample_is_named_with_its_age(name: str) -> None:
    for age_ms, latched in ((99.9, False), (100.1, True)):
        bench = Bare()
        bench.stamp()
        bench.s["time_ns"] += 10**9
        for stamp in ("motor_time_ns", "hall_time_ns"):
            bench.z[stamp] += 10**9
        bench.z[name][6] -= round(age_ms * 1e6)
        from guard.channel_checks import check_channels

        check_channels(bench.m, bench.mem, bench.z, bench.s)
        if latched:
            assert bench.found == (
                Cause.MEASUREMENT_TOO_OLD if name == "motor_time_ns" else Cause.HALL_TOO_OLD,
                6,
                pytest.approx(age_ms),
                pytest.approx(100.0),
            )
        else:
            assert bench.found is None


# --- motors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_an_angle_may_change_by_twice_the_fastest_motion_and_a_little(sign: float) -> None:
    possible = 2.0 * FASTEST / 3000.0 + 0.02
    for share, latched in ((0.999, False), (1.001, True)):
        bench = Bare()
        bench.s["motor_angle_rad"][2] = sign * share * possible
        bench.detect()
        assert (bench.found is not None) == latched
    assert bench.found == (
        Cause.ENCODER_FAULT,
        2,
        pytest.approx(sign * 1.001 * possible),
        pytest.approx(possible),
    )
    stalled = Bare()
    stalled.s["dt_s"] = 0.01
    stalled.s["motor_angle_rad"][2] = sign * (2.0 * FASTEST * 0.01 + 0.01)
    stalled.detect()
    assert stalled.found is None


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_tension_that_changes_under_torque_while_the_encoder_stands_names_the_encoder(sign: float) -> None:
    still = Still(0.6, 0.0)
    assert not still.run(0.028)
    assert not still.run(0.001, 20.0 + sign * 2.5), "not before 30 ms"
    still = Still(0.6, 0.0)
    assert not still.run(0.05, 20.0 + sign * 0.0)
    assert not still.run(0.01, 20.0 + sign * 1.9)
    assert still.run(0.001, 20.0 + sign * 2.1)
    assert still.bench.found == (
        Cause.ENCODER_STUCK,
        3,
        pytest.approx(1e3 * still.spent / 3000.0, abs=0.5),
        pytest.approx(30.0),
    )
    # a torque that the tendon balances moves nothing: the tension is another's doing
    still = Still(0.4, 0.0)
    assert not still.run(0.1)
    assert not still.run(0.1, 20.0 + sign * 8.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_lengths_that_contradict_a_standing_encoder_name_it_once_motion_was_wanted(sign: float) -> None:
    limit_m = still_limit_m(20.0)
    still = Still(0.0, sign * 0.6)
    assert not still.run(0.045, residual_m=sign * 1.1 * limit_m), "0.027 rad were wanted so far"
    assert still.run(0.01, residual_m=sign * 1.1 * limit_m), "and now 0.03"
    assert still.bench.found is not None and still.bench.found[:2] == (Cause.ENCODER_STUCK, 3)
    still = Still(0.0, sign * 0.6)
    assert not still.run(0.4, residual_m=sign * 0.99 * limit_m)
    still = Still(0.0, 0.0)
    assert not still.run(0.4, residual_m=sign * 3.0 * limit_m), "nobody wanted it to move"
    still = Still(0.0, sign * 3.0)
    assert not still.run(0.0117, residual_m=sign * 3.0 * limit_m), "not before 12 ms"
    assert still.run(0.001, residual_m=sign * 3.0 * limit_m), "but before the lengths are named, at 15 ms"


def test_an_encoder_that_moves_is_neither_stuck_nor_blocked() -> None:
    still = Still(1.5, 3.0)
    for k in range(3000):
        still.bench.s["motor_angle_rad"][3] = 1e-4 * (k % 2)
        assert not still.run(1 / 3000.0, 20.0 + 0.01 * k, 1e-6 * k)


@pytest.mark.parametrize("push_nm", [0.4, 1.2])
def test_energy_of_friction_compensation_counts_only_at_rest_and_fades(push_nm: float) -> None:
    """Rest is a wanted speed below 0.02 rad/s; 0.05 J within two seconds are too much."""
    for wanted, latched in ((0.019, True), (0.021, False)):
        bench = Bare()
        bench.s["ref_motor_speed_rad_s"][7] = -wanted
        bench.s["friction_torque_nm"][7], bench.s["motor_speed_rad_s"][7] = push_nm, 0.25
        used = bench.until(None, 3000)
        assert (used <= 3000) == latched
    bench = Bare()
    bench.s["friction_torque_nm"][7], bench.s["motor_speed_rad_s"][7] = push_nm, 0.25
    used = bench.until(None, 3000)
    # e(t) = 2 P (1 - exp(-t/2)) of the power P
    expected_s = -2.0 * math.log(1.0 - 0.05 / (2.0 * push_nm * 0.25))
    assert used * bench.dt_s == pytest.approx(expected_s, rel=0.02)
    assert bench.found == (Cause.FRICTION_ENERGY, 7, pytest.approx(0.05, rel=0.02), 0.05)
    braking = Bare()
    braking.s["friction_torque_nm"][7], braking.s["motor_speed_rad_s"][7] = -push_nm, 0.25
    assert braking.until(None, 3000) == 3001


@pytest.mark.parametrize("push_nm", [0.4, 1.2])
@pytest.mark.parametrize(("joint", "motor"), [(0, 0), (3, 6)])
def test_energy_of_guide_compensation_counts_while_the_whole_finger_should_rest(
    push_nm: float, joint: int, motor: int
) -> None:
    """The same work at a joint; it names the motor with the longest lever arm there, the first of them."""
    arms = abs(Bare().m["P_tj_m"][:8, joint])
    assert motor == int(arms.argmax())
    for wanted, still, latched in ((0.019, 1.9, True), (0.021, 0.0, False), (0.0, 2.1, False)):
        bench = Bare()
        bench.s["ref_motor_speed_rad_s"][7], bench.s["motor_speed_rad_s"][7] = -wanted, -still
        bench.s["guide_torque_nm"][joint], bench.s["joint_speed_rad_s"][joint] = push_nm, 0.25
        assert (bench.until(None, 3000) <= 3000) == latched
    bench = Bare()
    bench.s["guide_torque_nm"][joint], bench.s["joint_speed_rad_s"][joint] = push_nm, 0.25
    used = bench.until(None, 3000)
    # e(t) = 2 P (1 - exp(-t/2)) of the power P
    expected_s = -2.0 * math.log(1.0 - 0.05 / (2.0 * push_nm * 0.25))
    assert used * bench.dt_s == pytest.approx(expected_s, rel=0.02)
    assert bench.found == (Cause.FRICTION_ENERGY, motor, pytest.approx(0.05, rel=0.02), 0.05)
    for change in ({"use_guides": 0}, {"guide_gain": 0.0}):
        off = Bare()
        for name, value in change.items():
            off.m[name] = value
        off.s["guide_torque_nm"][joint], off.s["joint_speed_rad_s"][joint] = push_nm, 0.25
        assert off.until(None, 3000) == 3001
    braking = Bare()
    braking.s["guide_torque_nm"][joint], braking.s["joint_speed_rad_s"][joint] = -push_nm, 0.25
    assert braking.until(None, 3000) == 3001


# --- tension ------------------------------------------------------------------------------------------


def test_a_fall_that_only_a_break_makes_is_allowed_four_milliseconds() -> None:
    assert Slack().lasts() == pytest.approx(0.004, abs=0.0007)


@pytest.mark.parametrize(("wanted_n", "seconds"), [(20.0, 0.010), (9.1, 0.010), (8.9, 0.150), (4.1, 0.150)])
def test_a_slow_fall_is_allowed_more_the_less_tension_is_wanted(wanted_n: float, seconds: float) -> None:
    slack = Slack(wanted_n)
    slack.glide(0.0001)
    assert slack.lasts() == pytest.approx(seconds, abs=0.0007)


@pytest.mark.parametrize(
    ("rate_rad_s", "unwinds", "seconds"),
    [(6.0, 0.0, 0.010), (10.0, 0.0, 0.004), (10.0, 0.4, 0.004), (10.0, 0.6, 0.010), (16.0, 0.6, 0.004)],
)
def test_how_fast_the_lever_falls_tells_a_break_from_an_unwinding(
    rate_rad_s: float, unwinds: float, seconds: float
) -> None:
    """A low-pass of 50 Hz lags behind a ramp by rate / (2 pi 50 Hz): 0.025 rad at 7.9 rad/s.

    Half as much again where the tendon's own motor unwinds at more than half of its speed.
    """
    slack = Slack()
    slack.put(LEVER_MIN)
    slack.bench.until(None, 600)
    slack.bench.s["motor_speed_rad_s"][2] = -unwinds * slack.bench.m["motor_speed_limit_rad_s"][2]
    lever = LEVER_MIN
    while lever < LEVER_MAX - 1.01 * slack.MARGIN:
        lever = min(lever + rate_rad_s / 3000.0, LEVER_MAX - 1.01 * slack.MARGIN)
        slack.put(lever)
        slack.bench.detect()
    assert slack.bench.found is None
    assert slack.lasts() == pytest.approx(seconds, abs=0.0007)


def test_a_tendon_that_was_never_taut_may_be_wound_in_for_longer() -> None:
    slack = Slack(taut_s=0.048)
    slack.bench.mem["taut"][2] = 0
    slack.bench.mem["taut_s"][2] = 0.0
    assert slack.lasts() == pytest.approx(0.6, abs=0.002)
    taut = Slack()
    taut.bench.mem["taut"][2] = 0
    taut.bench.mem["taut_s"][2] = 0.0
    assert taut.bench.until(None, round(0.0505 / taut.bench.dt_s)) > 0
    taut.glide(0.0001)
    assert taut.lasts() == pytest.approx(0.010, abs=0.0007)


def test_where_no_tension_is_wanted_the_least_one_counts_once_it_was_there() -> None:
    slack = Slack(wanted_n=0.0)
    slack.glide(0.0001)
    assert slack.lasts() == pytest.approx(0.150, abs=0.0007)
    fresh = Slack(wanted_n=0.0)
    fresh.bench.mem["taut"][2] = 0
    assert fresh.lasts() == math.inf
    little = Slack(wanted_n=3.9)
    little.glide(0.0001)
    assert little.lasts() == math.inf


def test_the_time_at_the_stop_starts_anew_when_the_lever_leaves_it() -> None:
    slack = Slack()
    slack.glide(0.0001)
    for _ in range(4):
        slack.put(LEVER_MAX - 0.5 * slack.MARGIN)
        assert slack.bench.until(None, round(0.008 / slack.bench.dt_s)) > 24
        slack.put(LEVER_MAX - 1.5 * slack.MARGIN)
        slack.bench.detect()
    assert slack.bench.found is None


def test_a_lever_beyond_its_stop_is_the_sensors_affair_and_not_a_lost_tension() -> None:
    slack = Slack()
    slack.put(LEVER_MAX + 0.051)
    slack.bench.until(None, 100)
    assert slack.bench.found is not None and slack.bench.found[0] == Cause.HALL_SATURATED
    tight = Bare()
    tight.s["tension_n"][5], tight.s["lever_angle_rad"][5] = 500.0, LEVER_MIN - 0.051
    tight.until(None, 100)
    assert tight.found is not None and tight.found[0] == Cause.HALL_SATURATED


def test_the_hands_own_limit_of_tension_counts_where_it_is_the_lower_one() -> None:
    bench = Bare()
    bench.m["tension_limit_n"][5] = 60.0
    bench.s["tension_n"][5] = 60.1
    assert abs(bench.until(None, 100) - bench.cycles(0.004)) <= 1
    assert bench.found == (Cause.TENSION_TOO_HIGH, 5, pytest.approx(60.1), 60.0)


# --- residuals ----------------------------------------------------------------------------------------


@law
def _residuals(model: Any, memory: Any, measurement: Any, state: Any) -> None:
    check_residuals(model[0], memory[0], measurement[0], state[0])


@given(
    age_ms=st.floats(0.0, 60.0),
    late=st.sampled_from(("hall_time_ns", "motor_time_ns")),
    speed=st.floats(-5.0, 5.0),
    share=st.sampled_from((0.97, 1.03)),
)
def test_what_a_finger_moves_between_its_samples_is_no_residual(
    age_ms: float, late: str, speed: float, share: float
) -> None:
    """A slow bus: one sample is older; the fastest tendon, another one, has moved since."""
    bench = Bare()
    bench.s["motor_speed_rad_s"][5] = speed
    limit_m = float(bench.m["residual_limit_m"][0])
    skew_m = 1e-3 * age_ms * 0.01 * abs(speed)
    r = share * (limit_m + skew_m)
    bench.s["residual_unexplained_m"][2] = r
    bench.s["tension_n"][2] = 0.0
    for _ in range(bench.cycles(0.050) + 1):
        bench.stamp()
        bench.z[late][1] -= round(1e6 * age_ms)
        # as if it had always been so: neither a step nor a drift
        bench.mem["residual_fast_m"][2], bench.mem["residual_slow_m"][2] = r, 0.0
        _residuals(bench.model, *bench.records[:3])
        if bench.found:
            break
    assert (bench.found is not None) == (share > 1.0)
    if share > 1.0:
        value, limit = pytest.approx(1e3 * r), pytest.approx(1e3 * r / share)
        assert bench.found == (Cause.RESIDUAL_TOO_LARGE, 2, value, limit)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(("tension_n", "share"), [(0.0, 0.32), (100.0, 0.60), (50.0, 0.46)])
def test_a_step_of_the_residual_latches_by_its_size_and_the_tension(
    tension_n: float, share: float, sign: float
) -> None:
    """The step decays with its own memory of 0.3 s: what is to last 15 ms must begin 5 % higher."""
    for size, latched in ((1.01, False), (1.09, True)):
        bench = Bare()
        bench.s["tension_n"][6], bench.s["motor_torque_nm"][6] = tension_n, 0.01 * tension_n
        bench.s["ref_tension_n"][6] = 0.0
        bench.s["residual_unexplained_m"][6] = sign * size * share * 1e-3
        used = bench.until(None, 200)
        assert (used <= 200) == latched
    assert abs(used - bench.cycles(0.015)) <= 1
    assert bench.found == (
        Cause.RESIDUAL_TOO_LARGE,
        6,
        pytest.approx(sign * 1.09 * share),
        pytest.approx(share),
    )


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_residual_that_grows_without_a_step_latches_when_it_is_large(sign: float) -> None:
    bench = Bare()

    def at(mm: float) -> Callable[[], None]:
        def put() -> None:
            bench.s["residual_unexplained_m"][1] = sign * 1e-3 * mm
            # as if it had always been so: neither a step nor a drift
            bench.mem["residual_fast_m"][1] = sign * 1e-3 * mm
            bench.mem["residual_slow_m"][1] = 0.0

        return put

    lasting = bench.cycles(0.050)
    assert bench.until(at(0.999), 400) == 401
    assert bench.until(at(1.001), lasting - 2) == lasting - 1
    bench.until(at(0.9), 1)
    assert abs(bench.until(at(1.001), 400) - lasting) <= 1
    assert bench.found == (Cause.RESIDUAL_TOO_LARGE, 1, pytest.approx(sign * 1.001), pytest.approx(1.0))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_slow_average_of_the_residual_has_a_memory_of_three_seconds(sign: float) -> None:
    bench = Bare()
    bench.slower(8)

    def put() -> None:
        bench.s["residual_unexplained_m"][1] = sign * 0.9e-3
        bench.mem["residual_fast_m"][1] = sign * 0.9e-3

    used = bench.until(put, 2250)
    # 0.9 (1 - exp(-t/3)) = 0.7
    assert used * bench.dt_s == pytest.approx(-3.0 * math.log(1.0 - 0.7 / 0.9), rel=0.01)
    assert bench.found == (
        Cause.HALL_DRIFT,
        1,
        pytest.approx(sign * 0.7, rel=1e-3),
        pytest.approx(0.7),
    )


def test_averages_begin_with_the_first_residual_of_an_armed_hand() -> None:
    bench = Bare()
    bench.s["residual_unexplained_m"][:8] = 0.65e-3
    bench.mem["started"] = 0
    bench.detect()
    bench.mem["started"] = 1
    assert bench.until(None, 600) == 601, "it was there before"
    bench.m["residual_limit_m"][0] = 0.0
    bench.s["residual_unexplained_m"][:8] = 5e-3
    assert bench.until(None, 600) == 601, "a finger without a limit"


# --- friction -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [0.31, 2.0])
def test_friction_half_as_high_again_as_before_is_named(speed: float) -> None:
    turning = Turning(speed)
    assert turning.run(3.0, 0.8) == math.inf
    assert turning.run(3.0, 1.15 * 0.8) == math.inf, "the past follows slowly"
    turning = Turning(speed)
    assert turning.run(3.0, 0.8) == math.inf
    # factor 2: the fast average is at 1.5 after 0.4 ln 2, but the past has followed a little by then
    assert 0.27 < turning.run(3.0, 1.6) < 0.36
    assert turning.bench.found is not None
    cause, part, value, limit = turning.bench.found
    assert (cause, part, limit) == (Cause.FRICTION_GROWN, 4, 1.5)
    assert value == pytest.approx(1.5, abs=0.02)


def test_friction_at_a_standstill_tells_nothing() -> None:
    turning = Turning(0.29)
    assert turning.run(2.0, 1.0) == math.inf
    assert turning.run(2.0, 4.0) == math.inf
    assert turning.bench.mem["moved_s"][4] == 0.0


def test_friction_is_compared_only_after_it_was_learned_and_its_law_bounds_it_at_last() -> None:
    turning = Turning()
    lasted = turning.run(3.0, 2.7)
    assert lasted == pytest.approx(0.8, abs=0.01), "nothing is known of the past before"
    assert turning.bench.found == (
        Cause.FRICTION_GROWN,
        4,
        pytest.approx(2.7, rel=0.01),
        2.5,
    )
    assert Turning().run(3.0, 2.4) == math.inf


def test_the_past_follows_slowly_but_not_what_is_suspicious() -> None:
    grown = {}
    for factor in (1.1, 1.3):
        turning = Turning()
        assert turning.run(2.0, 1.0) == math.inf
        turning.bench.mem["moved_s"][4] = 100.0  # long ago: the memory is as long as it gets
        before = float(turning.bench.mem["friction_slow_nm"][4])
        assert turning.run(10.0, factor) == math.inf
        grown[factor] = float(turning.bench.mem["friction_slow_nm"][4]) / before - 1.0
    # 10 % more, with a memory of 20 s, after 10 s and the fast average's 0.4 s
    assert grown[1.1] == pytest.approx(0.1 * (1.0 - math.exp(-9.6 / 20.0)), rel=0.1)
    assert grown[1.3] < 0.01, "30 % more never become the new normal"


@pytest.mark.parametrize("name", ["motor_status", "hall_status"])
def test_channels_that_cannot_be_believed_teach_nothing(name: str) -> None:
    turning = Turning()
    turning.bench.z[name][4] = int(ChannelStatus.OUT_OF_RANGE)
    assert turning.run(1.0, 1.0) == math.inf
    assert turning.bench.mem["moved_s"][4] == 0.0
    assert not np.any(turning.bench.mem["friction_fast_nm"])


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("tension_n", [0.0, 60.0])
def test_friction_is_what_the_tendon_leaves_of_the_torque_along_the_motion(
    tension_n: float, sign: float
) -> None:
    bench = Bare()
    bench.s["motor_speed_rad_s"][4] = sign * 1.5
    bench.s["tension_n"][4], bench.mem["last_torque_nm"][4] = tension_n, 0.9
    measured, expected = friction_factor(bench.m, bench.mem, bench.s, 4, 4)
    assert measured == pytest.approx(sign * (0.9 - 0.01 * tension_n))
    assert expected == pytest.approx(0.5586 * math.atan(15.0) + 0.0356 * 1.5)


# --- channels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["motor_angle_rad", "hall_fine_count"])
def test_a_value_that_is_no_number_has_no_figures(name: str) -> None:
    bench = Bare()
    bench.z[name][3] = math.inf
    assert bench.until(None, 3) == 1
    named = Cause.NOT_FINITE_MEASUREMENT if name == "motor_angle_rad" else Cause.HALL_NOT_FINITE
    assert bench.found == (named, 3, 0.0, 0.0)


@pytest.mark.parametrize(
    ("bits", "cause"),
    [
        (ChannelStatus.RESET, Cause.MOTOR_RESET),
        (ChannelStatus.WRONG_MODE, Cause.MOTOR_RESET),
        (ChannelStatus.RESET | ChannelStatus.STALE, Cause.MOTOR_RESET),
        (ChannelStatus.HELD, Cause.MOTOR_HELD),
        (ChannelStatus.HELD | ChannelStatus.STALE, Cause.MOTOR_HELD),
        (ChannelStatus.HELD | ChannelStatus.RESET, Cause.MOTOR_RESET),
    ],
)
def test_a_motor_that_comes_back_shows_its_status(bits: ChannelStatus, cause: Cause) -> None:
    bench = Bare()
    bench.z["motor_status"][3] = int(bits)
    assert bench.until(None, 3) == 1
    assert bench.found == (cause, 3, float(int(bits)), 0.0)


@pytest.mark.parametrize("name", ["motor_status", "hall_status", "axis_status"])
def test_a_stale_channel_is_not_a_lost_one(name: str) -> None:
    bench = Bare("hasy")
    bench.z[name][1] = int(ChannelStatus.STALE)
    assert bench.until(None, 200) == 201, bench.found


def test_a_lone_motor_that_is_silent_is_lost_and_not_its_bus() -> None:
    bench = Bare()
    bench.m["n_motors"] = bench.m["n_tendons"] = bench.m["finger_n_tendons"][0] = 1
    bench.z["motor_status"][0] = int(ChannelStatus.MISSING)
    bench.until(None, 60)
    assert bench.s["hand_cause"] == Cause.NONE
    assert bench.found is not None and bench.found[0] == Cause.MOTOR_LOST
    pair = Bare()
    pair.m["n_motors"] = pair.m["n_tendons"] = pair.m["finger_n_tendons"][0] = 2
    pair.z["motor_status"][:2] = int(ChannelStatus.MISSING)
    pair.until(None, 60)
    assert pair.s["hand_cause"] == Cause.BUS_LOST


def test_the_time_of_a_lost_bus_starts_anew_when_one_motor_answers() -> None:
    bench = Bare()
    lasting = bench.cycles(0.005)
    for _ in range(3):
        bench.z["motor_status"][:8] = int(ChannelStatus.MISSING)
        assert bench.until(None, lasting - 2) == lasting - 1
        bench.z["motor_status"][:8] = 0
        assert bench.until(None, 1) == 2


def test_a_hand_without_a_wrist_has_residuals_whatever_is_said_of_the_wrist() -> None:
    bench = Bare()
    bench.m["use_wrist"] = 0
    bench.s["residual_unexplained_m"][3] = 5e-3
    assert bench.until(None, 200) < 100
    assert bench.found is not None and bench.found[:2] == (Cause.RESIDUAL_TOO_LARGE, 3)
