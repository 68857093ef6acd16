"""The guard from cycle to cycle: what begins with a state, what is sent, shown, counted and remembered."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.guard import guard
from guard.latch import latch_finger, latch_hand
from guard.machine import fall_with_fingers, set_fingers
from guard.winding import check_windings, derating, winding_temperatures
from mechanics.thermal import thermal_step
from signals.compiled import law
from signals.faults import Cause
from signals.modes import ChannelStatus, Clip, MachineState, MotorMode, Request
from tests.rigs.bare import Bare, Guarded

OFF, READY, HOLDING, ACTIVE, FAULT = (int(s) for s in MachineState)
KT = 1.47


# --- what is sent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [OFF, READY, HOLDING, ACTIVE, FAULT])
@pytest.mark.parametrize("wanted", [0.0, 0.3, math.nan, -math.inf])
def test_only_an_active_finger_gets_what_is_wanted_and_every_other_wish_is_shown(
    state: int, wanted: float
) -> None:
    bench = Guarded(state=state)
    bench.mem["off_wanted"] = int(state == OFF)
    if state == FAULT:
        bench.s["finger_cause"][0], bench.s["finger_cause_part"][0] = int(Cause.TENSION_TOO_HIGH), 7
    bench.mem["hold_angle_rad"][:8], bench.mem["release_n"][:8] = 0.001, 5.0
    bench.mem["last_torque_nm"][:8] = 0.2
    bench.s["ref_motor_torque_nm"][5] = wanted
    bench.cycle()
    sent, clip = float(bench.s["motor_torque_nm"][5]), Clip(int(bench.s["clip"][5]))
    finite = math.isfinite(wanted)
    assert bool(clip & Clip.NOT_FINITE) == (not finite)
    if state == ACTIVE:
        assert bool(clip & Clip.STATE) is not finite
        assert sent == pytest.approx(0.3 if wanted == 0.3 else 0.2 - 400.0 / 3000.0)
        # a wish that is no number is no zero: the finger falls, and is let go
        assert bench.s["finger_cause"][0] == (Cause.NONE if finite else Cause.NOT_FINITE_COMMAND)
        if not finite:
            assert bench.s["finger_cause_part"][0] == 5
    else:
        assert bool(clip & Clip.STATE) == (wanted != 0.0)
        assert bench.s["finger_cause"][0] != Cause.NOT_FINITE_COMMAND
        if state in (OFF, READY):
            assert sent == pytest.approx(0.2 - 400.0 / 3000.0), "at the torque rate"
        elif state == HOLDING:
            assert sent == pytest.approx(200.0 * 0.001, abs=0.02)
        else:
            assert sent <= 0.2


@pytest.mark.parametrize("state", [OFF, READY, HOLDING, ACTIVE, FAULT])
def test_currents_modes_angles_and_stamps_of_a_command(state: int) -> None:
    bench = Guarded(state=state)
    bench.mem["off_wanted"] = int(state == OFF)
    bench.s["motor_angle_rad"][:8] = bench.mem["last_angle_rad"][:8] = np.arange(8) * 0.1
    bench.mem["hold_angle_rad"][:8] = bench.s["motor_angle_rad"][:8]
    for _ in range(4):
        bench.cycle()
    torque = bench.s["motor_torque_nm"][:8]
    assert bench.c["motor_current_a"][:8] == pytest.approx(torque / KT)
    assert bench.mem["last_torque_nm"][:8] == pytest.approx(torque)
    assert np.array_equal(bench.c["motor_angle_rad"][:8], bench.s["motor_angle_rad"][:8])
    on = MotorMode.CURRENT if state >= HOLDING else MotorMode.OFF
    assert np.all(bench.c["motor_mode"][:8] == int(on))
    assert bench.c["time_ns"] == bench.s["time_ns"] and bench.c["seq"] == bench.s["tick"]
    # a torque on its ramp is sent as a torque, whatever the state
    bench.mem["last_torque_nm"][3] = 2.0
    bench.cycle()
    assert bench.s["motor_torque_nm"][3] > 1.0
    assert bench.c["motor_mode"][3] == MotorMode.CURRENT


@given(st.lists(st.floats(-4.0, 4.0), min_size=8, max_size=8))
def test_a_clip_is_counted_once_per_cycle_and_motor(wanted: list[float]) -> None:
    bench = Guarded()
    bench.s["ref_motor_torque_nm"][:8] = wanted
    bench.mem["last_torque_nm"][:8] = 0.0
    before = bench.s["clip_count"][:8].copy()
    for _ in range(3):
        bench.cycle()
        before += bench.s["clip"][:8] != 0
        assert np.array_equal(bench.s["clip_count"][:8], before)
        changed = np.abs(bench.s["motor_torque_nm"][:8] - wanted) > 1e-12
        active = bench.s["finger_state"][0] == ACTIVE
        assert not active or np.array_equal(changed, bench.s["clip"][:8] != 0)


@pytest.mark.parametrize("name", ["hall_time_ns", "motor_time_ns"])
@pytest.mark.parametrize(("age_ms", "frozen"), [(19.9, False), (20.1, True)])
def test_the_torque_of_an_old_sample_stands_still(name: str, age_ms: float, frozen: bool) -> None:
    bench = Guarded()
    for _ in range(100):
        bench.cycle()
    bench.s["ref_motor_torque_nm"][:8] = 0.25
    bench.stamp()
    bench.z[name][6] -= round(age_ms * 1e6)
    memory, measurement, state, goal, command = bench.records
    guard(bench.model, goal, measurement, memory, state, command)
    assert bench.s["motor_torque_nm"][6] == pytest.approx(0.2 if frozen else 0.25)
    assert bool(int(bench.s["clip"][6]) & Clip.STATE) is frozen
    assert bench.s["motor_torque_nm"][7] == pytest.approx(0.25)


def test_a_hand_without_tiers_freezes_nothing_and_names_nothing() -> None:
    bench = Guarded()
    bench.m["measurement_age_s"][:] = 0.0
    bench.stamp()
    bench.z["hall_time_ns"][:8] -= 10**9
    bench.s["ref_motor_torque_nm"][:8] = 0.25
    memory, measurement, state, goal, command = bench.records
    guard(bench.model, goal, measurement, memory, state, command)
    assert bench.found is None
    assert bench.s["motor_torque_nm"][:8] == pytest.approx(0.25)


# --- what begins with a state ---------------------------------------------------------------------------


def test_a_change_of_state_takes_the_angles_to_hold_and_clears_the_time_at_the_slack_stop() -> None:
    for request, held in ((Request.ARM, True), (Request.STOP, True), (Request.OFF, False)):
        bench = Guarded()
        bench.s["motor_angle_rad"][:8] = bench.mem["last_angle_rad"][:8] = 0.3
        bench.mem["slack_s"][:8], bench.mem["taut"][:8] = 0.001, 1
        bench.s["lever_angle_rad"][:8] = math.radians(15.0)
        bench.cycle(request)
        assert np.all(bench.mem["slack_s"][:8] == 0.0)
        assert np.all(bench.mem["taut"][:8] == 1)
        assert np.all(bench.mem["hold_angle_rad"][:8] == (0.3 if held else 0.0))
        assert bench.mem["last_finger_state"][0] == bench.s["finger_state"][0]
        # and only then
        bench.s["motor_angle_rad"][:8] = bench.mem["last_angle_rad"][:8] = 0.301
        bench.cycle()
        assert np.all(bench.mem["hold_angle_rad"][:8] == (0.3 if held else 0.0))


def test_after_a_fault_a_tendon_counts_as_taut_only_once_it_was_so_again() -> None:
    bench = Guarded()
    bench.mem["taut"][:8] = 1
    bench.cycle(Request.STOP)
    assert np.all(bench.mem["taut"][:8] == 1)
    bench.mem["taut_s"][:8] = 0.0
    bench.cycle(Request.REARM)
    assert bench.s["machine"] == HOLDING and not bench.mem["taut"][:8].any()
    bench.mem["taut"][:8] = 1
    bench.cycle(Request.ACTIVATE)
    assert np.all(bench.mem["taut"][:8] == 1)


def test_a_faults_age_counts_from_its_first_cycle_and_the_probe_is_judged_every_cycle() -> None:
    bench = Guarded()
    bench.s["finger_state"][0] = FAULT
    bench.s["finger_cause"][0], bench.s["finger_cause_part"][0] = int(Cause.TENSION_LOST), 2
    bench.s["lever_angle_rad"][2] = math.radians(15.0)
    for k in range(5):
        bench.cycle()
        assert bench.mem["fault_age_s"][0] == pytest.approx(k * bench.dt_s)
        assert bench.mem["probe_age_s"][0] == pytest.approx(k * bench.dt_s)
    bench.mem["probe_phase"][0] = 2
    bench.cycle()
    assert bench.mem["probe_age_s"][0] == pytest.approx(4 * bench.dt_s), "it is named"


@pytest.mark.parametrize("state", [OFF, READY])
def test_nothing_is_latched_before_the_hand_is_armed(state: int) -> None:
    bench = Guarded(state=state)
    bench.mem["off_wanted"] = int(state == OFF)
    for k in range(40):
        bench.z["hall_count"][3] = 4095
        bench.s["motor_angle_rad"][:8] = k * 0.5
        bench.s["winding_temperature_degc"][:8] = 300.0
        bench.s["ref_motor_torque_nm"][1] = math.nan
        bench.cycle()
        assert bench.mem["started"] == 0
    assert bench.found is None
    holding = Guarded(state=HOLDING)
    holding.cycle()
    assert holding.mem["started"] == 1


# --- latches --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("finger", [0, 3])
def test_the_first_cause_of_a_finger_stays_with_its_figures(finger: int) -> None:
    bench = Bare("hasy")
    bench.s["tick"] = 77
    latch_finger(bench.s, finger, int(Cause.HALL_STUCK), 4, 1.5, 2.5)
    bench.s["tick"] = 99
    latch_finger(bench.s, finger, int(Cause.MOTOR_LOST), 9, 3.0, 4.0)
    s = bench.s
    assert s["finger_state"][finger] == FAULT
    shown = [float(s[f"finger_cause{n}"][finger]) for n in ("", "_part", "_value", "_limit", "_tick")]
    assert shown == [float(Cause.HALL_STUCK), 4.0, 1.5, 2.5, 77.0]
    assert [int(x) for x in s["finger_state"][:6]].count(FAULT) == 1
    assert s["hand_cause"] == Cause.NONE


def test_the_first_cause_of_the_hand_stays_and_takes_every_finger() -> None:
    bench = Bare("hasy")
    n = int(bench.m["n_fingers"])
    latch_hand(bench.m, bench.s, int(Cause.BUS_LOST), -1, 6.0, 5.0)
    latch_hand(bench.m, bench.s, int(Cause.WRIST_JUMP), 1, 3.0, 1.0)
    s = bench.s
    assert s["machine"] == FAULT and np.all(s["finger_state"][:n] == FAULT)
    assert [float(s[f"hand_cause{k}"]) for k in ("", "_part", "_value", "_limit")] == [
        float(Cause.BUS_LOST),
        -1.0,
        6.0,
        5.0,
    ]
    assert not s["finger_cause"].any() and not s["finger_state"][n:].any()


@given(states=st.lists(st.sampled_from([HOLDING, ACTIVE, FAULT]), min_size=6, max_size=6))
@pytest.mark.parametrize("keep", [True, False])
def test_fingers_in_fault_keep_it_if_asked_to(states: list[int], keep: bool) -> None:
    bench = Bare("hasy")
    n = int(bench.m["n_fingers"])
    bench.s["finger_state"][:n] = states[:n]
    set_fingers(bench.m, bench.s, READY, keep)
    expected = [FAULT if keep and s == FAULT else READY for s in states[:n]]
    assert [int(s) for s in bench.s["finger_state"][:n]] == expected
    for machine in (OFF, READY, HOLDING, ACTIVE, FAULT):
        bench.s["finger_state"][:n] = states[:n]
        bench.s["machine"] = machine
        fall_with_fingers(bench.m, bench.s)
        all_of_them = states[:n] == [FAULT] * n and machine in (HOLDING, ACTIVE)
        assert bench.s["machine"] == (FAULT if all_of_them else machine)


# --- windings -------------------------------------------------------------------------------------------


@law
def _windings(model: Any, memory: Any, measurement: Any, state: Any) -> None:
    winding_temperatures(model[0], memory[0], measurement[0], state[0])


@given(
    torque=st.floats(-2.9, 2.9),
    winding=st.floats(-20.0, 120.0),
    case=st.floats(-20.0, 100.0),
    report=st.one_of(st.floats(-60.0, 130.0), st.sampled_from([0.0, math.nan, math.inf, -40.0, -39.9])),
)
def test_one_cycle_of_a_winding(torque: float, winding: float, case: float, report: float) -> None:
    bench = Bare()
    bench.mem["warm"] = 1
    bench.mem["winding_degc"][3], bench.mem["case_degc"][3] = winding, case
    bench.mem["last_torque_nm"][3], bench.z["motor_temperature_degc"][3] = torque, report
    memory, measurement, state = bench.records[:3]
    _windings(bench.model, memory, measurement, state)
    heat = 1.5 * 0.37 * (torque / KT) ** 2
    now, outer = thermal_step(bench.m, 0, winding, case, heat, bench.dt_s)
    used = math.isfinite(report) and report > -40.0 and report != 0.0
    if used:
        outer += bench.dt_s / 30.0 * (report - outer)
    assert bench.mem["winding_degc"][3] == pytest.approx(now, abs=1e-12)
    assert bench.mem["case_degc"][3] == pytest.approx(outer, abs=1e-12)
    shown = max(now, report) if used else now
    assert bench.s["winding_temperature_degc"][3] == pytest.approx(shown, abs=1e-12)


@pytest.mark.parametrize("name", ["thermal_winding_j_k", "thermal_case_j_k"])
def test_a_hand_without_a_thermal_model_shows_the_report(name: str) -> None:
    bench = Bare()
    bench.m[name] = 0.0
    bench.z["motor_temperature_degc"][:8] = 41.0
    bench.mem["last_torque_nm"][:8] = 2.9
    memory, measurement, state = bench.records[:3]
    for _ in range(50):
        _windings(bench.model, memory, measurement, state)
    assert bench.s["winding_temperature_degc"][:8] == pytest.approx(41.0)
    assert bench.mem["warm"] == 1


def test_a_start_takes_the_report_or_the_room() -> None:
    for report, begin in ((55.0, 55.0), (math.nan, 25.0), (0.0, 25.0), (-50.0, 25.0)):
        bench = Bare()
        bench.mem["warm"] = 0
        bench.z["motor_temperature_degc"][:8] = report
        bench.mem["last_torque_nm"][:8] = 0.0
        memory, measurement, state = bench.records[:3]
        _windings(bench.model, memory, measurement, state)
        assert bench.mem["winding_degc"][:8] == pytest.approx(begin, abs=0.01)
        assert bench.mem["case_degc"][:8] == pytest.approx(begin, abs=0.01)


def test_a_winding_at_its_second_limit_is_named_and_no_limit_names_nothing() -> None:
    for degc, latched in ((109.9, False), (110.1, True)):
        bench = Bare()
        bench.s["winding_temperature_degc"][6] = degc
        check_windings(bench.m, bench.s)
        assert (bench.found is not None) is latched
    assert bench.found == (Cause.MOTOR_TOO_HOT, 6, pytest.approx(110.1), 110.0)
    bench = Bare()
    bench.m["winding_limit_degc"][:] = 0.0
    bench.s["winding_temperature_degc"][6] = 300.0
    check_windings(bench.m, bench.s)
    assert bench.found is None


@given(degc=st.floats(-50.0, 300.0))
def test_the_share_of_torque_falls_in_a_line_between_the_limits(degc: float) -> None:
    bench = Bare()
    assert derating(bench.m, degc) == pytest.approx(min(max((110.0 - degc) / 30.0, 0.0), 1.0))
    bench.m["winding_limit_degc"][:] = (90.0, 90.0)
    assert derating(bench.m, degc) == 1.0


# --- wrist ----------------------------------------------------------------------------------------------


def test_the_wrist_is_held_where_it_was_each_time_holding_begins() -> None:
    bench = Guarded("hasy")
    low, high = (bench.m[n][:2] for n in ("axis_min_rad", "axis_max_rad"))
    middle = 0.5 * (low + high)
    for away in (0.02, -0.03):
        bench.s["axis_angle_rad"][:2] = middle + away
        bench.mem["axis_before_rad"][:2] = middle + away
        bench.c["axis_angle_rad"][:2] = middle
        bench.cycle(Request.ACTIVATE)
        assert bench.c["axis_angle_rad"][:2] == pytest.approx(middle)
        assert np.all(bench.c["axis_enable"][:2] == 1) and bench.mem["axis_held"] == 0
        for k in range(3):
            bench.c["axis_angle_rad"][:2] = high
            bench.s["axis_angle_rad"][:2] = middle + away + 0.0001 * k
            bench.cycle(Request.ARM if k == 0 else None)
            assert bench.c["axis_angle_rad"][:2] == pytest.approx(middle + away)
            assert bench.mem["axis_held"] == 1
    bench.cycle(Request.OFF)
    assert not bench.c["axis_enable"].any() and bench.mem["axis_held"] == 0


@given(wanted=st.one_of(st.floats(-9.0, 9.0), st.sampled_from([math.nan, math.inf, -math.inf])))
def test_a_wrist_command_is_the_wanted_one_within_its_range(wanted: float) -> None:
    bench = Guarded("hasy")
    bench.c["axis_angle_rad"][1] = wanted
    measured = float(bench.s["axis_angle_rad"][1])
    bench.cycle()
    low, high = float(bench.m["axis_min_rad"][1]), float(bench.m["axis_max_rad"][1])
    expected = min(max(wanted, low), high) if math.isfinite(wanted) else measured
    assert bench.c["axis_angle_rad"][1] == pytest.approx(expected)


# --- channels -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bit", [b for b in ChannelStatus if b])
@pytest.mark.parametrize("name", ["motor_status", "hall_status", "axis_status"])
def test_a_hand_is_complete_when_every_channel_may_be_used(name: str, bit: ChannelStatus) -> None:
    """A stale value still is one; its age is judged elsewhere."""
    bench = Guarded("hasy", OFF)
    bench.z[name][1] = int(bit)
    bench.mem["good_cycles"] = 100
    bench.cycle()
    assert bench.s["machine"] == (READY if bit is ChannelStatus.STALE else OFF)
    assert bench.mem["good_cycles"] == (101 if bit is ChannelStatus.STALE else 0)


@pytest.mark.parametrize("name", ["motor_angle_rad", "hall_fine_count", "axis_angle_rad"])
def test_a_hand_is_not_complete_with_a_value_that_is_no_number(name: str) -> None:
    bench = Guarded("hasy", READY)
    bench.z[name][1] = math.nan
    bench.cycle()
    assert bench.s["machine"] == OFF
