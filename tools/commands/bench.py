"""``flexor bench``: the loop, the tick, its instructions, its stages, a long run - beside yardsticks."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Hand = Annotated[str, typer.Option(help="Hand that is measured.")]
Motion = Annotated[str, typer.Option(help="Motion it makes.")]
Rounds = Annotated[int, typer.Option(min=1, help="Interleaved rounds; 30 or more for a judgement.")]

COMPANY = "Also with io, recorder, five subscribers (one stopped, one slow), and the page, looked at."
ONLY = "Who takes part: cyclictest, c_wait, c_loop, plain, hybrid, plain_company, hybrid_company; by commas."

EPILOG = """Examples:

flexor bench --rounds 30

flexor bench --rounds 30 --company

flexor bench --only cyclictest,plain

flexor bench tick --hand finger_bench --motion finger_wave

Exit code 0: every bound kept; 1: a bound is missed, or nothing could be measured; 2: usage.

docs/real_time.md says what each figure means and why all of them are ratios.
"""


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _finish(result: dict[str, Any], as_json: bool, lines: Callable[[dict[str, Any]], Iterator[str]]) -> None:
    print(json.dumps(result) if as_json else "\n".join(lines(result)))
    raise typer.Exit(1 if result["missed"] else 0)


def _options(hand: str, motion: str) -> Any:
    from hand.options import RunOptions

    return RunOptions(hand=hand, motion=motion)


@app.callback(invoke_without_command=True, epilog=EPILOG)
def bench(
    context: typer.Context,
    as_json: Json = False,
    rounds: Rounds = 30,
    seconds: Annotated[float, typer.Option(min=0.05, help="Length of each participant's turn [s].")] = 2.0,
    company: Annotated[bool, typer.Option("--company", help=COMPANY)] = False,
    only: Annotated[str | None, typer.Option(help=ONLY)] = None,
    kernel: Annotated[
        bool, typer.Option("--kernel/--no-kernel", help="Hold the instruction count against its gate.")
    ] = True,
    hand: Hand = "hasy",
    motion: Motion = "open_close",
) -> None:
    """Measure the real loop beside cyclictest and a C loop, in interleaved rounds, as paired ratios.

    On a quiet machine a round takes a quarter of a minute, with --company half a minute: 30 rounds are about
    8 and 14 minutes. Progress is on stderr.
    """
    if context.invoked_subcommand is not None:
        return
    from benchmarks import run
    from benchmarks.show import kernel_lines, loop_lines

    options = _options(hand, motion)
    counted = _gate(options) if kernel else None
    chosen = tuple(name.strip() for name in only.split(",")) if only else ()
    result = run.loop(options, rounds, seconds, _tell, company=company, only=chosen)
    if counted is not None:
        result["kernel"] = counted
        result["missed"] += counted["missed"]

    def lines(whole: dict[str, Any]) -> Iterator[str]:
        yield from loop_lines(whole)
        if "kernel" in whole:
            yield ""
            yield from kernel_lines(whole["kernel"])

    _finish(result, as_json, lines)


def _gate(options: Any) -> dict[str, Any] | None:
    """The instruction count beside its gate, where the tree has one and valgrind is here."""
    from benchmarks import run
    from benchmarks.kernel import CannotCount, load_gate

    gate = load_gate()
    if gate is None or (gate.hand, gate.motion) != (options.hand, options.motion):
        _tell("no gate of the instruction count for this hand and motion (flexor bench kernel)")
        return None
    try:
        return run.count(options, 1, _tell)
    except CannotCount as error:
        _tell(str(error))
        return None


@app.command(epilog="Example: flexor bench tick --rounds 30")
def tick(
    as_json: Json = False,
    rounds: Rounds = 30,
    ticks: Annotated[int, typer.Option(min=32, help="Ticks of one block.")] = 400,
    hand: Hand = "hasy",
    motion: Motion = "open_close",
) -> None:
    """Time the compiled tick beside a C tick of the same instruction count, hot and after a sleep."""
    from benchmarks import run
    from benchmarks.show import tick_lines

    _finish(run.tick(_options(hand, motion), rounds, ticks, _tell), as_json, tick_lines)


@app.command(epilog="Example: flexor bench kernel")
def kernel(
    as_json: Json = False,
    repeats: Annotated[int, typer.Option(min=1, help="Counts; their spread is reported.")] = 1,
    accept: Annotated[
        bool, typer.Option("--accept", help="Write the gate file anew and calibrate the reference tick.")
    ] = False,
    by_law: Annotated[
        bool, typer.Option("--by-law", help="Also say whose they are: stages, steps, laws.")
    ] = False,
    hand: Hand = "hasy",
    motion: Motion = "open_close",
) -> None:
    """Count the instructions of one tick with callgrind and hold them against the gate."""
    from benchmarks import run
    from benchmarks.show import kernel_lines, law_lines

    def lines(result: dict[str, Any]) -> Iterator[str]:
        yield from kernel_lines(result)
        if by_law:
            yield from law_lines(result)

    _finish(run.count(_options(hand, motion), repeats, _tell, accept=accept), as_json, lines)


@app.command(epilog="Example: flexor bench stages --hand finger_bench")
def stages(
    as_json: Json = False,
    rounds: Rounds = 20,
    cycles: Annotated[int, typer.Option(min=100, help="Cycles of one block.")] = 1500,
    hand: Hand = "hasy",
    motion: Motion = "open_close",
) -> None:
    """Show where the time of a lockstep cycle goes, and the real_time_factor."""
    from benchmarks import run
    from benchmarks.show import stage_lines

    _finish(run.stage_table(_options(hand, motion), rounds, cycles, _tell), as_json, stage_lines)


@app.command(epilog="Example: flexor bench lockstep --hands 4")
def lockstep(
    as_json: Json = False,
    rounds: Rounds = 20,
    cycles: Annotated[int, typer.Option(min=100, help="Cycles of every hand in a round.")] = 1500,
    hands: Annotated[int, typer.Option(min=1, help="Hands side by side.")] = 2,
    hand: Hand = "hasy",
    motion: Motion = "open_close",
) -> None:
    """Show how much faster than real time one hand runs, and how far several in threads are from linear."""
    from benchmarks import run
    from benchmarks.show import lockstep_lines

    _finish(run.lockstep(_options(hand, motion), rounds, cycles, hands, _tell), as_json, lockstep_lines)


@app.command(epilog="Example: flexor bench growth --out docs/images")
def growth(
    as_json: Json = False,
    rounds: Rounds = 10,
    cycles: Annotated[int, typer.Option(min=100, help="Cycles of every hand in a round.")] = 600,
    out: Annotated[Path | None, typer.Option(help="Folder for growth.png.")] = None,
) -> None:
    """Show how cost grows with tendons, rate and hands, beside MuJoCo."""
    from benchmarks import run
    from benchmarks.show import growth_lines

    _finish(run.growing(rounds, cycles, out, _tell), as_json, growth_lines)


@app.command(epilog="Example: flexor bench soak --for 600 --json")
def soak(
    as_json: Json = False,
    seconds: Annotated[float, typer.Option("--for", min=2.0, help="Length of the run [s].")] = 600.0,
    hand: Hand = "hasy",
    motion: Motion = "open_close",
) -> None:
    """Run for ten minutes under stress-ng: memory flat, every slot of the grid accounted for."""
    from benchmarks import run
    from benchmarks.show import soak_lines

    _finish(run.long_run(_options(hand, motion), seconds, _tell), as_json, soak_lines)
