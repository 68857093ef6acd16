"""``flexor faults``: seeded faults in a simulated hand in motion, judged by the recorder; false alarms."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Examples:

flexor faults hasy --trials 200 --out trials

flexor faults hasy --kinds tendon-break --trials 2000 --json

flexor faults hasy --trial 1000023 --out trials

flexor faults hasy --none --minutes 30 --hands 20
"""


@app.command(epilog=EXAMPLES)
def faults(
    hand: Annotated[str, typer.Argument(help="Name of a shipped hand, or path of a hand file.")],
    trials: Annotated[int, typer.Option(min=1, help="Number of trials.")] = 100,
    kinds: Annotated[
        list[str] | None, typer.Option(help="Kinds of faults; may be repeated, or a,b,c.")
    ] = None,
    motions: Annotated[list[str] | None, typer.Option(help="Motions; all that the hand can make.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Base of the trials' seeds, SEED x 1000000.")] = 0,
    hands: Annotated[
        int | None,
        typer.Option(
            min=1, help="Hands: with trials the file's and HANDS - 1 drawn ones; with --none all drawn."
        ),
    ] = None,
    trial: Annotated[
        int | None, typer.Option(help="Run the one trial of this seed again and draw it.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="No faults: count false alarms.")] = False,
    minutes: Annotated[float, typer.Option(min=0.01, help="With --none: simulated time in all.")] = 30.0,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes; one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything on stdout, as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for faults.json and faults.png.")] = None,
) -> None:
    """Inject one fault per trial into the hand in motion; judge what truly happened by fixed rules.

    Exit code 0: no rule broken (or no false alarm); 1: some are; 2: a wrong argument; 130: stopped, with the
    results so far.
    """
    from runtime.faults.ask import Ask, fault_free, one_trial, run_trials

    ask = Ask(
        hand=hand,
        trials=trials,
        kinds=_words(kinds),
        motions=_words(motions),
        seed=seed,
        hands=hands,
        minutes=minutes,
        workers=workers,
        out=out,
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    if trial is not None:
        answer = one_trial(ask, trial)
    elif none:
        answer = fault_free(ask, _bar)
    else:
        answer = run_trials(ask, _bar)
    if out is not None:
        (out / answer.file).write_text(json.dumps(answer.report, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print(json.dumps(answer.report))
    else:
        print("\n".join(answer.lines))
    sys.stdout.flush()
    raise typer.Exit(answer.code)


def _words(given: list[str] | None) -> tuple[str, ...]:
    return tuple(w.strip() for part in given or () for w in part.split(",") if w.strip())


def _bar(title: str, total: int) -> Any:
    """Progress bar on stderr; none when stderr is no terminal."""
    if not sys.stderr.isatty():
        return nullcontext(None)
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    bar.add_task(title, total=total)
    return bar
