"""The bench finger behind the plant, with switches for its loss terms, for laws about the plant."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from hand.assembly.assemble import model_of
from hand.file import load_hand
from signals.modes import SensorLevel
from signals.records import COMMAND, MEASUREMENT, RecordArray, new
from sim.backend import SimulatedBus
from sim.options import SimOptions

PERIOD_NS = 333_333


@cache
def _model(hand: str) -> RecordArray:
    return model_of(load_hand(hand))


def model(hand: str = "finger_bench") -> RecordArray:
    """A fresh model record."""
    return _model(hand).copy()


def lossless(m: RecordArray) -> RecordArray:
    """The smooth subset: no friction of any kind, no ripple."""
    for field in (
        "friction_gamma_2_nm",
        "friction_gamma_3_nms_rad",
        "ripple_amplitude_nm",
        "joint_viscous_nms_rad",
        "joint_coulomb_nm",
        "stop_damping_nms_rad",
    ):
        m[field] = 0.0
    return m


class Bench:
    """A plant with its command, driven cycle by cycle."""

    def __init__(self, m: RecordArray, **options: Any) -> None:
        options.setdefault("sensors", SensorLevel.IDEAL)
        self.model = m
        self.bus = SimulatedBus(m.copy(), SimOptions(**options))
        self.command, self.measurement = new(COMMAND), new(MEASUREMENT)
        self.command["motor_mode"] = 1
        self.command["axis_angle_rad"] = m["wrist_neutral_rad"]
        self.command["axis_enable"] = 1
        self.n_motors, self.n_joints = int(m["n_motors"][0]), int(m["n_joints"][0])
        self.n_tendons = int(m["n_tendons"][0])
        self.cycle = 0
        self.step()

    def step(self, cycles: int = 1) -> None:
        """Exchange ``cycles`` times."""
        for _ in range(cycles):
            status = self.bus.exchange(self.command, self.measurement, self.cycle * PERIOD_NS)
            assert status == 0, self.bus.diagnosis
            self.cycle += 1

    def torque(self, nm: Any) -> None:
        """Ask all motors for torques [N m], shape (M,) or a number."""
        kt = self.model["motor_torque_constant_nm_a"][0, : self.n_motors]
        self.command["motor_current_a"][0, : self.n_motors] = np.asarray(nm) / kt

    def hold(self) -> None:
        """Motor torques that carry the present tensions."""
        r = self.model["spool_radius_m"][0, : self.n_tendons]
        load = np.zeros(self.n_motors)
        motors = self.model["tendon_motor"][0, : self.n_tendons]
        np.add.at(load, motors, r * self.truth("tension_n", self.n_tendons))
        self.torque(load)

    def truth(self, name: str, n: int | None = None) -> Any:
        """A copy of a truth signal, first ``n`` entries."""
        value = self.bus.truth[name][0]
        return value.copy() if n is None else value[:n].copy()
