"""``flexor commission``: everything that is to be measured of a hand, in the right order."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from tools.commands.options import (
    Bus,
    Json,
    Lockstep,
    Mismatch,
    Plant,
    PortBase,
    Seed,
    TendonsOff,
    View,
    Wiring,
)

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """Steps: drives (tendons off their spools), wiring, tension, levers, geometry, guides,
wrist (of a hand with one), zero; a hand without sensors at its tendons has one, pairs, with the tendons on.
Each step measures with what the ones before have found, and a step that was good is not made again: stop when
you like, the same command goes on.

On hardware: first with --tendons-off, for the drives; then put the tendons on and say it without.

Exit code 0: all parts are good; 1: some are not; 2: usage; 3: the hand went into fault; 130: stopped.

Examples:

flexor commission finger_bench --lockstep --out mine

flexor commission my_hand.toml --bus my_bus.toml --tendons-off --out mine

flexor apply mine --to my_hand.toml
"""


@app.command(epilog=EPILOG)
def commission(
    hand: Annotated[str, typer.Argument(help="A shipped hand, or a hand file.")],
    bus: Bus = None,
    lockstep: Lockstep = False,
    wiring: Wiring = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder; default: commission-HAND.")] = None,
    tendons_off: TendonsOff = False,
    plant: Plant = None,
    mismatch: Mismatch = None,
    seed: Seed = 0,
    port_base: PortBase = 5600,
    view: View = False,
    as_json: Json = False,
) -> None:
    """Measure drives, connections, tensions, levers, arms, guides, wrist, zeros; a verdict for every part."""
    from calibration.commission import commissioned, new_since, steps_of
    from calibration.motion_run import Faulted, Stopped
    from hand.hand import must_be_tendon_hand
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from signals.choices import WrongChoice
    from tools.commands.folder import make_folder
    from tools.commands.measuring import both, page_of, say
    from tools.commands.telling import progress
    from tools.view.beside import page_beside

    must_be_tendon_hand(hand)
    page = page_of(view, lockstep, port_base)
    folder = out or Path(f"commission-{Path(hand).stem}")
    options = RunOptions(
        hand=hand, bus=bus, lockstep=lockstep, wiring=wiring, plant=plant, mismatch=mismatch,
        seed=seed, port_base=port_base,
    )  # fmt: skip
    original, begun = read_hand(options), time.time()
    steps_of(original)  # a hand that cannot be measured is refused before there is a folder of it
    make_folder(folder)
    try:
        with page_beside(page is not None, port_base) as tell, progress("commission") as told:

            def watch(step: str) -> Callable[[float], None]:
                if told is not None:
                    told.line(step)
                return both(told.share if told is not None else lambda _: None, step, tell)

            result = commissioned(original, options, folder, tendons_off, watch)
    except (KeyboardInterrupt, Exception) as error:
        if not isinstance(error, WrongChoice) and (said := new_since(folder, begun)):
            print(said, file=sys.stderr)
        if isinstance(error, Stopped):
            print(error, file=sys.stderr)
            raise typer.Exit(error.code) from None
        if isinstance(error, Faulted):
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(3) from None
        raise
    raise typer.Exit(say(result, as_json))
