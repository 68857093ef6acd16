"""Folders that a command writes its results into."""

from __future__ import annotations

from pathlib import Path

from signals.choices import WrongChoice


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
