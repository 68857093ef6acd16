"""Joint angles from sensors at the joints: mechanisms without tendons report each joint on a Hall channel.

A channel that fails keeps its last good value and marks the finger. Speeds are filtered differences over the
time between samples.
Everything that belongs to tendons stays zero: no tension, no elongation, no residual.
"""

from __future__ import annotations

from typing import Annotated, Final, Protocol

from estimators.speeds import cycle_s, filtered_speed, since_last_s
from mechanics.low_pass import filter_share
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
    m = model[0]
    sense_joints(m, measurement[0], memory[0], state[0], 0, m.velocity_filter_hz)


@law
def sense_joints(
    m: Model, z: Measurement, mem: JointSensorMemory, s: State, finger: int, filter_hz: float
) -> None:
    """The same of the one "finger" that a mechanism is in the records, speeds filtered at ``filter_hz``."""
    motor_share = filter_share(filter_hz, cycle_s(m, s))
    status = 0
    for k in range(m.finger_n_joints[finger]):
        j, t = m.finger_joint[finger, k], m.finger_tendon[finger, k]
        bits, count = int(z.hall_status[t]), z.hall_fine_count[t]
        status |= bits
        if usable(bits, count):
            angle = (count - m.hall_zero_count[t]) / m.hall_counts_rad[t]
            if mem.started == 0:
                mem.angle_rad[j] = angle
                s.joint_source[j] = SENSOR
            dt_s = since_last_s(m, s, True, z.hall_time_ns[t], mem.time_ns[j])
            if dt_s > 0.0:
                share = filter_share(filter_hz, dt_s)
                s.joint_speed_rad_s[j] = filtered_speed(
                    s.joint_speed_rad_s[j], angle, mem.angle_rad[j], dt_s, share
                )
            mem.angle_rad[j], mem.time_ns[j] = angle, z.hall_time_ns[t]
        s.joint_angle_rad[j] = mem.angle_rad[j]
        i = m.tendon_motor[t]
        if k == 0 or i != m.tendon_motor[m.finger_tendon[finger, k - 1]]:
            bits, angle = int(z.motor_status[i]), z.motor_angle_rad[i]
            status |= bits
            if usable(bits, angle):
                s.motor_angle_rad[i] = angle
                s.motor_speed_rad_s[i] += motor_share * (z.motor_speed_rad_s[i] - s.motor_speed_rad_s[i])
            s.joint_torque_nm[j] = m.motor_torque_constant_nm_a[i] * z.motor_current_a[i]
    s.finger_status[finger] = status
    mem.started = 1


@law
def sense_carrier(
    model: Records[Model],
    measurement: Records[Measurement],
    memory: Records[JointSensorMemory],
    state: Records[State],
    finger: int,
    filter_hz: float,
) -> None:
    """The same for what carries a hand: "finger" ``finger`` of the limb's records."""
    sense_joints(model[0], measurement[0], memory[0], state[0], finger, filter_hz)
