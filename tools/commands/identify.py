"""``flexor identify``: measure a hand's drives, levers, lever arms and guides."""

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
    View,
    Wiring,
)

if TYPE_CHECKING:
    from calibration.found import Found
    from calibration.motion_run import Watch

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """friction, inertia, ripple, drives: the tendons of these motors are off their spools; on
hardware say --tendons-off when they are.

springs: the hand is straight with its tendons on; all tensions go up and down while the joints stand, which
shows the friction loop of each lever. levers: the same and calibrate hall from one run. geometry: then every
joint goes to its stops, which shows lever arms, spools and how large a force is. guides: the joints go to and
fro at two tensions, which shows what guides and joints take. pairs: joints whose motor winds both tendons and
that no sensor tells go through their range and into their stops.

Exit code 0: all parts are good; 1: some are not; 2: usage; 3: the hand went into fault; 130: stopped.

Examples:

flexor identify drives --hand finger_bench --lockstep --out drives

flexor identify ripple m_index_1 --hand my_hand.toml --bus my_bus.toml --tendons-off --out ripple

flexor identify springs index --hand my_hand.toml --bus my_bus.toml --out springs

flexor apply drives --to my_hand.toml
"""


@app.command(epilog=EPILOG)
def identify(
    kind: Annotated[
        str,
        typer.Argument(help="friction, inertia, ripple, drives; springs, levers, geometry, guides; pairs."),
    ],
    parts: Annotated[
        list[str] | None, typer.Argument(help="Motors, tendons or fingers; default: all.")
    ] = None,
    hand: HandOption = "finger_bench",
    bus: Bus = None,
    lockstep: Lockstep = False,
    wiring: Wiring = None,
    out: Results = None,
    tendons_off: TendonsOff = False,
    plant: Plant = None,
    mismatch: Mismatch = None,
    seed: Seed = 0,
    port_base: PortBase = 5600,
    view: View = False,
    as_json: Json = False,
) -> None:
    """Measure drives, levers, guides, pairs; write parameters with 95 % intervals, a page, a patch."""
    from calibration.calibrate import IDENTIFIED, calibrated
    from calibration.identify import KINDS, identified
    from hand.hand import must_be_tendon_hand
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from signals.choices import WrongChoice, advice
    from tools.commands.measuring import measured, motors_named, page_of, tendons_named

    kinds = (*KINDS, *IDENTIFIED)
    if kind not in kinds:
        raise WrongChoice(f"no kind {kind!r} to identify; {advice(kind, kinds)}")
    if kind in IDENTIFIED and tendons_off:
        raise WrongChoice(
            f"{kind} need the tendons on their spools: put them on, and leave --tendons-off out"
        )
    if kind in KINDS and bus is not None and not tendons_off:
        raise WrongChoice("take the tendons of these motors off their spools, then say --tendons-off")
    options = RunOptions(
        hand=hand, bus=bus, lockstep=lockstep, wiring=wiring, plant=plant, mismatch=mismatch,
        seed=seed, port_base=port_base,
    )  # fmt: skip
    must_be_tendon_hand(hand)
    page = page_of(view, lockstep, port_base)
    read = read_hand(options)
    motors, tendons = motors_named(read, parts or []), tendons_named(read, parts or [])

    def find(watch: Watch) -> Found:
        if kind in IDENTIFIED:
            return calibrated(kind, read, options, tendons, watch)
        return identified(kind, read, options, motors, watch)

    raise typer.Exit(measured(f"identify {kind}", read, out, as_json, find, page=page))
