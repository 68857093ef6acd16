"""A wrist pose to tendon lengths: what each tendon has to give, and what the tendons do to the wrist."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hand.file.wrist import Wrist
from hand.hand import Hand
from mechanics.wrist import axes_of_palm, wrist_jacobian, wrist_lengths, wrist_margin
from reports.design.sheet import Sheet, Table
from reports.picture import COLOURS, PALE
from signals.choices import WrongChoice
from signals.layout import FloatArray
from signals.records import RecordArray

STEPS: Final = 25
"""Poses over a range of pitch or yaw."""
GRID: Final = 9
"""Poses per side of the grid over both."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pose:
    """The wrist in one pose.

    Attributes:
        axis_rad: axis angles (q71, q73).
        margin: of the loop; 1 neutral, 0 where the crossing bars lock.
        length_m: absolute lengths through the wrist, shape (tendons,).
        change_m: the same without those of the neutral pose.
        slope_m_rad: d length / d (q71, q73), shape (tendons, 2).
    """

    axis_rad: tuple[float, float]
    margin: float
    length_m: FloatArray
    change_m: FloatArray
    slope_m_rad: FloatArray


def pose_of(model: RecordArray, pitch_deg: float, yaw_deg: float) -> Pose:
    """The wrist at a palm pitch and yaw.

    Raises:
        WristOutOfRange: the mechanism cannot take it.
    """
    m = model[0]
    n = int(m["n_tendons"])
    axes = axes_of_palm(model, math.radians(pitch_deg), math.radians(yaw_deg))
    length, slope = np.zeros(len(m["tendon_kind"])), np.zeros((len(m["tendon_kind"]), 2))
    wrist_lengths(m, *axes, length)
    wrist_jacobian(m, *axes, slope)
    neutral = m["wrist_neutral_length_m"][:n]
    return Pose(
        axis_rad=axes,
        margin=float(wrist_margin(m, *axes)),
        length_m=length[:n],
        change_m=length[:n] - neutral,
        slope_m_rad=slope[:n],
    )


def wrist_sheet(
    hand: Hand, pitch_deg: float = 0.0, yaw_deg: float = 0.0, tension_n: float | None = None
) -> Sheet:
    """Lengths in one pose, and over the range of the hand file.

    Args:
        hand: the hand, read.
        pitch_deg: of the palm.
        yaw_deg: of the palm.
        tension_n: of all tendons; none: the pretension of each finger.

    Raises:
        WrongChoice: a hand without a wrist, or no such tension.
        WristOutOfRange: the mechanism cannot take the pose.
    """
    wrist = hand.file.wrist
    if wrist is None:
        raise WrongChoice(f"hand {hand.name} has no [wrist]; legal: a hand with one, such as hasy")
    if tension_n is not None and not 0.0 <= tension_n < math.inf:
        raise WrongChoice(f"--tension {tension_n:g}: legal is a tension of 0 N or more")
    pose = pose_of(hand.model, pitch_deg, yaw_deg)
    figures = {"pitch_deg": pitch_deg, "yaw_deg": yaw_deg} | _figures(hand, wrist, pose, tension_n)
    span = np.array([t["change_range_m"] for t in figures["tendons"]])
    torque = figures["axis_torque_nm"]
    return Sheet(
        name="wrist",
        title=f"{hand.name}: tendons through the wrist",
        line=f"Palm pitch {pitch_deg:g} deg, yaw {yaw_deg:g} deg: axes {math.degrees(pose.axis_rad[0]):.2f} "
        f"and {math.degrees(pose.axis_rad[1]):.2f} deg, loop margin {pose.margin:.3f}; the tendons turn the "
        f"axes with {torque[0]:.3f} and {torque[1]:.3f} N m.",
        figures=figures,
        tables=[_table(figures["tendons"])],
        draw=lambda figure: _draw(figure, hand, wrist, pose, span),
        about="change of length by tendon, over pitch and over yaw, and the loop's margin",
        notes=(
            "The range is pitch {:g} to {:g} deg with yaw {:g} to {:g} deg; so far a motor turns.".format(
                *wrist.pitch_range_deg, *wrist.yaw_range_deg
            ),
        ),
    )


def _figures(hand: Hand, wrist: Wrist, pose: Pose, tension_n: float | None) -> dict[str, Any]:
    m, n = hand.model[0], len(hand.names.tendons)
    own = m["pretension_n"][m["tendon_finger"][:n]]
    tension = own.astype(float) if tension_n is None else np.full(n, tension_n)
    torque = -pose.slope_m_rad.T @ tension
    grid = _grid(hand.model, wrist)
    span = np.stack([grid.min(axis=(0, 1)), grid.max(axis=(0, 1))], axis=1)
    turn = np.ptp(span, axis=1) / np.abs(m["spool_radius_m"][:n])
    return {
        "hand": hand.name,
        "hand_sha256": hand.sha256,
        "axis_rad": list(pose.axis_rad),
        "margin": pose.margin,
        "axis_torque_nm": torque.tolist(),
        "tendons": [
            {
                "tendon": name,
                "length_m": float(pose.length_m[t]),
                "change_m": float(pose.change_m[t]),
                "slope_m_rad": pose.slope_m_rad[t].tolist(),
                "change_range_m": span[t].tolist(),
                "motor_range_rad": float(turn[t]),
                "tension_n": float(tension[t]),
            }
            for t, name in enumerate(hand.names.tendons)
        ],
    }


def _grid(model: RecordArray, wrist: Wrist) -> FloatArray:
    """Changes of length over the range, shape (pitch, yaw, tendons)."""
    pitches = np.linspace(*wrist.pitch_range_deg, GRID)
    yaws = np.linspace(*wrist.yaw_range_deg, GRID)
    return np.array([[pose_of(model, float(p), float(y)).change_m for y in yaws] for p in pitches])


def _table(tendons: list[dict[str, Any]]) -> Table:
    rows = [
        (
            t["tendon"],
            f"{1e3 * t['length_m']:.3f}",
            f"{1e3 * t['change_m']:+.3f}",
            f"{1e3 * t['slope_m_rad'][0]:+.2f}",
            f"{1e3 * t['slope_m_rad'][1]:+.2f}",
            f"{1e3 * t['change_range_m'][0]:+.2f} to {1e3 * t['change_range_m'][1]:+.2f}",
            f"{math.degrees(t['motor_range_rad']):.0f}",
        )
        for t in tendons
    ]
    heads = ("tendon", "mm", "change mm", "mm/rad q71", "mm/rad q73", "over the range mm", "motor deg")
    return Table(title="Lengths", heads=heads, rows=rows)


def _draw(figure: Any, hand: Hand, wrist: Wrist, pose: Pose, span: FloatArray) -> None:
    axes = figure.subplots(2, 2)
    bars, pitch_axis, yaw_axis, margin_axis = axes[0, 0], axes[0, 1], axes[1, 0], axes[1, 1]
    n = len(hand.names.tendons)
    palmar = hand.model[0]["palm_point_m"][:n, 2] > 0.0
    colours = np.where(palmar, COLOURS[0], COLOURS[1])
    bars.vlines(
        np.arange(n), 1e3 * span[:, 0], 1e3 * span[:, 1], color="#c9d1db", linewidth=4.0, label="range"
    )
    bars.scatter(np.arange(n), 1e3 * pose.change_m, c=colours, s=14, zorder=3, label="this pose")
    bars.set(title="Change of length by tendon", xlabel="tendon, in the order of the file", ylabel="mm")
    bars.legend()
    for axis, (low, high), what in (
        (pitch_axis, wrist.pitch_range_deg, "pitch"),
        (yaw_axis, wrist.yaw_range_deg, "yaw"),
    ):
        angles = np.linspace(low, high, STEPS)
        poses = [
            pose_of(hand.model, *((float(a), 0.0) if what == "pitch" else (0.0, float(a)))) for a in angles
        ]
        table = 1e3 * np.array([p.change_m for p in poses])
        for t in range(n):
            axis.plot(angles, table[:, t], color=colours[t], linewidth=0.6)
        axis.set(title=f"Change of length over {what}", xlabel="deg", ylabel="mm")
        axis.plot([], [], color=COLOURS[0], label="palmar layer")
        axis.plot([], [], color=COLOURS[1], label="dorsal layer")
        axis.legend()
        margin_axis.plot(
            angles, [p.margin for p in poses], color=COLOURS[2 if what == "pitch" else 3], label=what
        )
    margin_axis.axhline(0.0, color=PALE, linestyle=":")
    margin_axis.set(title="Margin of the loop: 1 neutral, 0 locked", xlabel="deg")
    margin_axis.legend()
