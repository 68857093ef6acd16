"""Folders that a command writes its results into."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from signals.choices import WrongChoice

RESULTS: Final = ("report.json", "run.png", "result.json")
"""Files of a run whose names do not tell it from others; logs are numbered."""


def free_folder(out: Path) -> Path:
    """``out``, or the first of ``out-2``, ``out-3``, ... that holds no results of an earlier run."""
    found, count = out, 1
    while any((found / name).exists() for name in RESULTS):
        count += 1
        found = out.with_name(f"{out.resolve().name}-{count}")
    return found


def make_folder(out: Path) -> None:
    """Make the folder of ``--out`` before any work is done for it.

    Raises:
        WrongChoice: it is a file, or lies where none can be made; where 1 is a verdict, this is none.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongChoice(
            f"--out {out}: no folder there ({error.strerror}); legal: a folder, or a new one"
        ) from None
