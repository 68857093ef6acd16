"""What the commands that measure a hand have in common: its parts by name, their folder, the last lines."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from calibration.found import Found
from calibration.motion_run import Faulted, Stopped, Watch
from calibration.part import GOOD, ORDER
from calibration.run_folder import store
from hand.hand import Hand
from runtime.processes.phases import Exit
from signals.choices import WrongChoice, advice
from tools.commands.folder import free_folder, make_folder
from tools.commands.telling import progress
from tools.view.beside import page_beside


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


def measured(
    command: str,
    hand: Hand,
    out: Path | None,
    as_json: bool,
    find: Callable[[Watch], Found],
    below: Any = None,
    page: int | None = None,
) -> int:
    """Run a procedure with a bar, keep and tell what it has found; returns the exit code.

    Args:
        command: words of the command.
        hand: the hand that is measured.
        out: folder that was asked for; made before anything moves.
        as_json: one JSON object on stdout.
        find: the procedure; gets whom to tell the share done.
        below: what a terminal shows under the bar meanwhile.
        page: first port of the run that is shown in the browser meanwhile; ``None``: it is not.
    """
    folder, begun = folder_for(out, command, hand.name), time.monotonic()
    try:
        with page_beside(page is not None, page or 0) as tell, progress(command) as told:
            if told is not None:
                told.below = below
            found = find(both(told.share if told is not None else lambda _: None, command, tell))
    except Faulted as error:
        print(f"error: {error}", file=sys.stderr)
        return Exit.FAULT
    except Stopped as error:
        print(error, file=sys.stderr)
        return error.code
    return say(store(folder, command, hand, found, time.monotonic() - begun), as_json)


def page_of(view: bool, lockstep: bool, port_base: int) -> int | None:
    """First port of the run that ``--view`` shows; ``None``: nothing is shown.

    Raises:
        WrongChoice: a run in simulated time, which nobody could follow.
    """
    if view and lockstep:
        raise WrongChoice("--view shows a run in real time: leave --lockstep out, or --view")
    return port_base if view else None


def both(share: Watch, step: str, tell: Callable[[str], None]) -> Watch:
    """Tells the share done to a bar, and in whole percent to a page."""
    last = -1

    def watch(done: float) -> None:
        nonlocal last
        share(done)
        if (percent := int(100.0 * done)) != last:
            last = percent
            tell(f"{step} {percent} %")

    return watch


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
