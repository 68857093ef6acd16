"""Homing finds the offsets it is asked for; filtered speeds have the bandwidth they are given."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimators.homing import HomingError, home
from estimators.speeds import filtered_speed
from mechanics.low_pass import filter_share
from tests.rigs.desk import Desk


@pytest.mark.parametrize("hand", ["finger_bench", "hasy"])
def test_homing_restores_lost_offsets(hand: str) -> None:
    desk = Desk(hand)
    n = desk.n_tendons
    q = np.linspace(0.05, 0.2, desk.n_joints)
    desk.place(q, 20.0)
    true = desk.m["elongation_offset_m"][:n].copy()
    desk.m["elongation_offset_m"][:n] += np.linspace(-0.01, 0.01, n)
    spread = home(desk.model, [desk.measurement.copy() for _ in range(5)], q)
    assert desk.m["elongation_offset_m"][:n] == pytest.approx(true, abs=1e-12)
    assert spread.shape == (n,)
    assert spread.max() < 1e-12
    desk.look()
    assert np.abs(desk.state["joint_angle_rad"][0, : desk.n_joints] - q).max() < 1e-8


def test_homing_averages_noise_and_tells_its_size() -> None:
    desk = Desk("finger_bench")
    rng = np.random.default_rng(1)
    true = desk.m["elongation_offset_m"][:8].copy()
    records = []
    for _ in range(400):
        record = desk.measurement.copy()
        record["motor_angle_rad"][0, :8] += 1e-3 * rng.normal(size=8)
        records.append(record)
    spread = home(desk.model, records, np.zeros(4))
    assert spread == pytest.approx(1e-5 * np.ones(8), rel=0.25)
    assert np.abs(desk.m["elongation_offset_m"][:8] - true).max() < 3e-6


def test_homing_refuses_what_it_cannot_use() -> None:
    desk = Desk("finger_bench")
    with pytest.raises(HomingError, match="at least one measurement"):
        home(desk.model, [], np.zeros(4))


@given(st.floats(20.0, 1000.0), st.floats(1e-4, 1e-3), st.floats(-20.0, 20.0))
def test_a_ramp_gives_its_slope_and_settles_with_the_time_constant(
    cutoff_hz: float, dt_s: float, slope: float
) -> None:
    speed, share = 0.0, filter_share(cutoff_hz, dt_s)
    steps = math.ceil(1.0 / (2.0 * math.pi * cutoff_hz * dt_s))
    for k in range(steps):
        speed = filtered_speed(speed, slope * (k + 1) * dt_s, slope * k * dt_s, dt_s, share)
    left = math.exp(-2.0 * math.pi * cutoff_hz * steps * dt_s)
    assert speed == pytest.approx(slope * (1.0 - left), abs=1e-9)


@given(st.floats(0.0, 1e4), st.floats(1e-6, 1e-2))
def test_the_share_of_a_filter_is_a_share(cutoff_hz: float, dt_s: float) -> None:
    assert 0.0 <= filter_share(cutoff_hz, dt_s) <= 1.0


def test_speeds_start_at_zero_wherever_the_hand_is() -> None:
    desk = Desk("hasy")
    desk.place(np.full(desk.n_joints, 0.3), 30.0)
    desk.look()
    assert not desk.state["motor_speed_rad_s"].any()
    assert not desk.state["joint_speed_rad_s"].any()
    assert not desk.state["axis_speed_rad_s"].any()
