"""``flexor report``: a recorded run as one page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command(epilog="Example: flexor report run.mcap")
def report(
    file: Annotated[Path, typer.Argument(help="A log (.mcap).")],
    out: Annotated[Path | None, typer.Option(help="The page; default: beside the log, .html.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="What the page says, on stdout.")] = False,
) -> None:
    """Write a recorded run as one HTML file: faults first, worst moments, curves, sensors, events."""
    from reports.files import write_text
    from reports.log_report import facts_of, page_of, picture
    from telemetry.record.reader import read_log
    from trials.recorded import homed_hand

    log = read_log(file)
    hand = homed_hand(file, log)
    facts = facts_of(file, log, hand)
    target = out if out is not None else file.with_suffix(".html")
    write_text(target, page_of(facts, picture(log, hand, facts)))
    if as_json:
        print(json.dumps(facts | {"report": str(target)}))
        return
    for fault in facts["faults"]:
        print(f"{fault['time_s']:9.3f} s  {fault['cause']}: {fault['text']}")
    print(f"{target}")
