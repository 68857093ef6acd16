"""A limit counts however small it is, and zero is none; what has no cause has no part and no figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.channel_checks import since_sample_s
from guard.friction_checks import friction_factor
from guard.limits import motor_bounds
from guard.tension_checks import wanted_tension_n
from guard.winding import check_windings
from mechanics.springs import greatest_tension_n
from signals.faults import Cause
from signals.modes import Clip, MachineState, Request
from tests.rigs.bare import Bare, Guarded

LITTLE = 0.5


@pytest.mark.parametrize("limit", [0.0, LITTLE])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_motors_greatest_speed_counts_if_there_is_one(limit: float, sign: float) -> None:
    bench = Bare()
    bench.m["motor_speed_limit_rad_s"][4] = limit
    bench.s["motor_speed_rad_s"][4] = sign * 0.29
    assert bench.until(None, 60) == 61, "below the limit, or none"
    bench.s["motor_speed_rad_s"][4] = sign * 0.95 * LITTLE
    faster, bits = motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 1.0, 0)
    full = float(bench.m["motor_torque_limit_nm"][4])
    assert faster == pytest.approx(sign * min(1.0, full / 2.0) if limit else sign * 1.0)
    bench.s["motor_speed_rad_s"][4] = sign * 1.2 * LITTLE
    faster, bits = motor_bounds(bench.m, bench.mem, bench.s, 4, sign * 1.0, 0)
    assert (faster, bits) == ((0.0, int(Clip.SPEED)) if limit else (sign * 1.0, 0))
    bench.until(None, 60)
    assert (bench.found is not None) == (limit > 0.0)


@pytest.mark.parametrize("limit", [0.0, LITTLE])
def test_a_tension_limit_counts_if_there_is_one(limit: float) -> None:
    bench = Bare()
    seen = greatest_tension_n(bench.m, 5)
    bench.m["tension_limit_n"][5] = limit
    assert greatest_tension_n(bench.m, 5) == (limit or seen)


@pytest.mark.parametrize(
    ("wanted", "taut", "there"), [(0.5, 1, 0.5), (0.5, 0, 0.5), (0.0, 1, 5.0), (0.0, 0, 0.0)]
)
def test_a_tension_is_wanted_however_small_it_is(wanted: float, taut: int, there: float) -> None:
    bench = Bare()
    bench.s["ref_tension_n"][3], bench.mem["taut"][3] = wanted, taut
    assert wanted_tension_n(bench.m, bench.mem, bench.s, 3) == there


@pytest.mark.parametrize(
    ("wanted", "taut", "there"), [(0.5, 1, 5.0), (7.0, 1, 7.0), (0.5, 0, 0.5), (0.0, 1, 5.0)]
)
def test_a_goal_that_lets_a_tendon_go_does_not_make_one_whole_that_snapped(
    wanted: float, taut: int, there: float
) -> None:
    bench = Bare()
    bench.s["ref_tension_n"][3], bench.mem["taut"][3], bench.mem["snapped"][3] = wanted, taut, 1
    assert wanted_tension_n(bench.m, bench.mem, bench.s, 3) == there


@pytest.mark.parametrize("limit", [0.0, LITTLE])
def test_a_winding_may_have_a_low_limit(limit: float) -> None:
    bench = Bare()
    bench.m["winding_limit_degc"][:] = (0.0, limit)
    bench.s["winding_temperature_degc"][:8] = 0.9 * LITTLE
    bench.s["winding_temperature_degc"][6] = 1.1 * LITTLE
    check_windings(bench.m, bench.s)
    assert (bench.found is not None) == (limit > 0.0)


@pytest.mark.parametrize("name", ["thermal_winding_j_k", "thermal_case_j_k"])
def test_a_small_heat_capacity_is_one(name: str) -> None:
    """Half a joule per kelvin of winding: the heat of one cycle shows as its temperature."""
    bench = Guarded()
    bench.cycle()
    bench.m[name] = LITTLE
    before = bench.mem["winding_degc"][:8].copy()
    bench.mem["last_torque_nm"][:8] = 2.0
    bench.cycle()
    capacity = float(bench.m["thermal_winding_j_k"][0])
    expected = 1.5 * 0.37 * (2.0 / 1.47) ** 2 * bench.dt_s / capacity
    assert bench.mem["winding_degc"][:8] - before == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("speed", [-0.9, -0.4, 0.4, 0.9])
def test_friction_points_along_a_slow_motion_too(speed: float) -> None:
    bench = Bare()
    bench.s["motor_speed_rad_s"][4] = speed
    bench.mem["last_torque_nm"][4] = 0.2 + math.copysign(0.6, speed)
    measured, expected = friction_factor(bench.m, bench.mem, bench.s, 4, 4)
    assert measured == pytest.approx(0.6)
    assert expected == pytest.approx(0.5586 * math.atan(10.0 * abs(speed)) + 0.0356 * abs(speed))


@given(
    last=st.integers(0, 10**15),
    since=st.integers(0, 10**9),
    cycle_s=st.floats(0.0, 0.2),
    period_s=st.floats(1e-4, 1e-2),
)
def test_a_value_had_the_longest_of_period_cycle_and_time_between_samples(
    last: int, since: int, cycle_s: float, period_s: float
) -> None:
    bench = Bare()
    bench.m["dt_s"], bench.s["dt_s"] = period_s, cycle_s
    found = since_sample_s(bench.m, bench.s, last + since, last)
    assert found == pytest.approx(max(period_s, cycle_s, since / 1e9), rel=1e-12)


# --- nothing is the matter ------------------------------------------------------------------------------


def no_cause(bench: Bare) -> bool:
    s, n = bench.s, int(bench.m["n_fingers"])
    figures = [float(s[f"hand_cause{k}"]) for k in ("", "_part", "_value", "_limit")]
    fingers = [s[f"finger_cause{k}"][:n].tolist() for k in ("", "_part", "_value", "_limit")]
    return figures == [float(Cause.NONE), -1.0, 0.0, 0.0] and fingers == [
        [Cause.NONE] * n,
        [-1] * n,
        [0.0] * n,
        [0.0] * n,
    ]


@pytest.mark.parametrize("request_", [Request.OFF, Request.REARM])
def test_a_cause_that_is_cleared_leaves_no_part_and_no_figure(request_: Request) -> None:
    bench = Guarded("hasy")
    n = int(bench.m["n_fingers"])
    fault = int(MachineState.FAULT)
    bench.s["machine"] = bench.s["finger_state"][:n] = bench.mem["last_finger_state"][:n] = fault
    for where in ("hand_cause", "finger_cause"):
        bench.s[where] = int(Cause.JOINT_OUT_OF_RANGE)
        for k in ("_part", "_value", "_limit"):
            bench.s[where + k] = 7
    bench.cycle(request_)
    assert no_cause(bench)


def test_a_finger_that_is_rearmed_alone_has_no_cause_left() -> None:
    bench = Guarded("hasy")
    n = int(bench.m["n_fingers"])
    bench.cycle(Request.OFF)
    bench.s["machine"] = bench.s["finger_state"][:n] = int(MachineState.ACTIVE)
    bench.mem["last_finger_state"][:n] = int(MachineState.ACTIVE)
    bench.s["finger_state"][2] = bench.mem["last_finger_state"][2] = int(MachineState.FAULT)
    for k, value in (("", int(Cause.JOINT_OUT_OF_RANGE)), ("_part", 7), ("_value", 7.0), ("_limit", 7.0)):
        bench.s["finger_cause" + k][2] = value
    bench.cycle(Request.REARM)
    assert bench.s["finger_state"][2] == MachineState.HOLDING
    assert no_cause(bench)


def test_an_activation_leaves_nothing_of_an_old_goal() -> None:
    bench = Guarded("hasy", state=int(MachineState.HOLDING))
    bench.s["finger_cause_part"][:] = -1
    bench.s["hand_cause"], bench.s["hand_cause_part"] = int(Cause.COMMAND_TOO_OLD), 7
    bench.s["hand_cause_value"] = bench.s["hand_cause_limit"] = 7.0
    bench.cycle(Request.ACTIVATE)
    assert bench.s["machine"] == MachineState.ACTIVE
    assert no_cause(bench)


@pytest.mark.parametrize("request_", [Request.STOP, None])
def test_a_cause_of_the_whole_hand_has_no_part(request_: Request | None) -> None:
    bench = Guarded("hasy")
    if request_ is None:
        bench.g["time_ns"] = 1
        bench.s["time_ns"] = 10**9
    bench.cycle(request_)
    expected = Cause.OPERATOR_STOP if request_ else Cause.COMMAND_TOO_OLD
    assert (bench.s["hand_cause"], bench.s["hand_cause_part"]) == (expected, -1)
    if request_:
        assert bench.s["hand_cause_value"] == bench.s["hand_cause_limit"] == 0.0
    assert not np.any(bench.s["finger_cause"])
