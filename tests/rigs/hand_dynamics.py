"""Dynamics of a whole hand in a drawn state, compared in one way."""

from __future__ import annotations

import numpy as np

from mechanics.handtree import hand_dynamics, new_work
from signals.records import RecordArray
from tests.rigs.kinematics import (
    NEUTRAL,
    joint_box,
)


class State:
    """A random state of the whole hand."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        low, high = joint_box()
        self.rng = rng
        self.q, self.qd = np.zeros(32), np.zeros(32)
        self.q[:19] = rng.uniform(low, high)
        self.qd[:19] = rng.normal(0.0, 5.0, 19)
        self.axis = np.array(NEUTRAL) + rng.uniform(-1.0, 1.0, 2) * (0.45, 0.35)
        self.axis_d = rng.normal(0.0, 2.0, 2)

    @property
    def speed(self) -> np.ndarray:
        return np.concatenate([self.axis_d, self.qd[:19]])


def dynamics(model: RecordArray, s: State, work: RecordArray | None = None) -> np.void:
    work = new_work(model) if work is None else work
    hand_dynamics(model[0], s.axis, s.axis_d, s.q, s.qd, work[0])
    return work[0]


def off(got: np.ndarray, wanted: np.ndarray) -> float:
    """Largest error relative to the largest entry; NaN where one is."""
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


def full(H: np.ndarray) -> np.ndarray:
    return np.triu(H) + np.triu(H, 1).T
