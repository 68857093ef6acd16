"""Palm pitch and yaw over time -> the two wrist axes (q71, q73)."""

from __future__ import annotations

import math

import numpy as np

from hand.motion.channels import Table, rest
from mechanics.palm_angles import WristOutOfRange, axes_of_palm
from signals.layout import FloatArray
from signals.records import RecordArray


class OutOfReach(ValueError):
    """A palm pose that the wrist does not reach, and when."""

    def __init__(self, time_s: float, pitch_deg: float, yaw_deg: float) -> None:
        self.time_s, self.pitch_deg, self.yaw_deg = time_s, pitch_deg, yaw_deg
        super().__init__(f"palm pitch {pitch_deg:.1f} deg, yaw {yaw_deg:.1f} deg at {time_s:.2f} s")


class DifferentPeriods(ValueError):
    """Pitch and yaw that do not repeat together."""


def axis_tables(model: RecordArray, pitch: Table | None, yaw: Table | None) -> tuple[Table, Table]:
    """Tables of (q71, q73) [rad] from tables of pitch and yaw [rad]; a missing one stays at zero.

    Raises:
        OutOfReach: a pose that the wrist does not reach.
        DifferentPeriods: pitch and yaw have different periods or lengths.
    """
    pitch, yaw = pitch or rest(0.0), yaw or rest(0.0)
    longer = pitch if len(pitch.values) >= len(yaw.values) else yaw
    angles = [_on_grid(table, longer) for table in (pitch, yaw)]
    axes = np.array([_axes(model, t, p, y) for t, p, y in zip(longer.times_s, *angles, strict=True)])
    return tuple(_table(axes[:, k], longer) for k in range(2))  # type: ignore[return-value]


def _on_grid(table: Table, grid: Table) -> FloatArray:
    if len(table.values) == 1:
        return np.full(len(grid.values), table.values[0])
    if (
        len(table.values) != len(grid.values)
        or table.step_s != grid.step_s
        or table.periodic != grid.periodic
    ):
        raise DifferentPeriods
    return table.values


def _axes(model: RecordArray, time_s: float, pitch: float, yaw: float) -> tuple[float, float]:
    try:
        return axes_of_palm(model, float(pitch), float(yaw))
    except WristOutOfRange:
        raise OutOfReach(float(time_s), math.degrees(pitch), math.degrees(yaw)) from None


def _table(values: FloatArray, like: Table) -> Table:
    if len(values) == 1:
        return rest(float(values[0]))
    if like.hold:
        slopes = np.zeros(len(values))
    elif like.periodic:
        around = np.concatenate([values[-3:-1], values, values[1:3]])
        slopes = (around[:-4] - 8.0 * around[1:-3] + 8.0 * around[3:-1] - around[4:]) / (12.0 * like.step_s)
    else:
        slopes = np.gradient(values, like.step_s, edge_order=2)
    return Table(values=values, slopes=slopes, step_s=like.step_s, periodic=like.periodic, hold=like.hold)
