"""``flexor run``: one run, its report as text or JSON, its picture."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Examples:

flexor run finger_bench --motion open_close --for 10

flexor run hasy --motion open_close --for 4 --lockstep --json

flexor run finger_bench --motion force_sine --for 6 --without friction --set gains.ripple_gain=1.0
"""


@app.command(epilog=EXAMPLES)
def run(
    hand: Annotated[str, typer.Argument(help="Name of a shipped hand, or path of a hand file.")],
    motion: Annotated[str | None, typer.Option(help="Motion by name, or path of a TOML or CSV file.")] = None,
    seconds: Annotated[float | None, typer.Option("--for", help="Length of the run [s].")] = None,
    lockstep: Annotated[bool, typer.Option(help="As fast as possible, repeatable bit by bit.")] = False,
    sensors: Annotated[str, typer.Option(help="ideal, quantised or full.")] = "full",
    guides: Annotated[str, typer.Option(help="ideal or friction.")] = "friction",
    mismatch: Annotated[int | None, typer.Option(help="Draw the plant from the tolerances, SEED.")] = None,
    pretension: Annotated[float | None, typer.Option(help="Co-contraction of every finger [N].")] = None,
    fault: Annotated[list[str] | None, typer.Option(help="KIND:NAME@T, e.g. tendon-break:index_4@2.")] = None,
    without: Annotated[list[str] | None, typer.Option(help="friction, ripple or wrist.")] = None,
    rate: Annotated[float | None, typer.Option(help="Control rate [Hz].")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sensors' noise.")] = 0,
    bus: Annotated[str | None, typer.Option(help="Bus file of the hardware; default: simulated.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE of the hand file.")] = None,
    hybrid: Annotated[bool, typer.Option("--hybrid/--plain", help="Sleep, then spin 100 us.")] = False,
    record: Annotated[bool, typer.Option(help="Record every frame (MCAP) into --out or here.")] = False,
    publish: Annotated[bool, typer.Option(help="Sockets for a lockstep run too.")] = False,
    io_restarts: Annotated[int, typer.Option(min=0, help="Times a dead io process is restarted.")] = 0,
    plotjuggler: Annotated[bool, typer.Option(help="Serve PlotJuggler's default port 9872.")] = False,
    port_base: Annotated[int, typer.Option(help="First of the two ports.")] = 5600,
    as_json: Annotated[bool, typer.Option("--json", help="The report alone on stdout, as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for report.json and run.png.")] = None,
) -> None:
    """Run a hand and report how it was estimated and controlled."""
    from runtime.options import RunOptions

    options = RunOptions(
        hand=hand,
        motion=motion,
        seconds=seconds,
        lockstep=lockstep,
        sensors=sensors,
        guides=guides,
        mismatch=mismatch,
        pretension_n=pretension,
        faults=tuple(fault or ()),
        without=tuple(without or ()),
        rate_hz=rate,
        seed=seed,
        bus=bus,
        settings=tuple(settings or ()),
        hybrid=hybrid,
        record=record,
        out=None if out is None else str(out),
        port_base=port_base,
        publish=publish or not lockstep,
        io_restarts=io_restarts,
        plotjuggler=plotjuggler,
    )
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    code, message, report = _with_processes(options) if options.publish else _in_process(options)
    if report is not None:
        _show(report, as_json, out)
    if message:
        print(message if code == 0 else f"error: {message}", file=sys.stderr)
    sys.stdout.flush()
    raise typer.Exit(code)


def tell(text: str) -> None:
    """A sentence for people."""
    print(text, file=sys.stderr)


def _bar(title: str) -> Any:
    """Progress bar on stderr; none when stderr is no terminal."""
    if not sys.stderr.isatty():
        return nullcontext(None)
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(title), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _watcher(bar: Any, seconds: float) -> Any:
    if bar is None:
        return None
    task = bar.add_task("run", total=1.0)
    return lambda share: bar.update(task, completed=share)


def _in_process(options: Any) -> tuple[int, str, dict[str, Any] | None]:
    from runtime.processes.phases import Exit
    from runtime.processes.supervisor import IN_FAULT
    from runtime.session import run_options
    from runtime.setup import read_hand
    from runtime.warmup import warm_up

    hand = read_hand(options)
    warm_up(options, hand)
    log = _log_path(options, hand.name) if options.record else None
    seconds = options.seconds or 0.0
    every = max(1, round(seconds * hand.rate_hz / 4000))
    with _bar("lockstep") as bar:
        result = run_options(options, every=every, record=log, watch=_watcher(bar, seconds))
    report = result.report
    if log is not None:
        report["log"] = str(log)
    if options.out is not None:
        from runtime.reports.picture import draw_run

        stats = result.rig.pipeline.channel.stats
        picture = draw_run(result.frames, hand, stats, report, Path(options.out))
        if picture is not None:
            report["picture"] = str(picture)
    if result.in_fault:
        return Exit.FAULT, IN_FAULT, report
    return Exit.GOOD, "", report


def _log_path(options: Any, name: str) -> Path:
    from runtime.telemetry.recorder import free_path

    return free_path(Path(options.out or "."), f"{name}-{options.motion or 'hold'}")


def _with_processes(options: Any) -> tuple[int, str, dict[str, Any] | None]:
    from runtime.processes.supervisor import Supervisor
    from runtime.setup import check, read_hand

    hand = read_hand(options)
    check(options, hand)  # refused here, before a child starts
    tell(
        f"{hand.name} at {hand.rate_hz:g} Hz, state on tcp://127.0.0.1:{options.port_base}, "
        f"commands on {options.port_base + 1}" + ("" if options.seconds else "; Ctrl-C ends the run")
    )
    with _bar(hand.name) as bar:
        watch = _watcher(bar, options.seconds or 0.0)
        outcome = Supervisor(options, hand.rate_hz, tell, watch).run()
    return outcome.code, outcome.message, outcome.report


def _show(report: dict[str, Any], as_json: bool, out: Path | None) -> None:
    if out is not None:
        (out / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    if as_json:
        print(json.dumps(report))
        return
    from runtime.reports.text import lines

    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    print("\n".join(lines(report, color)))
