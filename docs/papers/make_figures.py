"""Redraws the figures of the tree, finger, arm and wrist papers from our runs.

python docs/papers/make_figures.py          # about half a minute
"""

from __future__ import annotations

from typing import Any

import numpy as np

from docs.figures import panels, plt, save, use_style
from mechanics.carpal_geometry import workspace
from mechanics.dynamics.integrate import Scheme
from mechanics.dynamics.simulate import simulate
from reports.mechanism_picture import colours_of, draw, extents
from reports.picture import COLOURS
from sim.mechanisms.load import load_mechanism
from tests.rigs.free_motion import NAMES, without_losses
from tests.rigs.mechanism_cases import TH, THD, arm_file, finger_system, muscled_finger, wrist, wrist_system

use_style(1.3)


def curves(axis: Any, time_s: Any, values: Any, names: Any, title: str, unit: str) -> None:
    for k, name in enumerate(names):
        axis.plot(time_s, values[:, k], color=COLOURS[k], label=name)
    axis.set_title(title)
    axis.set_xlabel("time [s]")
    axis.set_ylabel(unit)
    axis.margins(x=0.0)
    axis.legend()


def pose(axis: Any, mechanism: Any, q: Any, title: str) -> None:
    centre, half = extents(mechanism, q[None, :])
    draw(axis, True, mechanism.segments(q), colours_of(mechanism, q), 1.0)
    axis.set_aspect("equal")
    axis.set_xlim(centre[0] - 1.2 * half, centre[0] + 1.2 * half)
    axis.set_ylim(centre[2] - 1.2 * half, centre[2] + 1.2 * half)
    axis.set_title(title)
    axis.set_xlabel("x [m]")
    axis.set_ylabel("z [m]")


def trees() -> None:
    """Figures 5 to 9 of the tree paper."""
    y = load_mechanism("y_tree").mechanism
    figure, axes = panels(3, 11.5, 3.3)
    run, upright = y.run("fall"), y.run("symmetric")
    pose(axes[0], y, np.zeros(3), "figure 5: Y, initial position")
    curves(
        axes[1], upright.time_s, upright.q, y.system.dofs, "figure 6: upright start", "joint position [rad]"
    )
    curves(axes[2], run.time_s, run.q, y.system.dofs, "figure 6: 0.1 rad off", "joint position [rad]")
    save(figure, "trees_y")
    long = load_mechanism("long_tree").mechanism
    figure, axes = panels(3, 11.5, 3.3)
    pose(axes[0], long, np.zeros(4), "figure 7: second structure")
    for axis, scenario, title in (
        (axes[1], "fall", "figure 8: own weight"),
        (axes[2], "spring", "figure 9: 100 Nm/rad at long_1"),
    ):
        run = long.run(scenario)
        curves(axis, run.time_s, run.q, long.system.dofs, title, "joint position [rad]")
    save(figure, "trees_long")


def orders() -> None:
    """Error of the integrators over the step, and energy drift of every mechanism."""
    figure, axes = panels(2, height=3.3)
    exact = simulate(wrist_system(wrist()), 0.1, 1e-5, q=TH, qd=THD, record_every=10000).q[-1]
    steps = 0.1 / np.array([50, 100, 200, 400, 800])
    for k, scheme in enumerate((Scheme.EULER, Scheme.SEMI_IMPLICIT, Scheme.RK4)):
        runs = [simulate(wrist_system(wrist()), 0.1, h, scheme=scheme, q=TH, qd=THD) for h in steps]
        error = [np.abs(run.q[-1] - exact).max() for run in runs]
        axes[0].loglog(
            steps * 1e3, error, "o-", color=COLOURS[k], label=scheme.name.lower().replace("_", "-")
        )
    axes[0].minorticks_off()
    axes[0].set_xticks(steps * 1e3, [f"{1e3 * h:.3g}" for h in steps])
    axes[0].set_title("carpal wrist, error after 0.1 s")
    axes[0].set_xlabel("step [ms]")
    axes[0].set_ylabel("leg angle [rad]")
    axes[0].legend()
    for k, name in enumerate(NAMES):
        system, q = without_losses(name)
        run = simulate(system, 10.0, 1e-4, q=q, record_every=50)
        exchange = max(np.ptp(run.kinetic_j), np.ptp(run.potential_j))
        drift = np.maximum(np.abs(run.energy_j - run.energy_j[0]) / exchange, 1e-17)
        axes[1].semilogy(run.time_s, drift, color=COLOURS[k], label=name, linewidth=0.9)
    axes[1].axhline(1e-6, color="#8a94a3", linestyle="--", linewidth=0.9)
    axes[1].set_title("free motion, rk4 at 10 kHz")
    axes[1].set_xlabel("time [s]")
    axes[1].set_ylabel("energy change / exchange")
    axes[1].set_ylim(1e-16, 1e-3)
    axes[1].legend(ncols=2, fontsize=7, loc="upper right")
    save(figure, "integrators")


def finger() -> None:
    """Full against reduced model, and the electro-thermal finger."""
    from mechanics.dynamics.inputs import constant

    pull = constant(np.array([0.0, 0.0, 0.0, 3.0]))
    figure, axes = panels(2, height=3.3)
    names = ("MCP", "PIP", "DIP")
    for reduced, style in ((0, "-"), (1, "--")):
        record = muscled_finger()
        record["reduced"] = reduced
        run = simulate(finger_system(record), 0.3, 1e-4, inputs=pull)
        for k, name in enumerate(names):
            label = f"{name} {'reduced' if reduced else 'full'}"
            axes[0].plot(run.time_s, run.q[:, k], style, color=COLOURS[k], label=label)
    axes[0].set_title("3 N from rest, full and reduced model")
    axes[0].set_xlabel("time [s]")
    axes[0].set_ylabel("joint angle [rad]")
    axes[0].legend(ncols=2, fontsize=7)
    mechanism = load_mechanism("muscle_finger").mechanism
    run = mechanism.run("heat_and_cool")
    curves(axes[1], run.time_s, run.q, names, "0.6 A for 8 s, then still air", "joint angle [rad]")
    warm = axes[1].twinx()
    warm.plot(run.time_s, run.z, color="#8a94a3", linewidth=1.0)
    warm.set_ylabel("muscle [degC], grey")
    warm.grid(False)
    save(figure, "finger")


def arm() -> None:
    """Free swing in both forms, and order of RK4 (17)."""
    from sim.mechanisms.arm7 import arm_mechanism

    figure, axes = panels(2, height=3.3)
    runs = [arm_mechanism(arm_file(form)).run() for form in ("tree", "lagrange")]
    names = [f"q{i + 1}" for i in range(7)]
    curves(axes[0], runs[0].time_s, runs[0].q, names, "reference arm, free swing", "joint angle [rad]")
    apart = np.abs(runs[0].q - runs[1].q).max()
    axes[0].legend(ncols=4, fontsize=7, loc="upper left")
    axes[0].set_ylim(-1.1, 2.9)
    axes[0].set_title(f"free swing (articulated bodies and Lagrange {apart:.0e} rad apart)", fontsize=8.5)
    mechanism = arm_mechanism(arm_file())
    steps = np.array([4e-3, 2e-3, 1e-3, 5e-4])
    exact = mechanism.run(step_s=2.5e-5, rows=1).q[-1]
    error = [np.abs(mechanism.run(step_s=h, rows=1).q[-1] - exact).max() for h in steps]
    axes[1].loglog(steps * 1e3, error, "o-", color=COLOURS[0], label="rk4 (17)")
    axes[1].loglog(
        steps * 1e3, error[-1] * (steps / steps[-1]) ** 4, ":", color="#8a94a3", label="fourth order"
    )
    axes[1].minorticks_off()
    axes[1].set_xticks(steps * 1e3, [f"{1e3 * h:.3g}" for h in steps])
    axes[1].set_title("error after 0.2 s")
    axes[1].set_xlabel("step [ms]")
    axes[1].set_ylabel("joint angle [rad]")
    axes[1].legend()
    save(figure, "arm")


def carpal() -> None:
    """Tool path from torque histories, and the workspace."""
    mechanism = load_mechanism("carpal_wrist").mechanism
    run = mechanism.run("torque_history")
    figure, axes = panels(3, 11.5, 3.3)
    curves(axes[0], run.time_s, run.tau, run.system.dofs, "motor torques (6.44)", "N m")
    curves(axes[1], run.time_s, run.q, run.system.dofs, "leg angles", "rad")
    space = workspace(0.06, 0.1, np.radians(10.0), np.radians(100.0), steps=17)
    reach = np.hypot(space.D_m[:, 0], space.D_m[:, 1])
    dots = axes[2].scatter(reach, space.D_m[:, 2], c=space.margin, s=3, cmap="viridis")
    figure.colorbar(dots, ax=axes[2], label="distance from a singular pose")
    axes[2].set_title(f"workspace, tilt up to {np.degrees(space.beta_rad.max()):.0f} deg")
    axes[2].set_xlabel("distance of the plate from the axis [m]")
    axes[2].set_ylabel("height [m]")
    save(figure, "carpal")


def limb() -> None:
    """The hand on the arm."""
    mechanism = load_mechanism("hand_on_arm").mechanism
    run = mechanism.run("bump")
    chosen = [
        run.system.dofs.index(n)
        for n in ("elbow", "wrist_flexion", "index_flexion", "index_pip", "index_dip")
    ]
    figure, axis = plt.subplots(figsize=(7.0, 3.0), constrained_layout=True)
    names = [run.system.dofs[j] for j in chosen]
    start = run.q[:, chosen] - run.q[0, chosen]
    curves(axis, run.time_s, start, names, "3 N for 50 ms on the index finger", "change of joint angle [rad]")
    save(figure, "hand_on_arm")


def hands() -> None:
    """The three mechanisms under the runtime's loop, in lockstep: goal, truth and error."""
    from runtime.session import run_lockstep

    runs = (
        ("carpal_wrist", "carpal_circle", 6.0, None),
        ("prosthesis_arm", "arm_reach", 8.0, ("shoulder_2", "elbow", "pronation", "wrist_1")),
        ("muscle_finger", "muscle_close", 60.0, None),
    )
    figure, axes = plt.subplots(2, 3, figsize=(11.5, 5.0), constrained_layout=True, sharex="col")
    for (top, bottom), (name, motion, seconds, chosen) in zip(axes.T, runs, strict=True):
        result = run_lockstep(name, motion=motion, seconds=seconds)
        names = result.hand.names.joints
        truth = np.degrees(result.frames["truth"]["joint_angle_rad"].astype(float))
        goal = np.degrees(result.frames["state"]["ref_joint_angle_rad"].astype(float))
        shown = range(len(names)) if chosen is None else [names.index(n) for n in chosen]
        for k, j in enumerate(shown):
            top.plot(result.seconds, goal[:, j], "--", color=COLOURS[k], linewidth=0.8)
            top.plot(result.seconds, truth[:, j], color=COLOURS[k], label=names[j])
            bottom.plot(result.seconds, truth[:, j] - goal[:, j], color=COLOURS[k], linewidth=0.9)
        if name == "muscle_finger":
            apart = truth.sum(axis=1) - goal.sum(axis=1)
            bottom.plot(result.seconds, apart, color="#1b2430", linewidth=1.1, label="closing angle")
            bottom.legend(fontsize=7)
        top.set_title(f"{name}: {motion}", fontsize=9)
        top.legend(fontsize=7)
        bottom.set_xlabel("time [s]")
    axes[0, 0].set_ylabel("joint angle [deg], goal dashed")
    axes[1, 0].set_ylabel("error [deg]")
    save(figure, "mechanism_hands")


def main() -> None:
    for make in (trees, orders, finger, arm, carpal, limb, hands):
        make()


if __name__ == "__main__":
    main()
