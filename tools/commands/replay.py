"""``flexor replay``: a log through the tick again; what would another hand file or controller have done?"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EPILOG = """Exit code 0: identical, or another was asked for; 1: different from what was sent; 2: no such log.

Examples:

flexor replay run.mcap

flexor replay run.mcap --with other.toml --out compared

flexor replay run.mcap --controller mine:control
"""


@app.command(epilog=EPILOG)
def replay(
    file: Annotated[Path, typer.Argument(help="A log (.mcap).")],
    other: Annotated[str | None, typer.Option("--with", help="Another hand file.")] = None,
    controller: Annotated[str | None, typer.Option(help="Another controller, MODULE:FUNCTION.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE of the hand file.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Write replay.json and replay.png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Tick a recorded log again and compare every command and state, bit for bit, with what was sent."""
    from reports.replay import draw_replay, table
    from tools.commands.telling import progress
    from trials.replay import replay as tick_again

    chosen: dict[str, Any] = {"hand": other, "controller": controller, "settings": tuple(settings or ())}
    with progress("replay") as told:
        found = tick_again(file, **chosen, watch=told.share if told is not None else lambda _: None)
    asked = other is not None or controller is not None or bool(settings)
    result: dict[str, Any] = {
        "file": str(file),
        "identical": found.identical,
        "cycles": found.cycles,
        "first_difference": None if found.first is None else asdict(found.first),
        "different_cycles": found.different,
        "passed_over": found.passed_over,
        "damage": found.damage,
        "signals": table(found),
    }
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "replay.json").write_text(json.dumps(result, indent=2) + "\n")
        result["picture"] = str(draw_replay(found, out / "replay.png"))
    if as_json:
        print(json.dumps(result))
    else:
        _show(result)
    raise typer.Exit(0 if found.identical or asked else 1)


def _show(result: dict[str, Any]) -> None:
    cycles, first = result["cycles"], result["first_difference"]
    for part in result["damage"]:
        print(f"the log is not whole: {part}")
    if result["passed_over"]:
        print(f"{result['passed_over']} frames have no keyframe before them and are left out")
    if first is None:
        print(f"identical: {cycles} cycles, every command and every state bit for bit")
        return
    values = f"was {first['recorded']:.9g}, is {first['replayed']:.9g}"
    print(
        f"different in {result['different_cycles']} of {cycles} cycles, first at cycle {first['cycle']} "
        f"({first['time_s']:.4f} s): {first['signal']} {values}"
    )
    if result["signals"]:
        print(f"\n{'signal':44} {'greatest':>11} {'rms':>11}  where")
    for row in result["signals"]:
        where = f"{row['part']}, {row['time_s']:.3f} s"
        print(f"{row['signal']:44} {row['greatest']:11.4g} {row['rms']:11.4g}  {where}")
    if "picture" in result:
        print(f"\npicture {result['picture']}")
