"""``flexor log sensors``: noise, usable range and slope of every sensor at a tendon from a recorded run."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from reports.finding import Level
from signals.extras import no_picture
from tools.commands.folder import make_folder


def judge_sensors(file: Path, as_json: bool, out: Path | None) -> int:
    """Judge the sensors of a log and print, or write, what was found.

    Args:
        file: a log.
        as_json: one JSON object on stdout.
        out: folder for ``sensors.json`` and ``sensors.png``.

    Returns:
        Exit code: 0 unless a sensor fails, 1 if one does.

    Raises:
        telemetry.record.reader.LogError: no log, or nothing in it to judge sensors by.
        signals.choices.WrongChoice: ``out`` cannot be made a folder.
        OSError: the folder cannot be written.
    """
    from reports.sensors import judge
    from telemetry.record.reader import LogError, read_log
    from tools.doctor.show import counts, print_findings
    from trials.recorded import homed_hand

    if out is not None:
        make_folder(out)
    try:
        log = read_log(file)
    except OSError as error:  # its own exit code would say that a sensor fails
        raise LogError(f"{file}: {error.strerror}") from None
    hand = homed_hand(file, log)
    if hand.mechanism is not None:
        raise LogError(
            f"{file}: {hand.name} is a mechanism, or stands on one: no tendons that this can judge"
        )
    if not hand.names.sensed_tendons:
        raise LogError(f"{file}: {hand.name} has no sensor at a tendon, so that there is none to judge")
    sensors, found = judge(hand.model, hand.names, log.frames)
    findings = [s.finding for s in sensors]
    report: dict[str, Any] = {
        "log": str(file),
        "hand": hand.name,
        "hand_sha256": log.run.get("hand_sha256", ""),
        "seconds": float(log.frames["state"]["time_ns"][-1] - log.frames["state"]["time_ns"][0]) / 1e9,
        "counts": counts(findings),
        "sensors": [s.to_dict() for s in sensors],
        "fingers": _fingers(hand, sensors),
        "notices": [f"not read of {file}: {part}" for part in log.damage],
    }
    if out is not None:
        _write(out, report, sensors, found)
    if as_json:
        print(json.dumps(report))
    else:
        print_findings(findings)
        for line in _finger_lines(report):
            print(line)
        if "picture" in report:
            print(f"picture: {report['picture']}")
        for notice in report["notices"]:
            print(notice, file=sys.stderr)
    return int(any(f.level is Level.FAIL for f in findings))


def _fingers(hand: Any, sensors: list[Any]) -> dict[str, dict[str, Any]]:
    """Finger -> which sensors fail, whether its joints are told without them, and if not, what is unseen.

    Of differences nothing is said here: where one's row is taken out, motors' currents tell what it told.
    """
    from reports.sensors import unseen

    told, names = {}, hand.names
    silent = {t for t in range(len(names.tendons)) if hand.model["length_weight"][0, t] == 0.0}
    for f, name in enumerate(names.fingers):
        blind = [s.tendon for s in sensors if s.finger == name and s.against is None and _blind(s)]
        out = silent | {names.tendons.index(tendon) for tendon in blind}
        motion = unseen(hand.model, names, f, frozenset(out)) if blind else ""
        told[name] = {
            "not_usable": blind,
            "motor_only_possible": not motion,
            "unseen_motion": motion,
        }
    return told


def _blind(sensor: Any) -> bool:
    return bool(sensor.motor_only or sensor.finding.level is Level.FAIL)


def _finger_lines(report: dict[str, Any]) -> list[str]:
    lines = []
    for name, finger in report["fingers"].items():
        bad = ", ".join(finger["not_usable"])
        if bad and finger["motor_only_possible"]:
            lines.append(f"{name}: its joints are told without {bad}; motor-only is possible")
        elif bad:
            lines.append(
                f"{name}: without {bad} nothing sees the motion {finger['unseen_motion']}; repair it"
            )
    return lines


def _write(out: Path, report: dict[str, Any], sensors: list[Any], found: list[Any]) -> None:
    from reports.sensor_picture import draw_sensors

    levers = [k for k, s in enumerate(sensors) if s.against is None]
    try:
        if levers:
            title = f"{report['hand']}, {Path(report['log']).name}"
            drawn = [sensors[k] for k in levers], [found[k] for k in levers]
            draw_sensors(*drawn, title, out / "sensors.png")
            report["picture"] = str(out / "sensors.png")
    except ImportError:
        report["notices"].append(no_picture())
    (out / "sensors.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
