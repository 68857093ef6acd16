"""The estimator's tick: measurement -> tensions, tendon lengths, joint angles, speeds, residuals, fingertips.

All quantities belong to the instant of the measurement. A channel that fails keeps its last good value and
marks its finger; homing (``estimators.homing``) has set the offsets e0 before.
"""

from __future__ import annotations

from estimators.channels import take_axes, take_motors_and_halls
from estimators.fingers import finger_angles, finger_torques, residuals, tips
from estimators.homing import home as home
from estimators.homing import sensed_pose as sensed_pose
from estimators.joint_rows import add_joint_sensors, leave_joint_sensors
from estimators.memory import ESTIMATOR_MEMORY as ESTIMATOR_MEMORY
from estimators.memory import EstimatorMemory
from estimators.plausibility import wrist_error
from estimators.speeds import joint_speeds, motor_speeds
from estimators.tension import measured_lengths, read_tensions
from estimators.weights import unseen_counts, weigh_tendons
from estimators.wrist import palm_pose, read_axes, wrist_torque
from signals.compiled import law
from signals.layout import Records
from signals.typed import Measurement, Model, State


@law
def estimate(
    model: Records[Model],
    measurement: Records[Measurement],
    memory: Records[EstimatorMemory],
    state: Records[State],
) -> None:
    """Estimated state of the hand into ``state`` from one measurement.

    Args:
        model: ``signals.records.MODEL``, shape (1,).
        measurement: ``signals.records.MEASUREMENT``, shape (1,).
        memory: ``ESTIMATOR_MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,); ``dt_s`` is set by the loop.
    """
    m, z, mem, s = model[0], measurement[0], memory[0], state[0]
    take_motors_and_halls(m, z, mem, s)
    take_axes(m, z, mem, s)
    read_axes(m, z, mem, s)
    palm_pose(m, mem, s)
    read_tensions(m, mem, s)
    motor_speeds(m, z, mem, s)
    measured_lengths(m, mem, s)
    weigh_tendons(m, mem, s)
    if m.n_joint_sensors != 0:
        leave_joint_sensors(m, mem, s)
    finger_angles(m, mem, s)
    residuals(m, mem, s)
    unseen_counts(m, z, mem, s)
    if m.n_joint_sensors != 0:
        add_joint_sensors(m, z, mem, s)
    joint_speeds(m, mem, s)
    finger_torques(m, mem, s)
    wrist_torque(m, mem, s)
    wrist_error(m, mem, s)
    tips(m, mem, s)
    mem.started = 1
