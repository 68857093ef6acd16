"""A recorded run on one page: faults first, then the worst moments, curves, sensors; one HTML file."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from hand.hand import Hand
from reports import page
from reports.faults import FaultWatch
from reports.finding import Level
from reports.picture import draw_run
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


def facts_of(path: Path, log: Log, hand: Hand) -> dict[str, Any]:
    """Everything that the page says, as one JSON object.

    Args:
        path: of the log.
        log: what is in it; not without frames.
        hand: of the log, with the offsets of the run's homing.
    """
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
        "simulated": options.get("bus") is None or "truth" in (frames.dtype.names or ()),
        "seconds": float(times[-1]),
        "rate_hz": hand.rate_hz,
        "frames": len(frames),
        "absent": int(cycles[-1] - cycles[0]) + 1 - len(frames),
        "missed": int(frames["timing"]["missed"][-1] - frames["timing"]["missed"][0]),
        "damage": [str(part) for part in log.damage],
        "faults": [fault.as_dict() for fault in watch.all],
        "left_out": [sensor.as_dict() for sensor in watch.left_out],
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
    limits = hand.model["tension_limit_n"][0, : len(names.tendons)]
    pulled = np.flatnonzero(limits)  # what stands for a joint's own sensor has none
    tendons, tension = [names.tendons[t] for t in pulled], tension[:, pulled]
    rows: list[tuple[str, Sequence[str], Any, str]] = [
        ("greatest tension", tendons, tension, "N"),
        ("least tension", tendons, -tension, "N"),
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
        found.append(Moment(what, parts[int(part)], value, unit, float(times[first + at])))
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
    if hand.mechanism is not None:
        return []
    try:
        sensors, _ = judge(hand.model, hand.names, log.frames)
    except LogError:
        return []
    return [s.to_dict() for s in sensors if s.finding.level is Level.FAIL]


def picture(log: Log, hand: Hand, facts: dict[str, Any]) -> bytes | None:
    """The run as a PNG; ``None`` without matplotlib."""
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


def page_of(facts: dict[str, Any], png: bytes | None) -> str:
    """The page; nothing in it comes from elsewhere."""
    where = "simulated" if facts["simulated"] else "on hardware"
    line = (
        f"{facts['seconds']:.2f} s at {facts['rate_hz']:g} Hz, {where}, {facts['frames']} frames, "
        f"{facts['absent']} absent, {facts['missed']} slots missed, file {facts['log']}"
    )
    troubles = [(f["cause"], f"at {f['time_s']:.3f} s: {f['text']}", f["hint"]) for f in facts["faults"]]
    troubles += [("damaged log", part, "") for part in facts["damage"]]
    worst = [
        (m["what"], m["part"], f"{m['value']:.4g} {m['unit']}", f"{m['time_s']:.3f} s")
        for m in facts["moments"]
    ]
    sensors = [(s["tendon"], s["fact"], s["fix"]) for s in facts["sensors"]]
    timing = [(stage, *(f"{row[k]:.1f}" for k in row)) for stage, row in facts["timing_us"].items()]
    start = facts["events"][0]["timestamp"] if facts["events"] else 0.0
    events = [
        (f"{x['timestamp'] - start:.3f} s", x["level"], x["kind"], x["text"], x.get("hint", ""))
        for x in facts["events"]
    ]
    versions = ", ".join(f"{k} {v}" for k, v in facts["versions"].items())
    parts = [
        page.verdict("No fault.", troubles),
        page.table("Worst moments", ("", "part", "value", "at"), worst),
        page.picture("Curves", "curves of the run", png),
        page.table("Sensors that fail", ("tendon", "finding", "what to do"), sensors),
        page.table("Loop [us]", ("stage", "p50", "p99", "p99.9", "max"), timing),
        page.table("Events", ("after the first", "level", "kind", "what", "hint"), events),
        page.note(f"hand file {facts['hand_sha256'][:12]}; {versions}"),
    ]
    return page.page(f"{facts['hand']} - {facts['motion'] or 'hold'}", line, parts)
