r"""Sensors at joints as rows of the weighted least squares, beside what tendons and motors tell.

Tendons and motors alone are solved first, as in a hand without such sensors: that estimate goes on by itself,
so that a sensor can be judged by it and left out at any time. Each sensor is a unit row,
:math:`(P^T W P + V)\,q = P^T W h + V q_s`; with the tendons' own solution :math:`q_0` and the sensors'
errors :math:`r = q_s - q_0` against it

.. math:: q = q_0 + (P^T W P + V)^{-1} V r

which is the same for lines and pulleys, and a Gauss-Newton step for curved paths and a tensegrity base.
Between two samples the error is kept and not the angle: the motors tell what happens meanwhile. A sensor that
comes into use or goes out of it changes no angle at once.
"""

from __future__ import annotations

import math
from typing import Final

from estimators.channels import led
from estimators.linear import normal_matrix
from estimators.memory import EstimatorMemory
from estimators.speeds import cycle_s
from mechanics.cholesky import factorise, solve_factored
from mechanics.passive_rows import stiffness_of_joints_nm_rad
from mechanics.plausible import in_time, joint_way_rad, usable
from signals.compiled import law
from signals.modes import FingerKind, JointSource
from signals.typed import Measurement, Model, State

SENSOR: Final = int(JointSource.SENSOR)
SPRUNG: Final = int(FingerKind.SPRUNG)
FADE_S: Final = 0.2
"""Time in which a correction fades that its sensor gives no more."""


@law
def sensor_angle_rad(m: Model, j: int, count: float, near_rad: float) -> float:
    """Angle [rad] of joint ``j`` at a count of its sensor; of one that turns round the angle near another."""
    angle = (count - m.joint_zero_count[j]) / m.joint_counts_rad[j]
    turn = m.joint_turn_rad[j]
    if turn > 0.0:
        angle += turn * math.floor((near_rad - angle) / turn + 0.5)
    return float(angle)


@law
def apart_s(m: Model, z: Measurement, s: State, j: int) -> float:
    """Time [s] from the sample of joint ``j``'s sensor to those of its finger's motors.

    They come over wires of their own, each at its pace: with two samples of one time a joint that turns shows
    no error of its speed times the difference, which would look like noise.
    """
    motor_ns = z.motor_time_ns[m.tendon_motor[m.finger_tendon[m.joint_finger[j], 0]]]
    if not in_time(s.time_ns, motor_ns):
        motor_ns = s.time_ns
    return 1e-9 * float(motor_ns - z.joint_time_ns[j])


@law
def take_sensor(m: Model, z: Measurement, mem: EstimatorMemory, s: State, j: int) -> int:
    """1 if joint ``j``'s sensor may be used; its error against tendons and motors [rad] into ``s``."""
    time_ns = z.joint_time_ns[j]
    known = usable(int(z.joint_status[j]), z.joint_count[j]) and in_time(s.time_ns, time_ns)
    if m.joint_weight_m2[j] == 0.0 or s.joint_sensor_cause[j] != 0 or not known:
        return 0
    age_s = 1e-9 * float(s.time_ns - time_ns)
    if age_s > m.measurement_age_s[1] > 0.0:
        return 0
    if time_ns != mem.joint_ns[j] or mem.started == 0:
        then = s.joint_angle_rad[j] - apart_s(m, z, s, j) * s.joint_speed_rad_s[j]
        error = sensor_angle_rad(m, j, z.joint_count[j], then) - then
        since_s = max(1e-9 * float(time_ns - mem.joint_ns[j]), cycle_s(m, s))
        near = abs(error - mem.joint_error_rad[j]) <= joint_way_rad(m, j, since_s)
        mem.joint_near[j] = 1 if near or mem.started == 0 or not led(s.machine) else 0
        if mem.joint_near[j] != 0:
            mem.joint_error_rad[j] = error
        s.joint_sensor_error_rad[j] = error
        mem.joint_ns[j] = time_ns
    return int(mem.joint_near[j])


@law
def solve_errors(m: Model, mem: EstimatorMemory, f: int) -> None:
    """Corrections [rad] of finger ``f``'s joints by the errors of the sensors in use, into ``mem.x``.

    What neither tendons nor sensors tell is damped; where springs share out the lines, as those do.
    """
    n, H, x = m.finger_n_joints[f], mem.H, mem.x
    damping = m.estimation_damping * normal_matrix(m, mem, f, 0, n) + 1e-300
    stiffness = 0.0
    if m.finger_kind[f] == SPRUNG:
        for a in range(n):
            stiffness += stiffness_of_joints_nm_rad(m, m.finger_joint[f, a], m.finger_joint[f, a]) / n
    for a in range(n):
        j = m.finger_joint[f, a]
        if stiffness > 0.0:
            for b in range(a + 1):
                K = stiffness_of_joints_nm_rad(m, j, m.finger_joint[f, b])
                H[a, b] += K / stiffness * damping
        else:
            H[a, a] += damping
        weight = m.joint_weight_m2[j] if mem.joint_used[j] != 0 else 0.0
        H[a, a] += weight
        x[a] = weight * mem.joint_error_rad[j]
    factorise(H, n, 1e-300)
    solve_factored(H, x, n)


@law
def correct_finger(m: Model, z: Measurement, mem: EstimatorMemory, s: State, f: int) -> None:
    """Joint angles [rad] of finger ``f`` with its sensors, and what tells them, into ``s``."""
    n, changed, some = m.finger_n_joints[f], False, False
    for a in range(n):
        j = m.finger_joint[f, a]
        used = take_sensor(m, z, mem, s, j)
        changed = changed or (used != mem.joint_used[j] and mem.started != 0)
        some = some or used != 0
        mem.joint_used[j] = used
        mem.x[a] = 0.0
    if some:
        solve_errors(m, mem, f)
    left = math.exp(-cycle_s(m, s) / FADE_S)
    for a in range(n):
        j = m.finger_joint[f, a]
        if changed:
            mem.joint_fade_rad[j] = mem.joint_correction_rad[j] - mem.x[a]
        mem.joint_fade_rad[j] *= left
        mem.joint_correction_rad[j] = mem.x[a] + mem.joint_fade_rad[j]
        s.joint_angle_rad[j] += mem.joint_correction_rad[j]
        s.joint_source[j] = SENSOR if mem.joint_used[j] != 0 else m.joint_source[j]


@law
def add_joint_sensors(m: Model, z: Measurement, mem: EstimatorMemory, s: State) -> None:
    """Joint angles [rad] with the joints' own sensors into ``s``; those without them into ``mem``."""
    for j in range(m.n_joints):
        mem.side_angle_rad[j] = s.joint_angle_rad[j]
    for f in range(m.n_fingers):
        correct_finger(m, z, mem, s, f)


@law
def leave_joint_sensors(m: Model, mem: EstimatorMemory, s: State) -> None:
    """The last angles that tendons and motors told alone back into ``s``: they go on from there."""
    if mem.started != 0:
        for j in range(m.n_joints):
            s.joint_angle_rad[j] = mem.side_angle_rad[j]
