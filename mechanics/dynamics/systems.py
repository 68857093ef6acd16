"""One door to every mechanism: state and inputs in, accelerations and energy out.

A system is a kind and its records, always all of them in one tuple ``parts`` = (tree, work, carpal, finger,
arm), so that integrators are compiled once for all kinds. State: coordinates q, speeds qd, and z (temperature
of the muscle). Inputs u: joint torques, then one extra channel (force, temperature or current of the muscle).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mechanics.arm import ARM, ArmRecord
from mechanics.arm_dynamics import arm_acceleration, arm_energy_j
from mechanics.carpal import CARPAL, CarpalRecord
from mechanics.carpal_dynamics import carpal_acceleration, carpal_energy_j
from mechanics.dynamics.aba import aba
from mechanics.dynamics.energy import energies
from mechanics.dynamics.records import TREE, WORK, TreeRecord, TreeWork
from mechanics.muscle_finger import (
    FINGER,
    MuscleFingerRecord,
    finger_acceleration,
    finger_energy_j,
    muscle_pull_n,
)
from signals.compiled import law
from signals.layout import FloatArray, Records
from signals.records import RecordArray

Parts = tuple[
    Records[TreeRecord],
    Records[TreeWork],
    Records[CarpalRecord],
    Records[MuscleFingerRecord],
    Records[ArmRecord],
]
"""What compiled functions see of ``PartArrays``."""
PartArrays = tuple[RecordArray, RecordArray, RecordArray, RecordArray, RecordArray]
"""Tree, work, carpal, finger, arm."""


class Kind(IntEnum):
    """Which equations a system has."""

    TREE = 0
    CARPAL = 1
    FINGER = 2
    ARM = 3


K_TREE: Final = int(Kind.TREE)
K_CARPAL: Final = int(Kind.CARPAL)
K_FINGER: Final = int(Kind.FINGER)


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """Equations of motion with their parameters and scratch."""

    kind: Kind
    parts: PartArrays
    dofs: tuple[str, ...]
    sliders: tuple[bool, ...]
    """Per coordinate: measured in metres."""
    frames: tuple[str, ...]
    """Bodies that can be loaded, in the order of the loads."""
    extra: str = ""
    """Name of the input beside the joint torques, empty: none."""

    @property
    def n_dofs(self) -> int:
        """Number of coordinates."""
        return len(self.dofs)

    @property
    def n_inputs(self) -> int:
        """Joint torques and the extra channel."""
        return self.n_dofs + 1


def parts_of(
    tree: NDArray[Any] | None = None,
    carpal: NDArray[Any] | None = None,
    finger: NDArray[Any] | None = None,
    arm: NDArray[Any] | None = None,
) -> PartArrays:
    """The records of a system; the missing ones are empty."""
    return (
        np.zeros(1, dtype=TREE) if tree is None else tree,
        np.zeros(1, dtype=WORK),
        np.zeros(1, dtype=CARPAL) if carpal is None else carpal,
        np.zeros(1, dtype=FINGER) if finger is None else finger,
        np.zeros(1, dtype=ARM) if arm is None else arm,
    )


@law
def accelerate(
    kind: int,
    parts: Parts,
    q: FloatArray,
    qd: FloatArray,
    z: FloatArray,
    u: FloatArray,
    loads: FloatArray,
    step_s: float,
    qdd: FloatArray,
    zd: FloatArray,
) -> None:
    """Accelerations and rates of any system.

    Args:
        kind: ``Kind``.
        parts: the system's records.
        q: coordinates, shape (n,).
        qd: speeds, shape (n,).
        z: further state, shape (1,).
        u: inputs, shape (n + 1,).
        loads: on the system's frames, in their axes, shape (frames, 6) or (0, 6).
        step_s: > 0 for implicit springs and dampers.
        qdd: receives the accelerations, shape (n,).
        zd: receives the rates of ``z``, shape (1,).
    """
    n = q.shape[0]
    zd[0] = 0.0
    if kind == K_TREE:
        aba(parts[0], q, qd, u, loads, step_s, parts[1], qdd)
    elif kind == K_CARPAL:
        carpal_acceleration(parts[2], q, qd, u, step_s, qdd)
    elif kind == K_FINGER:
        zd[0] = finger_acceleration(parts[3], q, qd, u, float(u[n]), float(z[0]), step_s, qdd)
    else:
        arm_acceleration(parts[4], q, qd, u, loads[loads.shape[0] - 1], step_s, qdd)


@law
def energy_j(kind: int, parts: Parts, q: FloatArray, qd: FloatArray) -> tuple[float, float]:
    """Kinetic and potential energy [J] of any system."""
    if kind == K_TREE:
        return energies(parts[0], q, qd, parts[1])
    if kind == K_CARPAL:
        return carpal_energy_j(parts[2], q, qd)
    if kind == K_FINGER:
        return finger_energy_j(parts[3], q, qd)
    return arm_energy_j(parts[4], q, qd)


@law
def applied_torque(
    kind: int, parts: Parts, q: FloatArray, qd: FloatArray, z: FloatArray, u: FloatArray, tau: FloatArray
) -> None:
    """Driving joint torques [N m or N], shape (n,): inputs, and what the muscle gives."""
    n = q.shape[0]
    pull = 0.0
    if kind == K_FINGER:
        f = parts[3][0]
        pull = f.offset_m * muscle_pull_n(f, q, qd, float(u[n]), float(z[0]))
    for i in range(n):
        tau[i] = u[i]
        if kind == K_FINGER:
            tau[i] += parts[3][0].split[i] * pull
