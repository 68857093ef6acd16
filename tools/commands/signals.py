"""``flexor signals``: the table of every signal as Markdown."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

MEANING = {
    "measurement": "what a bus delivers every cycle",
    "command": "what a bus is sent every cycle",
    "goal": "what is wanted, by a motion or a client",
    "state": "what estimator, controller and guard make of it",
    "truth": "what only a simulation knows",
    "timing": "how the cycle went",
    "model": "everything configurable, flattened once from the hand file",
}


def table(records: list[str]) -> list[str]:
    """Markdown lines of some records."""
    from signals.records import RECORDS
    from signals.table import TABLE

    out = []
    for record in records:
        out += [f"## {record}", "", f"{MEANING.get(record, '')} ({RECORDS[record].itemsize} bytes)", ""]
        out += ["| signal | unit | shape | kind | origin | meaning |", "|---|---|---|---|---|---|"]
        for s in TABLE[record]:
            shape = " x ".join(s.dims) or "-"
            out.append(f"| `{s.name}` | {s.unit} | {shape} | {s.kind} | {s.origin} | {s.meaning} |")
        out.append("")
    return out


@app.command(epilog="Example: flexor signals state")
def signals(
    records: Annotated[list[str] | None, typer.Argument(help="Records to print; default: all.")] = None,
) -> None:
    """Print the table of every signal as Markdown."""
    from signals.names import UnknownName
    from signals.table import TABLE

    chosen = records or list(TABLE)
    for name in chosen:
        if name not in TABLE:
            raise UnknownName("record", name, tuple(TABLE))
    print("# Signals\n\nMade by `flexor signals` from `signals/table.py`.\n")
    print("\n".join(table(chosen)).rstrip())
