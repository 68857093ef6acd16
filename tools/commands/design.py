"""``flexor design``: what a hand would need, asked of its own simulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tools.commands.folder import make_folder

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True
)


@app.callback(epilog="Example: flexor design break hasy")
def design() -> None:
    """What a hand would need, asked of its own simulation."""


@app.command(name="break", epilog="Example: flexor design break hasy --json")
def break_(
    hand: Annotated[str, typer.Argument(help="Name of a shipped hand, or path of a hand file.")],
    motion: Annotated[str, typer.Option(help="Motion in which they break.")] = "hold",
    moment: Annotated[float, typer.Option(help="Share 0 to 1 of its period.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Everything on stdout, as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for break.json.")] = None,
) -> None:
    """Break every tendon: energy, speed into the stop, and what would spare it.

    Tried under the strongest brake that the rules of the fault trials allow: lower working tension, faster
    drives, damping ahead of the stop.
    """
    from hand.hand import read_tendon_hand
    from hand.options import RunOptions
    from trials.design import lines, report, throws

    if out is not None:
        make_folder(out)
    read = read_tendon_hand(RunOptions(hand=hand))
    found = throws(read, motion, moment)
    told = {"motion": motion, "moment": moment} | report(read, found)
    if out is not None:
        (out / "break.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(told) if as_json else "\n".join(lines(read, found)))
