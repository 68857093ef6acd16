"""What is wrong with a file: every problem at once, each with file, line, key, found, legal, nearest name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

SHOWN = 100
"""Problems that a message lists; ``FileError.problems`` has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, and where."""

    file: str
    line: int
    """Line in the file, from 1; 0: the file as a whole."""
    column: int = 0
    """Column, from 1; 0: unknown."""
    key: str
    """Path of the key, as ``fingers.index.joints[2].range_deg``."""
    found: str
    legal: str
    """What could stand there; empty: ``found`` says it all."""
    nearest: str | None = None
    """Nearest legal name, where a name was wrong."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        if not self.legal:  # a sentence of its own
            return f"{place}: {self.found}"
        text = f"{place}: {self.key}: found {self.found}; legal: {self.legal}"
        return f"{text}; did you mean {self.nearest!r}?" if self.nearest else text


class FileError(ValueError):
    """A file of the user that cannot be used; ``problems`` are all of them, in the order of the file."""

    what = "file"

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line, p.column)))
        count = len(self.problems)
        head = f"{self.what} refused, {count} problem{'s' if count > 1 else ''}:"
        lines = [f"  {p}" for p in self.problems[:SHOWN]]
        if count > SHOWN:
            lines.append(f"  ... and {count - SHOWN} more")
        super().__init__("\n".join([head, *lines]))


class HandFileError(FileError):
    """A hand file that cannot be used."""

    what = "hand file"


class MotionFileError(FileError):
    """A motion that cannot be used with this hand."""

    what = "motion"


def shown(value: object, limit: int = 60) -> str:
    """A found value as the file would write it, cut to ``limit`` characters."""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, str):
        text = f'"{value}"'
    elif isinstance(value, dict):
        text = "a table" if not value else "a table with " + ", ".join(value)
    elif isinstance(value, (list, tuple)):
        text = "[" + ", ".join(shown(v, 20) for v in value) + "]"
    else:
        text = str(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
