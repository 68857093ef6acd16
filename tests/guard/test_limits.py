"""The last word: every limit in turn, just inside and just outside, each change marked by its own bit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.guard import guard
from guard.limits import (
    SOFT_STOP_RAD,
    SOFT_STOP_WIDTH_RAD,
    motor_bounds,
    range_bounds,
    rate_bounds,
    room_in_range,
)
from guard.winding import derating
from mechanics.motor import command_bounds_nm
from signals.compiled import law
from signals.modes import ChannelStatus, Clip, MachineState, MotorMode, Request
from tests.rigs.desk import Desk


@law
def _motor(model: object, memory: object, state: object, i: int, x: float) -> tuple[float, int]:
    return motor_bounds(model[0], memory[0], state[0], i, x, 0)  # type: ignore[index]


@law
def _tension(model: object, memory: object, state: object, t: int, x: float) -> tuple[float, int]:
    return range_bounds(model[0], memory[0], state[0], 0, t, x, 0)  # type: ignore[index]


@law
def _rate(model: object, memory: object, i: int, x: float) -> tuple[float, int]:
    return rate_bounds(model[0], memory[0], i, x, 0)  # type: ignore[index]


@law
def _room(model: object, memory: object, state: object, t: int) -> float:
    return room_in_range(model[0], memory[0].P_tj_m, state[0], 0, t)  # type: ignore[index]


@pytest.fixture
def desk() -> Desk:
    made = Desk("finger_bench")
    made.place(np.array([0.0, 0.5, 0.5, 0.4]), 20.0)
    made.cycle()
    made.keeper["P_tj_m"][0] = made.m["P_tj_m"]
    made.keeper["inside"] = 0  # the soft stops are looked at
    made.state["winding_temperature_degc"][0, :8] = 25.0
    return made


LIMIT = 2.94


@given(st.floats(-50.0, 50.0), st.floats(-20.0, 20.0), st.floats(-20.0, 160.0))
def test_a_motor_never_gets_more_than_its_limits(x: float, speed: float, degc: float) -> None:
    desk = Desk("finger_bench")
    desk.state["motor_speed_rad_s"][0, 0] = speed
    desk.state["winding_temperature_degc"][0, 0] = degc
    y, bits = _motor(desk.model, desk.keeper, desk.state, 0, x)
    limit = float(desk.m["motor_torque_limit_nm"][0])
    low, high = command_bounds_nm(desk.m, 0, speed)
    assert low <= 0.0 <= high, "no speed demands a torque"
    assert low <= y <= high
    assert abs(y) <= limit and y * x >= 0.0
    assert (bits != 0) == (y != x)
    fastest = float(desk.m["motor_speed_limit_rad_s"][0])
    if abs(speed) >= fastest and low < 0.0 < high:
        assert y * speed <= 0.0, "beyond the greatest speed only braking is left"


def test_torque_limit_and_its_bit(desk: Desk) -> None:
    limit = float(desk.m["motor_torque_limit_nm"][0])
    assert _motor(desk.model, desk.keeper, desk.state, 0, limit) == (limit, 0)
    assert _motor(desk.model, desk.keeper, desk.state, 0, limit + 1e-6) == (limit, int(Clip.TORQUE))
    assert _motor(desk.model, desk.keeper, desk.state, 0, -limit - 1e-6) == (-limit, int(Clip.TORQUE))


def test_speed_fades_the_torque_that_makes_it_faster(desk: Desk) -> None:
    fastest = float(desk.m["motor_speed_limit_rad_s"][0])
    desk.m["motor_resistance_ohm"][0] = 0.0
    for share, factor in ((0.89, 1.0), (0.95, 0.5), (1.0, 0.0), (1.2, 0.0)):
        for sign in (1.0, -1.0):
            desk.state["motor_speed_rad_s"][0, 0] = sign * share * fastest
            y, bits = _motor(desk.model, desk.keeper, desk.state, 0, sign * LIMIT)
            assert y == pytest.approx(sign * LIMIT * factor, abs=1e-9)
            assert bits == (int(Clip.SPEED) if factor < 1.0 else 0)
            y, bits = _motor(desk.model, desk.keeper, desk.state, 0, -sign * LIMIT)
            assert (y, bits) == (-sign * LIMIT, 0)


def test_a_hot_winding_gets_less(desk: Desk) -> None:
    first, second = desk.m["winding_limit_degc"]
    for degc, share in ((first, 1.0), (0.5 * (first + second), 0.5), (second, 0.0), (second + 9.0, 0.0)):
        assert derating(desk.m, degc) == pytest.approx(share)
        desk.state["winding_temperature_degc"][0, 0] = degc
        y, bits = _motor(desk.model, desk.keeper, desk.state, 0, LIMIT)
        assert y == pytest.approx(share * LIMIT)
        assert bits == (int(Clip.TEMPERATURE) if share < 1.0 else 0)


def test_the_supply_voltage_limits_what_a_fast_motor_can_give(desk: Desk) -> None:
    desk.m["motor_speed_limit_rad_s"][0] = 0.0
    desk.state["motor_speed_rad_s"][0, 0] = 14.0
    _, high = command_bounds_nm(desk.m, 0, 14.0)
    y, bits = _motor(desk.model, desk.keeper, desk.state, 0, 2.0)
    assert y == pytest.approx(high)
    assert bits == int(Clip.CURRENT)


def test_the_rate_of_change_is_limited_both_ways(desk: Desk) -> None:
    step = float(desk.m["torque_rate_nm_s"]) * desk.dt_s
    desk.keeper["last_torque_nm"][0, 0] = 0.4
    for sign in (1.0, -1.0):
        assert _rate(desk.model, desk.keeper, 0, 0.4 + sign * 0.999 * step)[1] == 0
        y, bits = _rate(desk.model, desk.keeper, 0, 0.4 + sign * 1.001 * step)
        assert y == pytest.approx(0.4 + sign * step)
        assert bits == int(Clip.RATE)


def test_a_tendon_may_pull_less_the_further_it_drives_a_joint_out(desk: Desk) -> None:
    """DIP beyond its greatest angle: its flexor fades out, its extensor stays free."""
    P = desk.m["P_tj_m"]
    flexor = next(t for t in range(8) if P[t, 3] < 0.0)
    extensor = next(t for t in range(8) if P[t, 3] > 0.0)
    end = float(desk.m["joint_max_rad"][3])
    for beyond, share in ((0.99, 1.0), (SOFT_STOP_WIDTH_RAD / 2 / SOFT_STOP_RAD + 1.0, 0.5), (10.0, 0.0)):
        desk.state["joint_angle_rad"][0, 3] = end + beyond * SOFT_STOP_RAD
        assert _room(desk.model, desk.keeper, desk.state, flexor) == pytest.approx(share, abs=1e-9)
        assert _room(desk.model, desk.keeper, desk.state, extensor) == 1.0
        y, bits = _tension(desk.model, desk.keeper, desk.state, flexor, LIMIT)
        held = float(desk.m["spool_radius_m"][flexor] * desk.m["tension_min_n"][flexor])
        assert y == pytest.approx(max(share * LIMIT, held))
        assert bits == (int(Clip.JOINT_RANGE) if share < 1.0 else 0)
    desk.state["joint_angle_rad"][0, 3] = float(desk.m["joint_min_rad"][3]) - math.radians(10.0)
    assert _room(desk.model, desk.keeper, desk.state, extensor) == 0.0
    assert _room(desk.model, desk.keeper, desk.state, flexor) == 1.0


def test_the_command_is_the_torque_over_the_torque_constant() -> None:
    desk = Desk("finger_bench")
    desk.goal["pretension_n"][0, 0] = 30.0
    desk.to_active()
    desk.cycle(200)
    s, c = desk.state[0], desk.command[0]
    assert c["motor_current_a"][:8] == pytest.approx(
        s["motor_torque_nm"][:8] / desk.m["motor_torque_constant_nm_a"][:8]
    )
    assert np.all(c["motor_mode"][:8] == int(MotorMode.CURRENT))
    assert not c["motor_current_a"][8:].any()
    assert c["seq"] == s["tick"]
    assert c["time_ns"] == s["time_ns"]


def test_every_clip_is_counted() -> None:
    desk = Desk("finger_bench")
    desk.to_active()
    counts = np.zeros(8, dtype=int)
    for _ in range(50):
        desk.look()
        desk.state["ref_motor_torque_nm"][0, :8] = (0.2, 9.0, -9.0, 0.2, 0.2, np.inf, 0.2, 0.2)
        desk.watch()
        counts += desk.state["clip"][0, :8] != 0
    assert np.array_equal(desk.state["clip_count"][0, :8], counts)
    assert counts[1] == counts[2] == 50


@pytest.mark.parametrize("state", [MachineState.OFF, MachineState.READY])
def test_without_arming_no_torque_reaches_a_motor(state: MachineState) -> None:
    """Whatever a controller asks for."""
    desk = Desk("finger_bench")
    if state is MachineState.OFF:
        desk.measurement["motor_status"][0, 0] = int(ChannelStatus.MISSING)
    for _ in range(30):
        desk.look()
        desk.state["ref_motor_torque_nm"][0, :8] = 1.0
        desk.watch()
        assert not desk.command["motor_current_a"].any()
        assert not desk.command["motor_mode"].any()
    assert desk.state["machine"][0] == state
    assert np.all(desk.state["clip"][0, :8] & int(Clip.STATE))


def test_holding_ignores_the_controller_and_keeps_the_angle() -> None:
    desk = Desk("finger_bench")
    desk.to_holding()
    desk.cycle(2000)
    desk.measurement["motor_angle_rad"][0, :8] += 0.004
    desk.cycle(200)
    desk.look()
    desk.state["ref_motor_torque_nm"][0, :8] = 2.0
    desk.watch()
    kept, torque = -desk.m["position_kp_nm_rad"] * 0.004, desk.state["motor_torque_nm"][0, :8]
    assert 4 <= np.isclose(torque, kept, rtol=1e-3).sum() < 8
    desk.cycle(800)  # what jumped so fast is led from its stops for a while
    desk.look()
    desk.state["ref_motor_torque_nm"][0, :8] = 2.0
    desk.watch()
    assert desk.state["motor_torque_nm"][0, :8] == pytest.approx(kept, rel=1e-3)
    assert np.all(desk.state["clip"][0, :8] & int(Clip.STATE))


def test_switching_off_takes_the_torque_away_at_the_rate_limit() -> None:
    desk = Desk("finger_bench")
    desk.goal["pretension_n"][0, 0] = 40.0
    desk.to_active()
    desk.cycle(600)
    assert desk.state["motor_torque_nm"][0, :8].max() > 1.0
    desk.ask(Request.OFF)
    torques = [desk.state["motor_torque_nm"][0, :8].copy()]
    for _ in range(40):
        desk.cycle()
        torques.append(desk.state["motor_torque_nm"][0, :8].copy())
    assert np.abs(np.diff(torques, axis=0)).max() <= desk.m["torque_rate_nm_s"] * desk.dt_s + 1e-12
    assert not torques[-1].any()
    assert not desk.command["motor_mode"].any()


def test_wrist_axes_are_enabled_only_when_armed_and_held_when_not_active() -> None:
    desk = Desk("hasy")
    desk.cycle(12)
    assert not desk.command["axis_enable"].any()
    desk.to_holding()
    held = desk.command["axis_angle_rad"][0].copy()
    assert np.all(desk.command["axis_enable"][0] == 1)
    assert held == pytest.approx(desk.measurement["axis_angle_rad"][0])
    desk.measurement["axis_angle_rad"][0] += 0.002
    desk.look()
    desk.command["axis_angle_rad"][0] = 9.0
    desk.watch()
    assert np.array_equal(desk.command["axis_angle_rad"][0], held)
    desk.ask(Request.ACTIVATE)
    desk.cycle()
    for wish in (np.nan, 9.0, -9.0):
        desk.look()
        desk.command["axis_angle_rad"][0] = wish
        desk.watch()
        sent = desk.command["axis_angle_rad"][0]
        assert np.all((sent >= desk.m["axis_min_rad"]) & (sent <= desk.m["axis_max_rad"]))


anything = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.floats(-2.0, 2.0))


@given(
    st.sampled_from(list(MachineState)),
    st.lists(anything, min_size=8, max_size=8),
    st.lists(anything, min_size=4, max_size=4),
)
def test_whatever_comes_in_what_goes_out_is_within_the_limits(
    state: MachineState, torque: list[float], measured: list[float]
) -> None:
    desk = Desk("finger_bench")
    desk.state["machine"] = int(state)
    desk.state["finger_state"][0, 0] = int(state)
    limit = desk.m["motor_torque_limit_nm"][:8] / desk.m["motor_torque_constant_nm_a"][:8]
    for k in range(6):
        desk.stamp()
        if k == 2:
            desk.measurement["motor_angle_rad"][0, :4] = measured
            desk.measurement["hall_fine_count"][0, 4:8] = measured
        desk.look()
        desk.state["ref_motor_torque_nm"][0, :8] = torque
        guard(desk.model, desk.goal, desk.measurement, desk.keeper, desk.state, desk.command)
        sent = desk.command["motor_current_a"][0, :8]
        assert np.all(np.isfinite(sent))
        assert np.all(np.abs(sent) <= limit + 1e-12)
