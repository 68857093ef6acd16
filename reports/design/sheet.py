"""One calculation as figures, tables and a picture; as JSON, in a terminal, or as a page."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reports import page
from reports.files import pyplot, write_text
from reports.picture import STYLE
from signals.extras import no_picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of a sheet: title, heads, rows of text."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """One calculation.

    Attributes:
        name: of the calculation; names its files.
        title: for people.
        line: what was asked, in a sentence.
        figures: everything, for JSON; SI, units in the keys.
        tables: what a person reads of it.
        draw: draws the picture into a matplotlib figure.
        about: what the picture shows.
        notes: sentences that belong to the figures.
    """

    name: str
    title: str
    line: str
    figures: dict[str, Any]
    tables: Sequence[Table]
    draw: Callable[[Any], None]
    about: str
    notes: Sequence[str] = field(default=())


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines with columns below each other."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def lines(sheet: Sheet) -> list[str]:
    """A sheet for a terminal."""
    told = [sheet.title, sheet.line]
    for table in sheet.tables:
        told += ["", table.title, *aligned([table.heads, *table.rows])]
    return told + ([""] if sheet.notes else []) + list(sheet.notes)


def write(sheet: Sheet, out: Path) -> None:
    """Write ``NAME.json``, ``NAME.png`` and the page ``NAME.html`` into a folder that exists.

    Without matplotlib the page has no picture; said on stderr.
    """
    write_text(out / f"{sheet.name}.json", json.dumps(sheet.figures, indent=2) + "\n")
    png = _png(sheet)
    if png is not None:
        (out / f"{sheet.name}.png").write_bytes(png)
    parts = [page.picture("Picture", sheet.about, png)]
    parts += [page.table(table.title, table.heads, table.rows) for table in sheet.tables]
    parts += [page.note(text) for text in sheet.notes]
    write_text(out / f"{sheet.name}.html", page.page(sheet.title, sheet.line, parts))


def _png(sheet: Sheet) -> bytes | None:
    try:
        plt = pyplot()
    except ImportError:
        print(no_picture(), file=sys.stderr)
        return None
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(12.0, 7.0), dpi=110, layout="constrained")
        sheet.draw(figure)
        kept = io.BytesIO()
        figure.savefig(kept, format="png")
        plt.close(figure)
    return kept.getvalue()
