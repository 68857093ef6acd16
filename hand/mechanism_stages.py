"""Stages of a mechanism in the place of a tendon hand: joint sensors, its own controller, our guard."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from controllers import inverse_dynamics as inverse_control
from controllers import muscle_position as muscle_control
from estimators.joint_sensors import MEMORY as ESTIMATOR_MEMORY
from estimators.joint_sensors import joint_sensors
from guard.guard import GUARD_MEMORY, guard
from hand.mechanism_file import InverseDynamics, MechanismHandFile, MuscleForce
from hand.stages import Stages
from mechanics.dynamics.systems import System
from signals.layout import FloatArray
from signals.records import RecordArray

Control = tuple[Callable[..., None], RecordArray]
"""A controller and its memory."""


def mechanism_stages(
    file: MechanismHandFile, system: System, home: FloatArray, measurement: RecordArray
) -> Stages:
    """Estimator, controller and guard with fresh memories.

    Args:
        file: motors and controller.
        system: equations of motion, the controller's own.
        home: coordinates where joint angles are 0, shape (n,).
        measurement: of the frame; the muscle's controller looks at its temperature.
    """
    controller = file.controller
    if isinstance(controller, InverseDynamics):
        control, memory = _inverse_dynamics(controller, system, home)
    else:
        control, memory = _muscle(controller, file, system, home, measurement)
    return Stages(
        estimate=joint_sensors,
        estimator_memory=np.zeros(1, dtype=ESTIMATOR_MEMORY),
        control=control,
        controller_memory=memory,
        guard=guard,
        guard_memory=np.zeros(1, dtype=GUARD_MEMORY),
        foreign=True,
    )


def _inverse_dynamics(controller: InverseDynamics, system: System, home: FloatArray) -> Control:
    nothing = inverse_control.NO_LOADS
    kind, parts = int(system.kind), system.parts
    bandwidth, damping = 2.0 * math.pi * controller.bandwidth_hz, controller.damping_ratio
    law = inverse_control.inverse_dynamics

    def control(
        model: RecordArray, goal: RecordArray, memory: RecordArray, state: RecordArray, command: RecordArray
    ) -> None:
        law(kind, parts, home, bandwidth, damping, nothing, model, goal, memory, state)

    return control, np.zeros(1, dtype=inverse_control.MEMORY)


def _muscle(
    controller: MuscleForce,
    file: MechanismHandFile,
    system: System,
    home: FloatArray,
    measurement: RecordArray,
) -> Control:
    finger, law = system.parts[3], muscle_control.muscle_position
    gains = np.zeros(1, dtype=muscle_control.GAINS)
    gains["kp_n_rad"], gains["ki_n_rads"] = controller.force_kp_n_rad, controller.force_ki_n_rads
    gains["heating_s"], gains["home_rad"] = controller.heating_time_s, home
    gains["current_max_a"] = file.motor[0].current_limit_a

    def control(
        model: RecordArray, goal: RecordArray, memory: RecordArray, state: RecordArray, command: RecordArray
    ) -> None:
        law(finger, gains, model, goal, measurement, memory, state)

    return control, np.zeros(1, dtype=muscle_control.MEMORY)
