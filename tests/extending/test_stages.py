"""Estimator and controller of a package, put in place by name, move the simulated finger under our guard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hand.stages import make_stages
from runtime.session import run_lockstep
from signals.faults import Cause
from sim.backend import SimulatedBus
from sim.options import SimOptions
from tests.rigs.desk import Desk


@pytest.fixture
def bench(installed: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Desk, SimulatedBus]:
    desk = Desk("finger_bench")
    stages = make_stages(controller="soft_springs:control")
    bus = SimulatedBus(desk.model.copy(), SimOptions())
    bus.activate()

    def look() -> None:
        desk.stamp()
        bus.exchange(desk.command, desk.measurement, int(desk.state["time_ns"][0]))
        stages.estimate(desk.model, desk.measurement, desk.estimator, desk.state)

    def steer() -> None:
        stages.control(desk.model, desk.goal, stages.controller_memory, desk.state, desk.command)

    monkeypatch.setattr(desk, "look", look)
    monkeypatch.setattr(desk, "steer", steer)
    return desk, bus


def test_the_controller_follows_a_goal(bench: tuple[Desk, SimulatedBus]) -> None:
    desk, bus = bench
    desk.to_active()
    goal = np.array([0.05, 0.5, 0.4, 0.3])
    for k in range(4500):
        desk.goal["joint_angle_rad"][0, :4] = goal * min(k / 1500.0, 1.0)
        desk.cycle()
    assert desk.causes() == [Cause.NONE]
    error = bus.truth["joint_angle_rad"][0, :4] - goal
    assert np.abs(error).max() < np.radians(8.0)
    assert np.all(bus.truth["tension_n"][0, :8] > 4.0)


def _speed_error(**overrides: str) -> tuple[float, float]:
    """Joint speeds of a run in slow motion against the truth: (error, truth), rms [rad/s]."""
    result = run_lockstep("finger_bench", motion="finger_wave", seconds=2.0, every=1, overrides=overrides)
    assert not result.report["faults"]
    speed = result.frames["state"]["joint_speed_rad_s"], result.frames["truth"]["joint_speed_rad_s"]
    late = result.seconds > 1.0
    error = (speed[0] - speed[1])[late]
    return float(np.sqrt((error**2).mean())), float(np.sqrt((speed[1][late] ** 2).mean()))


def test_the_estimators_observer_tells_joint_speeds_and_closes_the_loop(installed: Path) -> None:
    error, truth = _speed_error(estimator="speed_observer:estimate")
    filtered, _ = _speed_error()
    assert truth > 0.3
    assert error < 0.5 * filtered and error < 0.1 * truth, (error, filtered, truth)
