"""``flexor odometer``: what a hand's tendons and joints have done so far, and what of their life is left."""

from __future__ import annotations

import json
import math
from itertools import accumulate
from typing import Annotated, Any

import typer

from tools.commands.options import Json

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """\b
Every run adds to it. Loads: half of the time below the first, 95 % of it below the second.
Exit code 1: a part is near the life that the hand file states in its table [life], or beyond it.

Example: flexor odometer my_hand.toml"""


@app.command(epilog=EPILOG)
def odometer(
    hand: Annotated[str, typer.Argument(help="A shipped hand, or a hand file.")],
    simulated: Annotated[bool, typer.Option("--simulated", help="Of the simulated hand.")] = False,
    replaced: Annotated[
        str | None, typer.Option(metavar="PART", help="This tendon or joint is new: begin at nothing.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show travel, reversals, loads and hot time of every tendon and joint, over all runs of a hand."""
    from hand.hand import read_tendon_hand
    from hand.options import RunOptions
    from signals.choices import nearest
    from telemetry.record.odometer_file import NEAR, OdometerError, fresh, path_of, read, replace_part, worn

    found = read_tendon_hand(RunOptions(hand=hand))
    parts = (*found.names.tendons, *found.names.joints)
    if replaced is not None and replaced not in parts:
        near = nearest(replaced, parts)
        raise typer.BadParameter(
            f"{replaced}: no tendon or joint of {found.name}" + (f"; did you mean {near}?" if near else ""),
            param_hint="--replaced",
        )
    path = path_of(found.name, simulated)
    try:
        kept = read(path) if replaced is None else replace_part(path, replaced)
    except (OSError, OdometerError) as error:
        raise SystemExit(f"flexor odometer: {error}") from None
    wear = worn(kept or fresh(found.name), found.file.life)
    if as_json:
        shown = {"file": str(path), "simulated": simulated, **(kept or fresh(found.name)), "worn": wear}
        print(json.dumps(shown))
    elif kept is None:
        other = path_of(found.name, not simulated)
        hint = f"; {'without --simulated' if simulated else '--simulated'} there is one" * other.exists()
        print(f"no run of {'the simulated ' * simulated}{found.name} was counted yet ({path}){hint}")
    else:
        show(kept, wear, NEAR)
    raise typer.Exit(int(any(w["share"] >= NEAR for w in wear)))


def show(kept: dict[str, Any], wear: list[dict[str, Any]], near: float) -> None:
    """The odometer as a table; first what is near its end."""
    print(f"{kept['hand']}: {duration(kept['seconds'])} in {kept['runs']} runs since {kept['begun']}")
    for w in wear:
        if w["share"] >= near:
            print(f"  {w['text']}")
    most = {w["part"]: w["share"] for w in reversed(wear)}
    for kind, way, unit, scale, edges, load in (
        ("tendons", "travel_m", "m", 1.0, kept["tendon_loads_n"], "N"),
        ("joints", "travel_rad", "deg", math.degrees(1.0), kept["joint_loads_nm"], "N m"),
    ):
        hot = "hot" if kind == "tendons" else ""
        head = f"{kind[:-1]:<18} {'way ' + unit:>10} {'reversals':>10} {'load ' + load:>13}"
        print(f"\n{head} {hot:>8} {'life':>6}")
        for part, did in kept[kind].items():
            share = f"{100.0 * most[part]:.0f} %" if part in most else "-"
            warm = duration(did["hot_s"]) if "hot_s" in did else ""
            print(
                f"{part:<18} {scale * did[way]:>10.4g} {did['reversals']:>10} "
                f"{loads(did['load_s'], edges):>13} {warm:>8} {share:>6}"
            )
    for old in kept["replaced"]:
        print(f"{old['part']} replaced {old['date']}")


def loads(seconds: list[float], edges: list[float]) -> str:
    """Edges below which a part was for half and for 95 % of the time."""
    ends = [f"<{edge:g}" for edge in edges] + [f">{edges[-1]:g}"]
    below = list(accumulate(seconds))
    if not below[-1]:
        return "-"
    classes = [next(k for k, s in enumerate(below) if s >= share * below[-1]) for share in (0.5, 0.95)]
    return " / ".join(ends[k] for k in classes)


def duration(seconds: float) -> str:
    """A time with the unit that fits it."""
    if seconds < 100.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 6000.0 else f"{seconds / 3600.0:.0f} h"
