"""Redraws figures 4.7, 5.7, 5.16, 5.17, 6.9 and 6.10 of the hand paper from our laws and runs.

python docs/papers/make_hand_figures.py          # about a minute
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from docs.figures import panels, plt, save, use_style
from estimators.thumb import gauss_newton, gradient_search
from hand.assembly.assemble import model_of, names_of
from hand.file import load_hand
from mechanics.coupling import joint_stiffness, tendon_jacobian, tendon_lengths
from mechanics.dynamics.batch import accelerations
from mechanics.dynamics.bodies import Joint
from mechanics.dynamics.tree import Tree, tree_of
from mechanics.springs import spring_at, stiffness_of_force
from mechanics.wrist import axes_of_palm, wrist_lengths, wrist_pose
from reports.picture import COLOURS
from sim.mechanisms.hand_on_arm import Springs, hand_bodies

use_style(1.2)


def spring(model: Any) -> None:
    """Figure 4.7: force, stiffness and path of the spring mechanism over the lever angle."""
    m = model[0]
    lever = np.linspace(m["lever_min_rad"][0], m["lever_max_rad"][0], 300)
    rows = np.array([spring_at(m, 0, float(x)) for x in lever])
    figure, axes = panels(3, 11.0)
    axes[0].plot(np.degrees(lever), rows[:, 0], color=COLOURS[0])
    axes[0].set_title("4.7: tendon force")
    axes[0].set_ylabel("N")
    axes[1].semilogy(np.degrees(lever), -rows[:, 1] / rows[:, 3], color=COLOURS[1], label="mechanism")
    axes[1].semilogy(np.degrees(lever), [stiffness_of_force(m, 0, float(f)) for f in rows[:, 0]],
                     color=COLOURS[2], label="with tendon")  # fmt: skip
    axes[1].set_title("stiffness")
    axes[1].set_ylabel("N/m")
    axes[1].legend()
    axes[2].plot(np.degrees(lever), 1e3 * rows[:, 2], color=COLOURS[3])
    axes[2].set_title("tendon path dL")
    axes[2].set_ylabel("mm")
    for axis in axes:
        axis.set_xlabel("lever angle [deg]")
    save(figure, "hand_4_7")


def index_tree(model: Any, names: Any) -> tuple[Tree, list[int]]:
    """The index finger alone on a fixed palm, light viscous joints, and its joints' indices."""
    bare = Springs(
        joint_stiffness_nm_rad=0.0, joint_rest_rad=0.0, wrist_stiffness_nm_rad=0.0, wrist_damping_nms_rad=0.0
    )
    bodies = [
        b for b in hand_bodies(model, names, bare, None) if b.name == "palm" or b.name.startswith("index")
    ]
    bodies[0] = replace(bodies[0], joint=Joint())
    tree = tree_of(bodies, (0.0, 0.0, 0.0))
    tree.record["stop_stiffness"] = 0.0
    return tree, [names.joints.index(d) for d in tree.dofs]


def released(model: Any, names: Any) -> tuple[Any, Any]:
    """Index flexed by 0.1 rad and released, motors held, with and without Coriolis terms: angles [rad]."""
    tree, joints = index_tree(model, names)
    m = model[0]
    nj, nt = int(m["n_joints"]), int(m["n_tendons"])
    P, K, q0 = np.zeros((nt, nj)), np.zeros((nj, nj)), np.zeros(nj)
    tension = np.full(nt, 20.0)
    tendon_jacobian(m, q0, P)
    joint_stiffness(m, q0, tension, np.array([stiffness_of_force(m, t, 20.0) for t in range(nt)]), P, K)
    stiffness = K[np.ix_(joints, joints)]
    tree.record["damping"][0][:4] = 0.001 * np.sqrt(np.diag(stiffness)) * 0.05
    h, steps = 2e-5, 10000
    runs = []
    for moving in (1.0, 0.0):
        q, qd, kept = np.array([0.0, 0.1, 0.0, 0.0]), np.zeros(4), []
        for _ in range(steps):
            # without Coriolis: the tree at rest, its dampers added by hand
            damped = 0.0 if moving else -tree.record["damping"][0][:4] * qd
            qdd = accelerations(tree, q, moving * qd, -stiffness @ q + damped)[0]
            qd = qd + h * qdd
            q = q + h * qd
            kept.append(q)
        runs.append(np.array(kept))
    return runs[0], runs[1]


def coriolis(model: Any, names: Any) -> None:
    """Figure 5.7."""
    runs = released(model, names)
    time_s = 2e-5 * np.arange(1, len(runs[0]) + 1)
    figure, axes = panels(2)
    labels = ("base abduction", "base flexion", "PIP", "DIP")
    for k, label in enumerate(labels):
        axes[0].plot(time_s, runs[0][:, k], color=COLOURS[k], label=label)
        axes[1].plot(time_s, runs[0][:, k] - runs[1][:, k], color=COLOURS[k], label=label)
    axes[0].set_title("index released at 0.1 rad flexion, 20 N")
    axes[1].set_title("5.7: error without Coriolis terms")
    for axis in axes:
        axis.set_xlabel("time [s]")
        axis.set_ylabel("rad")
        axis.legend(fontsize=7)
    save(figure, "hand_5_7")


def thumb(model: Any, names: Any) -> None:
    """Figures 5.16 and 5.17: estimates of the thumb base from a grid of lengths, every search from (0, 0)."""
    m = model[0]
    finger = names.fingers.index("thumb")
    nt = int(m["n_tendons"])
    grid = np.linspace(-0.6, 0.6, 7)
    points = [(a, b) for a in grid for b in grid]
    rng, weight = np.random.default_rng(0), np.ones(nt)

    def estimates(steps: int, noise_m: float, law: Any) -> Any:
        out = []
        for a, b in points:
            length, q = np.zeros(nt), np.zeros(int(m["n_joints"]))
            q[m["finger_joint"][finger, :2]] = a, b
            tendon_lengths(m, q, length)
            out.append(law(m, finger, weight, length + noise_m * rng.normal(size=nt), 0.0, 0.0, steps))
        return np.array(out)

    truth = np.array(points)
    figure, axes = panels(2, 8.5, 3.6)
    for axis, law, steps, title in (
        (axes[0], gradient_search, 30, "5.16: gradient search, 30 steps"),
        (axes[1], gauss_newton, 5, "Gauss-Newton, 5 steps (default)"),
    ):
        found = estimates(steps, 0.0, law)
        _crosses(axis, truth, found)
        axis.set_title(f"{title}: worst {np.abs(found - truth).max():.1e} rad", fontsize=8.5)
    save(figure, "hand_5_16")
    figure, axes = plt.subplots(3, 3, figsize=(8.5, 8.5), constrained_layout=True)
    for row, steps in zip(axes, (50, 30, 15), strict=True):
        for axis, noise in zip(row, (0.0, 0.5e-3, 1e-3), strict=True):
            found = estimates(steps, noise, gradient_search)
            _crosses(axis, truth, found)
            rms = np.degrees(np.sqrt(np.mean((found - truth) ** 2)))
            axis.set_title(f"{steps} steps, {1e3 * noise:g} mm: {rms:.2g} deg rms", fontsize=8)
    save(figure, "hand_5_17")


def _crosses(axis: Any, truth: Any, found: Any) -> None:
    axis.plot(truth[:, 0], truth[:, 1], "o", color=COLOURS[4], markerfacecolor="none", markersize=6)
    axis.plot(found[:, 0], found[:, 1], "x", color=COLOURS[0], markersize=4)
    axis.set_xlabel("q10 [rad]")
    axis.set_ylabel("q11 [rad]")
    axis.set_aspect("equal")


def wrist(model: Any) -> None:
    """Figures 6.9 and 6.10: closure of the loops and tendon lengths over 30 deg pitch, then 20 deg yaw."""
    m = model[0]
    a, b, c = (float(v) for v in m["wrist_size_m"])
    steps = np.linspace(0.0, 1.0, 150)
    shape = np.sin(np.pi * steps)
    path = [(np.radians(30.0) * s, 0.0) for s in shape] + [(0.0, np.radians(20.0) * s) for s in shape]
    bars = {
        "AA0": np.hypot(a, c),
        "BB0": np.sqrt(a * a + b * b + c * c),
        "CC0": np.sqrt(a * a + b * b + c * c),
    }
    base = np.array([[0.0, b / 2.0, c], [0.0, 0.0, 0.0], [0.0, b, 0.0]])
    plate = np.array([[0.0, 0.0, -c / 2.0], [0.0, b / 2.0, c / 2.0], [0.0, -b / 2.0, c / 2.0]])
    worst, lengths = [], []
    R, o, h = np.zeros((3, 3)), np.zeros(3), np.zeros(int(m["n_tendons"]))
    for pitch, yaw in path:
        q71, q73 = axes_of_palm(model, pitch, yaw)
        wrist_pose(m, q71, q73, R, o)
        moved = o + plate @ R.T
        gaps = np.abs(np.linalg.norm(moved - base, axis=1) - list(bars.values()))
        worst.append(max(gaps.max(), 1e-18))
        wrist_lengths(m, q71, q73, h)
        lengths.append(h.copy())
    table = 1e3 * (np.array(lengths) - lengths[0])
    figure, axes = panels(2)
    axes[0].semilogy(worst, color=COLOURS[0])
    axes[0].set_title("6.9: greatest error of the bars' lengths")
    axes[0].set_ylabel("m")
    for t in range(table.shape[1]):
        axes[1].plot(table[:, t], color=COLOURS[0] if t < 19 else COLOURS[1], linewidth=0.6)
    axes[1].set_title("6.10: tendon displacement (two layers)")
    axes[1].set_ylabel("mm")
    for axis in axes:
        axis.set_xlabel("step: 30 deg flexion and back, 20 deg abduction and back")
    save(figure, "hand_6")


def main() -> None:
    hand = load_hand("hasy")
    model, names = model_of(hand), names_of(hand)
    spring(model)
    coriolis(model, names)
    thumb(model, names)
    wrist(model)


if __name__ == "__main__":
    main()
