"""``flexor check HAND``: the effective hand, its hash, what is assumed in it, what is hard to believe."""

from __future__ import annotations

import json

import typer

from hand.assembly.assemble import model_of
from hand.assembly.pace import paces
from hand.file import HandFileError, load_hand
from hand.mechanism_file import is_mechanism_hand, mechanism_hand_names
from runtime.processes.phases import Exit
from tools.commands.check_facts import show_refusal, summary

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Exit code 0: usable; 2: refused, with every problem of the file.

Examples:

flexor check finger_bench

flexor check my_hand.toml --json

flexor check carpal_wrist
"""


@app.command(epilog=EXAMPLES)
def command(
    hand: str = typer.Argument(help="Name of a shipped hand, or a path of a hand file."),
    as_json: bool = typer.Option(False, "--json", help="One JSON object on stdout."),
) -> None:
    """Check a hand file; print the effective hand, its hash and what is assumed."""
    raise typer.Exit(check(hand, as_json))


def check(hand: str, as_json: bool) -> int:
    """Check a hand file and show what it means.

    Args:
        hand: Name of a shipped hand, or a path.
        as_json: One JSON object on stdout instead of tables.

    Returns:
        Exit code: 0 for a usable hand, 2 for a refused file (all problems are shown).
    """
    if is_mechanism_hand(hand):
        from tools.commands.check_mechanism import check_mechanism

        return check_mechanism(hand, as_json)
    try:
        file = load_hand(hand, mechanism_hand_names())
        pace = paces(file, model_of(file))
    except HandFileError as error:
        show_refusal(hand, error, as_json)
        return Exit.USAGE
    if as_json:
        print(json.dumps(summary(file, pace), indent=2))
    else:
        from tools.commands.check_view import show

        show(file, pace)
    return 0
