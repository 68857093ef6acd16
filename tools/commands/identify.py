"""``flexor identify``: measure friction, inertia and ripple of the drives of a hand."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """The tendons of these motors must be off their spools; on hardware say --tendons-off when they are.

Exit code 0: all parts are good; 1: some are not; 2: usage; 3: the hand went into fault; 130: stopped.

Examples:

flexor identify drives --hand finger_bench --lockstep --out drives

flexor identify ripple m_index_1 --hand my_hand.toml --bus my_bus.toml --tendons-off --out ripple

flexor apply drives --to my_hand.toml
"""


@app.command(epilog=EPILOG)
def identify(
    kind: Annotated[str, typer.Argument(help="friction, inertia, ripple, or drives: all three.")],
    parts: Annotated[list[str] | None, typer.Argument(help="Motors or fingers; default: all motors.")] = None,
    hand: Annotated[str, typer.Option(help="A shipped hand, or a hand file.")] = "finger_bench",
    bus: Annotated[str | None, typer.Option(help="Bus file of the hardware; default: simulated.")] = None,
    lockstep: Annotated[bool, typer.Option(help="In simulated time.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the results.")] = None,
    tendons_off: Annotated[bool, typer.Option("--tendons-off", help="The tendons are off.")] = False,
    plant: Annotated[str | None, typer.Option(help="Hand file of the simulated hand, if another.")] = None,
    mismatch: Annotated[int | None, typer.Option(help="Draw the plant from the tolerances, SEED.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sensors' noise.")] = 0,
    port_base: Annotated[int, typer.Option(help="First of the two ports.")] = 5600,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Turn motors without load; write friction, inertia or ripple with 95 % intervals, a page and a patch."""
    from calibration.identify import KINDS, identified
    from calibration.motion_run import Faulted
    from calibration.run_folder import store
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from signals.choices import WrongChoice, advice
    from tools.commands.measuring import folder_for, motors_named, say
    from tools.commands.telling import progress

    if kind not in KINDS:
        raise WrongChoice(f"no kind {kind!r} to identify; {advice(kind, KINDS)}")
    if bus is not None and not tendons_off:
        raise WrongChoice("take the tendons of these motors off their spools, then say --tendons-off")
    options = RunOptions(
        hand=hand, bus=bus, lockstep=lockstep, plant=plant, mismatch=mismatch, seed=seed, port_base=port_base
    )
    read = read_hand(options)
    motors = motors_named(read, parts or [])
    begun = time.monotonic()
    try:
        with progress(f"identify {kind}") as told:
            found = identified(
                kind, read, options, motors, told.share if told is not None else lambda _: None
            )
    except Faulted as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(3) from None
    folder = folder_for(out, f"identify {kind}", read.name)
    result = store(folder, f"identify {kind}", read, found, time.monotonic() - begun)
    raise typer.Exit(say(result, as_json))
