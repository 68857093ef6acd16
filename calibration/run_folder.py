"""A run of identification or calibration on disk: result, patch, raw data, and one page for people."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

from calibration.found import Found
from calibration.part import GOOD, OPEN, ORDER
from hand.hand import Hand
from reports import page
from reports.files import whole
from reports.parquet import Table, parquet_is_here, write_parquet

RESULT: Final = "result.json"
PATCH: Final = "patch.toml"
PAGE: Final = "report.html"
RAW: Final = "raw"
"""Folder of the tables; without pyarrow a file of arrays, with this and npz as its name."""


FACTS: Final = ("command", "hand", "hand_sha256", "date")
"""Of the result, kept with every table."""


class RunError(ValueError):
    """A folder that holds no run; names what is missing."""


def store(folder: Path, command: str, hand: Hand, found: Found, seconds: float) -> dict[str, Any]:
    """Write what a procedure has found into a folder; returns what ``--json`` says.

    Args:
        folder: is there already.
        command: words of the command.
        hand: the hand that was measured.
        found: what was found.
        seconds: that it took.
    """
    patch = found.patch(f"identified: {time.strftime('%Y-%m-%d')} run {folder.name}")
    result = {
        "command": command,
        "hand": hand.name,
        "hand_file": hand.file.path,
        "hand_sha256": hand.sha256,
        "date": time.strftime("%Y-%m-%d %H:%M:%S"),
        "seconds": seconds,
        "simulated_s": found.seconds,
        "parts": [part.as_dict() for part in found.parts],
        "patch": str(folder / PATCH),
        "report": str(folder / PAGE),
        "notices": list(found.notices),
    }
    texts = {
        PATCH: patch,
        PAGE: page_of(result, found.sections, patch),
        RESULT: json.dumps(result, indent=2) + "\n",
    }
    with ExitStack() as written:  # the files of an earlier run go once all new ones are on the disk
        for name, text in reversed(texts.items()):  # and RESULT last: a folder with one is whole
            written.enter_context(whole(folder / name)).write_text(text, encoding="utf-8")
        kept = _keep_raw(written, folder, found.raw, {key: str(result[key]) for key in FACTS})
    for old in {folder / f"{RAW}.npz", *(folder / RAW).glob("*.parquet")} - kept:
        old.unlink(missing_ok=True)  # of an earlier run, or of one with other libraries
    return result


def _keep_raw(written: ExitStack, folder: Path, tables: dict[str, Table], facts: dict[str, str]) -> set[Path]:
    """Write what was measured, a file for each table; returns the files."""
    if not parquet_is_here():
        path = folder / f"{RAW}.npz"
        with written.enter_context(whole(path)).open("wb") as file:
            arrays = {f"{t}.{title}": v for t, table in tables.items() for title, v in table.items()}
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
        return {path}
    paths = {name: folder / RAW / f"{name}.parquet" for name in tables}
    (folder / RAW).mkdir(exist_ok=True)
    for name, path in paths.items():
        write_parquet(written.enter_context(whole(path)), tables[name], facts)
    return set(paths.values())


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
            f"{path}: {error.strerror}; legal: a folder that flexor identify or calibrate has written"
        ) from None
    except ValueError as error:
        raise RunError(f"{path} is damaged: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("parts"), list):
        raise RunError(f"{path} is no result of flexor identify or calibrate")
    return found


def page_of(result: dict[str, Any], sections: Sequence[str], patch: str) -> str:
    """Verdict first, then every part with its interval, the run's own sections, the lines to merge."""
    parts = sorted(result["parts"], key=lambda part: ORDER.index(part["verdict"]))
    bad = [part["verdict"] != GOOD for part in parts]
    troubles = [
        (p["name"], f"{p['parameter']}: {p['text']}", "") for p in parts if p["verdict"] not in (GOOD, OPEN)
    ]
    rows = [
        (
            p["name"],
            p["parameter"],
            _figure(p["value"]),
            f"{_figure(p['low'])} to {_figure(p['high'])}" if p["low"] is not None else "",
            p["unit"],
            p["text"],
        )
        for p in parts
    ]
    heads = ("part", "parameter", "value", "95 % interval", "unit", "")
    return page.page(
        f"{result['hand']}: {result['command']}",
        f"{result['date']}, {result['simulated_s']:.0f} s of motion",
        [
            page.verdict("All parts are good.", troubles),
            page.table("Parts", heads, rows, bad),
            *sections,
            *([page.lines("Lines for the hand file", patch)] if patch else []),
        ],
    )


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"
