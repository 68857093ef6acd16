"""``flexor revert``: a hand file as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Example: flexor revert my_hand.toml")
def revert(
    hand: Annotated[Path, typer.Argument(help="Hand file.")],
    change: Annotated[int | None, typer.Argument(help="Number of flexor history; default: the last.")] = None,
) -> None:
    """Put a hand file back to what it was before a change; that is a change too, and can be reverted."""
    from calibration.patching import revert as go_back

    done = go_back(hand, change)
    print(f"{hand}: {done.what} ({', '.join(done.keys)})")
