"""``flexor calibrate``: is everything connected as the hand file says, and where are its zeros?"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """The hand is straight and its tendons are on their spools. No joint moves by more than 5 deg until
every motor is known to wind its own tendon, the right way.

wiring: directions, cables, slack tendons, lost turns. travel: every joint from stop to stop, once the wiring
is good. zero: as travel, and each motor's angle of the straight hand for the hand file.

Exit code 0: all parts are good; 1: some are not; 2: usage; 3: the hand went into fault; 130: stopped.

Examples:

flexor calibrate wiring --hand finger_bench --lockstep

flexor calibrate zero --hand my_hand.toml --bus my_bus.toml --out zeros

flexor calibrate wiring index_3 --hand my_hand.toml --bus my_bus.toml
"""


@app.command(epilog=EPILOG)
def calibrate(
    kind: Annotated[str, typer.Argument(help="wiring, travel or zero.")],
    parts: Annotated[list[str] | None, typer.Argument(help="Tendons, motors, fingers; default: all.")] = None,
    hand: Annotated[str, typer.Option(help="A shipped hand, or a hand file.")] = "finger_bench",
    bus: Annotated[str | None, typer.Option(help="Bus file of the hardware; default: simulated.")] = None,
    lockstep: Annotated[bool, typer.Option(help="In simulated time.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the results.")] = None,
    plant: Annotated[str | None, typer.Option(help="Hand file of the simulated hand, if another.")] = None,
    mismatch: Annotated[int | None, typer.Option(help="Draw the plant from the tolerances, SEED.")] = None,
    fault: Annotated[list[str] | None, typer.Option(help="Of the simulated hand, as in run.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the sensors' noise.")] = 0,
    port_base: Annotated[int, typer.Option(help="First of the two ports.")] = 5600,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Look at a hand's connections; find its zeros."""
    from calibration.calibrate import KINDS, calibrated
    from calibration.motion_run import Faulted
    from calibration.run_folder import store
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from signals.choices import WrongChoice, advice
    from tools.commands.measuring import folder_for, say, tendons_named
    from tools.commands.telling import progress

    if kind not in KINDS:
        raise WrongChoice(f"no kind {kind!r} to calibrate; {advice(kind, KINDS)}")
    options = RunOptions(
        hand=hand, bus=bus, lockstep=lockstep, plant=plant, mismatch=mismatch, faults=tuple(fault or ()),
        seed=seed, port_base=port_base,
    )  # fmt: skip
    read = read_hand(options)
    tendons, begun = tendons_named(read, parts or []), time.monotonic()
    try:
        with progress(f"calibrate {kind}") as told:
            watch = told.share if told is not None else lambda _: None
            found = calibrated(kind, read, options, tendons, watch)
    except Faulted as error:
        print(f"error: {error}", file=sys.stderr)
        raise typer.Exit(3) from None
    folder = folder_for(out, f"calibrate {kind}", read.name)
    result = store(folder, f"calibrate {kind}", read, found, time.monotonic() - begun)
    raise typer.Exit(say(result, as_json))
