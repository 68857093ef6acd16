"""``flexor apply``: what a run has identified into the hand file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Example: flexor apply friction --to my_hand.toml")
def apply(
    run: Annotated[Path, typer.Argument(help="Folder that flexor identify has written.")],
    to: Annotated[Path | None, typer.Option(help="Hand file; default: the one of the run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Merge the patch of a run into a hand file: comments are kept, the old file is archived."""
    from calibration.patching import apply as merge
    from calibration.run_folder import PATCH, load
    from hand.file import shipped_hands
    from signals.choices import WrongChoice

    result = load(run)
    target = to if to is not None else Path(result.get("hand_file", ""))
    if to is None and (result["hand"] in shipped_hands() or not target.is_file()):
        raise WrongChoice(f"{target} came with the program; copy it, and name your own file with --to")
    if to is not None and not to.exists():
        _begin(to, result)
    change = merge(target, (run / PATCH).read_text(encoding="utf-8"), run.resolve().name)
    if as_json:
        print(json.dumps(asdict(change) | {"hand_file": str(target)}))
        return
    print(f"{target}: {', '.join(change.keys)} (change {change.number}; flexor revert {target} goes back)")


def _begin(to: Path, result: dict[str, object]) -> None:
    """A new file begins as the hand that was measured."""
    from hand.file.errors import HandFileError
    from hand.file.loader import load_hand
    from hand.file.text import text_of_file

    source = Path(load_hand(str(result.get("hand_file") or result["hand"])).path)
    to.write_text(text_of_file(source, HandFileError), encoding="utf-8")
