"""Pulley radii to what a finger can: torques within the tensions, stiffness of joints and fingertip."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from hand.hand import Hand
from reports.design.finger import Finger
from reports.design.sheet import Sheet, Table
from reports.picture import COLOURS, PALE
from signals.choices import WrongChoice
from signals.names import UnknownName

TENSIONS: Final = 12
"""Common tensions of the stiffness curve."""


def finger_of(
    hand: Hand,
    finger: str | None = None,
    radii_m: Mapping[str, float] | None = None,
    pose_deg: Mapping[str, float] | None = None,
) -> Finger:
    """One finger with radii and pose as asked.

    Args:
        hand: the hand, read.
        finger: its name; none: the first one.
        radii_m: joint -> radius of every pulley about it; signs and curves stay the file's.
        pose_deg: joint -> angle; the others stand in the middle of their ranges.

    Raises:
        UnknownName: no such finger, or no such joint of it.
        WrongChoice: a radius, or an angle outside of its joint's range; a joint without pulleys.
    """
    names, model = hand.names, hand.model.copy()
    m = model[0]
    f = names.index("finger", finger) if finger is not None else 0
    joints = [int(j) for j in m["finger_joint"][f, : m["finger_n_joints"][f]]]
    legal = tuple(names.joints[j] for j in joints)
    q = np.zeros(len(m["joint_min_rad"]))
    n = len(names.joints)
    q[:n] = 0.5 * (m["joint_min_rad"][:n] + m["joint_max_rad"][:n])
    for name, radius in (radii_m or {}).items():
        if name not in legal:
            raise UnknownName(f"joint of {names.fingers[f]}", name, legal)
        arms = m["P_tj_m"][:, names.joints.index(name)]
        if not 0.0 < radius <= 1.0:
            raise WrongChoice(f"--radius {name}={radius:g}: legal is above 0, up to 1 m")
        if not arms.any():
            raise WrongChoice(
                f"--radius {name}: no tendon runs over a pulley there; see its insertion points"
            )
        arms[:] = np.sign(arms) * radius
    for name, angle in (pose_deg or {}).items():
        if name not in legal:
            raise UnknownName(f"joint of {names.fingers[f]}", name, legal)
        j = names.joints.index(name)
        low, high = math.degrees(m["joint_min_rad"][j]), math.degrees(m["joint_max_rad"][j])
        if not low - 1e-9 <= angle <= high + 1e-9:
            raise WrongChoice(f"--pose {name}={angle:g}: legal are {low:g} to {high:g} deg")
        q[j] = math.radians(angle)
    return Finger(model, f, q)


def coupling_sheet(hand: Hand, finger: Finger, tension_n: float | None = None) -> Sheet:
    """Torques and stiffness of a finger.

    Args:
        hand: the hand, read.
        finger: of ``finger_of``.
        tension_n: common tension; none: the finger's pretension.

    Raises:
        WrongChoice: a tension outside of what the distribution may ask for.
    """
    low, high = float(finger.low_n.max()), float(finger.high_n.min())
    common = finger.pretension_n if tension_n is None else tension_n
    if not low <= common <= high:
        raise WrongChoice(f"--tension {common:g}: legal are {low:g} to {high:g} N")
    figures = {"hand": hand.name, "hand_sha256": hand.sha256} | _figures(hand, finger, common)
    note = "" if figures["held"] else " Not even a zero torque can be held there with all tendons taut."
    return Sheet(
        name="coupling",
        title=f"{hand.name}: {figures['finger']}, coupling of joints and tendons",
        line=f"{len(finger.tendons)} tendons of {low:g} to {high:g} N, {len(finger.joints)} joints, "
        f"held at {common:g} N: "
        + "; ".join(
            f"{n} {math.degrees(q):.0f} deg" for n, q in zip(figures["joints"], finger.pose_rad, strict=True)
        )
        + f".{note}",
        figures=figures,
        tables=_tables(figures),
        draw=lambda figure: _draw(figure, finger, figures, common),
        about="feasible torques of joint pairs, stiffness over tension, and the fingertip's compliance",
        notes=(
            "A torque is that of one joint while the others hold zero; a section shows two joints at once. "
            "The stiffness is mechanical: springs and tendons, motors held.",
        ),
    )


def _figures(hand: Hand, finger: Finger, common: float) -> dict[str, Any]:
    names = hand.names
    joints = [names.joints[j] for j in finger.joints]
    tendons = [names.tendons[t] for t in finger.tendons]
    most = finger.greatest_torques_nm()
    held, tension = finger.held(common)
    K = finger.joint_stiffness_nm_rad(tension)
    C, yielding = finger.tip_compliance_m_n(K), finger.yielding_stiffness_nm_rad(tension)
    singular = np.linalg.svd(finger.P, compute_uv=False)
    return {
        "finger": names.fingers[finger.index],
        "joints": joints,
        "tendons": tendons,
        "pose_rad": finger.pose_rad.tolist(),
        "dh_dq_m_rad": finger.P.tolist(),
        "condition": float(singular[0] / singular[-1]) if singular[-1] > 0.0 else None,
        "tension_low_n": finger.low_n.tolist(),
        "tension_high_n": finger.high_n.tolist(),
        "held": held,
        "tension_n": tension.tolist(),
        "torque_least_nm": (-most[:, 1]).tolist(),
        "torque_greatest_nm": most[:, 0].tolist(),
        "stiffness_nm_rad": K.tolist(),
        "stiffness_eigen_nm_rad": np.linalg.eigvalsh(0.5 * (K + K.T)).tolist(),
        "stiffness_yielding_nm_rad": None if yielding is None else yielding.tolist(),
        "tip_compliance_m_n": None if C is None else C.tolist(),
        "tip_axes_m_n": None if C is None else np.linalg.eigvalsh(C).tolist(),
        "sections": [
            {"joints": [joints[a], joints[b]], "torque_nm": finger.section_nm(a, b).tolist()}
            for a, b in zip(range(len(joints)), range(1, len(joints)), strict=False)
        ],
    }


def _tables(figures: dict[str, Any]) -> list[Table]:
    joints, tendons = figures["joints"], figures["tendons"]
    torques = [
        (
            name,
            f"{figures['torque_least_nm'][k]:+.3f}",
            f"{figures['torque_greatest_nm'][k]:+.3f}",
            *(f"{round(value, 3) + 0.0:.3f}" for value in figures["stiffness_nm_rad"][k]),
        )
        for k, name in enumerate(joints)
    ]
    arms = [
        (
            name,
            *(f"{1e3 * value:+.3f}" for value in figures["dh_dq_m_rad"][k]),
            f"{figures['tension_n'][k]:.1f}",
        )
        for k, name in enumerate(tendons)
    ]
    found = [
        Table(
            title="Torques within the tensions [N m], joint stiffness [N m/rad]",
            heads=("joint", "least", "greatest", *joints),
            rows=torques,
        ),
        Table(title="Lever arms dh/dq [mm/rad]", heads=("tendon", *joints, "held at N"), rows=arms),
    ]
    if figures["stiffness_yielding_nm_rad"] is not None:
        rows = [
            (name, *(f"{round(value, 3) + 0.0:.3f}" for value in row))
            for name, row in zip(joints, figures["stiffness_yielding_nm_rad"], strict=True)
        ]
        title = "Joint stiffness where wrist and other fingers give way [N m/rad]"
        found.append(Table(title=title, heads=("joint", *joints), rows=rows))
    if figures["tip_axes_m_n"] is not None:
        axes = [
            (f"{1e3 * c:.4f}", f"{1e-3 / c:.3f}" if c > 1e-12 else "rigid") for c in figures["tip_axes_m_n"]
        ]
        found.append(Table(title="Axes of the fingertip's ellipsoid", heads=("mm per N", "N/mm"), rows=axes))
    return found


def _draw(figure: Any, finger: Finger, figures: dict[str, Any], common_n: float) -> None:
    sections = figures["sections"]
    columns = max(len(sections), 2)
    grid = figure.add_gridspec(2, columns)
    for k, section in enumerate(sections):
        axis = figure.add_subplot(grid[0, k])
        torque = np.array(section["torque_nm"])
        if len(torque):
            axis.fill(*torque.T, color=COLOURS[k], alpha=0.25)
            axis.plot(*np.vstack([torque, torque[:1]]).T, color=COLOURS[k])
        axis.plot(0.0, 0.0, "+", color=PALE)
        a, b = section["joints"]
        axis.set(title="Feasible torques", xlabel=f"{a} [N m]", ylabel=f"{b} [N m]")
    curve = figure.add_subplot(grid[1, 0])
    tensions = np.linspace(finger.low_n.max(), finger.high_n.min(), TENSIONS)
    diagonal = np.array([np.diag(finger.joint_stiffness_nm_rad(finger.held(float(f))[1])) for f in tensions])
    for j, name in enumerate(figures["joints"]):
        curve.plot(tensions, diagonal[:, j], color=COLOURS[j % len(COLOURS)], label=name)
    curve.axvline(common_n, color=PALE, linestyle=":")
    curve.set(title="Joint stiffness over common tension", xlabel="N", ylabel="N m/rad")
    curve.legend()
    _draw_tip(figure.add_subplot(grid[1, 1:]), finger, common_n)


def _draw_tip(axis: Any, finger: Finger, common_n: float) -> None:
    """The finger from its flatter side, and what 1 N in this plane does to its tip."""
    points = finger.skeleton_m()
    u, v = sorted(np.argsort(np.ptp(points, axis=0))[1:])
    axis.plot(*(1e3 * points[:, [u, v]]).T, "o-", color="#c9d1db", linewidth=5.0, markersize=5)
    turn = np.linspace(0.0, 2.0 * np.pi, 90)
    force = np.stack([np.cos(turn), np.sin(turn)])
    for k, tension in enumerate((float(finger.low_n.max()), common_n, float(finger.high_n.min()))):
        C = finger.tip_compliance_m_n(finger.joint_stiffness_nm_rad(finger.held(tension)[1]))
        if C is not None:
            moved = 1e3 * (points[-1, [u, v], None] + C[np.ix_([u, v], [u, v])] @ force)
            axis.plot(*moved, color=COLOURS[k], label=f"{tension:g} N")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(
        title="Where 1 N moves the fingertip", xlabel=f"palm {'xyz'[u]} [mm]", ylabel=f"palm {'xyz'[v]} [mm]"
    )
    axis.legend(title="common tension")
