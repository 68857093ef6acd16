"""A recorded run on one page: faults first, then the worst moments, curves, sensors; one HTML file."""

from __future__ import annotations

import base64
import html
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from hand.hand import Hand
from reports.faults import FaultWatch
from reports.finding import Level
from reports.picture import draw_run
from reports.sensor_curves import hand_of_log
from reports.sensors import judge
from signals.records import RecordArray
from telemetry.record.reader import Log, LogError
from telemetry.shm.stats import STAGES, new_stats, note, summary_us

PICTURE_FRAMES: Final = 4000
"""Frames of the picture; a longer log is thinned evenly."""
SETTLED_S: Final = 1.0
"""The start of a run is no worst moment."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The worst of one kind.

    Attributes:
        what: in words.
        part: name of the part.
        value: how much.
        unit: its unit.
        time_s: since the first frame.
    """

    what: str
    part: str
    value: float
    unit: str
    time_s: float


def facts_of(path: Path, log: Log) -> dict[str, Any]:
    """Everything that the page says, as one JSON object.

    Raises:
        LogError: the log has no hand file or no frames.
    """
    hand = hand_of_log(path, log)
    frames, times = log.frames, _seconds(log.frames)
    options = json.loads(log.run["options"])
    watch = FaultWatch(hand.names)
    watch.look(frames)
    cycles = frames["timing"]["cycle"]
    return {
        "log": path.name,
        "hand": hand.name,
        "hand_sha256": log.run.get("hand_sha256", ""),
        "motion": options.get("motion") or "",
        "simulated": options.get("bus") is None,
        "seconds": float(times[-1]),
        "rate_hz": hand.rate_hz,
        "frames": len(frames),
        "absent": int(cycles[-1] - cycles[0]) + 1 - len(frames),
        "missed": int(frames["timing"]["missed"][-1] - frames["timing"]["missed"][0]),
        "damage": [str(part) for part in log.damage],
        "faults": [fault.as_dict() for fault in watch.all],
        "moments": [asdict(moment) for moment in moments(hand, frames)],
        "timing_us": _timing(frames),
        "sensors": _sensors(hand, log),
        "events": log.events,
        "versions": {k[8:]: v for k, v in log.run.items() if k.startswith("version.")},
    }


def _seconds(frames: RecordArray) -> Any:
    return (frames["state"]["time_ns"] - frames["state"]["time_ns"][0]) / 1e9


def moments(hand: Hand, frames: RecordArray) -> list[Moment]:
    """Worst moments after the first second, or of the whole log where it is shorter."""
    times, names, state = _seconds(frames), hand.names, frames["state"]
    first = int(np.searchsorted(times, SETTLED_S)) if times[-1] > 2.0 * SETTLED_S else 0
    away = np.degrees(np.abs(state["ref_joint_angle_rad"] - state["joint_angle_rad"]))
    tension = state["tension_n"].astype(np.float64)
    rows = [
        ("greatest tension", names.tendons, tension, "N"),
        ("least tension", names.tendons, -tension, "N"),
        ("farthest from its goal", names.joints, away, "deg"),
        ("fastest joint", names.joints, np.degrees(np.abs(state["joint_speed_rad_s"])), "deg/s"),
        ("greatest motor torque", names.motors, np.abs(state["motor_torque_nm"]), "N m"),
        ("hottest winding", names.motors, state["winding_temperature_degc"], "degC"),
    ]
    found = []
    for what, parts, values, unit in rows:
        shown = np.where(np.isfinite(values), values, -np.inf)[first:]
        if not shown.size or not np.isfinite(shown.max()):
            continue
        at, part = np.unravel_index(int(np.argmax(shown)), shown.shape)
        value = abs(float(shown[at, part])) if what == "least tension" else float(shown[at, part])
        found.append(Moment(what, parts[part], value, unit, float(times[first + at])))
    return found


def _stats(frames: RecordArray) -> Any:
    """Histograms of the loop, from the durations in the frames."""
    stats, timing = new_stats(), frames["timing"]
    for stage in ("wake", "exchange", "estimate", "control", "guard", "tick"):
        row = STAGES.index(stage)
        for value, cycle in zip(timing[f"{stage}_ns"].tolist(), timing["cycle"].tolist(), strict=True):
            note(stats, row, value, cycle)
    return stats


def _timing(frames: RecordArray) -> dict[str, dict[str, float]]:
    stats = _stats(frames)
    return {stage: summary_us(stats[STAGES.index(stage)]) for stage in ("wake", "exchange", "tick")}


def _sensors(hand: Hand, log: Log) -> list[dict[str, Any]]:
    """Hall sensors that fail; nothing where a log cannot tell."""
    try:
        sensors, _ = judge(hand.model, hand.names, log.frames)
    except LogError:
        return []
    return [s.to_dict() for s in sensors if s.finding.level is Level.FAIL]


def picture(path: Path, log: Log, facts: dict[str, Any]) -> bytes | None:
    """The run as a PNG; ``None`` without matplotlib."""
    hand = hand_of_log(path, log)
    frames = log.frames[:: max(1, -(-len(log.frames) // PICTURE_FRAMES))].copy()
    if not facts["simulated"]:  # what nobody knows is drawn as what was measured
        for name in ("joint_angle_rad", "tension_n"):
            frames["truth"][name] = frames["state"][name]
    options = json.loads(log.run["options"])
    none = {"rms": None}
    report = {
        **{key: facts[key] for key in ("hand", "motion", "rate_hz", "missed", "faults")},
        **{key: options.get(key) for key in ("sensors", "guides", "mismatch", "lockstep")},
        "cycles": facts["frames"],
        "estimate_error_deg": none,
        "tracking_error_deg": {"rms": _tracking_rms(frames)},
        "force_error_n": none,
    }
    with tempfile.TemporaryDirectory() as folder:
        made = draw_run(frames, hand, _stats(log.frames), report, Path(folder))
        return made.read_bytes() if made is not None else None


def _tracking_rms(frames: RecordArray) -> float:
    state = frames["state"]
    away = np.degrees(state["ref_joint_angle_rad"] - state["joint_angle_rad"])
    return float(np.sqrt(np.nanmean(np.square(away, dtype=np.float64)))) if away.size else 0.0


_STYLE: Final = """
:root { --ink: #1b2430; --pale: #6b7686; --line: #e4e8ee; --bad: #b3261e; --good: #1d6f42; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); max-width: 1180px; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.pale { color: var(--pale); }
table { border-collapse: collapse; width: 100%; }
th { text-align: left; font-weight: 600; color: var(--pale); }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.verdict { padding: .8rem 1rem; border-left: 5px solid var(--good); background: #f1f7f3; margin: 1rem 0; }
.verdict.bad { border-color: var(--bad); background: #fcf1f0; }
.fault { margin: .4rem 0; }
.fault b { color: var(--bad); }
img { max-width: 100%; }
"""


def page(facts: dict[str, Any], png: bytes | None) -> str:
    """The page; nothing in it comes from elsewhere."""
    e = html.escape
    head = f"{facts['hand']} - {facts['motion'] or 'hold'}"
    where = "simulated" if facts["simulated"] else "on hardware"
    line = (
        f"{facts['seconds']:.2f} s at {facts['rate_hz']:g} Hz, {where}, {facts['frames']} frames, "
        f"{facts['absent']} absent, {facts['missed']} slots missed, file {facts['log']}"
    )
    parts = [
        "<!doctype html><html lang=en><head><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width, initial-scale=1">',
        f"<title>{e(head)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{e(head)}</h1><p class=pale>{e(line)}</p>",
        _verdict(facts),
        _table(
            "Worst moments",
            ("", "part", "value", "at"),
            [
                (m["what"], m["part"], f"{m['value']:.4g} {m['unit']}", f"{m['time_s']:.3f} s")
                for m in facts["moments"]
            ],
        ),
    ]
    if png is not None:
        data = base64.b64encode(png).decode()
        parts.append(f'<h2>Curves</h2><img alt="curves of the run" src="data:image/png;base64,{data}">')
    parts.append(
        _table(
            "Sensors that fail",
            ("tendon", "finding", "what to do"),
            [(s["tendon"], s["fact"], s["fix"]) for s in facts["sensors"]],
        )
    )
    timing = [(stage, *(f"{row[k]:.1f}" for k in row)) for stage, row in facts["timing_us"].items()]
    parts.append(_table("Loop [us]", ("stage", "p50", "p99", "p99.9", "max"), timing))
    start = facts["events"][0]["timestamp"] if facts["events"] else 0.0
    events = [
        (f"{x['timestamp'] - start:.3f} s", x["level"], x["kind"], x["text"], x.get("hint", ""))
        for x in facts["events"]
    ]
    parts.append(_table("Events", ("after the first", "level", "kind", "what", "hint"), events))
    versions = ", ".join(f"{k} {v}" for k, v in facts["versions"].items())
    parts.append(f"<p class=pale>hand file {e(facts['hand_sha256'][:12])}; {e(versions)}</p></body></html>")
    return "\n".join(parts) + "\n"


def _verdict(facts: dict[str, Any]) -> str:
    e = html.escape
    told = [
        f"<div class=fault><b>{e(f['cause'])}</b> at {f['time_s']:.3f} s: {e(f['text'])}"
        f"<br><span class=pale>{e(f['hint'])}</span></div>"
        for f in facts["faults"]
    ]
    told += [f"<div class=fault><b>damaged log</b> {e(part)}</div>" for part in facts["damage"]]
    if told:
        return f"<div class='verdict bad'>{''.join(told)}</div>"
    return "<div class=verdict>No fault.</div>"


def _table(title: str, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    e = html.escape
    head = "".join(f"<th>{e(text)}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{e(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<h2>{e(title)}</h2><table><tr>{head}</tr>{body}</table>"
