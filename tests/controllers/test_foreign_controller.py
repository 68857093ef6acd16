"""The example of a foreign controller, put in place by name, moves the simulated finger under our guard."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hand.stages import make_stages
from signals.faults import Cause
from sim.backend import SimulatedBus
from sim.options import SimOptions
from tests.rigs.desk import Desk


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> tuple[Desk, SimulatedBus]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "examples"))
    desk = Desk("finger_bench")
    stages = make_stages(controller="foreign_controller:soft_springs")
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


def test_the_example_follows_a_goal(bench: tuple[Desk, SimulatedBus]) -> None:
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
