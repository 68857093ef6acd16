"""``flexor faults``: seeded faults in a simulated hand in motion, judged by the recorder; false alarms."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from runtime.interrupts import Interrupted, Interrupts, ending_signals, stopped_by
from signals.choices import WrongChoice
from tools.commands.folder import make_folder

if TYPE_CHECKING:
    from trials.request import CampaignResult

STOPPED: Final = 130
LINE_S: Final = 10.0
"""Between two lines of progress where stderr is no terminal."""

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Examples:

flexor faults hasy --trials 200 --out trials

flexor faults hasy --kinds tendon-break --trials 2000 --json

flexor faults hasy --trial 1000023 --out trials

flexor faults hasy --none --minutes 30 --hands 20

flexor faults hasy --double --trials 10000 --out double (or --touch, --storms; the same again goes on)
"""


@app.command(epilog=EXAMPLES)
def faults(
    hand: Annotated[str, typer.Argument(help="Name of a shipped hand, or path of a hand file.")],
    trials: Annotated[int, typer.Option(min=1, help="Number of trials.")] = 100,
    kinds: Annotated[
        list[str] | None, typer.Option(help="Kinds of faults; may be repeated, or a,b,c.")
    ] = None,
    motions: Annotated[list[str] | None, typer.Option(help="Motions; all that the hand can make.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of trials from SEED x 1000000 on; --none: of hands.")] = 0,
    hands: Annotated[
        int | None,
        typer.Option(
            min=1, help="Hands: with trials the file's and HANDS - 1 drawn ones; with --none all drawn."
        ),
    ] = None,
    trial: Annotated[
        int | None, typer.Option(min=0, help="Run the one trial of this seed again and draw it.")
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="No faults: count false alarms.")] = False,
    double: Annotated[
        bool, typer.Option("--double", help="A second fault within 0.5 s, or a client's storm around one.")
    ] = False,
    touch: Annotated[
        bool, typer.Option("--touch", help="Pushes, jabs and collisions, half of them with a fault.")
    ] = False,
    storms: Annotated[
        bool, typer.Option("--storms", help="No faults: a client storms with legal goals and requests.")
    ] = False,
    minutes: Annotated[float | None, typer.Option(min=0.01, help="Simulated with --none; else 30.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Worker processes; one per core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything on stdout, as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for faults.json and faults.png.")] = None,
) -> None:
    """Inject one fault per trial into the hand in motion; judge what truly happened by fixed rules.

    Exit code 0: no rule broken (or no false alarm); 1: some are; 2: a wrong argument; 130: stopped, with the
    results so far.
    """
    answer = _answer(
        trial,
        none,
        hand=hand,
        trials=trials,
        kinds=_words("--kinds", kinds),
        motions=_words("--motions", motions),
        seed=seed,
        hands=hands,
        campaign=_campaign(trial, minutes, kinds, none=none, double=double, touch=touch, storms=storms),
        minutes=minutes,
        workers=workers,
        out=out,
    )
    if out is not None:
        (out / answer.file).write_text(json.dumps(answer.report, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print(json.dumps(answer.report))
    else:
        print("\n".join(answer.lines))
    sys.stdout.flush()
    raise typer.Exit(answer.code)


def _campaign(trial: int | None, minutes: float | None, kinds: list[str] | None, **asked: bool) -> str:
    """The one campaign that is asked for; of ``none`` there are no trials, and no kinds of them."""
    chosen = [name for name, wanted in asked.items() if wanted]
    if len(chosen) > 1:
        raise WrongChoice(f"--{chosen[0]} and --{chosen[1]} are two campaigns; legal: one of them")
    for option, value in (("--trial", trial), ("--kinds", kinds)):
        if value not in (None, []) and chosen == ["none"]:
            raise WrongChoice(f"{option} and --none: without faults there are no trials; legal: one of them")
    if minutes is not None and chosen != ["none"]:
        raise WrongChoice("--minutes without --none: a trial has its own length; legal: with --none")
    return chosen[0] if chosen else "single"


def _words(option: str, given: list[str] | None) -> tuple[str, ...]:
    """Words of a repeatable option, each a list with commas; empty: not given, which means all."""
    words = tuple(w.strip() for part in given or () for w in part.split(",") if w.strip())
    if given and not words:
        raise WrongChoice(f"{option} {given[0]!r} names nothing; legal: a name, or a,b,c; without it all")
    return words


def _answer(trial: int | None, none: bool, **given: Any) -> CampaignResult:
    with Interrupts(ending_signals()) as interrupts:
        try:
            from hand.file.text import read_once

            interrupts.check()
            with read_once():
                return _asked(interrupts, trial, none, **given)
        except (Interrupted, Exception):
            if not interrupts.number or interrupts.moving:
                raise
            # also when a library has made something else of it
            print(f"{stopped_by(interrupts.number)}: nothing was done yet", file=sys.stderr)
            raise typer.Exit(STOPPED) from None


def _asked(interrupts: Interrupts, trial: int | None, none: bool, **given: Any) -> CampaignResult:
    from trials.request import CampaignRequest, fault_free, one_trial, run_trials

    request, watch = CampaignRequest(**given), Onlooker(interrupts)
    if request.out is not None:
        make_folder(request.out)
    if trial is not None:
        return one_trial(request, trial)
    return fault_free(request, watch) if none else run_trials(request, watch)


@dataclass
class Onlooker:
    """Progress on stderr: a bar on a terminal, else a line now and then; stops by a signal.

    Args:
        interrupts: signals; from the first progress on they are only counted, so that what is done is kept.
    """

    interrupts: Interrupts

    def stopped(self) -> bool:
        """True once a signal came."""
        return self.interrupts.number != 0

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Callable[[int], None]]:
        """Shows how many are done."""
        self.interrupts.moving = True
        if not sys.stderr.isatty():
            yield _Lines(title, total)
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total)
            yield lambda done: bar.update(task, completed=done)


@dataclass
class _Lines:
    """A line at the first results and every ``LINE_S`` after it."""

    title: str
    total: int
    begun_s: float = field(default_factory=time.monotonic)
    next_s: float = 0.0

    def __call__(self, done: int) -> None:
        now_s = time.monotonic()
        if now_s >= self.next_s:
            self.next_s = now_s + LINE_S
            text = f"{self.title}: {done} of {self.total} in {now_s - self.begun_s:.0f} s"
            print(text, file=sys.stderr, flush=True)
