"""``flexor cache save|load``: what one machine has compiled, for others of the same kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True
)


@app.callback(epilog="Example: flexor cache save lab.cache, and on the others: flexor cache load lab.cache")
def cache() -> None:
    """Carry the compile cache to machines with the same processor and the same flexor."""


@app.command(epilog="Example: flexor cache save lab.cache")
def save(file: Annotated[Path, typer.Argument(help="File to write.")]) -> None:
    """Write everything that is compiled of these sources into a file."""
    from signals.carried import save as saved

    laws = saved(file)
    print(f"{file}: {laws} laws, {file.stat().st_size / 2**20:.0f} MB")


@app.command(epilog="Example: flexor cache load lab.cache")
def load(
    file: Annotated[
        Path,
        typer.Argument(help="File of flexor cache save; trust its maker.", exists=True, dir_okay=False),
    ],
) -> None:
    """Take a file into this machine's compile cache; a damaged or foreign one changes nothing."""
    from signals.carried import load as loaded
    from signals.compiled import cache_root

    taken, laws = loaded(file)
    print(f"{cache_root()}: {taken} of {laws} laws were new")
