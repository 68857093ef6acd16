"""``flexor run``: one run, its report as text or JSON, its picture."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from runtime.interrupts import Interrupts
from sim.options import Fault
from tools.commands.options import Bus, Mismatch, Plant, PortBase, Seed, Wiring

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def _kinds() -> Iterator[str]:
    """Kinds of faults by the part that they strike."""
    parts = (("a tendon", "tendon"), ("a motor", "motor"), ("a joint", "joint"), ("a wrist axis", "axis"))
    for part, space in parts:
        kinds = ", ".join(kind for kind in Fault.kinds() if Fault.space(kind) == space)
        yield from textwrap.wrap(
            kinds, 72, initial_indent=f"  of {part:14}", subsequent_indent=" " * 19, break_on_hyphens=False
        )


def _say_loading(hand: str) -> None:
    """What comes first takes seconds; only a person wants to know."""
    if sys.stderr.isatty():
        print(f"{hand}: loading", file=sys.stderr, flush=True)


EXAMPLES = (
    "\b\nKinds of faults:\n"
    + "\n".join(_kinds())
    + """

Examples:

flexor run finger_bench --motion open_close --for 10

flexor run hasy --motion open_close --for 4 --lockstep --json

flexor run hasy --motion open_close --for 5 --fault tendon-break:index_4@2

flexor run hasy --bus my_bus.toml --readonly

flexor run finger_bench --motion force_sine --for 6 --without friction --set gains.ripple_gain=1.0
"""
)

MOTION = "Name, or path of a TOML or CSV file; none: hold with --for or --fault, else wait for clients."
LOCKSTEP = "As fast as possible, repeatable bit by bit; without --for the motion once, or 10 s."
READONLY = "Watch the buses of --bus: state is estimated and published, nothing is ever written."
FAULT = "KIND:NAME@T or KIND:NAME=SIZE@T, e.g. tendon-break:index_4@2; the kinds are below."
TRANSPORT = "tcp: loopback, every user of this machine may watch and command; ipc: this user alone."
ADDRESS = "Where to listen: 127.0.0.1, or an address of this machine (0.0.0.0: all); others need --keys."
KEYS = "Who may watch and who may command: a file that 'flexor keys' makes; without: every local user."
BLACK_BOX = "Memory [MB] for the last 20 s at full rate, written down at a fault; 0: none."
VIEW = "Show the hand in the browser too (extra 'view'), in a process of its own."
REALTIME = "Do not start without real-time priority."


@app.command(epilog=EXAMPLES)
def run(
    hand: Annotated[
        str, typer.Argument(envvar="FLEXOR_HAND", help="Name of a shipped hand, or path of a hand file.")
    ],
    motion: Annotated[str | None, typer.Option(help=MOTION)] = None,
    seconds: Annotated[float | None, typer.Option("--for", help="Length of the run [s].")] = None,
    lockstep: Annotated[bool, typer.Option(help=LOCKSTEP)] = False,
    wiring: Wiring = None,
    sensors: Annotated[str, typer.Option(help="ideal, quantised or full.")] = "full",
    guides: Annotated[str, typer.Option(help="ideal or friction.")] = "friction",
    mismatch: Mismatch = None,
    plant: Plant = None,
    pretension_n: Annotated[
        float | None, typer.Option("--pretension", help="Co-contraction of every finger [N].")
    ] = None,
    faults: Annotated[list[str] | None, typer.Option("--fault", help=FAULT)] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="friction, ripple, guides, lever or wrist.")
    ] = None,
    rate_hz: Annotated[float | None, typer.Option("--rate", help="Control rate [Hz].")] = None,
    seed: Seed = 0,
    bus: Bus = None,
    readonly: Annotated[bool, typer.Option("--readonly", help=READONLY)] = False,
    settings: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE of the hand file.")] = None,
    hybrid: Annotated[bool, typer.Option("--hybrid/--plain", help="Sleep, then spin 100 us.")] = False,
    require_realtime: Annotated[bool, typer.Option("--require-realtime", help=REALTIME)] = False,
    record: Annotated[bool, typer.Option(help="Record every frame (MCAP) into --out or here.")] = False,
    black_box_mb: Annotated[int, typer.Option("--black-box-mb", help=BLACK_BOX)] = 512,
    publish: Annotated[bool, typer.Option(help="Sockets for a lockstep run too.")] = False,
    io_restarts: Annotated[int, typer.Option(min=0, help="Times a dead io process is restarted.")] = 0,
    plotjuggler: Annotated[bool, typer.Option(help="Serve PlotJuggler's default port 9872.")] = False,
    port_base: PortBase = 5600,
    transport: Annotated[str, typer.Option(help=TRANSPORT)] = "tcp",
    address: Annotated[str, typer.Option(help=ADDRESS)] = "127.0.0.1",
    keys: Annotated[str | None, typer.Option(metavar="FILE", help=KEYS)] = None,
    view: Annotated[bool, typer.Option("--view", help=VIEW)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report alone on stdout, as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder for report.json and run.png.")] = None,
) -> None:
    """Run a hand and report how it was estimated and controlled."""
    given = dict(locals())  # the options by their names, which are those of RunOptions
    _say_loading(hand)
    from hand.options import RunOptions
    from tools.commands.running import carry_out, keep, place, show
    from tools.view.beside import page_beside

    del given["as_json"], given["view"]
    out = place(out)
    lists = {key: tuple(given[key] or ()) for key in ("faults", "without", "settings")}
    more = {"out": None if out is None else str(out), "publish": publish or not lockstep}
    options = RunOptions(**(given | lists | more))
    with page_beside(view, port_base), Interrupts() as interrupts:
        code, message, report = carry_out(options, interrupts)
    if report is not None:
        code, message = keep(report, out, code, message)
        show(report, as_json)
    if message:
        print(message if code == 0 or code > 128 else f"error: {message}", file=sys.stderr)
    raise typer.Exit(code)
