"""``flexor signals``: the tables of signals and causes as Markdown, or as classes for a type checker."""

from __future__ import annotations

import json
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

CAUSE_TABLE = "causes"
MEANING = {
    "measurement": "what a bus delivers every cycle",
    "command": "what a bus is sent every cycle",
    "goal": "what is wanted, by a motion or a client",
    "state": "what estimator, controller and guard make of it",
    "truth": "what only a simulation knows",
    "timing": "how the cycle went",
    "model": "everything configurable, flattened once from the hand file",
}

ARRAYS = {
    "f8": "FloatArray",
    "i8": "IntArray",
    "u8": "UintArray",
    "i4": "Int32Array",
    "u4": "BitsArray",
}
SCALARS = {
    "f8": "float",
    "i8": "int",
    "u8": "np.uint64",
    "i4": 'Annotated[int, "i4"]',
    "u4": 'Annotated[int, "u4"]',
}
"""Kind of a signal -> what a type checker sees; compiled code makes a float of int64 and uint64 together."""
CLASSES_HEAD = """\
\"""The records of ``signals.table`` as classes for the type checker: ``./dev signals`` writes this file.\"""

from __future__ import annotations

from typing import Annotated, Protocol

import numpy as np

from signals.layout import {names}
"""


def table(records: list[str]) -> list[str]:
    """Markdown lines of some records."""
    from signals.records import RECORDS
    from signals.table import TABLE

    out = []
    for record in records:
        out += [f"## {record}", "", f"{MEANING.get(record, '')} ({RECORDS[record].itemsize} bytes)", ""]
        out += ["| signal | unit | shape | kind | origin | meaning | live |", "|---|---|---|---|---|---|---|"]
        for s in TABLE[record]:
            shape = " x ".join(s.dims) or "-"
            columns = (f"`{s.name}`", s.unit, shape, s.kind, s.origin, s.meaning, s.live)
            out.append(f"| {' | '.join(columns)} |")
        out.append("")
    return out


def classes() -> str:
    """Python source of ``signals.typed``: a class for each record."""
    from signals.records import FRAME_RECORDS
    from signals.table import TABLE

    out: list[str] = []
    used: set[str] = set()
    for record in TABLE:
        name, meaning = record.capitalize(), MEANING[record]
        out.append(f'\nclass {name}(Protocol):\n    """{meaning[0].upper()}{meaning[1:]}."""\n')
        for s in TABLE[record]:
            base = (ARRAYS if s.dims else SCALARS)[s.kind]
            dims = ", ".join(json.dumps(d) for d in s.dims)
            out.append(f"    {s.name}: {f'Annotated[{base}, {dims}]' if dims else base}")
            used |= {base} if s.dims else set()
        out.append("")
    out.append('\nclass Frame(Protocol):\n    """One cycle: what a ring slot holds."""\n')
    out += [f"    {record}: {record.capitalize()}" for record in FRAME_RECORDS]
    return "\n".join([CLASSES_HEAD.format(names=", ".join(sorted(used))), *out, ""])


def causes() -> list[str]:
    """Markdown lines of all causes."""
    from signals.faults import CAUSES

    out = [f"## {CAUSE_TABLE}", "", "why a finger or the hand is stopped, from `signals/faults.py`", ""]
    out += ["| cause | code | stops | part | blinds | sentence | hint |", "|---|---|---|---|---|---|---|"]
    for cause, row in CAUSES.items():
        blinds = row.blinds.name.lower()
        out.append(
            f"| `{cause.name}` | {int(cause)} | {row.scope} | {row.space} | {blinds} "
            f"| {row.sentence} | {row.hint} |"
        )
    return [*out, ""]


@app.command(epilog="Example: flexor signals state")
def signals(
    records: Annotated[
        list[str] | None, typer.Argument(help="Records to print, or causes; default: all.")
    ] = None,
    as_classes: Annotated[
        bool, typer.Option("--classes", help="Print the source of signals/typed.py instead.")
    ] = False,
) -> None:
    """Print the table of every signal and of every cause of a fault as Markdown."""
    from signals.names import UnknownName
    from signals.table import TABLE

    if as_classes:
        print(classes(), end="")
        return
    legal = (*TABLE, CAUSE_TABLE)
    chosen = records or legal
    for name in chosen:
        if name not in legal:
            raise UnknownName("record", name, legal)
    print("# Signals\n\nMade by `flexor signals` from `signals/table.py`.")
    print("Live: key of the signal in the topics `view` and `raw` (`docs/telemetry.md`).\n")
    lines = table([name for name in chosen if name != CAUSE_TABLE])
    print("\n".join(lines + (causes() if CAUSE_TABLE in chosen else [])).rstrip())
