"""One control period of the simulated hand: substeps, heat, truth, sensors, then the new command."""

from __future__ import annotations

from typing import Final

import numpy as np
from numba.np.numpy_support import carray

from mechanics.drives import is_servo
from mechanics.handlayout import HandtreeWork
from mechanics.handtree import HANDTREE_WORK, forget_palm
from mechanics.kinematics import body_poses_by, tips_of
from mechanics.motor import copper_loss_w
from mechanics.thermal import thermal_step
from signals.compiled import law
from signals.layout import Records
from signals.modes import MotorMode
from signals.pointers import pointer
from signals.records import COMMAND, MEASUREMENT, MODEL, TRUTH
from signals.typed import Command, Measurement, Model, Truth
from sim.energy import stored_energy
from sim.finite import blame_positions, blame_substep, is_sound
from sim.motors import lay_out_ripples
from sim.paths import begin_paths, update_paths
from sim.plant import substep, update_tensions
from sim.plant_record import PLANT, PlantRecord
from sim.sensors import read_sensors
from sim.servos import take_goal
from sim.silence import silence
from sim.tensions import lay_out_springs

CURRENT: Final = int(MotorMode.CURRENT)
POSITION: Final = int(MotorMode.POSITION)
PARTS: Final = ("model", "plant", "work", "command", "measurement", "truth")
"""Order of the addresses that ``advance_at`` gets."""


@law
def settle(m: Model, p: PlantRecord) -> None:
    """Tensions and levers that belong to the plant's present positions."""
    update_paths(m, p)
    update_tensions(m, p)


@law
def fill_truth(m: Model, p: PlantRecord, k: HandtreeWork, y: Truth) -> None:
    """What the plant is, in the place of what its sensors say."""
    y.time_s = p.time_s
    for j in range(m.n_joints):
        y.joint_angle_rad[j] = p.q_rad[j]
        y.joint_speed_rad_s[j] = p.qd_rad_s[j]
    for t in range(m.n_tendons):
        y.tension_n[t] = p.tension_n[t]
        y.finger_tension_n[t] = p.finger_tension_n[t]
        y.lever_angle_rad[t] = p.lever_rad[t]
    for i in range(m.n_motors):
        y.motor_angle_rad[i] = p.theta_rad[i]
        y.motor_speed_rad_s[i] = p.w_rad_s[i]
        y.motor_torque_nm[i] = p.motor_torque_nm[i]
        y.winding_temperature_degc[i] = p.winding_degc[i]
    for a in range(m.n_axes):
        y.axis_angle_rad[a] = p.axis_rad[a]
        y.axis_speed_rad_s[a] = p.axis_rad_s[a]
    body_poses_by(m, p.q_rad, k.sine, k.cosine, k.R, k.p)
    tips_of(m, k.R, k.p, y.fingertip_m)
    for g in range(m.n_fingers):
        y.contact_force_n[g] = p.contact_n[g]
    if p.energy_on:
        y.energy_in_j = p.energy_in_j
        y.energy_lost_j = p.energy_lost_j
        y.energy_stored_j = stored_energy(m, p, k)


@law
def take_command(m: Model, p: PlantRecord, c: Command) -> None:
    """The command that acts until the next one."""
    p.n_servos = 0
    for i in range(m.n_motors):
        angles = is_servo(m, i)
        mode = POSITION if angles else CURRENT  # a drive takes one kind of command
        p.motor_enabled[i] = mode if c.motor_mode[i] == mode and not p.motor_reset[i] else 0
        current = c.motor_current_a[i]
        limit = m.motor_current_limit_a[i]
        # a drive refuses what is not a number and clips at the limit set in it
        p.current_a[i] = min(max(current, -limit), limit) if current == current else 0.0
        if angles:
            take_goal(m, p, i, c.motor_angle_rad[i])
    for a in range(m.n_axes):
        # the drive closes its loop by the axis' own sensor
        p.axis_wanted_rad[a] = c.axis_angle_rad[a] - p.axis_zero_rad[a]
        p.axis_enabled[a] = c.axis_enable[a]


@law
def heat_motors(m: Model, p: PlantRecord, elapsed_s: float) -> None:
    """Windings and cases after ``elapsed_s`` of the torque that the motors give now."""
    for i in range(m.n_motors):
        heat = copper_loss_w(m, i, p.motor_torque_nm[i] / m.motor_torque_constant_nm_a[i])
        p.winding_degc[i], p.case_degc[i] = thermal_step(
            m, i, p.winding_degc[i], p.case_degc[i], heat, elapsed_s
        )


@law
def observe(
    model: Records[Model],
    plant: Records[PlantRecord],
    work: Records[HandtreeWork],
    measurement: Records[Measurement],
    truth: Records[Truth],
    now_ns: int,
) -> None:
    """Truth and sensors at the plant's present instant, without moving it."""
    m, p, k = model[0], plant[0], work[0]
    begin_paths(m, p)
    lay_out_springs(m, p)
    settle(m, p)
    fill_truth(m, p, k, truth[0])
    read_sensors(m, p, measurement[0], now_ns)


@law
def advance(
    model: Records[Model],
    plant: Records[PlantRecord],
    work: Records[HandtreeWork],
    command: Records[Command],
    measurement: Records[Measurement],
    truth: Records[Truth],
    elapsed_s: float,
    substeps: int,
    now_ns: int,
) -> int:
    """Advance the plant by ``elapsed_s`` under the command in force, sample it, take the new command.

    Returns:
        0, or what diverged first by the numbers of ``sim.finite``; ``plant.diverged_index`` says which.
    """
    m, p, k = model[0], plant[0], work[0]
    h = elapsed_s / substeps
    forget_palm(k)
    begin_paths(m, p)
    lay_out_springs(m, p)
    lay_out_ripples(m, p)
    blame_positions(m, p)
    for _ in range(substeps):
        substep(m, p, k, h)
        if not is_sound(m, p):
            blame_substep(m, p)
            break
    heat_motors(m, p, elapsed_s)
    settle(m, p)
    fill_truth(m, p, k, truth[0])
    read_sensors(m, p, measurement[0], now_ns)
    take_command(m, p, command[0])
    p.cycle += 1
    if p.diverged != 0:
        silence(measurement[0])
    return int(p.diverged)


@law
def advance_at(parts: int, elapsed_s: float, substeps: int, now_ns: int) -> int:
    """``advance`` by the address of a table of the addresses of ``PARTS``."""
    a = carray(pointer(parts), (6,), np.int64)
    return advance(
        carray(pointer(a[0]), (1,), MODEL),
        carray(pointer(a[1]), (1,), PLANT),
        carray(pointer(a[2]), (1,), HANDTREE_WORK),
        carray(pointer(a[3]), (1,), COMMAND),
        carray(pointer(a[4]), (1,), MEASUREMENT),
        carray(pointer(a[5]), (1,), TRUTH),
        elapsed_s,
        substeps,
        now_ns,
    )
