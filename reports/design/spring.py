"""Lever geometry of a spring mechanism to its curve: force, stiffness, path, energy, resolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from hand.file.checks_physics import lever_curve
from hand.file.springs import LEVER_KINDS, LEVER_SPRINGS
from hand.hand import Hand
from mechanics.belt import tangent
from mechanics.lever import SpringGeometry
from mechanics.levercurve import LeverCurve
from mechanics.springs import series_stiffness_n_m
from reports.design.sheet import Sheet, Table
from reports.picture import COLOURS, PALE
from signals.choices import WrongChoice
from signals.layout import FloatArray

POSES: Final = 201
ROWS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The curve of one tendon's mechanism, from the slack stop to the hard stop; arrays of shape (n,)."""

    lever_deg: FloatArray
    force_n: FloatArray
    stiffness_n_m: FloatArray
    """Of the mechanism alone."""
    stiffness_with_tendon_n_m: FloatArray
    path_m: FloatArray
    """Of the mechanism: falls as the force rises."""
    elongation_m: FloatArray
    """Of mechanism and tendon together."""
    energy_j: FloatArray
    """Of the mechanism, from the slack stop."""
    force_per_count_n: FloatArray
    """Tension that one count of the Hall sensor stands for."""


def curve_of(
    geometry: LeverCurve, scale: float, compliance_m_n: float, counts_rad: float, lever_deg: FloatArray
) -> Curve:
    """The curve at lever angles.

    Args:
        geometry: force and path of the mechanism.
        scale: the tendon's factor on the mechanism's force.
        compliance_m_n: of the tendon.
        counts_rad: Hall counts per lever angle.
        lever_deg: lever angles, shape (n,).
    """
    lever = np.radians(lever_deg)
    force, path = scale * geometry.force_n(lever), geometry.path_m(lever)
    stiffness = scale * geometry.stiffness_n_m(lever)
    slack = geometry.stored_energy_j(np.array([geometry.lever_max_rad]))[0]
    return Curve(
        lever_deg=lever_deg,
        force_n=force,
        stiffness_n_m=stiffness,
        stiffness_with_tendon_n_m=np.array(
            [series_stiffness_n_m(float(k), compliance_m_n) for k in stiffness]
        ),
        path_m=path,
        elongation_m=-path + force * compliance_m_n,
        energy_j=scale * (geometry.stored_energy_j(lever) - slack),
        force_per_count_n=np.abs(scale * geometry.force_slope_n_rad(lever) / counts_rad),
    )


def spring_sheet(hand: Hand, tendon: str | None = None) -> Sheet:
    """The curve of a tendon's mechanism; of the first tendon, if none is named.

    Raises:
        UnknownName: no such tendon.
        WrongChoice: a tendon whose spring is no mechanism.
    """
    names, m = hand.names, hand.model[0]
    t = names.index("tendon", tendon) if tendon is not None else 0
    name = hand.file.tendons[t].spring or hand.file.tendon.spring
    spring = hand.file.springs[name]
    if not isinstance(spring, LEVER_SPRINGS):
        found = f"tendon: found {names.tendons[t]} with the spring {name} of kind {spring.kind}"
        raise WrongChoice(f"{found}; legal: one of kind {' or '.join(LEVER_KINDS)}, which has a curve")
    geometry = lever_curve(spring)
    scale, compliance = float(m["spring_scale"][t]), float(m["tendon_compliance_m_n"][t])
    counts = float(m["hall_counts_rad"][t])
    stops = (geometry.theta_slack_deg, geometry.theta_hard_stop_deg)
    curve = curve_of(geometry, scale, compliance, counts, np.linspace(*stops, POSES))
    marks = curve_of(
        geometry, scale, compliance, counts, np.array([stops[0], geometry.theta_max_deg, stops[1]])
    )
    figures: dict[str, Any] = {
        "hand": hand.name,
        "hand_sha256": hand.sha256,
        "tendon": names.tendons[t],
        "spring": name,
        "spring_scale": scale,
        "tendon_compliance_m_n": compliance,
        "slack_n": float(marks.force_n[0]),
        "calibrated_n": float(marks.force_n[1]),
        "hard_stop_n": float(marks.force_n[2]),
        **{key: getattr(curve, key).tolist() for key in Curve.__dataclass_fields__},
    }
    return Sheet(
        name="spring",
        title=f"{hand.name}: spring mechanism {name}",
        line=f"Tendon {names.tendons[t]}: {marks.force_n[0]:.1f} N at the slack stop, "
        f"{marks.force_n[1]:.0f} N at the end of the calibration, {marks.force_n[2]:.0f} N at the hard stop.",
        figures=figures,
        tables=[_table(curve)],
        draw=lambda figure: _draw(figure, geometry, curve, float(marks.force_n[1])),
        about="lever geometry, force, stiffness and elongation",
        notes=("A real mechanism has friction at the lever beside this: see hysteresis in the hand file.",),
    )


def _table(c: Curve) -> Table:
    rows = []
    for k in np.linspace(0, POSES - 1, ROWS).round().astype(int):
        rows.append(
            (
                f"{c.lever_deg[k]:.1f}",
                f"{c.force_n[k]:.1f}",
                f"{1e-3 * c.stiffness_n_m[k]:.2f}",
                f"{1e-3 * c.stiffness_with_tendon_n_m[k]:.2f}",
                f"{1e3 * c.elongation_m[k]:.3f}",
                f"{1e3 * c.energy_j[k]:.1f}",
                f"{c.force_per_count_n[k]:.3f}",
            )
        )
    heads = ("lever deg", "N", "kN/m", "with tendon", "elongation mm", "energy mJ", "N per count")
    return Table(title="Curve from the slack stop to the hard stop", heads=heads, rows=rows)


def _draw(figure: Any, geometry: LeverCurve, c: Curve, calibrated_n: float) -> None:
    axes = figure.subplots(2, 2)
    if isinstance(geometry, SpringGeometry):
        _draw_lever(axes[0, 0], geometry)
    else:
        axes[0, 0].plot(c.lever_deg, 1e3 * c.path_m, color=COLOURS[1])
        axes[0, 0].set(title="Path, as measured", xlabel="lever [deg]", ylabel="mm")
    force, stiffness, energy = axes[0, 1], axes[1, 0], axes[1, 1]
    force.plot(1e3 * c.elongation_m, c.force_n, color=COLOURS[0], label="with tendon")
    force.plot(-1e3 * c.path_m, c.force_n, color=COLOURS[1], label="mechanism")
    force.set(title="Force over elongation", xlabel="mm", ylabel="N")
    stiffness.semilogy(c.force_n, c.stiffness_n_m, color=COLOURS[1], label="mechanism")
    stiffness.semilogy(c.force_n, c.stiffness_with_tendon_n_m, color=COLOURS[0], label="with tendon")
    stiffness.set(title="Stiffness over force", xlabel="N", ylabel="N/m")
    energy.plot(c.force_n, c.force_per_count_n, color=COLOURS[2], label="tension per Hall count [N]")
    energy.plot(c.force_n, 10.0 * c.energy_j, color=COLOURS[3], label="stored energy [0.1 J]")
    energy.set(title="What a count resolves, what the spring stores", xlabel="N")
    for axis in (stiffness, energy):
        axis.axvline(calibrated_n, color=PALE, linestyle=":", label="end of the calibration")
    for axis in (force, stiffness, energy):
        axis.legend()


def _draw_lever(axis: Any, g: SpringGeometry) -> None:
    """Pulleys, lever, spring and tendon at the slack stop and at the tight end of the calibration."""
    for lever_deg, color in ((g.theta_slack_deg, COLOURS[0]), (g.theta_max_deg, COLOURS[4])):
        lever = np.radians(lever_deg)
        arm = np.array([-np.cos(lever), np.sin(lever)])
        pivot = np.asarray(g.lever_pivot)
        middle, end = pivot + g.lever_length * arm, pivot + g.spring_attach_radius * arm
        axis.plot(*(1e3 * np.array([pivot, middle])).T, color=color, label=f"lever at {lever_deg:g} deg")
        axis.plot(*(1e3 * np.array([end, g.spring_fixed_point])).T, color=color, linestyle=":")
        wheels = [
            (np.asarray(g.motor_pulley_center), g.R_motor),
            (middle, g.R_lever),
            (np.asarray(g.fixed_pulley_center), g.R_fixed),
        ]
        for center, radius in wheels:
            turn = np.linspace(0.0, 2.0 * np.pi, 90)
            rim = center + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
            axis.plot(*(1e3 * rim).T, color=PALE, linewidth=0.8)
        for (a, ra), (b, rb) in zip(wheels, wheels[1:], strict=False):
            way = float(tangent(a[None], ra, b[None], rb).direction_rad[0])
            up = np.array([-np.sin(way), np.cos(way)])
            axis.plot(*(1e3 * np.array([a + ra * up, b + rb * up])).T, color=color, linewidth=2.0)
    axis.plot([], [], color=PALE, linestyle=":", label="spring")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(title="Geometry", xlabel="mm", ylabel="mm")
    axis.legend(loc="lower right")
