r"""Homing: the tendons' offsets e0 from measurements at a known pose.

.. math:: e_0 = \overline{e - R\theta - \Delta h_{wrist}} - h_{finger}(q_{start})

A wrist error present now is absorbed by e0 and cannot be seen by the residuals later.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from estimators.channels import take_axes, take_motors_and_halls
from estimators.memory import EstimatorMemory, new_memory
from estimators.tension import read_tensions
from estimators.wrist import palm_pose, read_axes
from mechanics.coupling import tendon_lengths
from signals.compiled import law
from signals.layout import FloatArray, Records
from signals.records import STATE, RecordArray, new
from signals.typed import Measurement, Model, State


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
    mem.home_count = 0


def home(
    model: RecordArray, measurements: Iterable[RecordArray], q_start_rad: NDArray[np.float64]
) -> NDArray[np.float64]:
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
