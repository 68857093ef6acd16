"""``flexor run``: one run, its report as text or JSON, its picture."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from runtime.interrupts import Interrupted, Interrupts, stopped_by

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """\b
Kinds of faults:
  of a tendon      tendon-break, tendon-slack, tendon-slip, tendon-off,
                   hall-stuck, hall-offset, hall-noise, hall-saturated,
                   hall-glitch, hall-wrap
  of a motor       motor-lost, friction-growth, encoder-stuck, encoder-jump,
                   motor-reset, motor-hot, nan
  of a wrist axis  wrist-offset

Examples:

flexor run finger_bench --motion open_close --for 10

flexor run hasy --motion open_close --for 4 --lockstep --json

flexor run hasy --motion open_close --for 5 --fault tendon-break:index_4@2

flexor run hasy --bus my_bus.toml --readonly

flexor run finger_bench --motion force_sine --for 6 --without friction --set gains.ripple_gain=1.0
"""

MOTION = "Name, or path of a TOML or CSV file; none: hold with --for or --fault, else wait for clients."
LOCKSTEP = "As fast as possible, repeatable bit by bit; without --for the motion once, or 10 s."
READONLY = "Watch the buses of --bus: state is estimated and published, nothing is ever written."
FAULT = "KIND:NAME@T or KIND:NAME=SIZE@T, e.g. tendon-break:index_4@2; the kinds are below."
TRANSPORT = "tcp: loopback, every user of this machine may watch and command; ipc: this user alone."
PICTURE_FRAMES = 4000
"""Frames of a lockstep run that its picture is drawn from; without ``--out`` none are kept."""


@app.command(epilog=EXAMPLES)
def run(
    hand: Annotated[str, typer.Argument(help="Name of a shipped hand, or path of a hand file.")],
    motion: Annotated[
        str | None,
        typer.Option(help=MOTION),
    ] = None,
    seconds: Annotated[float | None, typer.Option("--for", help="Length of the run [s].")] = None,
    lockstep: Annotated[bool, typer.Option(help=LOCKSTEP)] = False,
    sensors: Annotated[str, typer.Option(help="ideal, quantised or full.")] = "full",
    guides: Annotated[str, typer.Option(help="ideal or friction.")] = "friction",
    mismatch: Annotated[int | None, typer.Option(help="Draw the plant from the tolerances, SEED.")] = None,
    pretension: Annotated[float | None, typer.Option(help="Co-contraction of every finger [N].")] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(help=FAULT),
    ] = None,
    without: Annotated[list[str] | None, typer.Option(help="friction, ripple or wrist.")] = None,
    rate: Annotated[float | None, typer.Option(help="Control rate [Hz].")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sensors' noise.")] = 0,
    bus: Annotated[str | None, typer.Option(help="Bus file of the hardware; default: simulated.")] = None,
    readonly: Annotated[bool, typer.Option("--readonly", help=READONLY)] = False,
    settings: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE of the hand file.")] = None,
    hybrid: Annotated[bool, typer.Option("--hybrid/--plain", help="Sleep, then spin 100 us.")] = False,
    require_realtime: Annotated[
        bool, typer.Option("--require-realtime", help="Do not start without real-time priority.")
    ] = False,
    record: Annotated[bool, typer.Option(help="Record every frame (MCAP) into --out or here.")] = False,
    publish: Annotated[bool, typer.Option(help="Sockets for a lockstep run too.")] = False,
    io_restarts: Annotated[int, typer.Option(min=0, help="Times a dead io process is restarted.")] = 0,
    plotjuggler: Annotated[bool, typer.Option(help="Serve PlotJuggler's default port 9872.")] = False,
    port_base: Annotated[int, typer.Option(help="First of the two ports.")] = 5600,
    transport: Annotated[str, typer.Option(help=TRANSPORT)] = "tcp",
    as_json: Annotated[bool, typer.Option("--json", help="The report alone on stdout, as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for report.json and run.png.")] = None,
) -> None:
    """Run a hand and report how it was estimated and controlled."""
    from hand.options import RunOptions

    out = _place(out)
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
        readonly=readonly,
        settings=tuple(settings or ()),
        hybrid=hybrid,
        require_realtime=require_realtime,
        record=record,
        out=None if out is None else str(out),
        port_base=port_base,
        transport=transport,
        publish=publish or not lockstep,
        io_restarts=io_restarts,
        plotjuggler=plotjuggler,
    )
    _check_places(options)
    with Interrupts() as interrupts:
        try:
            code, message, report = _ways(options)(options, interrupts)
        except (Interrupted, Exception):
            if not interrupts.number or interrupts.moving:
                raise
            # also when a library has made something else of it: nothing was switched on
            code, message, report = _never_started(options, interrupts.number)
    if report is not None:
        code, message = _keep(report, out, code, message)
        _show(report, as_json)
    if message:
        print(message if code == 0 or code > 128 else f"error: {message}", file=sys.stderr)
    sys.stdout.flush()
    raise typer.Exit(code)


Ended = tuple[int, str, dict[str, Any] | None]
"""Exit code, message, report."""


def _ways(options: Any) -> Callable[[Any, Any], Ended]:
    return _with_processes if options.publish else _in_process


def _place(out: Path | None) -> Path | None:
    """Folder of the results: never one that holds another run's."""
    from tools.commands.folder import free_folder

    if out is None:
        return None
    found = free_folder(out)
    if found != out:
        tell(f"{out} holds the results of an earlier run; those of this one go into {found}")
    return found


def _check_places(options: Any) -> None:
    """Refuse a folder that cannot be made or does not hold a recording, before anything is started."""
    if options.out is not None:
        Path(options.out).mkdir(parents=True, exist_ok=True)
    if options.record:
        from telemetry.record.recorder import check_room

        check_room(Path(options.out or "."))


def _never_started(options: Any, number: int) -> Ended:
    from reports.bare import bare_report, ended

    text = f"{stopped_by(number)} before the hand was started; the motors were never switched on"
    report = bare_report(options, options.rate_hz)
    report["ended"] = ended("signal", text)
    return 128 + number, text, report


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


def _in_process(options: Any, interrupts: Interrupts) -> Ended:
    from reports.report import add_picture
    from runtime.processes.phases import Exit
    from runtime.processes.supervisor import IN_FAULT
    from runtime.session import run_options
    from runtime.setup import read_hand, with_length
    from runtime.warmup import warm_up

    hand = read_hand(options)
    _warn(options, hand)
    options = with_length(options, hand)
    warm_up(options, hand)
    log = _log_path(options, hand.name) if options.record else None
    every = 0 if options.out is None else max(1, round(options.seconds * hand.rate_hz / PICTURE_FRAMES))
    with _bar("lockstep") as bar:
        watch = _watcher(bar, options.seconds)
        result = run_options(options, every=every, record=log, watch=watch, interrupts=interrupts)
    report = result.report
    if log is not None:
        report["log"] = str(log)
    if options.out is not None:
        from reports.picture import draw_run

        stats, folder = result.rig.pipeline.channel.stats, Path(options.out)
        add_picture(report, lambda: draw_run(result.frames, hand, stats, report, folder))
    ended = report["ended"]
    if ended["why"] == "signal":
        return 128 + interrupts.number, f"{ended['text']}; the simulated hand was let go", report
    if ended["why"] == "not started":
        return Exit.NOT_STARTED, ended["text"], report
    if result.in_fault:
        report["ended"] = {"why": "fault", "text": IN_FAULT}
        return Exit.FAULT, IN_FAULT, report
    return Exit.GOOD, "", report


def _warn(options: Any, hand: Any) -> None:
    """What is hard to believe in the hand file, before anything moves."""
    from hand.mechanism_file import read_mechanism_hand
    from hand.review import mechanism as margins
    from hand.review.suspicions import suspicions

    if hand.mechanism is None:
        path, found = hand.file.path, suspicions(hand.file, options.rate_hz)
    else:
        read = read_mechanism_hand(options.hand)
        path, found = read.path, margins.suspicions(read, options.rate_hz)
    for suspicion in found:
        tell(f"warning: {path}: {suspicion}")


def _log_path(options: Any, name: str) -> Path:
    from telemetry.record.recorder import free_path

    return free_path(Path(options.out or "."), f"{name}-{options.motion or 'hold'}")


def _with_processes(options: Any, interrupts: Interrupts) -> Ended:
    from runtime.backends import unproven
    from runtime.processes.supervisor import Supervisor
    from runtime.setup import check, read_hand, with_length
    from telemetry.sockets import places_of

    hand = read_hand(options)
    _warn(options, hand)
    options = with_length(options, hand)
    check(options, hand)  # refused here, before a child starts
    places = places_of(options.transport, options.port_base)
    does = "" if options.motion else "; holds the start pose" if options.starts else "; waits for clients"
    does = "; watches, writes nothing" if options.readonly else does
    tell(
        f"{hand.name} at {hand.rate_hz:g} Hz, state on {places.publish}, "
        f"commands on {places.command}{does}" + ("" if options.seconds else "; Ctrl-C ends the run")
    )
    for text in () if options.readonly else unproven(options.bus, hand.names):
        tell(f"warning: {text}")
    with _bar(hand.name) as bar:
        watch = _watcher(bar, options.seconds or 0.0)
        outcome = Supervisor(options, hand.rate_hz, tell, watch).run()
    return outcome.code, outcome.message, outcome.report


def _keep(report: dict[str, Any], out: Path | None, code: int, message: str) -> tuple[int, str]:
    """Report into its folder, before it is shown; a folder that takes no file is an error, but a late one."""
    if out is None:
        return code, message
    report["out"] = str(out)
    try:
        (out / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="ascii")
    except OSError as error:
        from telemetry.record.recorder import free_bytes

        with suppress(OSError):
            (out / "report.json").unlink()  # a part of a report is none
        free = free_bytes(out) / 2**20
        text = f"{out / 'report.json'} could not be written: {error.strerror} ({free:.0f} MB free there)"
        return (code or 1), (f"{message}; {text}" if message else text)
    return code, message


def _show(report: dict[str, Any], as_json: bool) -> None:
    """Report on stdout."""
    if as_json:
        print(json.dumps(report))
    elif "incomplete" not in report:
        from reports.text import lines

        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        print("\n".join(lines(report, color)))
    sys.stdout.flush()
