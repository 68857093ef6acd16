"""A finger that moves as it begins to hold comes to rest without a jerk; one at rest stays where it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.hold import FADE_S, GLIDE_S, begin_hold, held_angle_rad, hold_torque_nm
from signals.modes import MachineState
from tests.rigs.bare import Bare

T = 3
FAST = st.floats(-1.0, 1.0)
ACTIVE, HOLDING, FAULT = (int(MachineState[name]) for name in ("ACTIVE", "HOLDING", "FAULT"))


def held(share: float, torque_nm: float = 0.0, state: int = HOLDING) -> tuple[Bare, int]:
    """A finger that begins to hold with one motor at a share of its greatest speed, and that motor."""
    bench = Bare()
    i = int(bench.m["tendon_motor"][T])
    bench.s["finger_state"][0], bench.mem["last_finger_state"][0] = state, ACTIVE
    bench.s["motor_angle_rad"][: bench.n] = 0.1 * np.arange(bench.n)
    bench.s["motor_speed_rad_s"][i] = share * float(bench.m["motor_speed_limit_rad_s"][i])
    bench.mem["last_torque_nm"][i] = torque_nm
    begin_hold(bench.m, bench.mem, bench.s, 0)
    return bench, i


@given(FAST, st.floats(-2.0, 2.0))
def test_it_goes_on_with_the_torque_and_the_speed_that_it_had(share: float, torque_nm: float) -> None:
    bench, i = held(share, torque_nm)
    change = abs(hold_torque_nm(bench.m, bench.mem, bench.s, T) - torque_nm)
    kp, kd = float(bench.m["position_kp_nm_rad"]), float(bench.m["position_kd_nms_rad"])
    speed = abs(float(bench.s["motor_speed_rad_s"][i]))
    a_cycle_s = bench.dt_s
    most = kp * speed * a_cycle_s + kd * speed * a_cycle_s / GLIDE_S + abs(torque_nm) * a_cycle_s / FADE_S
    assert change <= most + 1e-12


@given(FAST)
def test_a_motor_that_follows_comes_to_rest_after_the_way_that_its_speed_makes_in_that_time(
    share: float,
) -> None:
    """The motor is wherever it is held: what is left of the torque is what fades and what it lags behind."""
    bench, i = held(share)
    first, speed = float(bench.s["motor_angle_rad"][i]), float(bench.s["motor_speed_rad_s"][i])
    before, slower = first, abs(speed)
    for _ in range(round(12.0 * GLIDE_S / bench.dt_s)):
        hold_torque_nm(bench.m, bench.mem, bench.s, T)
        now = float(bench.mem["hold_angle_rad"][i])
        made = abs(now - before) / bench.dt_s
        assert made <= slower * (1.0 + 1e-9) + 1e-9, "ever more slowly"
        before, slower = now, made
        bench.s["motor_angle_rad"][i], bench.s["motor_speed_rad_s"][i] = now, bench.mem["hold_speed_rad_s"][i]
    assert before - first == pytest.approx(speed * GLIDE_S, rel=0.02, abs=1e-12)
    assert abs(hold_torque_nm(bench.m, bench.mem, bench.s, T)) < 1e-3


@pytest.mark.parametrize("rad_s", [1e6, -1e6, 1e300])
def test_no_motor_glides_faster_than_it_can_turn(rad_s: float) -> None:
    bench, i = held(0.0)
    bench.s["motor_speed_rad_s"][i] = rad_s
    begin_hold(bench.m, bench.mem, bench.s, 0)
    assert abs(bench.mem["hold_speed_rad_s"][i]) == bench.m["motor_speed_limit_rad_s"][i]


@given(FAST)
def test_in_a_fault_it_stays_where_it_was(share: float) -> None:
    bench, i = held(share, state=FAULT)
    for _ in range(100):
        hold_torque_nm(bench.m, bench.mem, bench.s, T)
    assert bench.mem["hold_angle_rad"][i] == bench.s["motor_angle_rad"][i]
    fades = float(bench.m["position_kd_nms_rad"]) * float(bench.s["motor_speed_rad_s"][i])
    assert bench.mem["fade_torque_nm"][i] == pytest.approx(fades * math.exp(-100 * bench.dt_s / FADE_S))


def test_a_base_at_6_rad_s_goes_on_for_10_deg_as_decision_051_says() -> None:
    assert math.degrees(6.0 * GLIDE_S) == pytest.approx(10.3, abs=0.1)


@pytest.mark.parametrize("before", [s for s in MachineState if s is not MachineState.ACTIVE])
def test_only_what_followed_goals_glides(before: MachineState) -> None:
    """What was being let go in a fault, or was off, is held where it is."""
    bench, i = held(0.5)
    assert bench.mem["hold_speed_rad_s"][i] != 0.0
    bench.mem["last_finger_state"][0] = int(before)
    begin_hold(bench.m, bench.mem, bench.s, 0)
    assert bench.mem["hold_speed_rad_s"][i] == 0.0


@given(wrist_m_s=st.floats(-0.02, 0.02), own=FAST)
def test_a_motor_that_only_follows_the_wrist_goes_on_following_it_and_no_more(
    wrist_m_s: float, own: float
) -> None:
    """Law of the hold: its angle less what the wrist takes; the wrist moves on at the same speed."""
    bench, i = held(0.0)
    m, radius = bench.m, float(bench.m["spool_radius_m"][T])
    own_rad_s = own * 0.3 * float(m["motor_speed_limit_rad_s"][i])
    bench.mem["wrist_m_s"][T] = wrist_m_s
    bench.s["motor_speed_rad_s"][i] = own_rad_s - wrist_m_s / radius
    begin_hold(bench.m, bench.mem, bench.s, 0)
    first = float(bench.s["motor_angle_rad"][i])
    cycles = round(12.0 * GLIDE_S / bench.dt_s)
    for _ in range(cycles):
        bench.s["wrist_length_m"][T] += wrist_m_s * bench.dt_s
        hold_torque_nm(m, bench.mem, bench.s, T)
    taken = wrist_m_s * cycles * bench.dt_s / radius
    wanted = held_angle_rad(m, bench.mem, bench.s, T)
    assert wanted == pytest.approx(first + own_rad_s * GLIDE_S - taken, rel=0.02, abs=1e-6)
