"""All detectors in the order of their weight: the first cause of a finger is the one that is latched."""

from __future__ import annotations

from guard.channel_checks import check_channels
from guard.friction_checks import check_friction
from guard.hall_checks import check_differences, check_halls
from guard.joint_checks import check_joints, check_wrist
from guard.joint_sensor_checks import check_joint_sensors
from guard.memory import GuardMemory
from guard.motor_checks import check_motors
from guard.residual_checks import check_residuals
from guard.tension_checks import check_tensions
from signals.compiled import law
from signals.typed import Measurement, Model, State


@law
def detect(m: Model, mem: GuardMemory, z: Measurement, s: State) -> None:
    """Latch every fault that this cycle shows, into the state."""
    check_channels(m, mem, z, s)
    check_halls(m, mem, z, s)
    if m.n_differences != 0:
        check_differences(m, mem, z, s)
    check_motors(m, mem, z, s)
    check_tensions(m, mem, z, s)
    check_wrist(m, mem, z, s)
    check_residuals(m, mem, z, s)
    if m.n_joint_sensors != 0:
        check_joint_sensors(m, mem, z, s)
    check_joints(m, mem, s)
    check_friction(m, mem, z, s)
