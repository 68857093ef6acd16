"""Runs the hand with and without each effect and writes docs/effects.md with its pictures.

python docs/make_effects.py          # about half a minute
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from docs.figures import panels, plt, use_style
from runtime.session import RunResult, run_lockstep

HERE = Path(__file__).parent
IMAGES = HERE / "images"
WITH, WITHOUT, THIRD, INK = "#1f5fa8", "#d9822b", "#2f8f5b", "#1b2430"
use_style()


def run(hand: str, motion: str, seconds: float = 4.0, **choices: Any) -> RunResult:
    print(f"{hand} {motion} {choices}", file=sys.stderr)
    return run_lockstep(hand, motion=motion, seconds=seconds, every=3, **choices)


def save(fig: Any, name: str) -> str:
    fig.savefig(IMAGES / f"effect_{name}.png", dpi=110)
    plt.close(fig)
    return f"![{name}](images/effect_{name}.png)"


def table(header: list[str], rows: list[list[Any]]) -> str:
    cells = [[f"{c:.3f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    lines = ["| " + " | ".join(r) + " |" for r in [header, ["---"] * len(header), *cells]]
    return "\n".join(lines)


def estimate_error(result: RunResult, joint: int) -> np.ndarray:
    f = result.frames
    return np.degrees(f["state"]["joint_angle_rad"][:, joint] - f["truth"]["joint_angle_rad"][:, joint])


def hysteresis() -> str:
    """Sensors: counts only, then everything, over three pretensions."""
    rows, runs = [], {}
    for pretension in (20.0, 60.0, 100.0):
        for sensors in ("quantised", "full"):
            result = run("finger_bench", "open_close", sensors=sensors, pretension_n=pretension, substeps=8)
            runs[pretension, sensors] = result
            r = result.report
            rows.append([f"{pretension:.0f} N", sensors, r["estimate_error_deg"]["rms"], r["estimate_error_deg"]["max"],
                         r["tracking_error_deg"]["rms"], r["force_error_n"]["true_rms"]])  # fmt: skip
    fig, axes = panels(2, height=2.9)
    full = runs[60.0, "full"]
    for sensors, color in (("quantised", WITHOUT), ("full", WITH)):
        result = runs[20.0, sensors]
        axes[0].plot(result.seconds, estimate_error(result, 3), color=color, label=sensors, linewidth=0.8)
    axes[0].set(title="DIP estimation error at 20 N", xlabel="s", ylabel="deg")
    axes[0].legend()
    late = full.seconds > 1.0
    lever = np.degrees(full.frames["truth"]["lever_angle_rad"][late, 6])
    axes[1].plot(
        lever, full.frames["truth"]["tension_n"][late, 6], color=WITH, linewidth=0.8, label="true tension"
    )
    axes[1].plot(
        lever, full.frames["state"]["tension_n"][late, 6], ".", color=WITHOUT, markersize=1, label="read"
    )
    axes[1].set(title="Lever loop of one tendon at 60 N", xlabel="lever [deg]", ylabel="N")
    axes[1].legend()
    text = table(
        [
            "pretension",
            "sensors",
            "estimate rms [deg]",
            "worst [deg]",
            "tracking rms [deg]",
            "true tension error [N]",
        ],
        rows,
    )
    full_rows = [row for row in rows if row[1] == "full"]
    angles, forces = (", ".join(f"{row[k]:.2f}" for row in full_rows) for k in (2, 5))
    return (
        "## Hysteresis, noise and counts of the lever sensor\n\n"
        "The lever's friction leaves its angle true but shifts the force: the tendon's own stretch is misread, and the "
        "more the tighter it is. The stretch is put right by the course of the lever itself, as far as noise and the magnet's "
        f"play let it be seen. At 20, 60 and 100 N joint angles are off by {angles} deg rms, the true tension by "
        f"{forces} N. `open_close`, finger_bench, 8 substeps.\n\n"
        f"{save(fig, 'hysteresis')}\n\n{text}\n"
    )


DRAWN = (1, 2, 3, 4)
"""Hands drawn from the tolerances, and noise of their sensors."""
FOLLOWED = (
    ("hasy", "open_close", None),
    ("hasy", "finger_wave", None),
    *(("hasy", "open_close", seed) for seed in DRAWN),
    *((hand, motion, None) for hand in ("finger_bench", "n_plus_one", "orca_v2") for motion in ("open_close", "step")),
)  # fmt: skip
"""Hand, motion, drawn hand: what is followed with and without the feedforward of joint friction and guides."""
PULLED = (
    ("finger_bench", "force_sine", None),
    ("finger_bench", "tension_step", None),
    ("hasy", "force_sine", None),
    *(("finger_bench", "force_sine", seed) for seed in DRAWN),
)
"""The same of true tensions, with and without the lever's friction loop put back."""


def guides() -> str:
    """Friction of guides and joints: on and off, with and without its feedforward."""
    rows, fig_axes = [], panels(2, height=2.9)
    fig, axes = fig_axes
    for guide, without, color, label in (
        ("ideal", ("guides",), THIRD, "ideal guides, no feedforward"),
        ("friction", ("guides",), WITHOUT, "friction, no feedforward"),
        ("friction", (), WITH, "friction, feedforward"),
    ):
        result = run("finger_bench", "open_close", guides=guide, without=without)
        f = result.frames
        loss = f["truth"]["finger_tension_n"] - f["truth"]["tension_n"]
        error = np.degrees(f["state"]["ref_joint_angle_rad"][:, 2] - f["truth"]["joint_angle_rad"][:, 2])
        axes[0].plot(result.seconds, error, color=color, label=label, linewidth=0.9)
        axes[1].plot(result.seconds, loss[:, 5], color=color, label=label, linewidth=0.9)
        late = result.seconds > 1.0
        rows.append([label, result.report["tracking_error_deg"]["rms"], result.report["estimate_error_deg"]["rms"],
                     float(np.sqrt((loss[late] ** 2).mean()))])  # fmt: skip
    axes[0].set(title="PIP tracking error", xlabel="s", ylabel="deg", ylim=(-1.8, 2.8))
    axes[1].set(title="Tension lost in the guides, PIP flexor", xlabel="s", ylabel="N")
    axes[0].legend()
    text = table(["guides", "tracking rms [deg]", "estimate rms [deg]", "tension lost, rms [N]"], rows)
    m, bending = result.hand.model, result.hand.file.guides.bending_angle_rad
    return (
        f"## Guides\n\nBetween spring and finger the tendon bends by {bending:g} rad and loses "
        f"{100.0 * float(m['guide_loss_frac'][0, 0]):.1f} % of its tension (eq. 4.1), against the motion. No sensor sees it: "
        "it turns into joint torque error, so into tracking error, as the joints' own friction does. Both are fed forward "
        f"from the wanted speeds, {100.0 * float(m['guide_gain'][0]):.0f} % of them (`gains.guide_gain`; "
        "`flexor run --without guides` leaves it out).\n\n"
        f"{save(fig, 'guides')}\n\n{text}\n\n"
        "Tracking of all joints, full sensors; a drawn hand differs from its controller's model by the tolerances of "
        f"its file:\n\n{side_by_side(FOLLOWED, 'guides', 'rms [deg]', lambda r: r['tracking_error_deg']['rms'])}\n"
    )


def side_by_side(cases: Any, switch: str, header: str, figure_of: Any) -> str:
    """A figure without and with what ``switch`` leaves out, hand by hand; a fault is no figure."""
    rows: list[list[Any]] = []
    for hand, motion, drawn in cases:
        choices = {} if drawn is None else {"mismatch": drawn, "seed": drawn}
        reports = [run(hand, motion, without=w, **choices).report for w in ((switch,), ())]
        if any(report["faults"] for report in reports):
            raise SystemExit(f"{hand} {motion}: {reports}")
        name = f"{hand} {motion}" + ("" if drawn is None else f", drawn hand {drawn}")
        rows.append([name, *map(figure_of, reports)])
    return table(["hand and motion", f"without, {header}", f"with, {header}"], rows)


def wrist() -> str:
    """The wrist's coupling with and without its two compensations."""
    rows, (fig, axes) = [], panels(2, height=2.9)
    for sensors, guide in (("quantised", "ideal"), ("full", "friction")):
        for without, color, label in (((), WITH, "compensated"), (("wrist",), WITHOUT, "not")):
            result = run("hasy", "wrist_yaw", 5.0, sensors=sensors, guides=guide, without=without)
            r = result.report
            rows.append(
                ["wrist_yaw", sensors, label, r["estimate_error_deg"]["rms"], r["fingertip_drift_mm"]["rms"]]
            )
            if sensors == "quantised":
                axes[0].plot(
                    result.seconds, estimate_error(result, 6), color=color, label=label, linewidth=0.9
                )
    for without, color, label in (((), WITH, "compensated"), (("wrist",), WITHOUT, "not")):
        result = run(
            "hasy", "wrist_pitch_position", 5.0, sensors="quantised", guides="ideal", without=without
        )
        tension = result.frames["truth"]["tension_n"]
        axes[1].plot(result.seconds, tension[:, 9], color=color, label=label, linewidth=0.9)
        late = result.seconds > 1.0
        change = float(np.sqrt(((tension[late] - tension[late][0]) ** 2).mean()))
        rows.append(["wrist_pitch, motors held", "quantised", label, "tension change rms", change])
    axes[0].set(title="index PIP estimation error, palm yaw +-10 deg", xlabel="s", ylabel="deg")
    axes[1].set(title="tension of middle_4, palm pitch +-30 deg", xlabel="s", ylabel="N")
    axes[0].legend()
    text = table(
        ["motion", "sensors", "wrist", "estimate rms [deg]", "fingertip drift rms [mm] / change [N]"], rows
    )
    return (
        "## Wrist\n\nPalm yaw changes tendon lengths in proportion to their distance from the median axis; palm pitch "
        "changes all of them alike. The estimator takes the wrist's lengths out, the motors are led by them.\n\n"
        f"{save(fig, 'wrist')}\n\n{text}\n"
    )


def feedforward() -> str:
    """Friction and ripple feedforward on a force sine and on a motor that turns alone."""
    rows, (fig, axes) = [], panels(2, height=2.9)
    for sensors in ("ideal", "full"):
        for without, color, label in (
            ((), WITH, "with feedforward"),
            (("friction", "ripple"), WITHOUT, "without"),
        ):
            result = run("finger_bench", "force_sine", sensors=sensors, without=without)
            r = result.report["force_error_n"]
            rows.append(["force_sine", sensors, label, r["rms"], r["true_rms"]])
            if sensors == "full":
                f = result.frames["state"]
                error = f["ref_tension_n"][:, 0] - f["observed_tension_n"][:, 0]
                axes[0].plot(result.seconds, error, color=color, label=label, linewidth=0.7)
    axes[0].set(title="Tension error, 20 +- 10 N at 1 Hz", xlabel="s", ylabel="N")
    axes[0].legend()
    first = {}
    for choices, color, label in (
        ({"without": ("ripple",)}, WITHOUT, "without"),
        ({}, WITH, "gain 0.8"),
        ({"overrides": ("gains.ripple_gain=1.0",)}, THIRD, "gain 1"),
    ):
        result = run("finger_bench", "constant_speed", **choices)
        f = result.frames
        late = result.seconds > 1.5
        feedback = (f["state"]["motor_torque_nm"] - f["state"]["ripple_torque_nm"])[late, 0].astype(float)
        turns = f["truth"]["motor_angle_rad"][late, 0].astype(float) * 100.0 / (2 * np.pi)
        grid = np.linspace(turns[0], turns[-1], feedback.size)
        even = np.interp(grid, turns, feedback)
        even = (even - even.mean()) * np.hanning(even.size)
        order = np.fft.rfftfreq(even.size, grid[1] - grid[0])
        lines = np.abs(np.fft.rfft(even))
        first[label] = lines[(order > 0.8) & (order < 1.2)].max()
        axes[1].plot(
            order, np.abs(np.fft.rfft(even)) * 4 / even.size * 1e3, color=color, label=label, linewidth=0.9
        )
    axes[1].set(
        title="Feedback torque over input orders",
        xlabel="order of the input shaft",
        ylabel="mN m",
        xlim=(0, 5),
    )
    axes[1].legend()
    text = table(
        ["motion", "sensors", "feedforward", "tension error as read [N]", "true tension error [N]"], rows
    )
    m = result.hand.model
    static = float(0.5 * np.pi * m["friction_gamma_2_nm"][0, 0] / m["spool_radius_m"][0, 0])
    return (
        f"## Friction and ripple\n\nThe drive's friction equals {static:.0f} N at the spool; the feedforward (3.8) takes most of it "
        f"at the wanted speed. The ripple feedforward at gain 0.8 leaves {100.0 * first['gain 0.8'] / first['without']:.0f} % of the "
        "first input harmonic.\n\n"
        f"{save(fig, 'feedforward')}\n\n{text}\n"
    )


def levers() -> str:
    """The lever's friction loop put back into the tensions of tendon force."""
    fig, axes = panels(2, height=2.9)
    for without, color, label in ((("lever",), WITHOUT, "as read"), ((), WITH, "put back")):
        result = run("finger_bench", "force_sine", without=without)
        state, true = result.frames["state"], result.frames["truth"]["tension_n"][:, 0]
        axes[0].plot(
            result.seconds, state["ref_tension_n"][:, 0] - true, color=color, label=label, linewidth=0.8
        )
        read = state["observed_tension_n"][:, 0]
        late = result.seconds > 1.0
        axes[1].plot(true[late], read[late] - true[late], color=color, label=label, linewidth=0.8)
    axes[0].set(title="Wanted minus true tension, 20 +- 10 N at 1 Hz", xlabel="s", ylabel="N")
    axes[1].set(title="What the loop reads, minus the true tension", xlabel="true tension [N]", ylabel="N")
    axes[0].legend()
    share = 100.0 * float(result.hand.model["lever_friction_frac"][0, 0])
    text = side_by_side(PULLED, "lever", "true error rms [N]", lambda r: r["force_error_n"]["true_rms"])
    return (
        f"## Lever friction in tendon force\n\nThe lever's friction hides up to {share:.1f} % of a tension from its sensor. "
        "In tendon force the share is put back (`gains.lever_gain`): the loop's own law says it of the elongation's course, "
        "which motor angles and slow joint angles tell without the sensor's noise. Then the measured tension differs from the "
        "wanted one, and the true one follows it; `flexor run --without lever` leaves it out, and the stretch that is put right "
        "with it. Where the joint feedback wants the tensions they are taken as read.\n\n"
        f"{save(fig, 'lever')}\n\n{text}\n"
    )


INTRODUCTION = (
    "# What each effect costs\n\n"
    "Every number here comes from lockstep runs of the simulated hand by `python docs/make_effects.py`; nothing is "
    "typed in. Errors are rms over all joints and tendons after the first second.\n"
)
SECTIONS = (hysteresis, guides, wrist, feedforward, levers)
"""Each makes its own part of the page."""


def page() -> str:
    return "\n".join([INTRODUCTION, *(section() for section in SECTIONS)])


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    (HERE / "effects.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
