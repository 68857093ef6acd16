"""What ``flexor check`` says of a checked file: one JSON object, and the parts that its screen shows too."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from hand.assembly.assemble import hand_sha256
from hand.assembly.pace import Pace
from hand.file import HandFile
from hand.file.errors import FileError
from hand.file.locate import Path, dotted
from hand.file.origins import WORDS, Origin
from hand.review.sight import sights_of
from hand.review.suspicions import Suspicion, facts, suspicions


def show_refusal(hand: str, error: FileError, as_json: bool) -> None:
    """Every problem of a refused file."""
    if as_json:
        problems = [asdict(p) for p in error.problems]
        print(json.dumps({"ok": False, "hand": hand, "problems": problems}, indent=2))
    else:
        print(error, file=sys.stderr)


def value_at(values: Any, path: Path) -> Any:
    """Value under a path of nested tables and lists."""
    for part in path:
        values = values[part]
    return values


def assumed(values: Any, origins: Mapping[Path, Origin]) -> Iterator[tuple[Path, Any, str]]:
    """(path, value, reason) of everything that is assumed."""
    for path, origin in origins.items():
        if origin.word == "assumed":
            yield path, value_at(values, path), origin.source


def summary(file: HandFile, pace: dict[str, list[Pace]]) -> dict[str, Any]:
    """Everything as one JSON object."""
    effective = file.model_dump(mode="json")
    return {
        "ok": True,
        "hand": file.name,
        "file": file.path,
        "hand_sha256": hand_sha256(file),
        "counts": counts(file),
        "origins": origin_counts(file.origins),
        "assumed": [
            {"key": dotted(path), "line": file.line_of(path), "value": value, "why": why}
            for path, value, why in assumed(effective, file.origins)
        ],
        "warnings": as_dicts(suspicions(file)),
        "facts": as_dicts(facts(file)),
        "notices": list(file.notices),
        "sight": [asdict(s) for s in sights_of(file)],
        "pace": {part: [asdict(p) for p in some] for part, some in pace.items()},
        "effective": file.model_dump(mode="json", exclude_none=True),
        "problems": [],
    }


def as_dicts(found: tuple[Suspicion, ...]) -> list[dict[str, Any]]:
    """Suspicions or facts for JSON."""
    return [{"key": dotted(s.path), "line": s.line, "text": s.text} for s in found]


def counts(file: HandFile) -> dict[str, int]:
    """How many parts the hand has."""
    return {
        "fingers": len(file.fingers),
        "joints": len(file.joints),
        "tendons": 0 if file.gears else len(file.tendons),
        **({"gears": len(file.gears)} if file.gears else {}),
        "motors": len(file.motors),
        "axes": len(file.axes),
    }


def spoken(numbers: Mapping[str, int]) -> str:
    """Those of ``counts`` that are not 0, as a sentence has them: ``1 finger, 4 joints``."""
    nouns = {what: "axis" if what == "axes" else what.removesuffix("s") for what in numbers}
    return ", ".join(f"{n} {what if n > 1 else nouns[what]}" for what, n in numbers.items() if n)


def origin_counts(origins: Mapping[Path, Origin]) -> dict[str, int]:
    """How many values have each label."""
    return {word: sum(o.word == word for o in origins.values()) for word in WORDS}
