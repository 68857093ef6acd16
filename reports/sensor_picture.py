"""Picture of the Hall sensors of a run: the curve of each over what the rest of its finger says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from reports.files import pyplot, save_figure
from reports.finding import Level
from reports.picture import COLOURS, INK, PALE, RED
from reports.sensor_curves import Curve
from reports.sensors import Sensor

COLUMNS: Final = 8
_COLOUR: Final = {Level.PASS: COLOURS[2], Level.WARN: COLOURS[1], Level.FAIL: RED}


def draw_sensors(sensors: Sequence[Sensor], found: Sequence[Curve], title: str, path: Path) -> None:
    """One panel a sensor into a PNG: read over expected count, the usable range, the verdict.

    Raises:
        ImportError: matplotlib is not there.
        OSError: the picture cannot be written.
    """
    plt = pyplot()
    columns = min(COLUMNS, len(sensors))
    rows = -(-len(sensors) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(2.3 * columns, 2.2 * rows + 0.5), squeeze=False)
    for axis in axes.flat[len(sensors) :]:
        axis.set_visible(False)
    for axis, sensor, curve in zip(axes.flat, sensors, found, strict=False):
        _panel(axis, sensor, curve)
    figure.suptitle(f"{title}: read over expected count", x=0.01, ha="left", fontsize=10, color=INK)
    figure.tight_layout()
    save_figure(figure, path, dpi=110)
    plt.close(figure)


def _panel(axis: Any, sensor: Sensor, curve: Curve) -> None:
    colour = _COLOUR[sensor.finding.level]
    axis.plot(curve.expected_count, curve.count, ".", color=PALE, markersize=1.5, alpha=0.5)
    if len(sensor.knots) > 1:
        expected, read = zip(*sensor.knots, strict=True)
        axis.plot(expected, expected, color=INK, linewidth=0.6, linestyle=(0, (1, 2)))
        axis.plot(expected, read, color=colour, linewidth=1.2)
    if sensor.usable_counts is not None:
        axis.axhspan(*sensor.usable_counts, color=COLOURS[2], alpha=0.08, linewidth=0.0)
    axis.set_title(f"{sensor.finding.level.shown} {sensor.tendon}", fontsize=7.5, color=colour, loc="left")
    axis.tick_params(labelsize=6)
