"""``flexor scan``: ports, who holds them, which devices answer, which ids are there twice."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

EXAMPLES = """Examples:

flexor scan

flexor scan /dev/ttyUSB0@4000000 can:socketcan:can0 udp:192.168.7.2

flexor scan --listen
"""


@app.command(epilog=EXAMPLES)
def scan(
    places: Annotated[list[str] | None, typer.Argument(help="Where; none: every serial port.")] = None,
    listen: Annotated[bool, typer.Option(help="Never write; finds what talks by itself.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> None:
    """Find ports, buses, devices and ids. Exit code 1 if something is wrong (an id twice, a port in use)."""
    from drivers.scanning import scan as scan_place

    count = problems = 0
    for place in _places(places or []):
        for finding in scan_place(place, listen):
            count += 1
            problems += bool(finding.problem)
            _show(finding, as_json)
    if not count:
        print("nothing found", file=sys.stderr)
    raise typer.Exit(1 if problems else 0)


def _places(texts: list[str]) -> Any:
    """Places as given; a serial line without a baud rate at all usual rates."""
    from serial.tools import list_ports

    from drivers.places import SerialPlace, parsed
    from drivers.scanning import BAUDS

    for text in texts or [p.device for p in list_ports.comports()]:
        place = parsed(text)
        if isinstance(place, SerialPlace) and "@" not in text:
            yield from (SerialPlace(place.path, baud) for baud in BAUDS)
        else:
            yield place


def _show(finding: Any, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(finding)))
        return
    words = [finding.place, finding.family, finding.device, finding.detail]
    print("  ".join(w for w in words if w) + (f"  PROBLEM: {finding.problem}" if finding.problem else ""))
