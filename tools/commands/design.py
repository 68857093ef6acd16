"""``flexor design``: what a geometry gives, by the hand's own laws; what a broken tendon asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from signals.choices import WrongChoice
from tools.commands.folder import make_folder

if TYPE_CHECKING:
    from hand.hand import Hand
    from reports.design.sheet import Sheet

HandName = Annotated[str, typer.Argument(help="Name of a shipped hand, or path of a hand file.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE of the hand file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Everything on stdout, as JSON.")]
Out = Annotated[Path | None, typer.Option(help="Folder for JSON, picture and page.")]

app = typer.Typer(
    add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True
)


@app.callback(epilog="Example: flexor design coupling hasy --finger index --radius index_pip=0.007")
def design() -> None:
    """What a geometry gives, and what a hand would need; by the laws that the hand runs on."""


@app.command(name="break", epilog="Example: flexor design break hasy --json")
def break_(
    hand: HandName,
    motion: Annotated[str, typer.Option(help="Motion in which they break.")] = "hold",
    moment: Annotated[float, typer.Option(help="Share 0 to 1 of its period.")] = 0.0,
    settings: Settings = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Break every tendon: energy, speed into the stop, and what would spare it.

    Tried under the strongest brake that the rules of the fault trials allow: lower working tension, faster
    drives, damping ahead of the stop.
    """
    from trials.design import break_sheet, throws

    if out is not None:
        make_folder(out)
    read = _read(hand, settings)
    _tell(break_sheet(read, throws(read, motion, moment), motion, moment), as_json, out)


def _read(hand: str, settings: list[str] | None) -> Hand:
    from hand.hand import read_tendon_hand
    from hand.options import RunOptions

    return read_tendon_hand(RunOptions(hand=hand, settings=tuple(settings or ())))


def _tell(sheet: Sheet, as_json: bool, out: Path | None) -> None:
    from reports.design.sheet import lines, write

    if out is not None:
        make_folder(out)
        write(sheet, out)
    print(json.dumps(sheet.figures) if as_json else "\n".join(lines(sheet)))


def _numbers(option: str, given: list[str] | None) -> dict[str, float]:
    """NAME=NUMBER, as often as it is given.

    Raises:
        WrongChoice: a word that is none.
    """
    found = {}
    for word in given or ():
        name, equals, text = word.partition("=")
        try:
            found[name.strip()] = float(text)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise WrongChoice(f"{option} {word!r}: write JOINT=NUMBER, for example {option} index_pip=0.007")
    return found


@app.command(epilog="Example: flexor design spring hasy --set springs.tangent_alpha.lever_length_m=0.0135")
def spring(
    hand: HandName,
    tendon: Annotated[str | None, typer.Option(help="Whose mechanism; the first one's if not said.")] = None,
    settings: Settings = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Lever geometry to force, stiffness, stored energy, and the tension that a Hall count resolves."""
    from reports.design.spring import spring_sheet

    _tell(spring_sheet(_read(hand, settings), tendon), as_json, out)


@app.command(epilog="Example: flexor design guide hasy --bend 40 --bend 25 --set guides.pair=sliding_polymer")
def guide(
    hand: HandName,
    bend: Annotated[list[float] | None, typer.Option(help="Bends of the route in order, deg.")] = None,
    tension: Annotated[
        float | None, typer.Option(help="At the spring, N; its pretension if not said.")
    ] = None,
    speed: Annotated[float | None, typer.Option(help="Of the tendon, m/s.")] = None,
    settings: Settings = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Routing angles and material to what the guides take of a tension, both laws, every pair."""
    from reports.design.guide import guide_sheet

    _tell(guide_sheet(_read(hand, settings), tuple(bend or ()), tension, speed), as_json, out)


@app.command(epilog="Example: flexor design wrist hasy --pitch 20 --yaw -5")
def wrist(
    hand: HandName,
    pitch: Annotated[float, typer.Option(help="Of the palm, deg.")] = 0.0,
    yaw: Annotated[float, typer.Option(help="Of the palm, deg.")] = 0.0,
    tension: Annotated[float | None, typer.Option(help="Of all tendons, N; pretension if not said.")] = None,
    settings: Settings = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """A wrist pose to the lengths of all tendons, what motors take in, what the wrist has to hold."""
    from reports.design.wrist import wrist_sheet

    _tell(wrist_sheet(_read(hand, settings), pitch, yaw, tension), as_json, out)


@app.command(
    epilog="Example: flexor design coupling hasy --finger index --radius index_pip=0.007 --tension 40"
)
def coupling(
    hand: HandName,
    finger: Annotated[str | None, typer.Option(help="Which; the first one if not said.")] = None,
    radius: Annotated[list[str] | None, typer.Option(help="JOINT=M: all pulleys about a joint.")] = None,
    pose: Annotated[list[str] | None, typer.Option(help="JOINT=DEG; else the middle of its range.")] = None,
    tension: Annotated[float | None, typer.Option(help="Common, N; pretension if not said.")] = None,
    settings: Settings = None,
    as_json: AsJson = False,
    out: Out = None,
) -> None:
    """Pulley radii to feasible torques, joint stiffness and the fingertip's stiffness ellipsoid."""
    from reports.design.coupling import coupling_sheet, finger_of

    read = _read(hand, settings)
    asked = finger_of(read, finger, _numbers("--radius", radius), _numbers("--pose", pose))
    _tell(coupling_sheet(read, asked, tension), as_json, out)
