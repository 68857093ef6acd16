"""A look that spares a law's work never changes what the law would say, and spares it in ordinary motion."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from guard.channel_checks import all_usable, without_a_word
from guard.envelope import joints_free, note_turns
from guard.limits import SPEED_SOFT, motor_bounds, motor_free, range_bounds
from guard.tension_checks import far_from_limit
from guard.winding import derating
from mechanics.motor import command_bounds_nm
from mechanics.springs import elongation_of_lever, greatest_tension_n
from signals.modes import ChannelStatus
from tests.rigs.moving import TENDONS, Moving

SPEEDS = st.lists(st.floats(-12.0, 12.0), min_size=4, max_size=4)
SHARES = st.lists(st.floats(-0.1, 1.1), min_size=4, max_size=4)
TORQUES = st.floats(-4.0, 4.0)


def moving(speeds: list[float], shares: list[float]) -> Moving:
    bench = Moving()
    note_turns(bench.m, bench.mem)
    bench.s["joint_angle_rad"][: bench.joints] = bench.low + np.array(shares) * (bench.high - bench.low)
    bench.turn(np.array(speeds))
    return bench


@given(TENDONS, SPEEDS, SHARES, TORQUES)
def test_joints_that_leave_way_enough_bind_no_torque(t, speeds, shares, torque):
    bench = moving(speeds, shares)
    quick = bench.bounded(t, torque)
    bench.mem["least_turn"][:] = 0.0
    assert not joints_free(bench.m, bench.mem, bench.s, 0, t, torque)
    assert bench.bounded(t, torque) == quick


@given(TENDONS, SPEEDS, SHARES, TORQUES)
def test_joints_within_their_soft_stops_leave_every_torque(t, speeds, shares, torque):
    bench = moving(speeds, shares)
    quick = range_bounds(bench.m, bench.mem, bench.s, 0, t, torque, 0)
    bench.mem["inside"][0] = 0
    assert range_bounds(bench.m, bench.mem, bench.s, 0, t, torque, 0) == quick


def test_in_the_middle_of_the_ranges_nothing_is_looked_at():
    bench = moving([0.5, -0.5, 0.5, 0.5], [0.5] * 4)
    assert bench.mem["inside"][0] == 1
    assert all(joints_free(bench.m, bench.mem, bench.s, 0, t, 0.3) for t in range(8))
    assert not joints_free(bench.m, bench.mem, bench.s, 0, 0, 50.0)


@given(TENDONS, st.floats(0.0, 1.0))
def test_a_tension_that_is_far_is_below_its_limit(t, share):
    bench = Moving()
    m, s, k = bench.m, bench.s, int(bench.m["tendon_spring"][t])
    low, high = float(m["lever_min_rad"][k]), float(m["lever_max_rad"][k])
    s["lever_angle_rad"][t] = low + share * (high - low)
    s["tension_n"][t] = elongation_of_lever(m, t, s["lever_angle_rad"][t])[0]
    if far_from_limit(m, s, t):
        assert s["tension_n"][t] < greatest_tension_n(m, t)
    else:
        assert share < 0.5 or s["tension_n"][t] > 0.5 * greatest_tension_n(m, t)


STATUSES = st.sampled_from([0, *ChannelStatus])


@given(st.integers(0, 7), st.sampled_from(["motor", "hall"]), STATUSES, st.booleans())
def test_channels_without_a_word_are_usable(i, kind, status, finite):
    bench = Moving()
    z = bench.z
    z["motor_angle_rad"][:8] = z["hall_fine_count"][:8] = 1.0
    assert without_a_word(bench.m, z) and all_usable(bench.m, z)
    z[f"{kind}_status"][i] = int(status)
    value = "motor_angle_rad" if kind == "motor" else "hall_fine_count"
    z[value][i] = 1.0 if finite else np.nan
    quiet = without_a_word(bench.m, z)
    assert quiet == (int(status) == 0 and finite)
    assert not quiet or all_usable(bench.m, z)


@given(TENDONS, TORQUES, st.floats(-20.0, 20.0), st.floats(20.0, 150.0))
def test_a_motor_that_is_free_has_no_bound_of_its_own(i, torque, speed, degc):
    bench = Moving()
    m, s = bench.m, bench.s
    s["motor_speed_rad_s"][i], s["winding_temperature_degc"][i] = speed, degc
    if motor_free(m, i, torque, speed, degc):
        low, high = command_bounds_nm(m, i, speed)
        assert low <= torque <= high and abs(torque) <= m["motor_torque_limit_nm"][i]
        assert abs(speed) <= SPEED_SOFT * m["motor_speed_limit_rad_s"][i] and derating(m, degc) == 1.0
        assert motor_bounds(m, bench.mem, s, i, torque, 0) == (torque, 0)


def test_a_motor_in_ordinary_motion_is_free_and_one_at_its_limits_is_not():
    bench = Moving()
    m, limit = bench.m, float(bench.m["motor_torque_limit_nm"][0])
    fastest, hot = float(m["motor_speed_limit_rad_s"][0]), float(m["winding_limit_degc"][0])
    assert motor_free(m, 0, 0.2 * limit, 0.3 * fastest, 40.0)
    for torque, speed, degc in (
        (1.01 * limit, 0.0, 40.0),
        (0.2 * limit, -0.91 * fastest, 40.0),
        (0.2 * limit, 0.0, hot + 0.1),
        (np.nan, 0.0, 40.0),
        (0.2 * limit, np.nan, 40.0),
    ):
        assert not motor_free(m, 0, torque, speed, degc)
