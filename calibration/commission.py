"""``commission``: from assumed values to a calibrated hand, step by step, each in a folder of its own.

Drives turn without their tendons, so they come first; then the connections; the zeros once those are right.
Each step measures with what the ones before have found: its patch goes into the folder's own ``hand.toml``. A
step that was good is not made again, so a commissioning that was stopped goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from calibration.calibrate import calibrated
from calibration.found import Found
from calibration.identify import identified
from calibration.motion_run import Watch
from calibration.part import BAD, GOOD, OPEN, Part
from calibration.patching import apply, merged
from calibration.run_folder import PATCH, RESULT, load, store
from hand.hand import Hand
from hand.options import RunOptions
from reports import page
from reports.files import write_text
from runtime.setup import read_hand
from signals.choices import WrongChoice

HAND: Final = "hand.toml"
DRIVES, WIRING, ZERO = "drives", "wiring", "zero"
STEPS: Final = (DRIVES, WIRING, ZERO)
PUT_ON: Final = "put the tendons on, then give the same command without --tendons-off: it goes on from here"
TAKE_OFF: Final = (
    "the drives were not measured: take the tendons off, then give the same command with --tendons-off"
)


def commissioned(
    options: RunOptions, folder: Path, tendons_off: bool, step_watch: Callable[[str], Watch]
) -> dict[str, Any]:
    """Make the steps that are still to be made; returns what ``--json`` says of all of them.

    Args:
        options: hand, bus, seed, ...; the simulated hand stays the one that they name.
        folder: of the commissioning; may hold one that was stopped.
        tendons_off: on a bus: the tendons are off their spools now, so only the drives are measured.
        step_watch: step -> whom to tell the share done of it.

    Raises:
        WrongChoice: the folder belongs to another hand file.
        motion_run.Faulted: the hand went into fault; what was found before is kept.
    """
    original, begun = read_hand(options), time.monotonic()
    _same_hand(folder, original)
    mine = folder / HAND
    if not mine.exists():
        write_text(mine, original.text)
    chosen = replace(options, hand=str(mine))
    if options.bus is None:
        chosen = replace(chosen, plant=options.plant or options.hand)
    results, notices = [], []
    for step in STEPS:
        done = _done(folder / step)
        if done is not None:
            results.append(done)
            notices.append(f"{step}: was good on {done['date']}, not made again")
            continue
        if options.bus is not None and (step == DRIVES) != tendons_off:
            notices.append(TAKE_OFF if step == DRIVES else f"{step}: {PUT_ON}")
            results.append(_left(step))
            continue
        if step == ZERO and any(part["verdict"] == BAD for part in results[-1]["parts"]):
            results.append(_left(step))
            continue
        results.append(_made(step, chosen, folder / step, step_watch(step)))
        patch = (folder / step / PATCH).read_text(encoding="utf-8")
        if patch.strip():
            apply(mine, patch, step)
    return _whole(folder, original, results, notices, time.monotonic() - begun)


def _same_hand(folder: Path, hand: Hand) -> None:
    if not (folder / RESULT).exists():
        return
    before = load(folder)
    if before.get("hand_sha256") != hand.sha256:
        raise WrongChoice(
            f"{folder} holds the commissioning of {before['hand_file']} as it was then; "
            "legal: a folder of its own for each state of a hand file"
        )


def _done(folder: Path) -> dict[str, Any] | None:
    """Result of a step that was good."""
    if not (folder / RESULT).exists():
        return None
    result = load(folder)
    return result if all(part["verdict"] == GOOD for part in result["parts"]) else None


def _made(step: str, options: RunOptions, folder: Path, watch: Watch) -> dict[str, Any]:
    hand, begun = read_hand(options), time.monotonic()
    if step == DRIVES:
        found = identified("drives", hand, options, list(range(len(hand.names.motors))), watch)
    else:
        found = calibrated(step, hand, options, list(range(len(hand.names.tendons))), watch)
    folder.mkdir(parents=True, exist_ok=True)
    return store(folder, step, hand, found, time.monotonic() - begun)


def _left(step: str) -> dict[str, Any]:
    nan = float("nan")
    part = Part(step, step, nan, nan, nan, "1", OPEN, "not made yet: see to what is said of the others")
    return {"command": step, "simulated_s": 0.0, "parts": [part.as_dict()], "report": ""}


def _whole(
    folder: Path, hand: Hand, results: list[dict[str, Any]], notices: list[str], seconds: float
) -> dict[str, Any]:
    """All steps as one run."""
    parts = [Part.of(part) for result in results for part in result["parts"]]
    patch = ""
    for step in STEPS:
        if (folder / step / PATCH).exists():
            patch = merged(patch, (folder / step / PATCH).read_text(encoding="utf-8"))[0]
    rows = [
        (r["command"], str(sum(p["verdict"] == GOOD for p in r["parts"])), str(len(r["parts"])), r["report"])
        for r in results
    ]
    steps = page.table("Steps", ("step", "good", "of", "page"), rows)
    moved = sum(float(r["simulated_s"]) for r in results)
    return store(
        folder, "commission", hand, Found(parts, moved, [steps], {}, lambda _: patch, notices), seconds
    )
