"""Files of reports: there whole, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def save_figure(figure: Any, path: Path, **how: Any) -> None:
    """Write a figure in the format of the path's ending; a full disk leaves no half of a picture behind.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        figure.savefig(part, format=path.suffix.removeprefix("."), **how)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
