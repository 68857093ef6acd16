"""Joint angles from sensors at the joints: mechanisms without tendons report each joint on a Hall channel.

A channel that fails keeps its last good value and marks the finger. Speeds are filtered differences over the
time between samples.
Everything that belongs to tendons stays zero: no tension, no elongation, no residual.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

from estimators.speeds import cycle_s, filter_share, filtered_speed, since_last_s
from mechanics.plausible import usable
from signals.compiled import law
from signals.layout import FloatArray, IntArray, Records, dtype_of
from signals.modes import JointSource
from signals.sizes import JOINTS
from signals.typed import Measurement, Model, State


class JointSensorMemory(Protocol):
    """Memory of the estimator."""

    started: int
    angle_rad: Annotated[FloatArray, JOINTS]
    time_ns: Annotated[IntArray, JOINTS]


SENSOR: Final = int(JointSource.SENSOR)
MEMORY: Final = dtype_of(JointSensorMemory)


@law
def joint_sensors(
    model: Records[Model],
    measurement: Records[Measurement],
    memory: Records[JointSensorMemory],
    state: Records[State],
) -> None:
    """Estimated state of a mechanism into ``state``; arguments as ``estimators.tick.estimate``."""
    m, z, mem, s = model[0], measurement[0], memory[0], state[0]
    motor_share = filter_share(m.velocity_filter_hz, cycle_s(m, s))
    status = 0
    for j in range(m.n_joints):
        bits, count = int(z.hall_status[j]), z.hall_fine_count[j]
        status |= bits
        if usable(bits, count):
            angle = (count - m.hall_zero_count[j]) / m.hall_counts_rad[j]
            if mem.started == 0:
                mem.angle_rad[j] = angle
                s.joint_source[j] = SENSOR
            dt_s = since_last_s(m, s, True, z.hall_time_ns[j], mem.time_ns[j])
            if dt_s > 0.0:
                share = filter_share(m.velocity_filter_hz, dt_s)
                s.joint_speed_rad_s[j] = filtered_speed(
                    s.joint_speed_rad_s[j], angle, mem.angle_rad[j], dt_s, share
                )
            mem.angle_rad[j], mem.time_ns[j] = angle, z.hall_time_ns[j]
        s.joint_angle_rad[j] = mem.angle_rad[j]
    for i in range(m.n_motors):
        bits, angle = int(z.motor_status[i]), z.motor_angle_rad[i]
        status |= bits
        if usable(bits, angle):
            s.motor_angle_rad[i] = angle
            s.motor_speed_rad_s[i] += motor_share * (z.motor_speed_rad_s[i] - s.motor_speed_rad_s[i])
        if i < m.n_joints:
            s.joint_torque_nm[i] = m.motor_torque_constant_nm_a[i] * z.motor_current_a[i]
    s.finger_status[0] = status
    mem.started = 1
