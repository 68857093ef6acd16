"""What the commands that measure a hand have in common: its parts by name, their folder, the last lines."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from calibration.part import GOOD, ORDER
from hand.hand import Hand
from signals.choices import WrongChoice, advice
from tools.commands.folder import free_folder, make_folder


def tendons_named(hand: Hand, parts: list[str]) -> list[int]:
    """Tendons that are meant by names of tendons, motors and fingers; all without names.

    Raises:
        WrongChoice: a name that the hand does not have.
    """
    names, m = hand.names, hand.model[0]
    count = len(names.tendons)
    if not parts:
        return list(range(count))
    found: list[int] = []
    for part in parts:
        if part in names.tendons:
            found.append(names.tendons.index(part))
        elif part in names.motors:
            found += [t for t in range(count) if m["tendon_motor"][t] == names.motors.index(part)]
        elif part in names.fingers:
            found += [t for t in range(count) if m["tendon_finger"][t] == names.fingers.index(part)]
        else:
            legal = (*names.motors, *names.tendons, *names.fingers)
            raise WrongChoice(
                f"{part!r} is no motor, no tendon and no finger of {hand.name}; {advice(part, legal)}"
            )
    return sorted(dict.fromkeys(found))


def motors_named(hand: Hand, parts: list[str]) -> list[int]:
    """Motors of ``tendons_named``."""
    if not parts:
        return list(range(len(hand.names.motors)))
    return sorted({int(hand.model[0]["tendon_motor"][t]) for t in tendons_named(hand, parts)})


def folder_for(out: Path | None, command: str, hand: str) -> Path:
    """Folder of the results: the one that was asked for, or a new one by command, hand and time."""
    default = Path(f"{command.replace(' ', '-')}-{hand}-{time.strftime('%Y%m%d-%H%M%S')}")
    found = free_folder(out or default)
    make_folder(found)
    return found


def say(result: dict[str, Any], as_json: bool) -> int:
    """Tell the result on stdout; returns the exit code."""
    code = int(any(part["verdict"] != GOOD for part in result["parts"]))
    if as_json:
        print(json.dumps(result))
        return code
    for part in sorted(result["parts"], key=lambda part: ORDER.index(part["verdict"])):
        mark = "" if part["verdict"] == GOOD else f"{part['verdict'].upper()}  "
        print(f"{part['name']:14} {part['parameter']:34} {mark}{part['text']}")
    for notice in result["notices"]:
        print(notice)
    print(f"\n{result['simulated_s']:.0f} s of motion in {result['seconds']:.0f} s; page {result['report']}")
    if Path(result["patch"]).read_text(encoding="utf-8").strip():
        print(f"flexor apply {Path(result['report']).parent} --to HAND.toml writes it into a hand file")
    return code
