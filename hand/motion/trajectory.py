"""CSV trajectory: a header ``time_s,<joint>_deg,...``, then rows of numbers -> channels of joint angles."""

from __future__ import annotations

import math

import numpy as np

from controllers.motion import ChannelKind
from hand.file.errors import MotionFileError, Problem, shown
from hand.motion.build import Key
from hand.motion.channels import Table, through
from signals.choices import nearest
from signals.names import HandNames

UNITS = {"_deg": math.pi / 180.0, "_rad": 1.0}


class _Reader:
    """Rows of one file; collects problems with line and column."""

    def __init__(self, text: str, file: str, names: HandNames) -> None:
        self.file, self.names = file, names
        self.problems: list[Problem] = []
        self.lines = [(n, line) for n, line in enumerate(text.splitlines(), start=1) if line.strip()]

    def refuse(
        self, line: int, column: int, key: str, found: str, legal: str, near: str | None = None
    ) -> None:
        self.problems.append(
            Problem(file=self.file, line=line, column=column, key=key, found=found, legal=legal, nearest=near)
        )

    def header(self) -> list[tuple[int, float]]:
        """(joint, factor to rad) of each column after the first."""
        if not self.lines:
            self.refuse(
                0, 0, "(file)", "an empty file", "a header time_s,<joint>_deg,... and rows of numbers"
            )
            return []
        line, text = self.lines[0]
        cells = [c.strip() for c in text.split(",")]
        if cells[0] != "time_s":
            self.refuse(line, 1, "header", shown(cells[0]), "time_s as the first column")
        columns: list[tuple[int, float]] = []
        for k, cell in enumerate(cells[1:], start=2):
            joint, unit = cell[:-4], cell[-4:]
            legal = [f"{j}{u}" for u in UNITS for j in self.names.joints]
            if unit not in UNITS or joint not in self.names.joints:
                near = nearest(cell, legal)
                self.refuse(
                    line, k, "header", shown(cell), "a joint with _deg or _rad: " + ", ".join(legal), near
                )
            elif any(self.names.joints.index(joint) == j for j, _ in columns):
                self.refuse(line, k, "header", f"{joint} a second time", "every joint once")
            else:
                columns.append((self.names.joints.index(joint), UNITS[unit]))
        if len(cells) < 2:
            self.refuse(line, 2, "header", "no joint", "at least one joint column")
        return columns

    def rows(self, width: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Numbers, shape (rows, width)."""
        rows: list[list[float]] = []
        for line, text in self.lines[1:]:
            cells = text.split(",")
            if len(cells) != width:
                self.refuse(
                    line, len(cells), "row", f"{len(cells)} columns", f"{width} columns as in the header"
                )
                continue
            row = [self._number(line, k, cell.strip()) for k, cell in enumerate(cells, start=1)]
            if rows and row[0] <= rows[-1][0]:
                self.refuse(line, 1, "time_s", shown(row[0]), f"times that rise (before: {rows[-1][0]:g})")
            if not rows and row[0] < 0.0:
                self.refuse(line, 1, "time_s", shown(row[0]), "times from 0 on")
            rows.append(row)
        if not rows and not self.problems:
            self.refuse(self.lines[-1][0], 0, "rows", "no rows", "at least one row of numbers")
        return np.array(rows, dtype=np.float64).reshape(len(rows), width)

    def _number(self, line: int, column: int, cell: str) -> float:
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.refuse(line, column, "row", shown(cell) if cell else "nothing", "a finite number")
            return 0.0
        return value


def trajectory_channels(text: str, file: str, names: HandNames) -> dict[Key, Table]:
    """Channels of all joints that a CSV trajectory names.

    Raises:
        MotionFileError: with file, line and column of everything that is wrong.
    """
    reader = _Reader(text, file, names)
    columns = reader.header()
    width = len(reader.lines[0][1].split(",")) if reader.lines else 0
    rows = reader.rows(width) if reader.lines else np.zeros((0, 0))
    if reader.problems:
        raise MotionFileError(reader.problems)
    return {
        (ChannelKind.JOINT_ANGLE, joint): through(rows[:, 0], rows[:, k] * factor)
        for k, (joint, factor) in enumerate(columns, start=1)
    }
