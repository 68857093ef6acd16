"""``flexor calibrate``: is everything connected as the hand file says, and where are its zeros?"""

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
    View,
    Wiring,
)

if TYPE_CHECKING:
    from calibration.found import Found
    from calibration.motion_run import Watch

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """The hand is straight and its tendons are on their spools. No joint moves by more than 5 deg until
every motor is known to wind its own tendon, the right way.

wiring: directions, cables, slack tendons, lost turns. tension: every tendon into the band of its pretension,
and its slack; a tendon that was repaired: name it alone. travel: every joint from stop to stop,
once the wiring is good. zero: as travel, and each motor's angle of the straight hand for the hand file.
hall: all tensions up and down; what each Hall count means in the unit of the motor's torque, and how far it
goes. wrist: a wrist of two axes over most of its range; the zeros of its sensors.

Exit code 0: all parts are good; 1: some are not; 2: usage; 3: the hand went into fault; 130: stopped.

Examples:

flexor calibrate wiring --hand finger_bench --lockstep

flexor calibrate zero --hand my_hand.toml --bus my_bus.toml --out zeros

flexor calibrate tension index_3 --hand my_hand.toml --bus my_bus.toml

flexor calibrate wiring index_3 --hand my_hand.toml --bus my_bus.toml

flexor calibrate wrist --hand hasy --lockstep --out wrist
"""


@app.command(epilog=EPILOG)
def calibrate(
    kind: Annotated[str, typer.Argument(help="wiring, tension, travel, zero, hall or wrist.")],
    parts: Annotated[list[str] | None, typer.Argument(help="Tendons, motors, fingers; default: all.")] = None,
    hand: HandOption = "finger_bench",
    bus: Bus = None,
    lockstep: Lockstep = False,
    wiring: Wiring = None,
    out: Results = None,
    plant: Plant = None,
    mismatch: Mismatch = None,
    fault: Annotated[list[str] | None, typer.Option(help="Of the simulated hand, as in run.")] = None,
    seed: Seed = 0,
    port_base: PortBase = 5600,
    view: View = False,
    as_json: Json = False,
) -> None:
    """Look at a hand's connections; tension its tendons; find its zeros."""
    from calibration.calibrate import KINDS, calibrated
    from calibration.eligible import WRIST, must_have_wrist
    from hand.hand import must_be_tendon_hand
    from hand.options import RunOptions
    from runtime.setup import read_hand
    from signals.choices import WrongChoice, advice
    from tools.commands.measuring import measured, page_of, tendons_named
    from tools.commands.tension_bars import TensionBars

    if kind not in KINDS:
        raise WrongChoice(f"no kind {kind!r} to calibrate; {advice(kind, KINDS)}")
    options = RunOptions(
        hand=hand, bus=bus, lockstep=lockstep, wiring=wiring, plant=plant, mismatch=mismatch,
        faults=tuple(fault or ()), seed=seed, port_base=port_base,
    )  # fmt: skip
    must_be_tendon_hand(hand)
    page = page_of(view, lockstep, port_base)
    read = read_hand(options)
    if kind == WRIST:
        must_have_wrist(read)
    tendons = tendons_named(read, parts or [])

    bars = TensionBars(read, tendons) if kind == "tension" else None

    def find(watch: Watch) -> Found:
        return calibrated(kind, read, options, tendons, watch, bars.see if bars is not None else None)

    raise typer.Exit(measured(f"calibrate {kind}", read, out, as_json, find, bars, page))
