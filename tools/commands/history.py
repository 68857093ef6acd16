"""``flexor history``: what was applied to a hand file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Example: flexor history my_hand.toml")
def history(
    hand: Annotated[Path, typer.Argument(help="Hand file.")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON array on stdout.")] = False,
) -> None:
    """List the changes of a hand file by flexor apply and flexor revert."""
    from calibration.patching import history as changes_of

    changes = changes_of(hand)
    if as_json:
        print(json.dumps([asdict(change) for change in changes]))
        return
    if not changes:
        print(f"nothing was applied to {hand}")
    for change in changes:
        print(f"{change.number:4}  {change.date}  {change.what}: {', '.join(change.keys)}")
