"""One picture of a run: joints, errors, tensions, motor torques, timing - and when what went wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from hand.hand import Hand
from reports.files import pyplot, save_figure
from signals.extras import no_picture
from signals.names import HandNames
from signals.records import RecordArray
from telemetry.shm.stats import BINS, HEAD, STAGES, edge_ns

INK: Final = "#1b2430"
PALE: Final = "#8a94a3"
GRID: Final = "#e4e8ee"
RED: Final = "#c8321e"
BAND: Final = "#fdf0ed"
COLOURS: Final = ("#1f5fa8", "#d9822b", "#2f8f5b", "#8e4fa8", "#b3404a", "#4aa3a8", "#7a6a2f", "#5b6b8f")
PLAIN: Final[Any] = {
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": PALE,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
}
"""What pictures of hands and of mechanisms have in common."""
STYLE: Final[Any] = PLAIN | {
    "font.family": "DejaVu Sans",
    "xtick.color": PALE,
    "ytick.color": PALE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.1,
    "lines.solid_joinstyle": "round",
}
MOST_LINES: Final = 6
"""More lines than this in one panel are drawn as a band of all and the lines of the most active ones."""


def _chosen(values: Any, count: int = MOST_LINES) -> list[int]:
    """Columns to draw by name: all, or those that move most."""
    n = values.shape[1]
    if n <= count:
        return list(range(n))
    spread = np.nanmax(values, axis=0) - np.nanmin(values, axis=0)
    return sorted(np.argsort(spread)[::-1][:count].tolist())


def _panel(axis: Any, title: str, unit: str) -> None:
    axis.set_title(title)
    axis.set_ylabel(unit)
    axis.margins(x=0.0)


def _legend(axis: Any, columns: int = 4) -> None:
    handles, labels = axis.get_legend_handles_labels()
    columns = max(columns, -(-len(handles) // 2))
    if handles:
        axis.legend(handles, labels, loc="lower right", bbox_to_anchor=(1.005, 0.985), ncols=columns,
                    handlelength=1.2, columnspacing=0.9, handletextpad=0.4, borderpad=0.0)  # fmt: skip


def _shade(axis: Any, time: Any, values: Any, shown: int) -> None:
    if values.shape[1] > shown:
        low, high = (
            np.fmin.reduce(values, axis=1),
            np.fmax.reduce(values, axis=1),
        )  # silent on rows without numbers
        axis.fill_between(time, low, high, color=GRID, linewidth=0.0, label=f"all {values.shape[1]}")


def _joints(axis: Any, time: Any, frames: RecordArray, names: HandNames) -> None:
    _panel(axis, "Joints", "deg")
    truth, goal = frames["truth"]["joint_angle_rad"], frames["state"]["ref_joint_angle_rad"]
    estimate = frames["state"]["joint_angle_rad"]
    for k, j in enumerate(_chosen(truth)):
        color = COLOURS[k % len(COLOURS)]
        axis.plot(time, np.degrees(goal[:, j]), color=color, linewidth=2.6, alpha=0.25, solid_capstyle="butt")
        axis.plot(time, np.degrees(truth[:, j]), color=color, label=names.joints[j])
        axis.plot(time, np.degrees(estimate[:, j]), color=INK, linewidth=0.7, linestyle=(0, (1, 2)))
    axis.plot([], [], color=PALE, linewidth=2.6, alpha=0.4, label="goal")
    axis.plot([], [], color=INK, linewidth=0.7, linestyle=(0, (1, 2)), label="estimate")
    _legend(axis, 6)


def _lines(axis: Any, time: Any, values: Any, names: tuple[str, ...], chosen: list[int]) -> None:
    """A thin line for each chosen column under its name, before a band of all."""
    _shade(axis, time, values, len(chosen))
    for k, column in enumerate(chosen):
        colour = COLOURS[k % len(COLOURS)]
        axis.plot(time, values[:, column], color=colour, linewidth=0.8, label=names[column])
    _legend(axis)


def _errors(axis: Any, time: Any, frames: RecordArray, names: HandNames) -> None:
    _panel(axis, "Estimation error", "deg")
    error = np.degrees(frames["state"]["joint_angle_rad"] - frames["truth"]["joint_angle_rad"])
    _lines(axis, time, error, names.joints, _chosen(error))


def _tensions(axis: Any, time: Any, frames: RecordArray, names: HandNames) -> None:
    _panel(axis, "Tendon tension", "N")
    measured, wanted = frames["state"]["tension_n"], frames["state"]["ref_tension_n"]
    wanted = np.where(wanted > 0.0, wanted, np.nan)
    chosen = _chosen(measured)
    _shade(axis, time, measured, len(chosen))
    for k, t in enumerate(chosen):
        color = COLOURS[k % len(COLOURS)]
        axis.plot(time, wanted[:, t], color=color, linewidth=2.6, alpha=0.22, solid_capstyle="butt")
        axis.plot(time, measured[:, t], color=color, linewidth=0.9, label=names.tendons[t])
    _legend(axis)


def _torques(axis: Any, time: Any, frames: RecordArray, names: HandNames) -> None:
    _panel(axis, "Motor torque", "N m")
    torque = frames["state"]["motor_torque_nm"]
    _lines(axis, time, torque, names.motors, _chosen(torque))


def _tracking(axis: Any, time: Any, frames: RecordArray, names: HandNames) -> None:
    _panel(axis, "Tracking error (goal - true)", "deg")
    error = np.degrees(frames["state"]["ref_joint_angle_rad"] - frames["truth"]["joint_angle_rad"])
    _lines(axis, time, error, names.joints, _chosen(error))


def _force_error(axis: Any, time: Any, frames: RecordArray, names: HandNames) -> None:
    _panel(axis, "Tension error (wanted - measured or observed)", "N")
    state = frames["state"]
    seen = np.where(state["observed_tension_n"] > 0.0, state["observed_tension_n"], state["tension_n"])
    error = np.where(state["ref_tension_n"] > 0.0, state["ref_tension_n"] - seen, np.nan)
    _lines(axis, time, error, names.tendons, _chosen(state["tension_n"]))


def _histogram(axis: Any, stats: Any, lockstep: bool) -> None:
    stages = ("exchange", "tick") if lockstep else ("wake", "exchange", "tick")
    _panel(axis, "Timing of every cycle", "cycles")
    for k, stage in enumerate(stages):
        row = stats[STAGES.index(stage)]
        counts = row[HEAD:]
        used = np.flatnonzero(counts)
        if not len(used):
            continue
        span = range(max(int(used[0]) - 1, 0), min(int(used[-1]) + 2, BINS))
        edges = [max(edge_ns(b), 1.0) / 1e3 for b in span]
        color = COLOURS[k]
        axis.stairs(counts[span.start : span.stop - 1], edges, fill=True, color=color, alpha=0.25)
        axis.stairs(counts[span.start : span.stop - 1], edges, color=color, linewidth=1.1, label=stage)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("us")
    _legend(axis, 3)


def _limit_to_before(axis: Any, time: Any, until_s: float) -> None:
    """Error panels show the scale of the run before its first fault."""
    before = time < until_s
    values = [line.get_ydata()[before] for line in axis.get_lines() if len(line.get_ydata()) == len(time)]
    if values and before.any():
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        room = 0.15 * max(high - low, 1e-6)
        axis.set_ylim(low - room, high + room)


def _mark_faults(axes: Any, report: dict[str, Any], end_s: float) -> None:
    for axis in axes:
        for fault in report["faults"]:
            axis.axvline(fault["time_s"], color=RED, linewidth=0.9)
        if report["faults"]:
            axis.axvspan(report["faults"][0]["time_s"], end_s, color=BAND, zorder=0)


def _headline(report: dict[str, Any]) -> tuple[str, str]:
    pace = "lockstep" if report["lockstep"] else f"real time, {report['missed']} slots missed"
    title = f"{report['hand']}   {report['motion'] or 'hold'}"
    estimate, tracking = report["estimate_error_deg"]["rms"], report["tracking_error_deg"]["rms"]
    force = report["force_error_n"]["rms"]
    parts = [f"{report['cycles']} cycles at {report['rate_hz']:g} Hz, {pace}"]
    if estimate is not None:
        parts.append(f"estimate {estimate:.3f} deg rms")
    if tracking is not None:
        parts.append(f"tracking {tracking:.3f} deg rms")
    if force is not None:
        parts.append(f"tension {force:.2f} N rms")
    sensors = f"sensors {report['sensors']}, guides {report['guides']}"
    if report["mismatch"] is not None:
        sensors += f", mismatch {report['mismatch']}"
    return title, "   |   ".join([*parts, sensors])


def _hand(figure: Any, axes: tuple[Any, Any], time: Any, frames: RecordArray, hand: Hand) -> None:
    """The hand in its most bent pose of the run (the last before a fault), tendons by their true tension."""
    from reports.hand_picture import draw_hand

    truth = frames["truth"]
    k = int(np.argmax(np.abs(truth["joint_angle_rad"]).sum(axis=1) * np.isfinite(time)))
    axis_rad = np.zeros(2)
    if hand.names.axes:  # a hand without a wrist keeps no column for it
        axis_rad[: len(hand.names.axes)] = truth["axis_angle_rad"][k]
    colours = draw_hand(
        axes,
        hand.model,
        hand.names,
        truth["joint_angle_rad"][k].astype(float),
        axis_rad,
        truth["tension_n"][k].astype(float),
    )
    bar = figure.colorbar(colours, ax=axes, orientation="horizontal", shrink=0.7, pad=0.02, aspect=30)
    bar.set_label(f"tension [N] at {time[k]:.2f} s")
    bar.outline.set_visible(False)


def draw_run(frames: RecordArray, hand: Hand, stats: Any, report: dict[str, Any], out: Path) -> Path | None:
    """Write ``run.png``; without matplotlib say so and return ``None``.

    Args:
        frames: kept frames of the run, shape (n,).
        hand: the hand that ran.
        stats: the loop's histograms.
        report: the report's JSON object.
        out: folder.
    """
    try:
        plt = pyplot()
    except ImportError:
        print(no_picture(), file=sys.stderr)
        return None
    time = (frames["state"]["time_ns"] - frames["state"]["time_ns"][0]) / 1e9
    names = hand.names
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(16.5, 10.2), dpi=110)
        left = figure.add_gridspec(
            3, 2, left=0.05, right=0.76, top=0.89, bottom=0.055, hspace=0.42, wspace=0.14
        )
        right = figure.add_gridspec(2, 1, left=0.78, right=0.99, top=0.91, bottom=0.055, hspace=0.06)
        panels = [figure.add_subplot(left[r, c]) for r in range(3) for c in range(2)]
        if len(names.tendons):
            views = (figure.add_subplot(right[0]), figure.add_subplot(right[1]))
            _hand(figure, views, time, frames, hand)
        _joints(panels[0], time, frames, names)
        _tensions(panels[1], time, frames, names)
        _errors(panels[2], time, frames, names)
        _torques(panels[3], time, frames, names)
        follows_joints = report["tracking_error_deg"]["rms"] is not None
        (_tracking if follows_joints else _force_error)(panels[4], time, frames, names)
        _histogram(panels[5], stats, report["lockstep"])
        _mark_faults(panels[:5], report, float(time[-1]))
        if report["faults"]:
            _limit_to_before(panels[2], time, report["faults"][0]["time_s"])
            _limit_to_before(panels[4], time, report["faults"][0]["time_s"])
        for axis in panels[:5]:
            axis.set_xlabel("s", labelpad=1.0)
        title, line = _headline(report)
        figure.text(0.05, 0.968, title, fontsize=15, fontweight="bold", va="center")
        figure.text(0.05, 0.943, line, fontsize=9.5, color=PALE, va="center")
        path = out / "run.png"
        save_figure(figure, path)
        plt.close(figure)
    return path
