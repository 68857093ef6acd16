"""``flexor identify``: measure friction, inertia and ripple of the drives of a hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tools.commands.options import (
    Bus,
    HandOption,
    Json,
    Lockstep,
    Mismatch,
    Plant,
    PortBase,
    Results,
    Seed,
    TendonsOff,
)

if TYPE_CHECKING:
    from calibration.found import Found
    from calibration.motion_run import Watch

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
    hand: HandOption = "finger_bench",
    bus: Bus = None,
    lockstep: Lockstep = False,
    out: Results = None,
    tendons_off: TendonsOff = False,
    plant: Plant = None,
    mismatch: Mismatch = None,
    seed: Seed = 0,
    port_base: PortBase = 5600,
    as_json: Json = False,
) -> None:
    """Turn motors without load; write friction, inertia or ripple with 95 % intervals, a page and a patch."""
    from calibration.identify import KINDS, identified
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from signals.choices import WrongChoice, advice
    from tools.commands.measuring import measured, motors_named

    if kind not in KINDS:
        raise WrongChoice(f"no kind {kind!r} to identify; {advice(kind, KINDS)}")
    if bus is not None and not tendons_off:
        raise WrongChoice("take the tendons of these motors off their spools, then say --tendons-off")
    options = RunOptions(
        hand=hand, bus=bus, lockstep=lockstep, plant=plant, mismatch=mismatch, seed=seed, port_base=port_base
    )
    read = read_hand(options)
    motors = motors_named(read, parts or [])

    def find(watch: Watch) -> Found:
        return identified(kind, read, options, motors, watch)

    raise typer.Exit(measured(f"identify {kind}", read, out, as_json, find))
