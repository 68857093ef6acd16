"""Pictures of a run: the structure in three dimensions, and joint curves over time."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from mechanics.dynamics.simulate import Run
from reports.files import pyplot, save_figure
from reports.mechanism_summary import columns
from reports.picture import COLOURS, INK, PLAIN
from signals.layout import FloatArray
from sim.mechanisms.load import LoadedMechanism
from sim.mechanisms.mechanism import Mechanism

MOST_LINES: Final = 8
STYLE: Final[Any] = PLAIN | {"lines.linewidth": 1.2, "lines.solid_capstyle": "round"}


def extents(mechanism: Mechanism, poses: FloatArray) -> tuple[FloatArray, float]:
    """Centre and half width of the cube that holds the mechanism in all poses (rows)."""
    points = np.concatenate([line for q in poses for _, line in mechanism.segments(q)])
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), 0.55 * float((high - low).max())


def is_flat(mechanism: Mechanism, poses: FloatArray) -> bool:
    """Does everything happen in the x-z plane?"""
    return all(np.abs(line[:, 1]).max() < 1e-9 for q in poses for _, line in mechanism.segments(q))


def colours_of(mechanism: Mechanism, q: FloatArray) -> dict[str, str]:
    """A colour per part, in the order of the parts."""
    names = list(dict.fromkeys(name for name, _ in mechanism.segments(q)))
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}


def new_scene(figure: Any, place: Any, centre: FloatArray, half: float, flat: bool) -> Any:
    """Axes of equal scale: three-dimensional, or seen along y for a flat mechanism."""
    from matplotlib.ticker import MaxNLocator

    if flat:
        scene = figure.add_subplot(place)
        scene.set_aspect("equal")
        scene.set_xlim(centre[0] - half, centre[0] + half)
        scene.set_ylim(centre[2] - half, centre[2] + half)
        scene.set_xlabel("x [m]")
        scene.set_ylabel("z [m]")
        return scene
    scene = figure.add_subplot(place, projection="3d")
    scene.set_box_aspect((1, 1, 1))
    for k, name in enumerate(("x", "y", "z")):
        getattr(scene, f"set_{name}lim")(centre[k] - half, centre[k] + half)
        getattr(scene, f"set_{name}label")(f"{name} [m]", fontsize=8)
        getattr(scene, f"{name}axis").set_major_locator(MaxNLocator(4))
    scene.tick_params(labelsize=7)
    scene.view_init(elev=18.0, azim=-58.0)
    return scene


def draw(scene: Any, flat: bool, segments: Any, colours: dict[str, str], alpha: float) -> list[Any]:
    """Lines of one pose, thin ones for short parts; returns the artists."""
    artists = []
    size = max(float(np.ptp(line, axis=0).max()) for _, line in segments)
    for name, line in segments:
        parts = (line[:, 0], line[:, 2]) if flat else (line[:, 0], line[:, 1], line[:, 2])
        big = float(np.ptp(line, axis=0).max()) > 0.2 * size
        width = (2.6 if big else 1.3) * (1.0 if alpha == 1.0 else 0.5)
        dot = 3.0 if alpha == 1.0 and big else 0.0
        artists += scene.plot(
            *parts, color=colours[name], alpha=alpha, linewidth=width, marker="o", markersize=dot
        )
    return artists


def structure(figure: Any, place: Any, mechanism: Mechanism, run: Run) -> None:
    """The structure at the start, on its way (pale), and at the end (strong)."""
    chosen = np.unique(np.linspace(0, len(run.q) - 1, 9).astype(int))
    poses = run.q[chosen]
    centre, half = extents(mechanism, poses)
    flat = is_flat(mechanism, poses)
    scene = new_scene(figure, place, centre, half, flat)
    colours = colours_of(mechanism, run.q[0])
    for k, q in enumerate(poses):
        last = k == len(poses) - 1
        draw(scene, flat, mechanism.segments(q), colours, 1.0 if last else 0.12 + 0.3 * k / len(poses))
    scene.set_title(f"structure, t = 0 (pale) to {run.time_s[-1]:.3g} s")


def curves(axis: Any, run: Run, values: FloatArray, title: str, unit: str) -> None:
    """Curves of the joints that move most; the title tells how many there are."""
    spread = np.ptp(values, axis=0)
    shown = sorted(np.argsort(-spread, kind="stable")[:MOST_LINES].tolist())
    for k, j in enumerate(shown):
        axis.plot(run.time_s, values[:, j], color=COLOURS[k % len(COLOURS)], label=run.system.dofs[j])
    some = f" ({len(shown)} of {values.shape[1]})" if values.shape[1] > len(shown) else ""
    axis.set_title(title + some)
    axis.set_ylabel(unit)
    axis.margins(x=0.0)
    peak, usual = float(np.abs(values).max()), float(np.percentile(np.abs(values), 99.0))
    if np.ptp(values) == 0.0:
        axis.set_ylim(float(values[0, 0]) - 1.0, float(values[0, 0]) + 1.0)
    elif peak > 8.0 * usual > 0.0:
        axis.set_ylim(-2.0 * usual, 2.0 * usual)
        axis.set_title(f"{title}{some}, cut (peak {peak:.3g})")
    if values.shape[1] > MOST_LINES:
        axis.legend(loc="best", ncols=2, fontsize=6.5)


def energy(axis: Any, run: Run) -> None:
    """Kinetic and potential energy and their sum."""
    for name, values, colour in (
        ("kinetic", run.kinetic_j, COLOURS[0]),
        ("potential", run.potential_j - run.potential_j[0], COLOURS[1]),
        ("sum", run.energy_j - run.potential_j[0], INK),
    ):
        axis.plot(run.time_s, values, color=colour, label=name)
    axis.set_title("energy, potential from its start")
    axis.set_ylabel("J")
    axis.margins(x=0.0)
    axis.legend(loc="best", ncols=3)


def extra_panels(loaded: LoadedMechanism, run: Run) -> list[tuple[str, str, FloatArray]]:
    """(title, unit, values) of what a mechanism shows beside its joints, two at most."""
    table = columns(loaded, run)
    wanted = (
        ("muscle_degc", "muscle temperature", "degC"),
        ("muscle_current_a", "muscle current", "A"),
        ("muscle_force_n", "muscle force", "N"),
        ("beta_rad", "tilt beta of the tool plate", "rad"),
        ("p_m", "height p of the mirror plane on the axis", "m"),
    )
    return [(title, unit, table[name]) for name, title, unit in wanted if name in table][:2]


def picture(loaded: LoadedMechanism, scenario: str, run: Run, path: Path) -> None:
    """Write a PNG: structure, positions, speeds, accelerations, torques, energy."""
    plt = pyplot()
    extra = extra_panels(loaded, run)
    slider = any(run.system.sliders)
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(13.0, 7.5), layout="constrained")
        outer = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.6))
        left = outer[0].subgridspec(2, 1, height_ratios=(2.2, 1.0))
        structure(figure, left[0], loaded.mechanism, run)
        energy(figure.add_subplot(left[1]), run)
        right = outer[1].subgridspec(3 if extra else 2, 2)
        panels = (
            (run.q, "joint positions", "rad, m" if slider else "rad"),
            (run.qd, "joint velocities", "rad/s, m/s" if slider else "rad/s"),
            (run.qdd, "joint accelerations", "rad/s2, m/s2" if slider else "rad/s2"),
            (run.tau, "joint torques (driving)", "N m, N" if slider else "N m"),
        )
        axes = [figure.add_subplot(right[k // 2, k % 2]) for k in range(4)]
        for axis, (values, title, unit) in zip(axes, panels, strict=True):
            curves(axis, run, values, title, unit)
        if run.system.n_dofs <= MOST_LINES:
            axes[0].legend(loc="best", ncols=2)
        for k, (title, unit, values) in enumerate(extra):
            axes.append(figure.add_subplot(right[2, k]))
            axes[-1].plot(run.time_s, values, color=COLOURS[3 + k])
            axes[-1].set_title(title)
            axes[-1].set_ylabel(unit)
            axes[-1].margins(x=0.0)
        for axis in axes[-2:]:
            axis.set_xlabel("time [s]")
        figure.suptitle(words(loaded, scenario, run), x=0.01, ha="left", fontsize=9.5)
        save_figure(figure, path, dpi=110)
        plt.close(figure)


def words(loaded: LoadedMechanism, scenario: str, run: Run) -> str:
    """What was run, and how it ended."""
    scheme = run.scheme.name.lower().replace("_", "-")
    text = f"{loaded.mechanism.description}\n{scenario}: {loaded.mechanism.scenarios[scenario].description}"
    text += f" ({scheme}, step {run.step_s:g} s)"
    return text if run.divergence is None else f"{text}\n{run.divergence}"
