"""Redraws figures 4.8b, 4.11 and 6.11 to 6.13 of the hand paper from runs, and draws the options of its mechanics.

python docs/papers/make_hand_options.py          # about two minutes; names of its functions draw some
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from docs.figures import panels, plt, save, use_style
from hand.assembly.assemble import model_of
from hand.assembly.tendons import guide_law
from hand.file import load_hand, parse_hand
from hand.file.hand import HandFile
from hand.hand import read_tendon_hand
from hand.options import RunOptions
from mechanics.coupling import tendon_jacobian
from mechanics.fourbar import four_bar
from mechanics.guides import bending_loss_n
from mechanics.kinematics import fingertips
from mechanics.springs import spring_at
from mechanics.wrist import wrist_lengths
from mechanics.wrist_springs import axis_spring
from reports.design.coupling import finger_of
from reports.picture import COLOURS, PALE
from runtime.session import run_lockstep

HERE: Final = Path(__file__).parent
HANDS: Final = HERE.parents[1] / "configs" / "hands"
use_style(1.2)


def moved(hand: str, motion: str, seconds: float, **choices: Any) -> Any:
    """Frames of a run of a motion that is written out."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "motion.toml"
        path.write_text(f'description = "for a figure"\n{motion}')
        run = run_lockstep(hand, motion=str(path), seconds=seconds, every=1, **choices)
    assert not run.in_fault, run.report["faults"]
    return run.frames


def sensor() -> None:
    """Figure 4.8b: a tendon pulled to and fro on the mounted sensor, count to force, and the model without friction."""
    motion = 'mode = "tendon_force"\n[[tracks]]\nkind = "tendon_n"\nnames = ["*"]\n' \
        "sine = { mean = 50.0, amplitude = 40.0, frequency_hz = 0.5 }\n"  # fmt: skip
    frames = moved("finger_bench", motion, 5.0)
    m = model_of(load_hand("finger_bench"))[0]
    count, force = frames["measurement"]["hall_count"][6000:, 0], frames["truth"]["tension_n"][6000:, 0]
    lever = (count - m["hall_zero_count"][0]) / m["hall_counts_rad"][0]
    grid = np.linspace(lever.min(), lever.max(), 200)
    model = np.array([m["spring_scale"][0] * spring_at(m, 0, float(x))[0] for x in grid])
    counts = grid * m["hall_counts_rad"][0] + m["hall_zero_count"][0]
    high = np.abs(force - 70.0) < 1.0
    width = np.ptp(np.interp(count[high], counts, model) - force[high])
    figure, axes = panels(2, 9.5)
    axes[0].plot(count, force, color=COLOURS[0], linewidth=0.6, label="measured")
    axes[0].plot(counts, model, color=COLOURS[1], label="model")
    axes[0].set(title=f"4.8b: force over count, loop {width:.0f} N at 70 N", xlabel="Hall count", ylabel="N")
    axes[1].plot(force, np.interp(count, counts, model) - force, color=COLOURS[0], linewidth=0.6)
    axes[1].set(title="what the model reads beyond the force", xlabel="tendon force [N]", ylabel="N")
    axes[0].legend()
    save(figure, "hand_4_8")


def guides() -> None:
    """Figure 4.11, and what bending adds over radii and tension (4.10's pulleys)."""
    file = load_hand("hasy")
    moment, share = 1.2e-3, guide_law(file.guides, "pulley", "saturating")
    figure, axes = panels(3, 11.0)
    angle = np.linspace(0.0, 2.0 * math.pi, 200)
    for k, radius in enumerate((0.002, 0.004, 0.008)):
        bends = np.floor(angle / (0.5 * math.pi) + 1e-9)
        lost = [20.0 * share.loss_frac(float(a)) + bending_loss_n(moment, [radius] * int(n))
                for a, n in zip(angle, bends, strict=True)]  # fmt: skip
        axes[0].plot(np.degrees(angle), lost, color=COLOURS[k], label=f"radius {1e3 * radius:g} mm")
        tension = np.linspace(0.0, 60.0, 50)
        bend = bending_loss_n(moment, [radius] * 3)
        axes[1].plot(tension, share.loss_frac(1.5) * tension + bend, color=COLOURS[k])
    axes[0].plot(
        np.degrees(angle), [20.0 * share.loss_frac(float(a)) for a in angle], color=PALE, label="no bending"
    )
    axes[1].plot(tension, share.loss_frac(1.5) * tension, color=PALE)
    axes[0].set(title="lost of 20 N, a pulley per 90 deg", xlabel="total bending angle [deg]", ylabel="N")
    axes[1].set(title="lost at three pulleys, 1.5 rad", xlabel="tension [N]", ylabel="N")
    axes[0].legend(fontsize=7)
    pairs = list(file.guides.pairs)
    axes[2].barh(pairs, [file.guides.pairs[p].rope_friction for p in pairs], color=COLOURS[: len(pairs)])
    axes[2].set(title="4.11: coefficients (assumed)", xlabel="mu")
    save(figure, "hand_4_11")


def spool(end: float, throat: float, other: float) -> Any:
    """Points (3, n, n) of a hyperboloid about the z axis, as wide as ``end`` to both sides."""
    z, turn = np.meshgrid(np.linspace(-end, end, 30), np.linspace(-math.pi, math.pi, 60))
    radius = np.sqrt(throat**2 + z**2 * throat / (1.1 * other))
    return np.array([radius * np.cos(turn), radius * np.sin(turn), z])


def base_joint() -> None:
    """The hyperboloid base of 5.2: its two surfaces in a pose, and what the distance of its axes is for a fingertip."""
    text = (HANDS / "finger_bench.toml").read_text()
    printed = 'joint = "index_abduction", ratio = 1.0, length_m = 0.006'
    lengths = (0.0, 0.003, 0.006, 0.009)
    models = [
        model_of(parse_hand(text.replace(printed, f"{printed[:-5]}{x}"), "hand.toml"))[0] for x in lengths
    ]
    figure = plt.figure(figsize=(11.0, 3.4), constrained_layout=True)
    for k, q_deg in enumerate(((0.0, 0.0), (15.0, 60.0))):
        axis = figure.add_subplot(1, 3, 1 + k, projection="3d")
        R, p, tips = np.zeros((32, 3, 3)), np.zeros((32, 3)), np.zeros((8, 3))
        q = np.zeros(32)
        q[:2] = np.radians(q_deg)
        fingertips(models[2], q, R, p, tips)
        for body, throat, other in ((1, 0.45, 0.55), (2, 0.55, 0.45)):
            points = np.einsum("ij,jkl->ikl", R[body], spool(5.0, 6.0 * throat, 6.0 * other))
            axis.plot_wireframe(*(points + 1e3 * (p[body] - p[1])[:, None, None]), color=COLOURS[body - 1],
                                linewidth=0.4, rstride=3, cstride=3)  # fmt: skip
        axis.set_aspect("equal")
        axis.set_title(f"5.2: abduction {q_deg[0]:g}, flexion {q_deg[1]:g} deg [mm]")
    axis = figure.add_subplot(1, 3, 3)
    flexion, ways = np.radians(np.linspace(-20.0, 90.0, 60)), []
    for k, m in enumerate(models):
        tip = []
        for x in flexion:
            q[:2] = 0.0, x
            fingertips(m, q, R, p, tips)
            tip.append(tips[0].copy())
        ways.append(np.array(tip))
        name = "universal joint" if lengths[k] == 0.0 else f"{1e3 * lengths[k]:g} mm"
        axis.plot(*(1e3 * (ways[k] - p[1])[:, [0, 2]].T), color=COLOURS[k], label=name)
    axis.set_aspect("equal")
    axis.set(title="fingertip over flexion", xlabel="mm", ylabel="mm")
    axis.legend(fontsize=7)
    save(figure, "hand_5_2")


def second_pair_text() -> str:
    """The reference hand whose ring finger has both tendon pairs of (5.18), each on motors of its own."""
    text = (HANDS / "hasy.toml").read_text()
    rows = "".join(
        f'  {{ name = "ring_{k}", finger = "ring", motor = "m_ring_{k}", hall_channel = {channel}, '
        f"dh_dq_m_rad = {{ ring_pip = {arm} }}, length_m = 0.42, forearm_m = {forearm}, palm_m = {palm} }},\n"
        for k, channel, arm, forearm, palm in (
            (7, 39, -0.005, [0.004, 0.028, 0.008], [-0.004, 0.01, 0.010]),
            (8, 40, 0.005, [0.004, 0.028, 0.026], [-0.004, 0.01, -0.010]),
        )
    )
    text = text.replace("\n]\n\n[control]", f"\n{rows}]\n\n[control]", 1)
    return text.replace("m_hmc_1 = 38\n", "m_hmc_1 = 38\nm_ring_7 = 51\nm_ring_8 = 52\n", 1)


def pairs() -> None:
    """Both pairs of (5.18): stiffness and torque of the coupled joints beside those with one."""
    figure, axes = panels(3, 11.0)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "both.toml"
        path.write_text(second_pair_text())
        for k, (hand, label) in enumerate((("hasy", "h46, h47"), (str(path), "with h44, h45"))):
            read = read_tendon_hand(RunOptions(hand=hand))
            finger = finger_of(
                read, "ring", pose_deg={"ring_abduction": 0.0, "ring_flexion": 0.0, "ring_pip": 0.0}
            )
            tension = np.linspace(6.0, 110.0, 30)
            stiffness = [
                finger.joint_stiffness_nm_rad(np.full(len(finger.tendons), f))[2, 2] for f in tension
            ]
            axes[0].plot(tension, stiffness, color=COLOURS[k], label=label)
            corners = finger.section_nm(1, 2)
            axes[1].fill(*corners.T, color=COLOURS[k], alpha=0.25, label=label)
        frames = moved(str(path), open_ring(), 1.2)
    time = 1e-9 * (frames["state"]["time_ns"] - frames["state"]["time_ns"][0])
    names = read.names.joints
    j = names.index("ring_pip")
    rows = [t for t, n in enumerate(read.names.tendons) if n in ("ring_5", "ring_6", "ring_7", "ring_8")]
    for k, t in enumerate(rows):
        axes[2].plot(
            time,
            frames["state"]["tension_n"][:, t],
            color=COLOURS[k],
            linewidth=0.7,
            label=read.names.tendons[t],
        )
    error = np.degrees(frames["state"]["joint_angle_rad"][:, j] - frames["truth"]["joint_angle_rad"][:, j])
    axes[0].set(
        title="(5.18): stiffness of the coupled joints", xlabel="tension of all [N]", ylabel="N m/rad"
    )
    axes[1].set(title="torques that tensions can give", xlabel="flexion [N m]", ylabel="PIP with DIP [N m]")
    axes[2].set(
        title=f"a run: PIP told to {np.sqrt(np.mean(error[600:] ** 2)):.2f} deg rms",
        xlabel="s",
        ylabel="N",
    )
    for axis in axes:
        axis.legend(fontsize=7)
    save(figure, "hand_5_18")


def open_ring() -> str:
    return '[[tracks]]\nkind = "joint_deg"\nnames = ["ring_pip"]\n' \
        "sine = { mean = 25.0, amplitude = 25.0, frequency_hz = 1.0, phase_deg = -90.0 }\n"  # fmt: skip


def linked_text(end_deg: float) -> str:
    """The reference hand with the metacarpal's tendons on the rocker of its linkage."""
    text = (HANDS / "hasy.toml").read_text()
    text = text.replace(
        '"metacarpal", range_deg = [0.0, 25.0]', f'"metacarpal", range_deg = [0.0, {end_deg}]'
    )
    return text.replace("neutral_crank_deg = 77.0\n", 'neutral_crank_deg = 77.0\ntendons_on = "rocker"\n')


def linkage() -> None:
    """The four-bar of 5.5: its poses, the tendons' lever arm, and a run towards the toggle."""
    end = 23.5
    file: HandFile = parse_hand(linked_text(end), "hand.toml")
    m = model_of(file)[0]
    j = [joint.name for joint in file.joints].index("hmc_flexion")
    own = [t for t, tendon in enumerate(file.tendons) if tendon.finger == "hmc"]
    bars = tuple(float(m[f"four_bar_{bar}_m"][j]) for bar in ("ground", "crank", "coupler", "rocker"))
    figure, axes = panels(3, 11.0)
    for k, q in enumerate((0.0, 12.0, end)):
        theta = float(m["four_bar_neutral_rad"][j]) + math.radians(q)
        psi = four_bar(*bars, theta)[0]
        chain = np.array([(0.0, 0.0), (bars[1] * math.cos(theta), bars[1] * math.sin(theta)),
                          (bars[0] + bars[3] * math.cos(psi), bars[3] * math.sin(psi)), (bars[0], 0.0)])  # fmt: skip
        axes[0].plot(*(1e3 * chain).T, "o-", color=COLOURS[k], label=f"{q:g} deg")
    axes[0].set_aspect("equal")
    axes[0].set(title="5.5: the linkage", xlabel="mm", ylabel="mm")
    angles, P, pose = (
        np.radians(np.linspace(0.0, end, 80)),
        np.zeros(m["P_tj_m"].shape),
        np.zeros(m["P_tj_m"].shape[1]),
    )
    arms = []
    for q in angles:
        pose[j] = q
        tendon_jacobian(m, pose, P)
        arms.append(1e3 * abs(P[own[0], j]))
    axes[1].plot(np.degrees(angles), arms, color=COLOURS[0], label="on the rocker")
    axes[1].axhline(arms[0], color=PALE, label="hinge")
    axes[1].plot(np.degrees(angles), np.divide(1e3 * 0.2, arms), color=COLOURS[1], label="N to hold 0.2 N m")
    axes[1].set(title="lever arm of its tendons [mm], hold [N]", xlabel="hmc_flexion [deg]")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "linked.toml"
        path.write_text(linked_text(end))
        sine = '[[tracks]]\nkind = "joint_deg"\nnames = ["hmc_flexion"]\n' \
            "sine = { mean = 11.0, amplitude = 11.0, frequency_hz = 0.5, phase_deg = -90.0 }\n"  # fmt: skip
        frames = moved(str(path), sine, 2.0)
    time = 1e-9 * (frames["state"]["time_ns"] - frames["state"]["time_ns"][0])
    true = np.degrees(frames["truth"]["joint_angle_rad"][:, j])
    told = np.degrees(frames["state"]["joint_angle_rad"][:, j])
    way = -float(m["spool_radius_m"][own[1]]) * frames["truth"]["motor_angle_rad"][:, own[1]]
    axes[2].plot(time, true, color=COLOURS[0], label="true")
    axes[2].plot(
        time, told, "--", color=COLOURS[1], label=f"told, {np.sqrt(np.mean((told - true) ** 2)):.2f} deg rms"
    )
    axes[2].plot(
        time,
        np.degrees(np.abs(way - way[0]) / (1e-3 * arms[0])),
        ":",
        color=PALE,
        label="motor over the hinge's arm",
    )
    axes[2].set(title="a run towards the toggle", xlabel="s", ylabel="hmc_flexion [deg]")
    for axis in axes:
        axis.legend(fontsize=7)
    save(figure, "hand_5_5")


def wrist_ways() -> None:
    """Figures 6.11 to 6.13: tendons in force control follow a moving wrist; simulated and measured displacement."""
    hold = 'mode = "tendon_force"\n[[tracks]]\nkind = "tendon_n"\nnames = ["*"]\npoints = { times_s = [0.0, 1.0], values = [20.0, 20.0] }\n'
    m = model_of(load_hand("hasy"))[0]
    n = int(m["n_tendons"])
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.2), constrained_layout=True)
    for row, (kind, size, title) in zip(
        axes,
        (("palm_pitch_deg", 30.0, "flexion, extension"), ("palm_yaw_deg", 15.0, "abduction, adduction")),
        strict=True,
    ):
        wrist = (
            f'[[tracks]]\nkind = "{kind}"\nsine = {{ mean = 0.0, amplitude = {size}, frequency_hz = 0.5 }}\n'
        )
        frames = moved("hasy", hold + wrist, 2.4)
        time = 1e-9 * (frames["state"]["time_ns"] - frames["state"]["time_ns"][0])
        at, h = frames["state"]["axis_angle_rad"], np.zeros(len(m["tendon_kind"]))
        model = []
        for q71, q73 in at[::30, :2]:
            wrist_lengths(m, float(q71), float(q73), h)
            model.append(h[:n] - m["wrist_neutral_length_m"][:n])
        simulated = 1e3 * np.array(model)
        motor = frames["measurement"]["motor_angle_rad"][:, :n]
        measured = -1e3 * float(m["spool_radius_m"][0]) * (motor - motor[300])[::30]
        later = time[::30] > 0.5
        for t in range(n):
            color = COLOURS[0] if t < 19 else COLOURS[1]
            row[0].plot(time[::30][later], simulated[later, t], color=color, linewidth=0.6)
            row[1].plot(
                time[::30][later],
                (measured - measured[later][0] + simulated[later][0])[later, t],
                color=color,
                linewidth=0.6,
            )
        gap = (measured - measured[later][0]) - (simulated - simulated[later][0])
        row[0].set(title=f"{title}: simulated (6.9)", ylabel="mm", xlabel="s")
        row[1].set(
            title=f"motors in force control: {np.sqrt(np.mean(gap[later] ** 2)):.2f} mm rms beside it",
            xlabel="s",
        )
        row[1].sharey(row[0])
    save(figure, "hand_6_11")


def sprung_text(force_n: float) -> str:
    """The reference hand with its wrist on springs."""
    text = (HANDS / "hasy.toml").read_text()
    table = (f"[wrist.drive.springs]\nlever_arm_m = [0.02, 0.02]\npretension_n = [{force_n}, {force_n}]\n"
             'force_length_m = [0.004, 0.004]\ndamping_nms_rad = [0.15, 0.15]\norigin = "assumed"\n\n')  # fmt: skip
    return text.replace("[wrist.potentiometer]", f"{table}[wrist.potentiometer]")


def wrist_springs() -> None:
    """The wrist's antagonistic drive: torque over deflection, and how stiff a finger is on such a wrist."""
    figure, axes = panels(3, 11.0)
    forces = (10.0, 30.0, 100.0, 300.0)
    ahead = np.radians(np.linspace(-12.0, 12.0, 120))
    shares: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for k, force in enumerate(forces):
            path = Path(name) / f"{force:g}.toml"
            path.write_text(sprung_text(force))
            hand = read_tendon_hand(RunOptions(hand=str(path)))
            m = hand.model[0]
            torque = np.array([axis_spring(m, 0, float(x))[0] for x in ahead])
            within = np.abs(torque) <= m["axis_torque_limit_nm"][0]
            axes[0].plot(np.degrees(ahead)[within], torque[within], color=COLOURS[k], label=f"{force:g} N")
            finger = finger_of(
                hand, "index", pose_deg={f"index_{d}": 0.0 for d in ("abduction", "flexion", "pip", "dip")}
            )
            pressing = np.where(finger.P[:, 1:].sum(axis=1) < 0.0, 80.0, 20.0)
            for case, tension in (
                ("20 N in all", np.full(len(pressing), 20.0)),
                ("80 N in flexors", pressing),
            ):
                rigid, seen = (
                    finger.joint_stiffness_nm_rad(tension),
                    finger.yielding_stiffness_nm_rad(tension),
                )
                assert seen is not None
                for i, joint in enumerate(finger.joints[:3]):
                    lost = 100.0 * (1.0 - seen[i, i] / rigid[i, i])
                    shares.setdefault((hand.names.joints[joint], case), []).append(lost)
        wave = '[[tracks]]\nkind = "palm_yaw_deg"\npoints = { times_s = [0.0, 0.5, 0.7], values = [0.0, 0.0, 8.0] }\n'
        for k, (which, label) in enumerate(
            (("hasy", "rigid"), *((f"{name}/{f}.toml", f"on springs, {f} N") for f in (100, 300)))
        ):
            frames = moved(which, wave, 2.6)
            time = 1e-9 * (frames["state"]["time_ns"] - frames["state"]["time_ns"][0])
            axes[2].plot(
                time,
                np.degrees(frames["truth"]["axis_angle_rad"][:, 1] - m["wrist_neutral_rad"][1]),
                color=COLOURS[k],
                label=label,
            )
    for k, ((joint, case), lost_share) in enumerate(sorted(shares.items())):
        style = "o-" if "flexors" in case else "o--"
        axes[1].loglog(
            forces, lost_share, style, color=COLOURS[k // 2], label=f"{joint}, {case}", markersize=3
        )
    axes[0].set(
        title="torque of the springs, flexion axis", xlabel="drive ahead of the axis [deg]", ylabel="N m"
    )
    axes[1].set(
        title="stiffness of the index that is lost",
        xlabel="pretension of the springs [N]",
        ylabel="%",
    )
    axes[2].set(title="abduction axis in a step of 8 deg", xlabel="s", ylabel="deg")
    for axis in (axes[0], axes[2]):
        axis.legend(fontsize=7)
    axes[1].set_ylim(1e-3, 30.0)
    axes[1].legend(fontsize=6, loc="lower left", ncols=2)
    save(figure, "hand_6_springs")


def main() -> None:
    figures = {f.__name__: f for f in (sensor, guides, base_joint, pairs, linkage, wrist_ways, wrist_springs)}
    for name in sys.argv[1:] or figures:
        figures[name]()


if __name__ == "__main__":
    main()
