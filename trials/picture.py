"""Pictures of trials: a heat map of kind and motion, and one trial over time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from reports.files import pyplot, save_figure
from trials import rules
from trials.judge import Judge, Verdict
from trials.record import Recording
from trials.tally import cells


def heat_map(verdicts: Iterable[Verdict], motions: tuple[str, ...], hand: str, path: Path) -> None:
    """Share of good trials (no breach, not named wrong) by kind and motion into a PNG.

    Raises:
        ImportError: matplotlib is not there.
    """
    plt = pyplot()
    kinds, share, count = cells(verdicts, motions)
    figure, axes = plt.subplots(figsize=(2.6 + 0.85 * len(motions), 1.6 + 0.38 * len(kinds)))
    colours = plt.get_cmap("RdYlGn").with_extremes(bad="0.92")
    image = axes.imshow(100.0 * share, cmap=colours, vmin=0.0, vmax=100.0, aspect="auto")
    for row in range(len(kinds)):
        for column in range(len(motions)):
            n = count[row, column]
            if n:
                value = 100.0 * share[row, column]
                text = (
                    f"{value:.0f}" if value == 100.0 else f"{value:.0f}\n{round(n * (1 - value / 100))}/{n}"
                )
                axes.text(column, row, text, ha="center", va="center", fontsize=7)
    axes.set_xticks(range(len(motions)), motions, rotation=35, ha="right", fontsize=8)
    axes.set_yticks(range(len(kinds)), kinds, fontsize=8)
    axes.set_title(f"{hand}: trials without breach and not named wrong [%], {count.sum()} trials", fontsize=9)
    figure.colorbar(image, ax=axes, fraction=0.03, pad=0.02)
    figure.tight_layout()
    save_figure(figure, path, dpi=130)
    plt.close(figure)


def trial_picture(verdict: Verdict, recording: Recording, judge: Judge, path: Path) -> None:
    """One trial over time into a PNG: tensions, joints, motor torques of the finger, and what was said.

    Raises:
        ImportError: matplotlib is not there.
    """
    plt = pyplot()
    m, names, trial = judge.model[0], judge.names, verdict.trial
    own = judge.finger_of(trial.faults[0]) if trial.faults else None
    f = (trial.touch.finger if trial.touch else 0) if own is None else own
    tendons = [int(t) for t in m["finger_tendon"][f, : m["finger_n_tendons"][f]]]
    joints = [int(j) for j in m["finger_joint"][f, : m["finger_n_joints"][f]]]
    time_ms = 1e3 * recording.time_s
    figure, rows = plt.subplots(4, 1, sharex=True, figsize=(9.0, 9.5), height_ratios=(3, 3, 3, 1))
    for t in tendons:
        line = rows[0].plot(time_ms, recording.of("truth", "tension_n")[:, t], lw=1.2, label=names.tendons[t])
        rows[0].plot(
            time_ms, recording.of("state", "tension_n")[:, t], lw=0.6, ls=":", color=line[0].get_color()
        )
    rows[0].axhline(rules.TENSION_LATER_N, color="0.6", lw=0.6)
    rows[0].set_ylabel("tension [N]\ntrue, measured dotted")
    for j in joints:
        q = np.degrees(recording.of("truth", "joint_angle_rad")[:, j])
        rows[1].plot(time_ms, q, lw=1.2, label=names.joints[j])
    rows[1].set_ylabel("joint [deg]")
    for t in tendons:
        i = int(m["tendon_motor"][t])
        rows[2].plot(time_ms, recording.of("truth", "motor_torque_nm")[:, i], lw=1.0, label=names.motors[i])
    rows[2].set_ylabel("motor torque [N m]")
    states = recording.of("state", "finger_state")
    for g in range(states.shape[1]):
        rows[3].step(time_ms, states[:, g] + 0.04 * g, where="post", lw=1.0, label=names.fingers[g])
    rows[3].set_yticks(range(5), ("off", "ready", "holding", "active", "fault"), fontsize=7)
    rows[3].set_xlabel("time since the fault [ms]")
    for row in rows:
        row.axvline(0.0, color="k", lw=0.6)
        row.legend(fontsize=6, loc="upper right", ncols=2)
    said = f"{verdict.cause} {verdict.part}".strip()
    text = f"seed {trial.seed}: {trial.kind} in {trial.motion}, part {trial.part}, said: {said}"
    rows[0].set_title(text + ("\n" + "; ".join(verdict.breaches[:3]) if verdict.breaches else ""), fontsize=8)
    figure.tight_layout()
    save_figure(figure, path, dpi=120)
    plt.close(figure)
