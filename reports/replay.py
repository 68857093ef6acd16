"""What a replay with another hand file or controller would have changed: a table and a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from signals.records import RecordArray
from signals.table import TABLE

SHOWN: Final = (
    ("command", "motor_current_a", "A"),
    ("command", "axis_angle_rad", "rad"),
    ("state", "joint_angle_rad", "rad"),
    ("state", "tension_n", "N"),
    ("state", "ref_tension_n", "N"),
    ("state", "motor_torque_nm", "N m"),
)
"""Signals that a person looks at first, where a log has them."""
_CURVES: Final = 3


class Compared(Protocol):
    """Two runs over the same measurements: ``trials.replay.Replayed``."""

    recorded: RecordArray
    frames: RecordArray
    names: dict[str, list[str]]


def _signals(found: Compared) -> list[tuple[str, str, str, Any, Any, list[str]]]:
    """(record, name, unit, recorded, replayed, names of the parts) of the signals to show."""
    rows = []
    for record, name, unit in SHOWN:
        kept = found.recorded.dtype
        if record not in (kept.names or ()) or name not in (kept[record].names or ()):
            continue
        one, two = found.recorded[record][name], found.frames[record][name]
        space = next(s.dims[0] for s in TABLE[record] if s.name == name)
        rows.append((record, name, unit, one, two, found.names.get(space, [])))
    return rows


def table(found: Compared) -> list[dict[str, Any]]:
    """A row for every shown signal that differs: greatest and rms, where and when the greatest is."""
    rows, times = [], found.recorded["state"]["time_ns"]
    for record, name, unit, one, two, parts in _signals(found):
        away = np.abs(two.astype(np.float64) - one)
        if not away.size or not np.nanmax(away) > 0.0:
            continue
        at, part = np.unravel_index(int(np.nanargmax(away)), away.shape)
        rows.append(
            {
                "signal": f"{record}.{name}",
                "unit": unit,
                "greatest": float(away[at, part]),
                "rms": float(np.sqrt(np.nanmean(away**2))),
                "part": parts[part] if part < len(parts) else str(part),
                "time_s": float(times[at] - times[0]) / 1e9,
            }
        )
    return rows


def draw_replay(found: Compared, path: Path) -> Path:
    """Recorded (black) and replayed (coloured) curves of the parts that differ most; returns the path."""
    from matplotlib.figure import Figure

    shown = [row for row in _signals(found) if row[3].size]
    figure = Figure(figsize=(10, 2.2 * len(shown) + 0.8), layout="constrained")
    axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    times = (found.recorded["state"]["time_ns"] - found.recorded["state"]["time_ns"][0]) / 1e9
    step = max(1, len(times) // 4000)
    for axis, (_, name, unit, one, two, parts) in zip(axes, shown, strict=True):
        worst = np.argsort(-np.abs(two.astype(np.float64) - one).max(axis=0), kind="stable")[:_CURVES]
        for part in worst:
            label = parts[part] if part < len(parts) else str(part)
            axis.plot(times[::step], one[::step, part], color="0.2", linewidth=1.6)
            axis.plot(times[::step], two[::step, part], linewidth=0.9, label=label)
        axis.set_ylabel(f"{name}\n[{unit}]", fontsize=8)
        axis.legend(loc="upper right", fontsize=7, ncols=_CURVES)
        axis.grid(alpha=0.3)
    axes[0].set_title("Black: recorded. Coloured: replayed. The three parts that differ most.", fontsize=10)
    axes[-1].set_xlabel("time [s]")
    figure.savefig(path, dpi=110)
    return path
