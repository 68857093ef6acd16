"""Files of reports: there whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file to write that takes the place of ``path`` once it is whole; a full disk leaves no half."""
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def pyplot() -> Any:
    """``matplotlib.pyplot`` that draws into files, without a screen.

    Raises:
        ImportError: matplotlib is not there.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def save_figure(figure: Any, path: Path, **how: Any) -> None:
    """Write a figure in the format of the path's ending, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    with whole(path) as part:
        figure.savefig(part, format=path.suffix.removeprefix("."), **how)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    with whole(path) as part:
        part.write_text(text, encoding="utf-8")
