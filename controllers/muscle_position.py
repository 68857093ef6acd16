"""Position of a muscle finger by its force: what the pose needs, PI on the closing angle, then heat.

    s = q1 + q2 + q3,     F_d = F_static(q) + kp (s_d - s) + ki int (s_d - s)
    T_d = T_amb + (F_d + k e s + b e s') / c,     i^2 R = lambda (T_d - T_amb) + C_th (T_d - T) / t_c

One muscle moves three joints: the closing angle s is what can be commanded, return springs and gravity share
it out. A negative heat is no current: the muscle cools as fast as still air lets it.
"""

from __future__ import annotations

import math
from typing import Annotated, Final, Protocol

from mechanics.muscle_finger import MuscleFingerRecord, finger_gravity
from signals.compiled import law
from signals.layout import FloatArray, Records, dtype_of
from signals.modes import MachineState, Mode
from signals.typed import Goal, Measurement, Model, State

IMPEDANCE: Final = int(Mode.JOINT_IMPEDANCE)
MOTOR_TORQUE: Final = int(Mode.MOTOR_TORQUE)
ACTIVE: Final = int(MachineState.ACTIVE)


class MuscleGains(Protocol):
    """Gains of the controller."""

    kp_n_rad: float
    ki_n_rads: float
    heating_s: float  # t_c
    current_max_a: float
    home_rad: Annotated[FloatArray, 3]


GAINS: Final = dtype_of(MuscleGains)


class MuscleMemory(Protocol):
    """Memory of the controller."""

    integral_n: float
    q: Annotated[FloatArray, 3]


MEMORY: Final = dtype_of(MuscleMemory)


@law
def static_force_n(f: MuscleFingerRecord, q: FloatArray) -> float:
    """Muscle force [N] that a pose needs: springs and gravity along the way the finger closes."""
    finger_gravity(f, q)
    need = reach = 0.0
    for i in range(3):
        way = f.split[i] / max(f.stiffness_nm_rad[i], 1e-9)
        need += way * (f.stiffness_nm_rad[i] * (q[i] - f.rest_rad[i]) + f.gravity[i])
        reach += way * f.split[i]
    return float(need / (f.offset_m * reach))


@law
def heating_current_a(
    f: MuscleFingerRecord, k: MuscleGains, force_n: float, closing: float, rate: float, degc: float
) -> float:
    """Current [A] that brings the muscle to a force at a closing angle [rad]; 0 lets it cool."""
    stretch = f.stiffness_n_m * f.offset_m * closing + f.damping_ns_m * f.offset_m * rate
    wanted = f.ambient_degc + max(force_n + stretch, 0.0) / f.thermal_n_k
    wanted = min(wanted, f.temperature_max_degc)
    heat = f.loss_w_k * (wanted - f.ambient_degc) + f.capacity_j_k * (wanted - degc) / k.heating_s
    return min(math.sqrt(max(heat, 0.0) / f.resistance_ohm), float(k.current_max_a))


@law
def muscle_position(
    finger: Records[MuscleFingerRecord],
    gains: Records[MuscleGains],
    model: Records[Model],
    goal: Records[Goal],
    measurement: Records[Measurement],
    memory: Records[MuscleMemory],
    state: Records[State],
) -> None:
    """Current of the muscle, as its motor's torque, into ``state.ref_motor_torque_nm``.

    Args:
        finger: ``mechanics.muscle_finger.FINGER``, shape (1,), the controller's own.
        gains: ``GAINS``, shape (1,).
        model: ``signals.records.MODEL``, shape (1,).
        goal: ``signals.records.GOAL``, shape (1,).
        measurement: ``signals.records.MEASUREMENT``, shape (1,): temperature of the muscle.
        memory: ``MEMORY``, shape (1,).
        state: ``signals.records.STATE``, shape (1,).
    """
    f, k, m, g, mem, s = finger[0], gains[0], model[0], goal[0], memory[0], state[0]
    closing = rate = wanted = 0.0
    for j in range(3):
        mem.q[j] = k.home_rad[j] + s.joint_angle_rad[j]
        closing += mem.q[j]
        rate += s.joint_speed_rad_s[j]
        wanted += k.home_rad[j] + g.joint_angle_rad[j]
        s.ref_joint_angle_rad[j] = g.joint_angle_rad[j]
    mode = g.finger_mode[0]
    s.finger_mode[0] = mode
    current = 0.0
    if mode == IMPEDANCE:
        error = wanted - closing
        force = static_force_n(f, mem.q) + k.kp_n_rad * error + mem.integral_n
        degc = measurement[0].motor_temperature_degc[0]
        current = heating_current_a(f, k, force, closing, rate, degc)
        pushing = (current >= k.current_max_a and error > 0.0) or (current <= 0.0 and error < 0.0)
        if s.finger_state[0] == ACTIVE and not pushing:
            mem.integral_n += k.ki_n_rads * error * m.dt_s
        s.ref_tension_n[0] = 0.0
    elif mode == MOTOR_TORQUE:
        current = g.motor_torque_nm[0] / m.motor_torque_constant_nm_a[0]
    if s.finger_state[0] != ACTIVE:
        mem.integral_n = 0.0
    s.ref_motor_torque_nm[0] = max(current, 0.0) * m.motor_torque_constant_nm_a[0]
