"""A run of identification on disk: result, patch, raw data, and one page for people."""

from __future__ import annotations

import base64
import html
import io
import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.drive_fit import DriveFit
from calibration.free_turning import Measured
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


def save(folder: Path, result: dict[str, Any], patch: str, page: str) -> None:
    """Write what was found; the result last, so that a folder with one is whole."""
    write_text(folder / PATCH, patch)
    write_text(folder / PAGE, page)
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


_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1b2430; max-width: 1180px; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; }
.pale { color: #6b7686; }
img { max-width: 100%; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
th { text-align: left; color: #6b7686; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #e4e8ee; }
.bad td { color: #b3261e; }
.verdict { padding: .8rem 1rem; border-left: 5px solid #1d6f42; background: #f1f7f3; }
.verdict.bad { border-color: #b3261e; background: #fcf1f0; }
pre { background: #f4f6f9; padding: 1rem; overflow: auto; }
"""


def page(result: dict[str, Any], fits: dict[str, DriveFit], patch: str, png: bytes | None) -> str:
    """Verdict first, then every parameter with its interval, the curves and the lines to merge."""
    e = html.escape
    bad = [part for part in result["parts"] if part["verdict"] != "good"]
    head = f"{result['hand']}: {result['command']}"
    verdict = "All parameters are good"
    if bad:
        verdict = f"{len(bad)} of {len(result['parts'])} parameters are not good"
    rows = "".join(_row(part) for part in sorted(result["parts"], key=lambda part: part["verdict"] == "good"))
    drives = "".join(
        f"<tr><td>{e(name)}</td><td>{1e3 * fit.residual_nm:.2f}</td><td>{100 * fit.explained:.3f}</td>"
        f"<td>{1e3 * fit.delay_s:.3f}</td></tr>"
        for name, fit in fits.items()
    )
    picture = ""
    if png is not None:
        data = base64.b64encode(png).decode()
        picture = f'<h2>Friction</h2><img alt="torque over speed" src="data:image/png;base64,{data}">'
    return f"""<!doctype html><html lang=en><head><meta charset=utf-8><title>{e(head)}</title>
<style>{_STYLE}</style></head><body><h1>{e(head)}</h1>
<p class=pale>{e(result["date"])}, {result["simulated_s"]:.0f} s of motion</p>
<div class="verdict{" bad" if bad else ""}">{e(verdict)}.</div>
<table><tr><th>part<th>parameter<th>value<th>95 % interval<th>unit<th></tr>{rows}</table>{picture}
<h2>Fits</h2>
<table><tr><th>drive<th>residual [mN m]<th>explained [%]<th>current behind angle [ms]</tr>{drives}</table>
<h2>Lines for the hand file</h2><pre>{e(patch)}</pre></body></html>
"""


def _row(part: dict[str, Any]) -> str:
    """A parameter as a row of the table."""
    mark = "" if part["verdict"] == "good" else " class=bad"
    interval = f"{part['low']:.5g} to {part['high']:.5g}"
    texts = part["name"], part["parameter"], f"{part['value']:.5g}", interval, part["unit"], part["text"]
    return f"<tr{mark}>" + "".join(f"<td>{html.escape(text)}</td>" for text in texts) + "</tr>"
