"""A run of identification on disk: result, patch, raw data, and one page for people."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.drive_fit import DriveFit
from calibration.free_turning import Measured
from reports import page
from reports.files import write_text

RESULT: Final = "result.json"
PATCH: Final = "patch.toml"
PAGE: Final = "report.html"
RAW: Final = "raw.npz"


class RunError(ValueError):
    """A folder that holds no run; names what is missing."""


def save_raw(folder: Path, measured: Measured, motors: list[str]) -> None:
    """Angles and currents of every phase, as numpy arrays by name."""
    arrays: dict[str, Any] = {"motors": np.array(motors)}
    for k, times in enumerate(measured.times_s):
        arrays[f"time_s_{k}"] = times
        arrays[f"angle_rad_{k}"] = measured.angles_rad[k]
        arrays[f"current_a_{k}"] = measured.currents_a[k].astype(np.float32)
    np.savez_compressed(folder / RAW, **arrays)


def save(folder: Path, result: dict[str, Any], patch: str, made: str) -> None:
    """Write what was found; the result last, so that a folder with one is whole."""
    write_text(folder / PATCH, patch)
    write_text(folder / PAGE, made)
    write_text(folder / RESULT, json.dumps(result, indent=2) + "\n")


def load(folder: Path) -> dict[str, Any]:
    """Result of a run.

    Raises:
        RunError: there is none.
    """
    path = folder / RESULT
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(
            f"{path}: {error.strerror}; legal: a folder that flexor identify has written"
        ) from None
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("parts"), list):
        raise RunError(f"{path} is no result of flexor identify")
    return found


def curves(fits: dict[str, DriveFit], measured: Measured, constants: list[float]) -> bytes | None:
    """Torque over speed with the fitted law, drive by drive, as a PNG; ``None`` without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None
    names, across = list(fits), 4
    rows = -(-len(names) // across)
    figure = Figure(figsize=(3.1 * across, 2.4 * rows), layout="constrained")
    axes = figure.subplots(rows, across, squeeze=False, sharex=True, sharey=True).ravel()
    for k, (axis, name) in enumerate(zip(axes, names, strict=False)):
        turning = measured.turning(k, constants[k])[1]
        step = max(1, len(turning.time_s) // 4000)
        speed = np.gradient(turning.angle_rad, turning.time_s)
        axis.plot(speed[::step], turning.torque_nm[::step], ".", color="#b9c2cf", markersize=1.5)
        fit = fits[name]
        w = np.linspace(speed.min(), speed.max(), 400)
        g1, g2, g3 = (fit.of(p).value for p in ("gamma_1_s_rad", "gamma_2_nm", "gamma_3_nms_rad"))
        axis.plot(w, g2 * np.arctan(g1 * w) + g3 * w, color="#c8321e", linewidth=1.3)
        axis.set_title(name, fontsize=9)
        axis.grid(alpha=0.3)
        axis.tick_params(labelsize=7)
    for axis in axes[len(names) :]:
        axis.set_visible(False)
    figure.supxlabel("speed at the gear output [rad/s]", fontsize=9)
    figure.supylabel("torque [N m]", fontsize=9)
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=110)
    return out.getvalue()


def page_of(result: dict[str, Any], fits: dict[str, DriveFit], patch: str, png: bytes | None) -> str:
    """Verdict first, then every parameter with its interval, the curves and the lines to merge."""
    parts = sorted(result["parts"], key=lambda part: part["verdict"] == "good")
    bad = [part["verdict"] != "good" for part in parts]
    troubles = [
        (p["name"], f"{p['parameter']}: {p['text']}", "") for p, b in zip(parts, bad, strict=True) if b
    ]
    rows = [
        (
            p["name"],
            p["parameter"],
            f"{p['value']:.5g}",
            f"{p['low']:.5g} to {p['high']:.5g}",
            p["unit"],
            p["text"],
        )
        for p in parts
    ]
    drives = [
        (name, f"{1e3 * fit.residual_nm:.2f}", f"{100 * fit.explained:.3f}", f"{1e3 * fit.delay_s:.3f}")
        for name, fit in fits.items()
    ]
    heads = ("drive", "residual [mN m]", "explained [%]", "current behind angle [ms]")
    return page.page(
        f"{result['hand']}: {result['command']}",
        f"{result['date']}, {result['simulated_s']:.0f} s of motion",
        [
            page.verdict("All parameters are good.", troubles),
            page.table("Parameters", ("part", "parameter", "value", "95 % interval", "unit", ""), rows, bad),
            page.picture("Friction", "torque over speed", png),
            page.table("Fits", heads, drives),
            page.lines("Lines for the hand file", patch),
        ],
    )
