"""Pages of swept levers: tension over lever angle, up and down, with the fitted loop."""

from __future__ import annotations

import numpy as np

from calibration import picture
from calibration.lever_fit import Fitted
from hand.hand import Hand
from mechanics.springs import spring_at, stiffness_of_force
from reports import page
from signals.layout import FloatArray


def sections(kind: str, hand: Hand, fits: dict[int, Fitted]) -> list[str]:
    """The picture, what each fit leaves, and for ``hall`` what the counts mean."""
    rows = [
        (hand.names.tendons[t], f"{1e3 * each.fit.residual_nm:.1f}", f"{100 * each.fit.explained:.3f}")
        for t, each in fits.items()
    ]
    heads = ("tendon", "residual [mN m]", "explained [%]")
    found = [page.picture("Tension over count", "tension over count", _picture(hand, fits))]
    if kind != "springs":
        found.append(page.table("From count to tension and length", *_polynomials(hand, fits)))
    return [*found, page.table("Fits", heads, rows)]


def curves(hand: Hand, t: int, each: Fitted) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """(count, force [N], stiffness [N/m], length in the mechanism [m]) over the lever's calibrated travel."""
    m, s = hand.model[0], int(hand.model[0]["tendon_spring"][t])
    lever = np.linspace(float(m["lever_calibrated_min_rad"][s]), float(m["lever_max_rad"][s]), 60)
    values = np.array([spring_at(m, t, float(x)) for x in lever])
    ratio = each.fit.scale / float(m["spring_scale"][t])
    stiff = np.array([ratio * stiffness_of_force(m, t, float(f)) for f in values[:, 0]])
    count = each.fit.zero_count + float(m["hall_counts_rad"][t]) * lever
    return count, ratio * values[:, 0], stiff, values[:, 2]


def _polynomials(hand: Hand, fits: dict[int, Fitted]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows: coefficients of (count - zero)/1000 by rising power, and the greatest error of each."""
    rows: list[tuple[str, ...]] = []
    for t, each in fits.items():
        count, *columns = curves(hand, t, each)
        x = (count - each.fit.zero_count) / 1000.0
        for what, y in zip(("force [N]", "stiffness [N/m]", "length [mm]"), columns, strict=True):
            y = 1e3 * y if what.startswith("length") else y
            fit = np.polynomial.polynomial.polyfit(x, y, 5)
            error = np.abs(np.polynomial.polynomial.polyval(x, fit) - y).max()
            rows.append((hand.names.tendons[t], what, "  ".join(f"{c:.5g}" for c in fit), f"{error:.2g}"))
    return ("tendon", "", "by powers of (count - zero)/1000", "greatest error"), rows


def _picture(hand: Hand, fits: dict[int, Fitted]) -> bytes | None:
    names = [hand.names.tendons[t] for t in fits]
    across, up = "Hall count; lines: the friction loop that was found", "tension by the motor's current [N]"
    made = picture.panels(names, across, up)
    if made is None:
        return None
    figure, axes = made
    for axis, (t, each) in zip(axes, fits.items(), strict=True):
        used, fit = each.data.used, each.fit
        m, i = hand.model[0], int(hand.model[0]["tendon_motor"][t])
        speed = each.data.speed_rad_s
        own = (
            fit.friction_nm * np.arctan(float(m["friction_gamma_1_s_rad"][i]) * speed)
            + fit.viscous_nms_rad * speed
        )
        tension = (each.data.torque_nm - own) / abs(float(m["spool_radius_m"][t]))
        axis.plot(each.data.count[used], tension[used], ".", color="#8a97a8", markersize=1.8)
        count, force, _, _ = curves(hand, t, each)
        for side in (-1.0, 1.0):
            axis.plot(count, force * (1.0 + side * fit.loop_frac), color="#c8321e", linewidth=0.9)
        axis.set_ylim(0.0, 1.15 * float(tension[used].max()))
    return picture.png(figure)
