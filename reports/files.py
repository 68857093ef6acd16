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
