"""``flexor compare``: what has changed between two identification runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tools.commands.options import Json

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Example: flexor compare friction-in-may friction-in-june")
def compare(
    before: Annotated[Path, typer.Argument(help="Folder of the earlier run.")],
    after: Annotated[Path, typer.Argument(help="Folder of the later run.")],
    as_json: Json = False,
) -> None:
    """List what changed from one run to another: by more than both intervals, or in its verdict."""
    from calibration.compare import rows_of
    from calibration.run_folder import load

    rows = rows_of(load(before), load(after))
    if as_json:
        print(json.dumps({"before": str(before), "after": str(after), "parts": rows}))
        return
    changed = [row for row in rows if row["changed"]]
    print(f"{len(changed)} of {len(rows)} parameters changed")
    for row in changed:
        print(f"{row['name']:14} {row['parameter']:34} {', '.join(_said(row))}")


def _said(row: dict[str, Any]) -> Iterator[str]:
    """What is not as it was."""
    if row["change"] is not None and abs(row["change"]) > row["interval"]:
        yield (
            f"{row['before']:.5g} to {row['after']:.5g} {row['unit']} "
            f"(both intervals together: {row['interval']:.2g})"
        )
    if row["verdict_before"] != row["verdict_after"]:
        yield f"was {row['verdict_before']}, is {row['verdict_after']}"
