r"""Homing: the tendons' offsets e0 from measurements at a known pose.

.. math:: e_0 = \overline{e - R\theta - \Delta h_{wrist}} - h_{finger}(q_{start})

The pose is straight, or what sensors at the joints say.

A wrist error present now is absorbed by e0 and cannot be seen by the residuals later.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from estimators.channels import take_axes, take_motors_and_halls
from estimators.fingers import remove_carried
from estimators.memory import EstimatorMemory, new_memory
from estimators.tension import read_tensions
from estimators.wrist import palm_pose, read_axes
from mechanics.coupling import tendon_lengths
from signals.compiled import law
from signals.layout import FloatArray, Records
from signals.records import STATE, RecordArray, new
from signals.typed import Measurement, Model, State

BEYOND_RAD: Final = math.radians(8.0)
"""How far beyond its range a joint may be said to stand: further the guard would stop it at once."""


class HomingError(ValueError):
    """Homing cannot give offsets: no measurement, or a channel that never delivered a value."""


@law
def accumulate_home(
    model: Records[Model],
    measurement: Records[Measurement],
    memory: Records[EstimatorMemory],
    state: Records[State],
) -> None:
    """Add one measurement taken at the known pose to the sums in ``memory``; real-time safe."""
    m, z, mem, s = model[0], measurement[0], memory[0], state[0]
    s.time_ns = z.time_ns
    take_motors_and_halls(m, z, mem, s)
    take_axes(m, z, mem, s)
    read_axes(m, z, mem, s)
    palm_pose(m, mem, s)
    read_tensions(m, mem, s)
    for t in range(m.n_tendons):
        wound = m.spool_radius_m[t] * mem.motor_angle_rad[m.tendon_motor[t]]
        mem.home_sum_m[t] += s.elongation_m[t] - wound - s.wrist_length_m[t]
    mem.home_count += 1
    mem.started = 1


@law
def finish_home(model: Records[Model], memory: Records[EstimatorMemory], q_start_rad: FloatArray) -> None:
    """Offsets e0 [m] into the model from the sums and the known joint angles, shape (J,)."""
    m, mem = model[0], memory[0]
    tendon_lengths(m, q_start_rad, mem.length_m)
    for t in range(m.n_tendons):
        m.elongation_offset_m[t] = mem.home_sum_m[t] / mem.home_count - mem.length_m[t]
        mem.home_sum_m[t] = 0.0
    for f in range(m.n_fingers):
        if m.finger_carried[f] != 0:
            remove_carried(m, f, m.elongation_offset_m, q_start_rad)
    mem.home_count = 0


def sensed_pose(
    model: RecordArray, measurements: Sequence[RecordArray], joints: tuple[str, ...]
) -> FloatArray:
    """Joint angles [rad] by sensors at all joints, shape (n_joints,): the median of the measurements.

    Args:
        model: ``signals.records.MODEL``, shape (1,).
        measurements: records of ``signals.records.MEASUREMENT``, each of shape (1,), hand at rest.
        joints: names of the joints.

    Raises:
        HomingError: a sensor that says nothing, or a place where its joint cannot be.
    """
    m, n = model[0], len(joints)
    low, high, turn = m["joint_min_rad"][:n], m["joint_max_rad"][:n], m["joint_turn_rad"][:n]
    told = np.full((len(measurements), n), math.nan)
    for k, measurement in enumerate(measurements):
        z = measurement[0]
        heard = (z["joint_status"][:n] == 0) & (z["joint_time_ns"][:n] > 0)
        angle = (z["joint_count"][:n] - m["joint_zero_count"][:n]) / m["joint_counts_rad"][:n]
        whole = np.floor((0.5 * (low + high) - angle) / np.where(turn > 0.0, turn, math.inf) + 0.5)
        told[k, heard] = (angle + turn * whole)[heard]
    silent = [name for j, name in enumerate(joints) if not np.isfinite(told[:, j]).any()]
    if silent:
        raise HomingError(f"homing by joint sensors: nothing comes from those of {', '.join(silent)}")
    pose: FloatArray = np.nanmedian(told, axis=0)
    beyond = np.maximum(low - pose, pose - high) > BEYOND_RAD
    if beyond.any():
        far = ", ".join(f"{joints[j]} at {math.degrees(pose[j]):.0f} deg" for j in np.flatnonzero(beyond))
        raise HomingError(
            f"homing by joint sensors: {far}, beyond the range; look at zero_count and direction"
        )
    return pose


def home(model: RecordArray, measurements: Iterable[RecordArray], q_start_rad: FloatArray) -> FloatArray:
    """Set ``elongation_offset_m`` of the model from measurements at the known joint angles.

    Args:
        model: ``signals.records.MODEL``, shape (1,); changed in place.
        measurements: records of ``signals.records.MEASUREMENT``, each of shape (1,), hand at rest.
        q_start_rad: joint angles of the pose, shape (n_joints,) or (J,).

    Returns:
        Standard deviation of each tendon's measured offset [m], shape (n_tendons,).

    Raises:
        HomingError: no measurement at all, or an offset that is not a number.
    """
    memory, state = new_memory(), new(STATE)
    q = np.zeros_like(state["joint_angle_rad"][0])
    q[: len(q_start_rad)] = q_start_rad
    count = int(model["n_tendons"][0])
    samples = []
    for measurement in measurements:
        before = memory["home_sum_m"][0, :count].copy()
        accumulate_home(model, measurement, memory, state)
        samples.append(memory["home_sum_m"][0, :count] - before)
    if not samples:
        raise HomingError("homing needs at least one measurement")
    finish_home(model, memory, q)
    offsets = model["elongation_offset_m"][0, :count]
    bad = [t for t in range(count) if not math.isfinite(offsets[t])]
    if bad:
        raise HomingError(f"homing: offsets of tendons {bad} are not numbers")
    return np.asarray(np.std(np.array(samples), axis=0), dtype=np.float64)
