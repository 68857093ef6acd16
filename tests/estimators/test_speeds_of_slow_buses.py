"""Speeds belong to the time between samples: a bus slower than the loop changes nothing but their delay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from estimators.speeds import HELD_NS
from tests.rigs.desk import Desk

START = 30
SPEED_RAD_S = 0.8


class Ramp:
    """Joints that turn at a steady speed; their channels are sampled when told to."""

    def __init__(self, hand: str = "finger_bench") -> None:
        self.desk = Desk(hand)
        self.q = np.full(self.desk.n_joints, 0.1)
        self.moves = np.zeros(self.desk.n_joints)
        self.moves[1] = SPEED_RAD_S
        self.desk.place(self.q, 20.0)
        for _ in range(START):
            self.desk.look()

    def cycle(self, fresh: bool = True) -> None:
        """One cycle of motion; a stale one shows the old sample with its old time."""
        desk, z = self.desk, self.desk.measurement
        before = z.copy()
        self.q = self.q + self.moves * desk.dt_s
        desk.place(self.q, 20.0)
        stale = z.copy()
        desk.stamp()
        if not fresh:
            for name in ("motor_angle_rad", "hall_count", "hall_fine_count", "motor_time_ns", "hall_time_ns"):
                stale[name] = before[name]
            for name in stale.dtype.names:
                z[name] = stale[name] if name != "time_ns" else z[name]
        _estimate(desk)

    def motor_speeds(self) -> Any:
        return self.desk.state["motor_speed_rad_s"][0, : self.desk.n_tendons].copy()

    def joint_speeds(self) -> Any:
        return self.desk.state["joint_speed_rad_s"][0, : self.desk.n_joints].copy()


def _estimate(desk: Desk) -> None:
    from estimators.tick import estimate

    estimate(desk.model, desk.measurement, desk.estimator, desk.state)


def steady() -> tuple[Any, Any]:
    """Speeds of the same motion with a sample in every cycle."""
    ramp = Ramp()
    for _ in range(60):
        ramp.cycle()
    return ramp.motor_speeds(), ramp.joint_speeds()


@settings(max_examples=25)
@given(pattern=st.lists(st.integers(1, 12), min_size=4, max_size=8))
def test_a_steady_motion_has_one_speed_however_its_samples_come(pattern: list[int]) -> None:
    """Samples every so many cycles, or now and then: same speeds, in every cycle between them too."""
    motors, joints = steady()
    ramp = Ramp()
    for _ in range(60):
        ramp.cycle()
    for gap in pattern:
        for k in range(gap):
            ramp.cycle(fresh=k == gap - 1)
            assert ramp.motor_speeds() == pytest.approx(motors, rel=1e-3, abs=1e-6)
            assert ramp.joint_speeds() == pytest.approx(joints, rel=1e-3, abs=1e-6)


def test_a_sample_that_grows_too_old_is_of_something_that_rests() -> None:
    ramp = Ramp()
    for _ in range(60):
        ramp.cycle()
    moving = np.abs(ramp.joint_speeds()).max()
    cycles = math.ceil(HELD_NS * 1e-9 / ramp.desk.dt_s)
    for _ in range(cycles - 1):
        ramp.cycle(fresh=False)
    assert np.abs(ramp.joint_speeds()).max() == pytest.approx(moving, rel=1e-9)
    for _ in range(round(0.02 / ramp.desk.dt_s)):
        ramp.cycle(fresh=False)
    assert np.abs(ramp.motor_speeds()).max() < 1e-3 and np.abs(ramp.joint_speeds()).max() < 1e-3


@settings(max_examples=25)
@given(gap=st.integers(1, 12))
def test_a_wrist_axis_that_is_read_seldom_has_its_true_speed(gap: int) -> None:
    desk = Desk("hasy")
    desk.place(np.full(desk.n_joints, 0.1), 20.0)
    angle, time_ns, speeds = 0.0, 0, []
    for k in range(1200):
        desk.stamp()
        angle += 0.3 * desk.dt_s
        if k % gap == 0:
            shown, time_ns = angle, int(desk.measurement["axis_time_ns"][0, 0])
        desk.measurement["axis_angle_rad"][0, 0] = shown
        desk.measurement["axis_time_ns"][0, 0] = time_ns
        _estimate(desk)
        speeds.append(float(desk.state["axis_speed_rad_s"][0, 0]))
    assert speeds[-30:] == pytest.approx([0.3] * 30, rel=1e-3)
