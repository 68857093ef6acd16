"""Page of identified drives: torque over speed with the fitted law, and how well each fit explains it."""

from __future__ import annotations

import numpy as np

from calibration import picture
from calibration.drive_fit import DriveFit
from calibration.free_turning import Measured
from reports import page


def curves(fits: dict[str, DriveFit], measured: Measured, constants: list[float]) -> bytes | None:
    """Torque over speed with the fitted law, drive by drive, as a PNG; ``None`` without matplotlib."""
    names = list(fits)
    made = picture.panels(names, "speed at the gear output [rad/s]", "torque [N m]")
    if made is None:
        return None
    figure, axes = made
    for k, (axis, name) in enumerate(zip(axes, names, strict=True)):
        turning = measured.turning(k, constants[k])[1]
        step = max(1, len(turning.time_s) // 4000)
        speed = np.gradient(turning.angle_rad, turning.time_s)
        axis.plot(speed[::step], turning.torque_nm[::step], ".", color="#b9c2cf", markersize=1.5)
        fit = fits[name]
        w = np.linspace(speed.min(), speed.max(), 400)
        g1, g2, g3 = (fit.of(p).value for p in ("gamma_1_s_rad", "gamma_2_nm", "gamma_3_nms_rad"))
        axis.plot(w, g2 * np.arctan(g1 * w) + g3 * w, color="#c8321e", linewidth=1.3)
    return picture.png(figure)


def sections(fits: dict[str, DriveFit], measured: Measured, constants: list[float]) -> list[str]:
    """Parts of the page that drives have beside the parameters."""
    drives = [
        (name, f"{1e3 * fit.residual_nm:.2f}", f"{100 * fit.explained:.3f}", f"{1e3 * fit.delay_s:.3f}")
        for name, fit in fits.items()
    ]
    heads = ("drive", "residual [mN m]", "explained [%]", "current behind angle [ms]")
    png = curves(fits, measured, constants)
    return [page.picture("Friction", "torque over speed", png), page.table("Fits", heads, drives)]
