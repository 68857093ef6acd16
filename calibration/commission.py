"""``commission``: from assumed values to a calibrated hand, step by step, each in a folder of its own.

Drives turn without their tendons, so they come first; then the connections; tensions once those are right;
levers with their sensors, lever arms, guides, the wrist and zeros once all tendons are taut. Each step
measures with what the ones before have found: the folder's own ``hand.toml`` is the hand file with their
patches, made anew before each step. A step that was good is not made again, so a commissioning that was
stopped goes on where it was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from calibration.calibrate import calibrated
from calibration.eligible import WRIST, levers_of, tendons_for
from calibration.found import Found
from calibration.identify import identified
from calibration.levers import LEVERS
from calibration.motion_run import Watch
from calibration.pair_plan import PAIRS, pairs_of
from calibration.part import GOOD, OPEN, Part
from calibration.patching import merged
from calibration.run_folder import PATCH, RESULT, load, store
from hand.file import parse_hand
from hand.hand import Hand
from hand.options import RunOptions
from reports import page
from reports.files import write_text
from runtime.backends import backend_of
from runtime.setup import read_hand
from signals.choices import WrongChoice

HAND: Final = "hand.toml"
SUBJECT: Final = "subject.json"
"""What the steps of a folder are made on, written before the first of them."""
DRIVES, WIRING, TENSION, GEOMETRY, GUIDES, ZERO = "drives", "wiring", "tension", "geometry", "guides", "zero"
STEPS: Final = (DRIVES, WIRING, TENSION, LEVERS, GEOMETRY, GUIDES, ZERO)
WANT_LEVERS: Final = (LEVERS, GEOMETRY, GUIDES, WRIST)
ALL_STEPS: Final = (*STEPS[:-1], WRIST, ZERO, PAIRS)
"""In their order; ``WRIST`` of hands that have one, before the zeros that are taken with it."""
NO_SENSORS: Final = (
    "no sensor tells what single motors of this hand do to its tendons: what shows is motors that turn, what "
    "they bear on their way, and stops. Tensions, single guides, inertia without the bones are not measured"
)
FIRST: Final = (WIRING, TENSION)
"""What has to be good before any later step."""
PUT_ON: Final = "put the tendons on, then give the same command without --tendons-off: it goes on from here"
TAKE_OFF: Final = (
    "the drives were not measured: take the tendons off, then give the same command with --tendons-off"
)


def commissioned(
    original: Hand, options: RunOptions, folder: Path, tendons_off: bool, step_watch: Callable[[str], Watch]
) -> dict[str, Any]:
    """Make the steps that are still to be made; returns what ``--json`` says of all of them.

    Args:
        original: the hand file as it was given, read.
        options: hand, bus, seed, ...; the simulated hand stays the one that they name.
        folder: of the commissioning; may hold one that was stopped.
        tendons_off: on a bus: the tendons are off their spools now, so only the drives are measured.
        step_watch: step -> whom to tell the share done of it.

    Raises:
        WrongChoice: the folder belongs to another hand file, or to another hand (simulated, on a bus).
        motion_run.Faulted: the hand went into fault; what was found before is kept.
    """
    begun = time.monotonic()
    _same_subject(folder, original, options)
    chosen = replace(options, hand=str(folder / HAND))
    if options.bus is None:
        chosen = replace(chosen, plant=options.plant or options.hand)
    results, wrong = list[dict[str, Any]](), False
    steps, notices = steps_of(original)
    for step in steps:
        wrong |= bool(results) and _is_the_last(results[-1])
        done = _done(folder / step)
        if done is not None:
            results.append(done)
            notices.append(f"{step}: was good on {done['date']}, not made again")
            continue
        if options.bus is not None and (step == DRIVES) != tendons_off:
            notices.append(TAKE_OFF if step == DRIVES else f"{step}: {PUT_ON}")
            results.append(_left(step))
            continue
        if wrong:
            results.append(_left(step))
            continue
        _write_hand(folder, original)
        results.append(_made(step, chosen, folder / step, step_watch(step)))
    _write_hand(folder, original)
    return _whole(folder, original, results, notices, time.monotonic() - begun)


def steps_of(hand: Hand) -> tuple[tuple[str, ...], list[str]]:
    """(Steps that a hand of this kind can be measured by, what is left out and why)."""
    tendons = list(range(len(hand.names.tendons)))
    if not tendons_for(WIRING, hand, tendons)[0]:
        pairs, rest = pairs_of(hand, tendons)
        if pairs:
            return (PAIRS,), [NO_SENSORS]
        told = f"of {rest[0].name}: {rest[0].text}" if rest else "it has no tendons"
        raise WrongChoice(f"no sensor of {hand.name} tells what single motors do, and {told}")
    steps = tuple(step for step in ALL_STEPS if step in STEPS or (step == WRIST and hand.names.axes))
    left = [step for step in steps if step in WANT_LEVERS] if not levers_of(hand, tendons)[0] else []
    return (
        tuple(step for step in steps if step not in left),
        [f"{step}: left out, this hand has no levers with sensors" for step in left],
    )


def new_since(folder: Path, begun_s: float) -> str:
    """What a commissioning that was ended early has left, as one sentence; empty: it had not begun.

    Args:
        folder: of it.
        begun_s: Unix time at which the command began.
    """
    made, new, open_steps = list[str](), list[str](), list[str]()
    steps = _told_steps(folder)
    if not steps:
        return ""
    for step in steps:
        result = folder / step / RESULT
        if not result.exists():
            open_steps.append(step)
        else:
            (new if result.stat().st_mtime >= begun_s else made).append(step)
    told = [f"new in {folder}: {', '.join(new) or 'nothing'}"]
    told += [f"from before: {', '.join(made)}"] if made else []
    told += [f"still to be made: {', '.join(open_steps)}"] if open_steps else []
    return "; ".join(told) + "; the same command goes on from there"


def _told_steps(folder: Path) -> tuple[str, ...]:
    """Steps of the hand of a folder; none before it has begun."""
    try:
        return tuple(json.loads((folder / SUBJECT).read_text(encoding="utf-8"))["steps"])
    except (OSError, KeyError, TypeError, ValueError):
        return ()


def _same_subject(folder: Path, hand: Hand, options: RunOptions) -> None:
    simulated: dict[str, Any] | None = None
    if options.bus is None:
        simulated = {"plant": options.plant, "mismatch": options.mismatch}
    elif backend_of(options)[1]:  # flexor emulate's bus file: no hardware either
        simulated = {"emulated": True}
    steps = list(steps_of(hand)[0])
    mine = {"hand_file": hand.file.path, "hand_sha256": hand.sha256, "simulated": simulated, "steps": steps}
    path = folder / SUBJECT
    if not path.exists():
        write_text(path, json.dumps(mine, indent=2) + "\n")
        return
    try:
        theirs = json.loads(path.read_text(encoding="utf-8"))
        same = all(theirs[key] == mine[key] for key in ("hand_sha256", "simulated"))
        on = "the hardware" if theirs["simulated"] is None else f"a simulated hand {theirs['simulated']}"
        file = theirs["hand_file"]
    except (KeyError, TypeError, ValueError) as error:
        raise WrongChoice(f"{path} is damaged ({error}); legal: a new folder") from None
    if not same:
        raise WrongChoice(
            f"{folder} holds the commissioning of {file} as it was then, on {on}; "
            "legal: a folder of its own for each hand and each state of a hand file"
        )


def _patches(folder: Path) -> list[str]:
    """Lines for the hand file of the steps that were made and found some, in their order."""
    made = [folder / step for step in ALL_STEPS if (folder / step / RESULT).exists()]
    texts = [(step / PATCH).read_text(encoding="utf-8") for step in made]
    return [text for text in texts if text.strip()]


@lru_cache(maxsize=8)
def _with(text: str, *patches: str) -> str:
    """A hand file with the steps' lines in it; after a step that found none, the same is asked for again."""
    return merged(text, *patches)[0]


def _write_hand(folder: Path, hand: Hand) -> None:
    text = _with(hand.text, *_patches(folder))
    parse_hand(text, str(folder / HAND))
    write_text(folder / HAND, text)


def _done(folder: Path) -> dict[str, Any] | None:
    """Result of a step that was good."""
    if not (folder / RESULT).exists():
        return None
    result = load(folder)
    return result if _good(result) else None


def _good(result: dict[str, Any]) -> bool:
    return all(part["verdict"] == GOOD for part in result["parts"])


def _is_the_last(result: dict[str, Any]) -> bool:
    """Nothing is measured after a step that has found connections, or tensions, that are not right."""
    bad = [part for part in result["parts"] if part["verdict"] != GOOD]
    looked = any(part["parameter"].startswith(WIRING) for part in bad)  # every step looks at them first
    return bool(bad) and (result["command"] in FIRST or looked)


def _made(step: str, options: RunOptions, folder: Path, watch: Watch) -> dict[str, Any]:
    hand, begun = read_hand(options), time.monotonic()
    if step == DRIVES:
        found = identified("drives", hand, options, list(range(len(hand.names.motors))), watch)
    else:
        found = calibrated(step, hand, options, list(range(len(hand.names.tendons))), watch)
    folder.mkdir(parents=True, exist_ok=True)
    return store(folder, step, hand, found, time.monotonic() - begun)


def _left(step: str) -> dict[str, Any]:
    part = Part.bare(step, step, "1", OPEN, "not made yet: see to what is said of the others")
    return {"command": step, "simulated_s": 0.0, "parts": [part.as_dict()], "report": ""}


def _whole(
    folder: Path, hand: Hand, results: list[dict[str, Any]], notices: list[str], seconds: float
) -> dict[str, Any]:
    """All steps as one run."""
    parts = [Part.of(part) for result in results for part in result["parts"]]
    patch = _with("", *_patches(folder))
    rows = [
        (r["command"], str(sum(p["verdict"] == GOOD for p in r["parts"])), str(len(r["parts"])), r["report"])
        for r in results
    ]
    steps = page.table("Steps", ("step", "good", "of", "page"), rows)
    told = [*notices, *dict.fromkeys(each for result in results for each in result.get("notices", ()))]
    moved = sum(float(r["simulated_s"]) for r in results)
    return store(folder, "commission", hand, Found(parts, moved, [steps], {}, lambda _: patch, told), seconds)
