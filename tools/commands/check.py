"""``flexor check HAND``: the effective hand, its hash, what is assumed in it, what is hard to believe."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from hand.assembly.assemble import model_of
from hand.assembly.pace import paces
from hand.file import HandFileError, load_hand
from hand.mechanism_file import is_mechanism_hand, mechanism_hand_names
from hand.review.sight import gaps
from runtime.processes.phases import Exit
from signals.choices import WrongChoice
from tools.commands.check_facts import show_refusal, summary

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Exit code 0: usable; 2: refused, with every problem of the file, or a gap of --require.

Examples:

flexor check finger_bench

flexor check my_hand.toml --json

flexor check my_hand.toml --require tension --require redundancy

flexor check carpal_wrist
"""


@app.command(epilog=EXAMPLES)
def command(
    hand: str = typer.Argument(help="Name of a shipped hand, or a path of a hand file."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object on stdout."),
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="CAP", help="An error if a finger lacks it: joints, tension or redundancy."),
    ] = None,
) -> None:
    """Check a hand file; print the effective hand, its hash, what is assumed and what is not seen."""
    raise typer.Exit(check(hand, as_json, tuple(require or ())))


def check(hand: str, as_json: bool, require: tuple[str, ...] = ()) -> int:
    """Check a hand file and show what it means.

    Args:
        hand: Name of a shipped hand, or a path.
        as_json: One JSON object on stdout instead of tables.
        require: Capabilities (``hand.review.sight``) that every finger has to have.

    Returns:
        Exit code: 0 for a usable hand, 2 for a refused file (all problems are shown) or a gap.
    """
    if is_mechanism_hand(hand):
        from tools.commands.check_mechanism import check_mechanism

        return check_mechanism(hand, as_json)
    try:
        file = load_hand(hand, mechanism_hand_names())
        pace = paces(file, model_of(file))
        missing = gaps(file, require)
    except HandFileError as error:
        show_refusal(hand, error, as_json)
        return Exit.USAGE
    except WrongChoice as error:
        print(f"error: {error}", file=sys.stderr)
        return Exit.USAGE
    if as_json:
        print(json.dumps(summary(file, pace) | {"ok": not missing, "gaps": missing}, indent=2))
    else:
        from tools.commands.check_view import show

        show(file, pace)
        for gap in missing:
            print(f"error: {gap}", file=sys.stderr)
    return Exit.USAGE if missing else 0
