"""One exchange of a simulated mechanism, compiled: advance, sample, take the command. Allocates nothing."""

from __future__ import annotations

import math
from typing import Annotated, Final, Protocol

import numpy as np

from mechanics.dynamics.inputs import Arrays
from mechanics.dynamics.integrate import Scheme, run
from mechanics.dynamics.systems import Parts
from signals.compiled import law
from signals.layout import FloatArray, Records, dtype_of
from signals.modes import MotorMode
from signals.sizes import JOINTS, MOTORS
from signals.typed import Command, Measurement, Model, Truth

CURRENT: Final = int(MotorMode.CURRENT)
IMPLICIT: Final = int(Scheme.IMPLICIT)


class MechanismPlant(Protocol):
    """What a mechanism has beside its equations."""

    n: int
    n_motors: int
    first_tendon: int  # its rows in the records begin here: behind those of a hand that it carries
    first_joint: int
    first_motor: int
    muscle: int  # 1: one motor, the current of a muscle
    active: int
    random: np.uint64
    time_s: float
    count_fraction: float
    home: Annotated[FloatArray, JOINTS]
    current_a: Annotated[FloatArray, MOTORS]
    limit_a: Annotated[FloatArray, MOTORS]


PLANT: Final = dtype_of(MechanismPlant)


@law
def dither(plant: MechanismPlant) -> float:
    """Next uniform number in -0.5..0.5 (xorshift): the least noise of an encoder."""
    x = plant.random
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    plant.random = x
    return float(x >> np.uint64(11)) / 9007199254740992.0 - 0.5


@law
def drive(plant: MechanismPlant, m: Model, u: FloatArray) -> None:
    """Currents of the motors as inputs of the equations, ``u`` of shape (n + 1,)."""
    if plant.muscle != 0:
        u[plant.n] = plant.current_a[0]
    else:
        for i in range(plant.n_motors):
            u[i] = m.motor_torque_constant_nm_a[plant.first_motor + i] * plant.current_a[i]


@law
def sample_joints(
    plant: MechanismPlant,
    m: Model,
    z: Measurement,
    y: Truth,
    q: FloatArray,
    qd: FloatArray,
    degc: float,
    now_ns: int,
) -> None:
    """Joint sensors on Hall channels, motors, and the truth."""
    closing = rate = 0.0
    for k in range(plant.n):
        angle = q[k] - plant.home[k]
        closing += angle
        rate += qd[k]
        t, j = plant.first_tendon + k, plant.first_joint + k
        fine = m.hall_zero_count[t] + m.hall_counts_rad[t] * angle
        z.hall_fine_count[t] = math.floor(fine * plant.count_fraction + 0.5) / plant.count_fraction
        z.hall_count[t] = int(math.floor(fine + 0.5))
        z.hall_time_ns[t] = now_ns
        z.hall_status[t] = 0
        y.joint_angle_rad[j] = angle
        y.joint_speed_rad_s[j] = qd[k]
    for k in range(plant.n_motors):
        angle, speed = closing, rate
        if plant.muscle == 0:
            angle, speed = q[k] - plant.home[k], qd[k]
        i = plant.first_motor + k
        step = m.encoder_step_rad[i]
        z.motor_angle_rad[i] = math.floor(angle / step + dither(plant) + 0.5) * step
        z.motor_speed_rad_s[i] = speed
        z.motor_current_a[i] = plant.current_a[k]
        z.motor_temperature_degc[i] = degc if plant.muscle != 0 else m.ambient_degc
        z.motor_time_ns[i] = now_ns
        z.motor_status[i] = 0
        y.motor_angle_rad[i] = angle
        y.motor_speed_rad_s[i] = speed
        y.motor_torque_nm[i] = m.motor_torque_constant_nm_a[i] * plant.current_a[k]
        y.winding_temperature_degc[i] = z.motor_temperature_degc[i]


@law
def take_command(plant: MechanismPlant, c: Command) -> None:
    """Currents that act until the next exchange, clipped at the drives' limits; a muscle is only heated."""
    for k in range(plant.n_motors):
        i = plant.first_motor + k
        wanted = c.motor_current_a[i]
        if plant.active == 0 or c.motor_mode[i] != CURRENT or not math.isfinite(wanted):
            wanted = 0.0
        least = 0.0 if plant.muscle != 0 else -plant.limit_a[k]
        plant.current_a[k] = min(max(wanted, least), plant.limit_a[k])


@law
def exchange(
    kind: int,
    parts: Parts,
    inputs: Arrays,
    plant: Records[MechanismPlant],
    model: Records[Model],
    command: Records[Command],
    measurement: Records[Measurement],
    truth: Records[Truth],
    state: tuple[FloatArray, FloatArray, FloatArray],
    scratch: tuple[FloatArray, FloatArray, FloatArray],
    elapsed_s: float,
    step_s: float,
    now_ns: int,
) -> int:
    """One exchange; returns -1, or the coordinate at which the mechanism diverged."""
    p, m = plant[0], model[0]
    q, qd, z = state
    s, loads, out = scratch
    bad = -1
    if elapsed_s > 0.0:
        drive(p, m, inputs[1][0])
        steps = max(1, int(math.ceil(elapsed_s / step_s)))
        _, bad = run(kind, parts, inputs, IMPLICIT, elapsed_s / steps, steps, 0, q, qd, z, s, loads, out)
        p.time_s += elapsed_s
    sample_joints(p, m, measurement[0], truth[0], q, qd, z[0], now_ns)
    measurement[0].time_ns = now_ns
    measurement[0].seq += 1
    truth[0].time_s = p.time_s
    take_command(p, command[0])
    return bad
