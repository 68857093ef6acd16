"""The odometer of a hand on disk, one file per hand: several runs may add to it, and no end of one breaks it.

Whoever adds holds a lock, reads what is there, and puts a new file in its place. A file that cannot be read
is kept beside it and said; a new one begins.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from telemetry.record.odometer import JOINT_LOADS_NM, TENDON_LOADS_N, Counts
from telemetry.record.recordings import state_folder

FORMAT: Final = 1
LOCK_S: Final = 2.0
"""Longest wait for somebody else who adds: a file is written in milliseconds."""
NEAR: Final = 0.9
"""Share of a life from which on people are told."""


class OdometerError(Exception):
    """The odometer cannot be read or kept; says why."""


def path_of(hand: str, simulated: bool) -> Path:
    """File of a hand; what a simulated one did wears no real one.

    Raises:
        OdometerError: this user has no home.
    """
    folder = state_folder("odometers")
    if folder is None:
        raise OdometerError("no folder for it: XDG_STATE_HOME or HOME is no absolute path")
    return folder / f"{hand}{'.simulated' if simulated else ''}.json"


def added(total: Any, more: Any) -> Any:
    """Sum of counts: numbers and lists by place, tables by name; a part of one side alone stays."""
    if isinstance(more, dict):
        return {**total, **{k: added(total[k], v) if k in total else v for k, v in more.items()}}
    if isinstance(more, list):
        return [a + b for a, b in zip(total, more, strict=True)]
    return total + more


def fresh(hand: str) -> dict[str, Any]:
    """A hand that has done nothing."""
    return {
        "format": FORMAT,
        "hand": hand,
        "begun": time.strftime("%Y-%m-%d"),
        "runs": 0,
        "tendon_loads_n": list(TENDON_LOADS_N),
        "joint_loads_nm": list(JOINT_LOADS_NM),
        "seconds": 0.0,
        "tendons": {},
        "joints": {},
        "replaced": [],
    }


def read(path: Path) -> dict[str, Any] | None:
    """What a file says; ``None``: there is none.

    Raises:
        OdometerError: it is damaged, or of another format.
        OSError: it cannot be read.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise OdometerError(f"{path}: no odometer: {error}") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        number = found.get("format") if isinstance(found, dict) else None
        raise OdometerError(f"{path}: format {number}, legal: {FORMAT}")
    wrong = [name for name, value in fresh("").items() if not _alike(found.get(name), value)]
    wrong += [
        f"{kind}.{part}.{key}"
        for kind, key, _, _ in LIMITS
        if kind not in wrong
        for part, did in found[kind].items()
        if not (isinstance(did, dict) and _is_number(did.get(key)))
    ]
    if wrong:
        raise OdometerError(f"{path}: {', '.join(wrong)}: missing, or of another kind")
    return found


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and math.isfinite(found)


def _alike(found: Any, value: Any) -> bool:
    """Whether a field is of the kind of the one of a fresh hand."""
    return _is_number(found) if isinstance(value, float) else type(found) is type(value)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    end_s = time.monotonic() + LOCK_S
    with path.with_suffix(".lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end_s:
                    raise OdometerError(f"{path}: somebody else has held it for {LOCK_S:.0f} s") from None
                time.sleep(0.02)
        yield


def _write(path: Path, odometer: dict[str, Any]) -> None:
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        json.dump(odometer, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def add(path: Path, hand: str, counts: Counts, runs: int = 0) -> tuple[dict[str, Any], str]:
    """Add counts to a file.

    Returns:
        what it says now, and a sentence if what it said before could not be read.

    Raises:
        OdometerError: somebody else holds the file.
        OSError: it cannot be written.
    """
    said = ""
    with _locked(path):
        try:
            odometer = read(path) or fresh(hand)
            odometer = {**odometer, **added({k: odometer[k] for k in counts}, counts)}
        except (OdometerError, AttributeError, TypeError, ValueError) as error:
            aside = path.with_suffix(f".damaged-{time.strftime('%Y%m%d-%H%M%S')}")
            path.replace(aside)
            odometer = {**fresh(hand), **counts}
            said = f"the odometer could not be read and begins anew; the old one is kept as {aside} ({error})"
        odometer["runs"] += runs
        _write(path, odometer)
    return odometer, said


def replace_part(path: Path, part: str) -> dict[str, Any]:
    """A tendon or a joint is new: what the old one did is kept apart, and it begins at nothing.

    Raises:
        OdometerError: there is no such file or part, or somebody else holds it.
        OSError: it cannot be written.
    """
    with _locked(path):
        odometer = read(path)
        if odometer is None:
            raise OdometerError(f"{path}: there is none yet")
        kind = next((k for k in ("tendons", "joints") if part in odometer[k]), None)
        if kind is None:
            raise OdometerError(f"{path}: {part} has done nothing yet")
        old = odometer[kind].pop(part)
        odometer["replaced"].append({"part": part, "date": time.strftime("%Y-%m-%d"), **old})
        _write(path, odometer)
    return odometer


LIMITS: Final = (
    ("tendons", "travel_m", "tendon_travel_m", "m wound"),
    ("tendons", "reversals", "tendon_reversals", "reversals"),
    ("tendons", "hot_s", "tendon_hot_s", "s hot"),
    ("joints", "travel_rad", "joint_travel_rad", "rad turned"),
    ("joints", "reversals", "joint_reversals", "reversals"),
)
"""Kind of part, what it did, key of ``[life]`` in the hand file, in words."""


def worn(odometer: dict[str, Any], life: Any) -> list[dict[str, Any]]:
    """Share of its life of every part and kind of wear that the hand file limits, the most worn first.

    Args:
        odometer: as ``read`` gives it.
        life: the table ``life`` of a hand file, or ``None``.
    """
    found = []
    for kind, key, limit_key, words in LIMITS:
        limit = getattr(life, limit_key, None)
        for part, did in odometer[kind].items() if limit is not None else ():
            share = did[key] / limit
            text = f"{part}: {did[key]:.6g} of {limit:.6g} {words}, {100.0 * share:.0f} % of its life"
            found.append({"part": part, "key": limit_key, "share": share, "text": text})
    return sorted(found, key=lambda wear: -wear["share"])
